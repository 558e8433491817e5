"""A whole kernel: Program to C++ text. Pure: the same program gives the same text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from freshview.calculus.check import Schema
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.schema import Column, Query
from freshview.calculus.terms import Delta
from freshview.calculus.types import INT
from freshview.calculus.walk import subterms
from freshview.codegen.cpp.code import identifier, join
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
from freshview.codegen.kernel.defer import deferrable
from freshview.codegen.kernel.queries import Queries
from freshview.codegen.kernel.statements import Statements
from freshview.codegen.kernel.triggers import Triggers
from freshview.codegen.layout.derive import derive
from freshview.codegen.layout.directories import Homes, directories
from freshview.codegen.layout.place import place_maps
from freshview.codegen.layout.records import declare_all, declare_orders, follow, members
from freshview.codegen.layout.storage import MapPlace, Storage
from freshview.codegen.layout.widen import widen
from freshview.codegen.options import USUAL_PASSES, KernelPasses
from freshview.codegen.terms.term import Terms
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


def emit(
    program: Program, functions: Functions = BUILTINS, passes: KernelPasses = USUAL_PASSES
) -> str:
    """The C++ source of a program's kernel, or NotNative with the reason."""
    return write(program, functions, passes).text


@deep
def write(
    program: Program, functions: Functions = BUILTINS, passes: KernelPasses = USUAL_PASSES
) -> Source:
    """The C++ source of a program's kernel, with what it says about the program.

    A map that would be recomputed from all the data with every change, and that only queries
    read, is recomputed when it is read; one that an index recomputes, after the rows of a batch.
    """
    if passes.wide:
        program = widen(program)
    if passes.derive:
        program = derive(program, factorise=passes.factorise)
    first = _Kernel(program, functions, passes)
    text = first.source()
    recomputed = deferrable(program) if passes.defer else {}
    walks = {s.target.name for s in first.scanning}
    deferred = {name: s for name, s in recomputed.items() if name in walks}
    late = {name: s for name, s in recomputed.items() if name not in walks}
    last = first
    if recomputed:
        last = _Kernel(program, functions, passes, deferred, late)
        text = last.source()
    if passes.directories:
        homes = directories(program, last.places, last.storages, last.terms.lookups)
        if homes:
            last = _Kernel(program, functions, passes, deferred, late, homes)
            text = last.source()
    scans = tuple(s for s in last.scanning if s.target.name not in deferred)
    return Source(text, scans, tuple(deferred), tuple(late))


class _Kernel:
    """A kernel in the making: its tables, and what writes its functions."""

    def __init__(
        self,
        program: Program,
        functions: Functions,
        passes: KernelPasses,
        deferred: Mapping[str, Statement] | None = None,
        late: Mapping[str, Statement] | None = None,
        homes: Homes | None = None,
    ) -> None:
        self.program = program
        self.passes = passes
        self.relations = {r.name: r for r in program.relations}
        self.layout = place_maps(program, functions, passes, homes or {})
        self.storages = self.layout.storages
        self.places = self.layout.places
        self.terms = Terms(
            schema=Schema(
                relations={r.name: r.types for r in program.relations},
                maps={m.name: (tuple(c.type for c in m.keys), m.payload) for m in program.maps},
                functions=functions,
            ),
            places=self.places,
            maps={m.name: m for m in program.maps},
            deltas={},
            delta=self._delta,
            transients=[],
            symbols={},
            columns={r.name: r.types for r in program.relations},
            passes=passes,
            batch_tables=frozenset(
                self.places[name].storage.name for name in _batch_tables(program)
            ),
        )
        payloads = (t for s in self.storages for t in s.payloads if isinstance(t, CofactorType))
        # A constant is lifted where the query is read: no map knows of it.
        shown = (cofactors(x) for q in program.queries for x in subterms(q.term))
        lifted = frozenset(name for t in shown for name in t.slots)
        self.categories = categories(program, self.terms.schema)
        self.headers = [functions.headers[name] for name in sorted(_rings(program, functions))]
        self.slots = numbered([*(t.slots for t in payloads), lifted])
        self.statements = Statements(self.terms, passes, deferred or {})
        self.triggers = Triggers(program, self.terms, self.statements, passes, late or {})
        self.triggers.watched = bool(self.slots)
        self.queries = Queries(self.terms, deferred or {}, self.categories)

    @property
    def scanning(self) -> list[Statement]:
        """Statements of triggers that walk through all the data."""
        return self.statements.scanning

    def _delta(self, name: str) -> MapPlace:
        """The batch as a table, its rows added up; made at the start of the trigger."""
        if name not in self.terms.deltas:
            storage = Storage(
                f"d_{identifier(name)}", self.relations[name].types, [INT], transient=True
            )
            self.terms.transients.append(storage)
            columns = tuple(range(len(storage.keys)))
            self.terms.deltas[name] = MapPlace(storage, 0, columns)
        return self.terms.deltas[name]

    def source(self) -> str:
        ready = self.triggers.ready()
        functions = [self.triggers.relation(r) for r in self.program.relations]
        ready += self.triggers.refresh()
        queries = [self.queries.query(q) for q in self.program.queries]
        maps = [self.queries.map(m) for m in self.program.maps]
        parts = [
            *dict.fromkeys(ring.text for ring in self.headers),
            *(f'#include "{header}.hpp"' for header in HEADERS),
            *(['#include "cofactor.hpp"'] if self.slots else []),
            *(['#include "categorical.hpp"'] if self.categories else []),
            *(['#include "element.hpp"'] if self.headers else []),
            "namespace fr {\n",
            *(f"constexpr u64 {bit(x)} = u64(1) << {i};" for i, x in enumerate(self.slots)),
            *(f"constexpr u64 {number(x)} = {i};" for i, x in enumerate(self.categories, 1)),
            *declare_all([*self.storages, *self.terms.transients]),
            *(declare_orders(s) for s in self.storages),
            self._state(),
            '}  // namespace fr\n\n#include "support.hpp"\n\nnamespace fr {\n',
            *(follow(s) for s in self.storages),
            *(text for _, text in self.triggers.after.values()),
            *functions,
            ready,
            *queries,
            *maps,
            self._catalog(),
            self._create(),
            self._entry(),
            '}  // namespace fr\n\n#include "boundary.hpp"\n',
        ]
        return "\n".join(parts)

    def _state(self) -> str:
        lines = ["struct State {", "  Strings strings;", "  bool stale;"]
        if self.slots:
            lines += [f"  Watched<{len(self.slots)}> watch;", "  f64 gone;"]
        lines += [f"  Sym {name};" for name in self.terms.symbols.values()]
        lines += [f"  {member}" for s in self.storages for member in members(s)]
        return join([*lines, "};"])

    def _catalog(self) -> str:
        """What the kernel says of itself."""
        queries = [
            QueryEntry(q.name, self._query_columns(q), bool(self.queries.lookup_columns(q)))
            for q in self.program.queries
        ]
        maps = [MapEntry(m.name, self._map_columns(m)) for m in self.program.maps]
        return catalog(self.program.relations, self.triggers.used, queries, maps)

    def _query_columns(self, q: Query) -> list[Column]:
        """The columns of a query as the kernel puts them out."""
        types = (self.queries.payloads.get((q.name, c.name), c.type) for c in q.columns)
        pairs = zip(q.columns, types, strict=True)
        return [f for c, t in pairs for f in flat(c, t, self.slots, self.categories)]

    def _map_columns(self, m: Map) -> list[Column]:
        """The columns of a map as the kernel puts them out."""
        payload = Column("", m.payload)
        t = self.places[m.name].payload_type
        if self.passes.parts and t.kind == "double":
            return [*m.keys, *parts_of(payload)]
        return [*m.keys, *flat(payload, t, self.slots, self.categories)]

    def _create(self) -> str:
        """The function that starts an empty state."""
        refusal = "freshview: the zero of the ring {} is not all zeros, as tables need it.\n"
        lines = [
            f"  check_zero<::{r.name}>({quote(refusal.format(r.name))});" for r in self.headers
        ]
        lines += [f"  s.{s.name}.init(e.arena);" for s in self.storages if s.home is None]
        if self.slots:
            lines.append("  s.watch.init();")
        lines += [
            f"  s.{name} = s.strings.put(e.arena, {literal});"
            for literal, name in self.terms.symbols.items()
        ]
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


def _batch_tables(program: Program) -> set[str]:
    """Maps that hold the last batch of a stream, put aside for that of another one."""
    statements = [s for t in program.triggers for s in t.statements]
    aside = {s.target.name for s in statements if s.op == ":=" and isinstance(s.term, Delta)}
    return aside - {s.target.name for s in statements if not isinstance(s.term, Delta)}
