"""What must hold of loops before they run: run between passes, it names the statement at fault.

Every name is bound before it is read, and its columns are those of its table. Slices and searches
have their index. Types fit. What is written stands in its `At`, and is not walked through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from freshview.calculus.check import Schema
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.terms import Expr
from freshview.calculus.types import INT, Type
from freshview.codegen.layout.terms import Columns, Layout, Table
from freshview.codegen.loops.additions import additions, can_be_added_up
from freshview.codegen.loops.check_parts import Parts
from freshview.codegen.loops.effects import (
    Answer,
    Assign,
    Call,
    Clear,
    Effect,
    Gain,
    Output,
    Release,
    Stale,
    Tally,
    Touch,
    Yield,
)
from freshview.codegen.loops.terms import (
    At,
    Batch,
    Block,
    Collect,
    Definition,
    EachGroup,
    Find,
    FirstOfGroups,
    FirstRows,
    Function,
    Get,
    Group,
    If,
    Intern,
    Let,
    Look,
    Loops,
    Probe,
    Product,
    RangeSum,
    Scan,
    Scope,
    Slice,
    Stmt,
    Times,
    Total,
    Turn,
    Unless,
    Walk,
)
from freshview.codegen.loops.text import head
from freshview.codegen.loops.visible import (
    Visible,
    batch_fields,
    entry_fields,
    payload_fields,
    record_fields,
)
from freshview.codegen.loops.walk import is_definition, is_scope
from freshview.depth import deep
from freshview.errors import FreshviewError, ProgramProblem
from freshview.program.terms import Program


@deep
def check(loops: Loops, layout: Layout, program: Program, functions: Functions = BUILTINS) -> None:
    """Refuse loops that are not well formed over their layout; the first problem."""
    names = [f.name for f in loops.functions]
    for name in names:
        if names.count(name) > 1:
            raise ProgramProblem(f"there are two functions '{name}'")
    kinds = {f.name: f.kind for f in loops.functions}
    schema = Schema({r.name: r.types for r in program.relations}, functions=functions)
    queries = {q.name: tuple(c.type for c in q.columns) for q in program.queries}
    keys = {f.of: f.key for f in loops.functions if f.kind == "find"}
    for f in loops.functions:
        _Checker(layout, f, kinds, queries, keys).function(Visible(schema))


@dataclass(frozen=True)
class _Checker(Parts):
    """What checks one function."""

    own: Function
    kinds: Mapping[str, str]
    queries: Mapping[str, tuple[Type, ...]]
    lookups: Mapping[str, Columns]
    """The columns by which rows of queries are found."""

    def function(self, seen: Visible) -> None:
        f = self.own
        if f.kind == "relation" and f.of not in seen.schema.relations:
            raise ProgramProblem(f"function '{f.name}': there is no relation '{f.of}'")
        if f.kind in ("read", "find") and f.of not in self.queries:
            raise ProgramProblem(f"function '{f.name}': there is no query '{f.of}'")
        if f.kind == "find":
            seen = seen.row("key", batch_fields(self.queries[f.of], f.key))
        self.block(f.body, seen)

    def block(self, block: Block, seen: Visible) -> None:
        defined: set[str] = set()
        for s in block:
            try:
                seen, inside = self._statement(s, seen)
            except FreshviewError as e:
                raise ProgramProblem(f"function '{self.own.name}', `{head(s)}`: {e}") from e
            if is_definition(s):
                if s.name in defined:
                    raise ProgramProblem(
                        f"function '{self.own.name}', `{head(s)}`: the name is defined twice"
                    )
                defined.add(s.name)
            for body, visible in inside:
                self.block(body, visible)
            if isinstance(s, Collect):
                seen = replace(seen, filled=seen.filled | {s.name})

    def _statement(self, s: Stmt, seen: Visible) -> tuple[Visible, list[tuple[Block, Visible]]]:
        """What is visible after a statement, and the blocks inside with what is visible there."""
        if is_definition(s):
            return self._definition(s, seen)
        if is_scope(s):
            inside = self._scope(s, seen)
            if not isinstance(s, Batch):
                inside = [(body, replace(visible, in_batch=False)) for body, visible in inside]
            return seen, inside
        self._effect(s, seen)
        return seen, []

    # -- definitions -------------------------------------------------------------------------------

    def _definition(
        self, s: Definition, seen: Visible
    ) -> tuple[Visible, list[tuple[Block, Visible]]]:
        plain = replace(seen, answers=False, in_batch=False)
        match s:
            case Let(name, value):
                return seen.local(name, seen.type(value)), []
            case Product(name, weight):
                return seen.local(name, seen.weight(weight)), []
            case Total(name, t, body):
                return seen.local(name, t), [(body, replace(plain, total=t))]
            case Collect(name, _, body):
                self._transient(s)
                return seen, [(body, replace(plain, filling=name, total=None))]
            case Look(name, value, t):
                self.convertible(seen.type(value), t)
                after = seen.local(name, t)
                return replace(after, looks=seen.looks | {name}), []
            case Intern(name, value):
                t = seen.type(value)
                if t.kind not in ("string", "null"):
                    raise ProgramProblem(f"{t} is not text")
                return seen.local(name, t), []
            case Probe(name, table, keys):
                self.record(table, keys, seen)
                probes = {**seen.probes, name: (table, keys)}
                return replace(self.at_hand(seen, table), probes=probes), []
            case Turn(name):
                return replace(seen, turns=seen.turns | {name}), []
            case RangeSum(name, r, only):
                sums = payload_fields(self.table(r.search.table, seen))
                named = {f"p{j}" for j in only}
                if not named <= set(sums):
                    raise ProgramProblem(f"the table '{r.search.table}' has no such payloads")
                summed = {p: t for p, t in sums.items() if p in named or not only}
                return seen.row(name, summed), self.ends(r, seen)
            case _:
                assert_never(s)

    def _transient(self, s: Collect) -> None:
        known = self.layout.tables.get(s.name)
        if s.table != Table(s.name, s.table.keys, s.table.payloads, transient=True):
            raise ProgramProblem("a table that is collected is transient, and no index is said")
        if known is None or replace(known, indexes=(), orders=()) != s.table:
            raise ProgramProblem(f"the layout has no such table '{s.name}'")

    # -- scopes ------------------------------------------------------------------------------------

    def _scope(self, s: Scope, seen: Visible) -> list[tuple[Block, Visible]]:
        match s:
            case If(tests, body):
                self.tests(tests, seen)
                return [(body, seen)]
            case Unless(tests, body):
                self.tests(tests, seen)
                return [(body, replace(seen, answers=False))]
            case Find(name, value, t, body):
                self.narrowed(seen.type(value), t)
                return [(body, seen.local(name, t))]
            case Batch():
                return [(s.body, self._batch(s, seen))]
            case Times(sign, row, _, body):
                if not seen.in_batch or f"{row}.count" not in seen.names:
                    raise ProgramProblem("it stands right in the loop over a batch, or nowhere")
                return [(body, seen.local(sign, INT) if sign else seen)]
            case At(row, table, keys, body):
                own = self.written(table, seen)
                self.keys(own, range(len(own.keys)), keys, seen)
                records = {**seen.records, row: table}
                return [(body, replace(self.at_hand(seen, table), records=records))]
            case Group(_, body):
                return [(body, seen)]
            case _:
                return self._access(s, seen)

    def _batch(self, s: Batch, seen: Visible) -> Visible:
        if (self.own.kind, self.own.of) != ("relation", s.relation):
            raise ProgramProblem(f"rows of '{s.relation}' come to their own function only")
        fields = {**batch_fields(seen.schema.relations[s.relation]), "count": INT}
        inside = replace(seen.row(s.row, fields), answers=False, in_batch=True)
        self.chosen(s.tests, inside)
        self.fetches(s.fetches, s.row, inside)
        if s.preaggregated:
            self._added_up(s, batch_fields(seen.schema.relations[s.relation]))
        return inside

    def _added_up(self, s: Batch, types: Mapping[str, Type]) -> None:
        added = additions(s)
        if added is None:
            raise ProgramProblem("rows that are added up do nothing but add to one table")
        table = self.layout.tables.get(added.record.table)
        if table is None or table.transient or table.determining is not None:
            raise ProgramProblem("rows are added up for a table that lasts, by all its keys")
        if s.in_turn or not can_be_added_up(added, s, types, table):
            raise ProgramProblem("what is added up is computed from numbers of the row")

    def _access(
        self, s: Get | Slice | Scan | Walk | EachGroup | FirstRows | FirstOfGroups, seen: Visible
    ) -> list[tuple[Block, Visible]]:
        loop = replace(seen, answers=False)
        match s:
            case Get(row, table, keys, body, probe):
                if probe and seen.probes.get(probe) != (table, keys):
                    raise ProgramProblem(f"'{probe}' is not a probe of that record")
                t = self.record(table, keys, seen)
                return [(body, self.at_hand(seen, table).row(row, record_fields(t)))]
            case Slice(row, table, columns, keys, body):
                t = self.table(table, seen)
                if columns not in t.indexes:
                    raise ProgramProblem(f"'{table}' has no such index")
                self.keys(t, columns, keys, seen)
                return [(body, self.at_hand(loop, table).row(row, record_fields(t)))]
            case Scan(row, table, body, fetches, changed):
                t = self.table(table, seen)
                if changed and not (t.journal and self.own.kind == "listing"):
                    raise ProgramProblem(f"nobody knows here which records of '{table}' changed")
                inside = self.at_hand(loop, table).row(row, record_fields(t))
                self.fetches(fetches, row, inside)
                return [(body, inside)]
            case Walk(row, r, body):
                t = self.table(r.search.table, seen)
                fields = {**entry_fields(t, r.search.sorts), **payload_fields(t)}
                inside = self.at_hand(loop, t.name).row(row, fields)
                return [*self.ends(r, seen), (body, inside)]
            case EachGroup(row, search, columns, body):
                t = self.search(search, seen)
                self.leading(columns, search.sorts)
                entry = entry_fields(t, search.sorts)
                return [(body, self.at_hand(loop, t.name).row(row, entry))]
            case FirstRows():
                t = self.first_rows(s, seen)
                fields = {**entry_fields(t, s.search.sorts), "n": INT}
                return [(s.body, self.at_hand(loop, t.name).row(s.row, fields))]
            case FirstOfGroups(row, table, groups, order, _, body):
                t = self.counted(self.table(table, seen), 0)
                self.columns(t, (*groups, *(o.column for o in order)))
                fields = {**record_fields(t), "n": INT}
                return [(body, self.at_hand(loop, table).row(row, fields))]
            case _:
                assert_never(s)

    # -- effects -----------------------------------------------------------------------------------

    def _effect(self, s: Effect, seen: Visible) -> None:
        match s:
            case Yield():
                raise ProgramProblem("nobody has said where the row goes")
            case Tally(weight):
                if seen.total is None:
                    raise ProgramProblem("there is no total around")
                self.convertible(seen.weight(weight), seen.total)
            case Gain(row, table, payload, weight) | Assign(row, table, payload, weight):
                if seen.records.get(row) != table:
                    raise ProgramProblem(
                        f"'{row}' is not a record of '{table}' that is written here"
                    )
                t = self.layout.tables[table]
                self.convertible(seen.weight(weight), self.payload(t, payload))
            case Answer():
                if not seen.answers:
                    raise ProgramProblem("no condition of a range is asked here")
            case Clear(table):
                if self.written(table, seen).home is not None:
                    raise ProgramProblem(f"'{table}' lies in another table")
            case Stale(maps, late):
                for name in maps:
                    if name not in (self.layout.late if late else self.layout.deferred):
                        raise ProgramProblem(f"the map '{name}' is not put off")
            case Release():
                pass
            case Call(function):
                if self.kinds.get(function) not in ("after", "refresh", "listing"):
                    raise ProgramProblem(f"there is no function '{function}' to call")
            case Output():
                self._output(s.query, s.values, s.types, seen)
                if seen.weight(s.weight).kind != "int":
                    raise ProgramProblem("rows are counted by whole numbers")
            case Touch(query, keys):
                self._touch(query, keys, seen)
            case _:
                assert_never(s)

    def _touch(self, query: str, keys: Sequence[Expr], seen: Visible) -> None:
        if query not in self.queries:
            raise ProgramProblem(f"there is no query '{query}'")
        if self.own.kind in ("read", "find"):
            raise ProgramProblem("what reads a query does not change it")
        columns = self.lookups.get(query, ())
        if len(columns) != len(keys):
            raise ProgramProblem(f"rows of '{query}' are found by {len(columns)} keys")
        for j, e in zip(columns, keys, strict=True):
            self.convertible(seen.type(e), self.queries[query][j])

    def _output(
        self, query: str, values: Sequence[Expr], types: Sequence[Type], seen: Visible
    ) -> None:
        if self.own.kind not in ("read", "find") or self.own.of != query:
            raise ProgramProblem(f"rows of '{query}' are put out by its own functions only")
        if not len(values) == len(types) == len(self.queries[query]):
            raise ProgramProblem(f"a row of '{query}' has {len(self.queries[query])} columns")
        for e, t in zip(values, self.queries[query], strict=True):
            self.convertible(seen.type(e), t)
