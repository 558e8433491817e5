"""From a program to the layout and the loops of its kernel, pass by pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from freshview.calculus.check import Schema
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.terms import Delta
from freshview.codegen.cpp.code import identifier
from freshview.codegen.layout.derive import derive
from freshview.codegen.layout.place import place_maps
from freshview.codegen.layout.terms import Columns, Layout
from freshview.codegen.layout.widen import widen
from freshview.codegen.loops.facts import lookups
from freshview.codegen.loops.terms import Batch, Block, Function, Loops, Stmt
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
from freshview.codegen.passes.name_tables import name_tables
from freshview.codegen.passes.prefetch import prefetch
from freshview.codegen.passes.share import share
from freshview.codegen.passes.share_lookups import share_lookups
from freshview.program.terms import Program, Statement


@dataclass(frozen=True)
class KernelPlan:
    """What a kernel will do: its program, its tables, its functions, and what is known of them."""

    program: Program
    schema: Schema
    layout: Layout
    loops: Loops
    scans: tuple[Statement, ...]
    """Statements of triggers whose cost follows the data and not the change."""


def plan_kernel(
    program: Program, functions: Functions = BUILTINS, passes: KernelPasses = USUAL_PASSES
) -> KernelPlan:
    """The layout and the loops of a program."""
    if passes.wide:
        program = widen(program)
    if passes.derive:
        program = derive(program, factorise=passes.factorise)
    layout = place_maps(program, functions, passes)
    terms = Terms(
        schema=Schema(
            relations={r.name: r.types for r in program.relations},
            maps={m.name: (tuple(c.type for c in m.keys), m.payload) for m in program.maps},
            functions=functions,
        ),
        layout=layout,
        maps={m.name: m for m in program.maps},
        columns={r.name: r.types for r in program.relations},
        passes=passes,
    )
    batch_tables = frozenset(layout.places[name].table for name in _batch_tables(program))
    if passes.defer:
        layout = defer(program, terms, batch_tables)
        terms = replace(terms, layout=layout)
    triggers = [Triggers(program, terms).lower(r) for r in program.relations]
    others = tuple(_others(program, terms, triggers))

    def functions_of(layout: Layout) -> Loops:
        own = (
            Function(
                f"on_{identifier(t.relation.name)}",
                "relation",
                t.relation.name,
                assemble(t, layout, passes.keys and bool(t.relation.key)),
            )
            for t in triggers
        )
        return name_tables(Loops((*own, *others)))

    loops = functions_of(layout)
    indexed = add_indexes(layout, loops)
    if passes.directories:
        housed = directories(program, indexed, _lookups(loops, indexed, terms))
        if any(t.home for t in housed.tables.values()):
            loops = functions_of(housed)
            indexed = add_indexes(housed, loops)
    loops = _improved(loops, indexed, terms, passes)
    put_off = layout.deferred
    scans = tuple(
        s for t in triggers for s in scanning(t, batch_tables) if s.target.name not in put_off
    )
    return KernelPlan(program, terms.schema, indexed, loops, scans)


def _improved(loops: Loops, layout: Layout, terms: Terms, passes: KernelPasses) -> Loops:
    """The loops after the passes that change how they run, and not what they ask for."""
    functions = []
    for f in loops.functions:
        body = f.body
        if passes.share:
            body = share(body)
            row = body[0].row if body and isinstance(body[0], Batch) else ""
            body = share_lookups(body, layout, row) if row else body
        if passes.prefetch:
            body = prefetch(body, layout, terms.columns)
        functions.append(replace(f, body=body))
    return Loops(tuple(functions))


def _others(program: Program, terms: Terms, triggers: list[LoweredTrigger]) -> Iterator[Function]:
    """All the functions that are not of a relation's batches."""
    layout = terms.layout
    recomputed = deferrable(program)
    for maps in dict.fromkeys(t.late for t in triggers if t.late):
        yield after_rows(maps, recomputed, terms)
    runs = [t.statements for t in program.triggers if t.event == "ready"]
    yield Function("ready", "ready", "", _run(runs, terms))
    if layout.deferred:
        now = replace(terms, layout=replace(layout, deferred=frozenset()))
        put_off = [s for name, s in recomputed.items() if name in layout.deferred]
        yield Function("refresh", "refresh", "", _run([put_off], now))
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


def _batch_tables(program: Program) -> set[str]:
    """Maps that hold the last batch of a stream, put aside for that of another one."""
    statements = [s for t in program.triggers for s in t.statements]
    aside = {s.target.name for s in statements if s.op == ":=" and isinstance(s.term, Delta)}
    return aside - {s.target.name for s in statements if not isinstance(s.term, Delta)}


def _lookups(loops: Loops, layout: Layout, terms: Terms) -> Iterator[set[tuple[str, Columns]]]:
    """By trigger and columns of its row: the tables that are asked by them, and by which keys."""
    for f in loops.functions:
        if not (f.body and isinstance(f.body[0], Batch)) or f.kind != "relation":
            continue
        loop = f.body[0]
        types = {f"c{j}": t for j, t in enumerate(terms.columns[loop.relation])}
        by_columns: dict[object, set[tuple[str, Columns]]] = {}
        for x in lookups(loop.body, loop.row, types, layout):
            by_columns.setdefault(x.keys, set()).add((x.table, x.columns))
        yield from by_columns.values()
