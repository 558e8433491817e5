"""Triggers as functions of a kernel: what a batch of rows does, row by row or as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Literal

from freshview.calculus.build import neg
from freshview.calculus.check import infer
from freshview.calculus.schema import Relation
from freshview.calculus.scope import stored
from freshview.calculus.terms import Expr, Var
from freshview.calculus.types import INT
from freshview.codegen.cpp.code import identifier
from freshview.codegen.layout.place import batch_table
from freshview.codegen.layout.terms import Layout, MapPlace, Table
from freshview.codegen.loops.effects import (
    Call,
    Release,
    Stale,
    Yield,
)
from freshview.codegen.loops.facts import scans
from freshview.codegen.loops.parts import Holds
from freshview.codegen.loops.terms import (
    Batch,
    Block,
    Collect,
    Function,
    Let,
    Stmt,
    Times,
)
from freshview.codegen.loops.walk import statements as all_statements
from freshview.codegen.lower.access import batch_columns
from freshview.codegen.lower.context import ONE, Bound, Count, Local, Names
from freshview.codegen.lower.nested import transient
from freshview.codegen.lower.select import shared_tests
from freshview.codegen.lower.stage import LevelOfBatch, stage
from freshview.codegen.lower.statements import Lowered, Statements, lower_statement
from freshview.codegen.lower.term import Terms
from freshview.codegen.lower.writes import write, write_yields
from freshview.program.signs import SIGN, both, multiplied
from freshview.program.terms import Program, Statement, Trigger


@dataclass(frozen=True)
class Part:
    """Statements that run together: once, or as often as a row comes or goes."""

    event: Literal["once", "insert", "delete", "either"]
    lowered: tuple[Lowered, ...]
    env: Bound = field(default_factory=dict)
    params: tuple[str, ...] = ()
    sign: str = ""
    """The local that holds how often the row comes, if anything reads it."""


@dataclass(frozen=True)
class LoweredTrigger:
    """A trigger whose right sides are loops, before it is known which of them may mingle."""

    relation: Relation
    terms: Terms
    parts: tuple[Part, ...]
    row: str = ""
    """The row of the batch, where statements run row by row."""
    tests: tuple[Holds, ...] = ()
    levels: tuple[Collect, ...] = ()
    late: tuple[str, ...] = ()
    """Maps that are recomputed after the rows."""


@dataclass(frozen=True)
class Triggers:
    """What lowers the triggers of a program."""

    program: Program
    terms: Terms

    def lower(self, r: Relation) -> LoweredTrigger:
        """What a batch of a relation does."""
        terms = replace(self.terms, names=Names())
        triggers = {t.event: t for t in self.program.triggers if t.relation == r.name}
        if r.static:
            return LoweredTrigger(r, terms, ())
        if "batch" in triggers:
            return self._batch(r, triggers["batch"], terms)
        return self._rows(r, triggers.get("insert"), triggers.get("delete"), terms)

    # -- a batch as a whole ------------------------------------------------------------------------

    def _batch(self, r: Relation, t: Trigger, terms: Terms) -> LoweredTrigger:
        statements: Sequence[Statement] = t.statements
        levels: list[Collect] = []
        if terms.passes.stage:
            # A number is quicker computed again than put into a table; an element is not.
            shared = any(
                terms.layout.payload_type(s.target.name).kind == "ring" for s in statements
            )
            tables, statements = stage(statements, shared=shared)
            for level in tables:
                collect, terms = _collect(level, terms)
                levels.append(collect)
        lowered = tuple(lower_statement(terms, s, {}, ONE) for s in statements)
        part = Part("once", lowered)
        return LoweredTrigger(r, terms, (part,), levels=tuple(levels))

    # -- row by row --------------------------------------------------------------------------------

    def _rows(
        self, r: Relation, insert: Trigger | None, delete: Trigger | None, terms: Terms
    ) -> LoweredTrigger:
        row = terms.names.fresh("i")
        there = [t for t in (insert, delete) if t is not None]
        tests = self._shared_tests(r, there, row, terms)
        terms = replace(terms, assumed=frozenset(tests))
        late = tuple(
            dict.fromkeys(
                s.target.name
                for t in there
                for s in t.statements
                if s.target.name in terms.layout.late
            )
        )
        parts = self._on_signs(r, insert, delete, row, terms) if there else ()
        return LoweredTrigger(r, terms, parts, row, tuple(map(Holds, tests)), late=late)

    def _on_signs(
        self,
        r: Relation,
        insert: Trigger | None,
        delete: Trigger | None,
        row: str,
        terms: Terms,
    ) -> tuple[Part, ...]:
        """What a row does that comes, and one that goes: by one code if there is one for both."""
        ones, others = (self._now(t) for t in (insert, delete))
        alike = insert and delete and insert.params == delete.params
        together = both(ones, others) if terms.passes.signs and alike else None
        if insert is None or together is None:
            come = self._part("insert", ones, insert, row, r, terms) if insert else None
            go = self._part("delete", others, delete, row, r, terms) if delete else None
            return tuple(part for part in (come, go) if part is not None)
        sign = terms.names.fresh("sign")
        number = Local(sign, INT)
        statements = Statements(terms, terms.layout)
        reread = statements.reads(ones) & statements.writes(ones)
        if _opposite(ones, others) and not reread:
            # A program that reads none of what it writes can take a row's multiplicity at once.
            count = ONE.times(Var(sign), INT)
            return (self._part("once", ones, insert, row, r, terms, {}, count, sign),)
        many = multiplied(ones, others, r.name, {m.name: m for m in self.program.maps})
        known = {SIGN: number}
        if many is not None:
            return (self._part("once", many, insert, row, r, terms, known, ONE, sign),)
        return (self._part("either", together, insert, row, r, terms, known, ONE, sign),)

    def _part(
        self,
        event: Literal["once", "insert", "delete", "either"],
        statements: Sequence[Statement],
        t: Trigger,
        row: str,
        r: Relation,
        terms: Terms,
        more: Bound | None = None,
        m: Count = ONE,
        sign: str = "",
    ) -> Part:
        env = {**_columns(r, t, row), **(more or {})}
        lowered = tuple(lower_statement(terms, s, env, m) for s in statements)
        return Part(event, lowered, env, t.params, sign)

    def _now(self, t: Trigger | None) -> list[Statement]:
        """The statements that run with each row."""
        late = self.terms.layout.late
        return [s for s in t.statements if s.target.name not in late] if t else []

    def _shared_tests(
        self, r: Relation, triggers: Sequence[Trigger], row: str, terms: Terms
    ) -> list[Expr]:
        """The conditions on a row without which no statement does anything."""
        put_off = terms.layout.late | terms.layout.deferred
        conditions: list[dict[Expr, None]] = []
        for t in triggers:
            now = [s for s in t.statements if s.target.name not in put_off]
            if not terms.passes.select or any(s.op == ":=" for s in now):
                return []
            env = _columns(r, t, row)
            tests = shared_tests([s.term for s in now], frozenset(t.params))
            conditions.append(dict.fromkeys(terms.value(e, env) for e in tests))
        if not conditions:
            return []
        return [e for e in conditions[0] if all(e in c for c in conditions)]


# -- from lowered statements to functions ----------------------------------------------------------


def assemble(t: LoweredTrigger, layout: Layout, keyed: bool) -> Block:
    """The loops of a trigger; `keyed` if rows of a key must go before others come."""
    if t.relation.static:
        return _fill_static(t, layout)
    statements = Statements(t.terms, _with_levels(layout, t.terms.layout))
    if not t.row:
        [part] = t.parts
        # What is added up reads the changes of derived views, which are written first.
        first = tuple(takewhile(lambda x: x.statement.op == ":=", part.lowered))
        changes = statements.carry_out(first, {}, ())
        rest = statements.carry_out(part.lowered[len(first) :], {}, ())
        body = (*changes, *t.levels, *rest)
        return (*_batches(body, t), *body)
    rows: list[Stmt] = []
    for part in t.parts:
        inside: Block = tuple(statements.carry_out(part.lowered, part.env, part.params))
        if any(isinstance(s, Collect) for s in all_statements(inside)):
            inside = (*inside, Release())
        if part.event == "once":
            rows += [Let(part.sign, Var(f"{t.row}.count")), *inside]
        else:
            rows.append(Times(part.sign, t.row, part.event, inside))
    calls = (Stale(t.late, late=True), Call(after_name(t.late))) if t.late else ()
    if not rows:
        return calls
    return (Batch(t.row, t.relation.name, tuple(rows), t.tests, in_turn=keyed), *calls)


def after_name(maps: Sequence[str]) -> str:
    """The function that recomputes maps after the rows of a batch."""
    return "after_" + "_".join(map(identifier, maps))


def _with_levels(layout: Layout, own: Layout) -> Layout:
    """A layout that knows the tables of a batch, too."""
    return replace(
        layout,
        tables={**own.tables, **layout.tables},
        places={**own.places, **layout.places},
    )


def _fill_static(t: LoweredTrigger, layout: Layout) -> Block:
    """Rows of the batch added to the table of a static relation."""
    if t.relation.name not in layout.places:
        return ()
    return (_filling(layout.table(t.relation.name), t.relation, t.terms.names),)


def _batches(body: Block, t: LoweredTrigger) -> Block:
    """The batch as a table, its rows added up, if anything asks it by key."""
    name = batch_table(t.relation.name)
    if all(getattr(s, "table", "") != name for s in all_statements(body)):
        return ()
    table = t.terms.layout.tables[name]
    return (Collect(name, table, (_filling(table, t.relation, t.terms.names.inside()),)),)


def _filling(table: Table, r: Relation, names: Names) -> Stmt:
    """The rows of the batch, as records of a table."""
    row = names.fresh("i")
    keys = [x.value for x in batch_columns(row, r.types)]
    count = (Var(f"{row}.count"),)
    columns = tuple(range(len(keys)))
    return Batch(row, r.name, tuple(write(table, 0, columns, keys, count, "+=", names)))


def _collect(level: LevelOfBatch, terms: Terms) -> tuple[Collect, Terms]:
    """A table of the batch, and what lowers statements that read it."""
    payload, types = infer(level.term, terms.schema)
    keys = tuple(types[v] for v in level.keys)
    table = transient(terms.names, keys, (terms.payload(level.term, {}),))
    columns = tuple(range(len(keys)))
    within = terms.inner()

    def collect(b: Bound, m: Count) -> list[Stmt]:
        return [Yield(tuple(b[v].value for v in level.keys), m.weight)]

    block = tuple(within.emit(level.term, {}, ONE, collect, last=True))
    filled = write_yields(block, table, 0, columns, "+=", within.names)
    layout = replace(
        terms.layout,
        tables={**terms.layout.tables, table.name: table},
        places={**terms.layout.places, level.name: MapPlace(table.name, 0, columns)},
    )
    schema = replace(terms.schema, maps={**terms.schema.maps, level.name: (keys, payload)})
    return Collect(table.name, table, filled), replace(terms, layout=layout, schema=schema)


def scanning(t: LoweredTrigger, batch_tables: frozenset[str]) -> list[Statement]:
    """The statements of a trigger that walk through all the data."""
    layout = t.terms.layout
    put_off = layout.deferred | layout.late
    lowered = [x for p in t.parts for x in p.lowered if x.statement.target.name not in put_off]
    walking = {
        name
        for name, place in layout.places.items()
        for level in t.levels
        if level.name == place.table and scans(level.body, layout, batch_tables)
    }
    return [
        x.statement
        for x in lowered
        if scans(x.block, layout, batch_tables) or stored(x.statement.term) & walking
    ]


def _columns(r: Relation, t: Trigger, row: str) -> Mapping[str, Local]:
    """The parameters of a trigger as columns of the row at hand."""
    return dict(zip(t.params, batch_columns(row, r.types), strict=False))


def _opposite(ones: Sequence[Statement], others: Sequence[Statement]) -> bool:
    """Whether deletion does, row by row, what insertion does, with the sign turned."""
    return all(a.op == "+=" and b.term == neg(a.term) for a, b in zip(ones, others, strict=True))


def after_rows(maps: Sequence[str], late: Mapping[str, Statement], terms: Terms) -> Function:
    """The function that recomputes maps that an index recomputes and only queries read."""
    terms = replace(terms, names=Names())
    lowered = [lower_statement(terms, late[name], {}, ONE) for name in maps]
    body = Statements(terms, terms.layout).carry_out(lowered, {}, ())
    return Function(after_name(maps), "after", "", tuple(body))
