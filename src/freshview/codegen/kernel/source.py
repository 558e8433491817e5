"""A whole kernel: Program to C++ text. Pure: the same program gives the same text."""

from __future__ import annotations

from dataclasses import dataclass

from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.schema import Column, Query
from freshview.calculus.walk import subterms
from freshview.codegen.cpp.code import join
from freshview.codegen.cpp.ring_types import (
    CofactorType,
    bit,
    categories,
    cofactors,
    flat,
    number,
    numbered,
)
from freshview.codegen.cpp.types import parts_of, quote
from freshview.codegen.kernel.catalog import MapEntry, QueryEntry, catalog
from freshview.codegen.kernel.functions import FunctionWriter, in_order
from freshview.codegen.kernel.host_columns import NO_CALLS, HostCalls, host_calls
from freshview.codegen.kernel.output import Outputs
from freshview.codegen.kernel.records import declare_all, declare_orders, follow, members
from freshview.codegen.kernel.tables import cpp_tables
from freshview.codegen.kernel.values import CppScope
from freshview.codegen.loops.facts import (
    preaggregates,
    relation_columns,
    ring_columns,
    transients,
)
from freshview.codegen.options import USUAL_PASSES, KernelPasses
from freshview.codegen.pipeline import Draft, plan_kernel
from freshview.depth import deep
from freshview.program.terms import Map, Program, Statement

HEADERS = ("flat", "kernel", "ordered", "pool", "rows", "sum")


@dataclass(frozen=True)
class Source:
    """The C++ text of a kernel, and what was found out while writing it."""

    text: str
    scans: tuple[Statement, ...]
    """Statements of triggers whose cost follows the data and not the change."""
    deferred: tuple[str, ...]
    """Maps that are recomputed when they are read, and not with every change."""
    late: tuple[str, ...] = ()
    """Maps that are recomputed once a batch, and not with every row of it."""
    listed: tuple[str, ...] = ()
    """Maps that follow the groups that have changed when they are read."""
    compared: tuple[tuple[str, str], ...] = ()
    """Queries whose changes are known only by comparing two reads, each with the reason."""
    host: HostCalls = NO_CALLS
    """The functions that are called in Python."""


def emit(
    program: Program, functions: Functions = BUILTINS, passes: KernelPasses = USUAL_PASSES
) -> str:
    """The C++ source of a program's kernel, or NotNative with the reason."""
    return write(program, functions, passes).text


@deep
def write(
    program: Program, functions: Functions = BUILTINS, passes: KernelPasses = USUAL_PASSES
) -> Source:
    """The C++ source of a program's kernel, with what it says about the program."""
    plan = plan_kernel(program, functions, passes)
    text = _Kernel(plan, functions, passes).source()
    layout = plan.layout
    deferred = tuple(m.name for m in plan.program.maps if m.name in layout.deferred)
    late = tuple(m.name for m in plan.program.maps if m.name in layout.late)
    listed = tuple(layout.listings)
    host = host_calls(plan.loops, plan.terms.schema)
    return Source(text, plan.scans, deferred, late, listed, tuple(plan.compared.items()), host)


class _Kernel:
    """A kernel as text: its tables, its functions, and what it says of itself."""

    def __init__(self, plan: Draft, functions: Functions, passes: KernelPasses) -> None:
        program = plan.program
        self.plan = plan
        self.program = program
        self.passes = passes
        self.layout = plan.layout
        self.tables = cpp_tables(plan.layout)
        self.used_transients = {c.table.name for c in transients(plan.loops)}
        self.state_tables = [t for t in self.tables.values() if not t.own.transient]
        payloads = (t for s in self.state_tables for t in s.payloads if isinstance(t, CofactorType))
        # A constant is lifted where the query is read: no map knows of it.
        shown = (cofactors(x) for q in program.queries for x in subterms(q.term))
        lifted = frozenset(name for t in shown for name in t.slots)
        self.categories = categories(program, plan.terms.schema)
        self.headers = [functions.headers[name] for name in sorted(_rings(program, functions))]
        self.slots = numbered([*(t.slots for t in payloads), lifted])
        self.rings = ring_columns(plan.loops)
        queries = {q.name: q for q in program.queries}
        lookups = {f.of: f.key for f in plan.loops.functions if f.kind == "find"}
        self.outputs = Outputs(queries, self.categories, passes.parts, lookups)
        self.scope = CppScope(
            plan.terms.schema, self.tables, {r.name: r for r in program.relations}
        )
        self.functions = FunctionWriter(
            self.program, self.layout, self.outputs, self.scope, self.rings, bool(self.slots)
        )

    def source(self) -> str:
        transient = [t for t in self.tables.values() if t.name in self.used_transients]
        functions = [self.functions.function(f) for f in in_order(self.plan.loops)]
        maps = [self.functions.map(m) for m in self.program.maps]
        parts = [
            *dict.fromkeys(ring.text for ring in self.headers),
            *(f'#include "{header}.hpp"' for header in HEADERS),
            *(['#include "journal.hpp"'] if self.layout.listings else []),
            *(['#include "preaggregate.hpp"'] if preaggregates(self.plan.loops) else []),
            *(['#include "cofactor.hpp"'] if self.slots else []),
            *(['#include "categorical.hpp"'] if self.categories else []),
            *(['#include "element.hpp"'] if self.headers else []),
            "namespace fr {\n",
            *(f"constexpr u64 {bit(x)} = u64(1) << {i};" for i, x in enumerate(self.slots)),
            *(f"constexpr u64 {number(x)} = {i};" for i, x in enumerate(self.categories, 1)),
            *declare_all([*self.state_tables, *transient]),
            *(declare_orders(s) for s in self.state_tables),
            self._state(),
            '}  // namespace fr\n\n#include "support.hpp"\n\nnamespace fr {\n',
            *(follow(s) for s in self.state_tables),
            *functions,
            *maps,
            self._catalog(),
            self._create(),
            self._entry(),
            '}  // namespace fr\n\n#include "boundary.hpp"\n',
        ]
        return "\n".join(parts)

    def _state(self) -> str:
        lines = ["struct State {", "  Strings strings;", "  bool stale, late;"]
        if self.slots:
            lines += [f"  Watched<{len(self.slots)}> watch;", "  f64 gone;"]
        lines += [f"  {member}" for s in self.state_tables for member in members(s)]
        return join([*lines, "};"])

    def _catalog(self) -> str:
        """What the kernel says of itself."""
        findable = {f.of for f in self.plan.loops.functions if f.kind == "find"}
        collected = self.plan.collected.keys()
        queries = [
            QueryEntry(q.name, self._query_columns(q), q.name in findable, q.name in collected)
            for q in self.program.queries
        ]
        maps = [MapEntry(m.name, self._map_columns(m)) for m in self.program.maps]
        used = {
            f.of: relation_columns(f) for f in self.plan.loops.functions if f.kind == "relation"
        }
        return catalog(self.program.relations, used, queries, maps)

    def _query_columns(self, q: Query) -> list[Column]:
        """The columns of a query as the kernel puts them out."""
        types = (self.rings.get((q.name, j), c.type) for j, c in enumerate(q.columns))
        pairs = zip(q.columns, types, strict=True)
        return [f for c, t in pairs for f in flat(c, t, self.slots, self.categories)]

    def _map_columns(self, m: Map) -> list[Column]:
        """The columns of a map as the kernel puts them out."""
        payload = Column("", m.payload)
        t = self.layout.payload_type(m.name)
        if self.passes.parts and t.kind == "double":
            return [*m.keys, *parts_of(payload)]
        return [*m.keys, *flat(payload, t, self.slots, self.categories)]

    def _create(self) -> str:
        """The function that starts an empty state."""
        refusal = "freshview: the zero of the ring {} is not all zeros, as tables need it.\n"
        lines = [
            f"  check_zero<::{r.name}>({quote(refusal.format(r.name))});" for r in self.headers
        ]
        lines += [
            f"  s.{s.name}.init(e.arena);"
            for s in self.state_tables
            if s.home is None and not s.listing
        ]
        if self.slots:
            lines.append("  s.watch.init();")
        head = ["static void create(Env& e) {", "  State& s = *e.state;"]
        return "\n".join([*head, "  s.strings.init(e.arena);", *lines, "}"])

    def _entry(self) -> str:
        """What the library shows of the kernel: its sizes, its tables, and its functions."""
        slots = ", ".join(quote(x) for x in self.slots)
        state = "State& s" if self.slots else "State&"
        watch, gone = ("s.watch.all()", "&s.gone") if self.slots else ("{}", "nullptr")
        return join(
            [
                "static Strings& strings_of(State& s) { return s.strings; }",
                f"static const char* const all_slots[] = {{{slots or 'nullptr'}}};",
                f"static Watch watch_of({state}) {{ return {watch}; }}",
                f"static f64* gone_of({state}) {{ return {gone}; }}",
                f"const Kernel kernel = {{{len(self.program.relations)}, "
                f"{len(self.program.queries)}, {len(self.program.maps)}, all_relations, "
                "all_queries, all_maps, sizeof(State), strings_of, create, ready, "
                f"{len(self.slots)}, all_slots, watch_of, gone_of}};",
            ]
        )


def _rings(program: Program, functions: Functions) -> set[str]:
    """The rings of a program that are declared in C++."""
    payloads = {m.payload.ring for m in program.maps}
    shown = {c.type.ring for q in program.queries for c in q.columns}
    return (payloads | shown) & functions.headers.keys()
