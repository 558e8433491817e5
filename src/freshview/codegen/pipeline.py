"""From a program to the layout and the loops of its kernel, pass by pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from freshview.calculus.check import Schema
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.terms import Delta, Expr
from freshview.codegen.cpp.code import identifier
from freshview.codegen.layout.caches import keep_caches
from freshview.codegen.layout.derive import derive
from freshview.codegen.layout.place import place_maps
from freshview.codegen.layout.terms import Columns, Layout
from freshview.codegen.layout.widen import widen
from freshview.codegen.loops.facts import lookups
from freshview.codegen.loops.terms import (
    Batch,
    Block,
    Function,
    Loops,
    Stmt,
)
from freshview.codegen.lower.context import ONE, Names
from freshview.codegen.lower.queries import lower_query
from freshview.codegen.lower.statements import Statements, lower_statement
from freshview.codegen.lower.term import Terms
from freshview.codegen.lower.triggers import (
    LoweredTrigger,
    Triggers,
    after_rows,
    assemble,
    scanning,
)
from freshview.codegen.options import USUAL_PASSES, KernelPasses
from freshview.codegen.passes.defer import defer, deferrable
from freshview.codegen.passes.directories import directories
from freshview.codegen.passes.indexes import add_indexes
from freshview.codegen.passes.listings import follow_listings, listings, without_triggers
from freshview.codegen.passes.mark_stale import mark_stale
from freshview.codegen.passes.merge_tests import merge_tests
from freshview.codegen.passes.name_tables import name_tables
from freshview.codegen.passes.one_write import one_write
from freshview.codegen.passes.preaggregate import preaggregate
from freshview.codegen.passes.prefetch import prefetch
from freshview.codegen.passes.prune_sums import prune_sums
from freshview.codegen.passes.running_sums import running_sums
from freshview.codegen.passes.share import share
from freshview.codegen.passes.share_lookups import share_lookups
from freshview.codegen.passes.touch import KeyColumns, collect, touch
from freshview.program.expiry import expiring
from freshview.program.terms import Program, Statement


@dataclass(frozen=True)
class Draft:
    """A kernel on its way: what the passes so far have decided."""

    program: Program
    functions: Functions
    options: KernelPasses
    layout: Layout = field(default_factory=Layout)
    triggers: tuple[LoweredTrigger, ...] = ()
    others: tuple[Function, ...] = ()
    """Functions that are not of a relation's batches."""
    loops: Loops = field(default_factory=lambda: Loops(()))
    collected: Mapping[str, KeyColumns] = field(default_factory=dict)
    """Queries whose changes are collected while they are made."""
    listed: Mapping[str, Expr] = field(default_factory=dict)
    """Maps that follow the changed records of a table when they are read: what they are of it."""
    compared: Mapping[str, str] = field(default_factory=dict)
    """Queries whose changes are known by comparing two reads, each with the reason."""

    @property
    def terms(self) -> Terms:
        """What lowers terms over the tables that are there."""
        program = self.program
        return Terms(
            schema=Schema(
                relations={r.name: r.types for r in program.relations},
                maps={m.name: (tuple(c.type for c in m.keys), m.payload) for m in program.maps},
                functions=self.functions,
            ),
            layout=self.layout,
            maps={m.name: m for m in program.maps},
            columns={r.name: r.types for r in program.relations},
            passes=self.options,
        )

    @property
    def batch_tables(self) -> frozenset[str]:
        """Tables whose rows came with the change."""
        return frozenset(self.layout.places[name].table for name in _batch_maps(self.program))

    @property
    def scans(self) -> tuple[Statement, ...]:
        """Statements of triggers whose cost follows the data and not the change.

        Not those that forget what windows have left: they run when that pays.
        """
        own = (s for t in self.triggers for s in scanning(t, self.batch_tables))
        others = [*expiring(self.program)]
        return tuple(
            s for s in own if s.target.name not in self.layout.deferred and s not in others
        )


@dataclass(frozen=True)
class Pass:
    """A step from a program to the loops of its kernel: what it is called, and what it changes."""

    name: str
    level: Literal["program", "layout", "loops"]
    run: Callable[[Draft], Draft]
    does: str
    """What it does, in a line for those who read what it has changed."""
    switch: str = ""
    """The field of the options that turns it on."""

    def is_on(self, options: KernelPasses) -> bool:
        """Whether it is to run."""
        return self.name not in options.skip and (not self.switch or getattr(options, self.switch))


def _widen(d: Draft) -> Draft:
    return replace(d, program=widen(d.program))


def _caches(d: Draft) -> Draft:
    return replace(d, program=keep_caches(d.program))


def _derive(d: Draft) -> Draft:
    return replace(d, program=derive(d.program, factorise=d.options.factorise))


def _place(d: Draft) -> Draft:
    return replace(d, layout=place_maps(d.program, d.functions, d.options))


def _defer(d: Draft) -> Draft:
    return replace(d, layout=defer(d.program, d.terms, d.batch_tables))


def _listings(d: Draft) -> Draft:
    followed = listings(d.program, d.terms)
    if not followed:
        return d
    layout = replace(d.layout, listings={name: x for name, (x, _) in followed.items()})
    listed = {name: term for name, (_, term) in followed.items()}
    return replace(d, program=without_triggers(d.program, listed), layout=layout, listed=listed)


def _lower(d: Draft) -> Draft:
    lowered = Triggers(d.program, d.terms)
    triggers = tuple(lowered.lower(r) for r in d.program.relations)
    return _assembled(replace(d, triggers=triggers, others=tuple(_others(d, triggers))))


def _assembled(d: Draft) -> Draft:
    """The functions of all relations, put together as the layout allows it; indexes follow."""
    own = (
        Function(
            f"on_{identifier(t.relation.name)}",
            "relation",
            t.relation.name,
            assemble(t, d.layout, d.options.keys and bool(t.relation.key)),
        )
        for t in d.triggers
    )
    loops = name_tables(Loops((*own, *d.others)))
    return replace(d, loops=loops, layout=add_indexes(d.layout, loops))


def _directories(d: Draft) -> Draft:
    housed = directories(d.program, d.layout, _lookups(d))
    if not any(t.home for t in housed.tables.values()):
        return d
    return _assembled(replace(d, layout=housed))


def over_blocks(change: Callable[[Block], Block]) -> Callable[[Draft], Draft]:
    """A pass that changes the body of every function."""

    def run(d: Draft) -> Draft:
        functions = tuple(replace(f, body=change(f.body)) for f in d.loops.functions)
        return replace(d, loops=Loops(functions))

    return run


def _mark_stale(d: Draft) -> Draft:
    return replace(d, loops=mark_stale(d.loops, d.layout))


def _share_lookups(d: Draft) -> Draft:
    def change(body: Block) -> Block:
        row = body[0].row if body and isinstance(body[0], Batch) else ""
        return share_lookups(body, d.layout, row) if row else body

    return over_blocks(change)(d)


def _preaggregate(d: Draft) -> Draft:
    columns = {r.name: r.types for r in d.program.relations if not r.static}
    return over_blocks(lambda body: preaggregate(body, d.layout, columns))(d)


def _touch(d: Draft) -> Draft:
    plan = collect(d.program, d.loops, d.layout)
    loops = touch(d.loops, plan.collected)
    return replace(d, loops=loops, collected=plan.collected, compared=plan.compared)


def _prefetch(d: Draft) -> Draft:
    columns = {r.name: r.types for r in d.program.relations}
    return over_blocks(lambda body: prefetch(body, d.layout, columns))(d)


PASSES = (
    Pass("widen", "program", _widen, "all decimals get 128 bits", "wide"),
    Pass("derive", "program", _derive, "maps that others answer for are not kept", "derive"),
    Pass("caches", "program", _caches, "view caches become maps beside what was asked for"),
    Pass("place", "layout", _place, "maps get tables; those over the same rows share one"),
    Pass("defer", "layout", _defer, "what only reads need is recomputed later", "defer"),
    Pass(
        "listings",
        "layout",
        _listings,
        "an order that only reads search follows what changed when it is read",
        "listings",
    ),
    Pass("lower", "loops", _lower, "statements become loops, which ask for indexes"),
    Pass(
        "directories",
        "layout",
        _directories,
        "records lie in the heads of another table's hash index with the same key",
        "directories",
    ),
    Pass("share", "loops", over_blocks(share), "common loops, tests, writes run once", "share"),
    Pass(
        "share_lookups",
        "loops",
        _share_lookups,
        "a record that blocks apart look up is looked up once a row",
        "share",
    ),
    Pass(
        "mark_stale",
        "loops",
        _mark_stale,
        "maps are recomputed only where a row has changed what they are computed from",
    ),
    Pass("merge_tests", "loops", over_blocks(merge_tests), "nested tests become one condition"),
    Pass(
        "preaggregate",
        "loops",
        _preaggregate,
        "blocks of rows that are only added to a table are added up by key first",
        "preaggregate",
    ),
    Pass("prefetch", "loops", _prefetch, "memory is fetched some rows ahead", "prefetch"),
    Pass(
        "one_write",
        "loops",
        over_blocks(one_write),
        "sums that are added to one record, where they are there, are one write",
        "one_write",
    ),
    Pass("touch", "loops", _touch, "writes say which rows of a view they may change", "changes"),
    Pass(
        "running_sums",
        "loops",
        over_blocks(running_sums),
        "a search that asks for the sums beyond an entry carries them along",
        "running_sums",
    ),
    Pass(
        "prune_sums",
        "loops",
        over_blocks(prune_sums),
        "a sum over a range adds up only what is read of it",
        "prune_sums",
    ),
)
"""All the passes, in their order."""


def drafts(
    program: Program, functions: Functions = BUILTINS, options: KernelPasses = USUAL_PASSES
) -> Iterator[tuple[Pass, Draft]]:
    """The kernel of a program after each pass."""
    draft = Draft(program, functions, options)
    for step in PASSES:
        if step.is_on(options):
            draft = step.run(draft)
            yield step, draft


def plan_kernel(
    program: Program, functions: Functions = BUILTINS, passes: KernelPasses = USUAL_PASSES
) -> Draft:
    """The layout and the loops of a program."""
    *_, (_, draft) = drafts(program, functions, passes)
    return draft


def _others(d: Draft, triggers: Iterable[LoweredTrigger]) -> Iterator[Function]:
    """All the functions that are not of a relation's batches."""
    program, terms, layout = d.program, d.terms, d.layout
    recomputed = deferrable(program)
    for maps in dict.fromkeys(t.late for t in triggers if t.late):
        yield after_rows(maps, recomputed, terms)
    runs = [t.statements for t in program.triggers if t.event == "ready"]
    yield Function("ready", "ready", "", _run(runs, terms))
    if layout.deferred:
        now = replace(terms, layout=replace(layout, deferred=frozenset()))
        put_off = [s for name, s in recomputed.items() if name in layout.deferred]
        yield Function("refresh", "refresh", "", _run([put_off], now))
    yield from follow_listings(terms, {n: (layout.listings[n], e) for n, e in d.listed.items()})
    for q in program.queries:
        yield from lower_query(terms, q)


def _run(runs: Iterable[Sequence[Statement]], terms: Terms) -> Block:
    """Statements that no row brings about."""
    terms = replace(terms, names=Names())
    block: list[Stmt] = []
    for statements in runs:
        lowered = [lower_statement(terms, s, {}, ONE) for s in statements]
        block += Statements(terms, terms.layout).carry_out(lowered, {}, ())
    return tuple(block)


def _batch_maps(program: Program) -> set[str]:
    """Maps that hold what a batch changes in a derived view, or a batch put aside for another."""
    statements = [s for t in program.triggers for s in t.statements]
    aside = {s.target.name for s in statements if s.op == ":=" and isinstance(s.term, Delta)}
    aside -= {s.target.name for s in statements if not isinstance(s.term, Delta)}
    return aside | {m.name for m in program.maps if m.is_change}


def _lookups(d: Draft) -> Iterator[set[tuple[str, Columns]]]:
    """By trigger and columns of its row: the tables that are asked by them, and by which keys."""
    columns = {r.name: r.types for r in d.program.relations}
    for f in d.loops.functions:
        if not (f.body and isinstance(f.body[0], Batch)) or f.kind != "relation":
            continue
        loop = f.body[0]
        types = {f"c{j}": t for j, t in enumerate(columns[loop.relation])}
        by_columns: dict[object, set[tuple[str, Columns]]] = {}
        for x in lookups(loop.body, loop.row, types, d.layout):
            by_columns.setdefault(x.keys, set()).add((x.table, x.columns))
        yield from by_columns.values()
