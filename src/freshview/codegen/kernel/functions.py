"""Functions of a kernel as C++: what surrounds the loops of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from freshview.calculus.schema import Query
from freshview.calculus.types import Type
from freshview.codegen.cpp.code import identifier, join
from freshview.codegen.cpp.ring_types import RingType
from freshview.codegen.cpp.types import batch_type, is_mixed
from freshview.codegen.kernel.emit import BlockPrinter
from freshview.codegen.kernel.output import Outputs
from freshview.codegen.kernel.rows import array_name, batch_fields, column_name
from freshview.codegen.kernel.text import Lines, indented
from freshview.codegen.kernel.values import CppScope
from freshview.codegen.layout.terms import Layout
from freshview.codegen.loops.facts import relation_columns
from freshview.codegen.loops.terms import (
    At,
    Block,
    Collect,
    Function,
    Loops,
    Total,
)
from freshview.codegen.loops.walk import statements
from freshview.codegen.lower.queries import listing_name
from freshview.program.terms import Map, Program


def in_order(loops: Loops) -> list[Function]:
    """The functions of a kernel, each after those that it calls."""
    calls = [f for f in loops.functions if f.kind in ("after", "refresh", "listing")]
    return [*calls, *(f for f in loops.functions if f not in calls)]


@dataclass(frozen=True)
class FunctionWriter:
    """What writes the functions of a kernel."""

    program: Program
    layout: Layout
    outputs: Outputs
    scope: CppScope
    rings: Mapping[tuple[str, int], Type]
    watched: bool
    """Whether the kernel counts deleted rows, since it has cofactors."""

    def function(self, f: Function) -> str:
        """A function, and the tables of constants that go with it."""
        printer = BlockPrinter(self.outputs)
        scope, parameters, before = self.scope, "", list[str]()
        often = f.kind in ("relation", "after", "find")
        body = f.body
        if f.kind == "relation":
            parameters = "const Batch& b"
            before = self._loads(f)
        elif f.kind == "read":
            parameters = "Output& out"
        elif f.kind == "find":
            q = next(q for q in self.program.queries if q.name == f.of)
            parameters = "const Batch& b, Output& out"
            before = self._key(q, f)
            # A test of the query may leave NULL out of a column; a map that it reads has it yet.
            sought = [replace(c, type=c.type.or_null()) for c in q.columns]
            scope = scope.with_row("key", batch_fields("key", sought))
        lines = [*before, *printer.block(body, scope)]
        if f.kind in ("refresh", "after"):
            flag = "s.stale" if f.kind == "refresh" else "s.late"
            lines = [f"if ({flag}) {{", f"  {flag} = false;", *indented(lines), "}"]
        if f.kind == "listing":
            lines = self._following(f, lines)
        text = self._function(f.name, parameters, lines, f.body, often)
        return self._flags(f) + text if f.kind == "find" else text

    def _following(self, f: Function, lines: Lines) -> Lines:
        """What gathers the entries of ordered indexes, unless no record has changed."""
        log = f"{self.scope.tables[f.of].path}_U_log"
        written = dict.fromkeys(s.table for s in statements(f.body) if isinstance(s, At))
        tables = [self.scope.tables[name] for name in written]
        each = [(t, j) for t in tables for j in range(len(t.orders))]
        return [
            f"if ({log}.is_empty()) return;",
            f"const bool whole = {log}.is_whole();",
            *(f"Gathered<Ord{j}_{t.name}, Sum_{t.name}> {t.name}_U_g{j};" for t, j in each),
            *(f"if (whole) {t.path}_U_o{j}.clear(e.arena);" for t, j in each),
            *lines,
            *(f"{t.name}_U_g{j}.pour(e.arena, e.scratch, {t.path}_U_o{j});" for t, j in each),
            "e.scratch.reset();",
        ]

    def _loads(self, f: Function) -> Lines:
        """The columns of the batch that are read."""
        r = next(r for r in self.program.relations if r.name == f.of)
        lines = []
        for j in sorted(relation_columns(f)):
            t, array = batch_type(r.types[j]), array_name(r.columns, j)
            if t == "Str":
                lines.append(f"const Texts {array}(b, {j});")
            else:
                lines.append(f"const {t}* {array} = static_cast<const {t}*>(b.column[{j}]);")
        if self.watched and not r.static:
            lines.append("count_gone(s.gone, b);")
        return lines

    def _widths(self, q: Query) -> list[int]:
        """How many columns the kernel puts out for each column of a query."""
        types = [self.rings.get((q.name, j)) for j in range(len(q.columns))]
        return [t.width if isinstance(t, RingType) else 1 for t in types]

    def _key(self, q: Query, f: Function) -> Lines:
        """The values by which rows of a query are found."""
        wide = self._widths(q)
        lines = []
        for j in f.key:
            t = batch_type(q.columns[j].type)
            name = column_name("key", q.columns, j)
            at = sum(wide[:j])
            lines.append(f"const {t} {name} = *static_cast<const {t}*>(b.column[{at}]);")
        return lines

    def _flags(self, f: Function) -> str:
        """Which columns of a query are its key."""
        q = next(q for q in self.program.queries if q.name == f.of)
        key = f.key
        wide = self._widths(q)
        flags = ", ".join(str(j in key).lower() for j, n in enumerate(wide) for _ in range(n))
        return f"static const bool key_{identifier(q.name)}[] = {{{flags}}};\n"

    def map(self, m: Map) -> str:
        """The functions that tell the contents and the size of a map."""
        place = self.layout.places[m.name]
        table = self.scope.tables[place.table]
        refresh = ["refresh(e);"] if m.name in self.layout.deferred else []
        listing = self.layout.listings.get(m.name)
        if listing is not None:
            refresh = [f"{listing_name(listing.table)}(e);"]
        lines = [*refresh, *self.outputs.map(m, place, table)]
        follow = f"  {refresh[0]}\n" if listing is not None else ""
        size = (
            f"static u64 size_{identifier(m.name)}(Env& e) {{\n"
            f"  State& s = *e.state;\n"
            f"{follow}"
            f"  return {table.path}{'_U_o0' if table.listing else ''}.size();\n"
            f"}}\n"
        )
        return self._function(f"dump_{identifier(m.name)}", "Output& out", lines, (), False) + size

    def _function(self, name: str, parameters: str, body: Lines, loops: Block, often: bool) -> str:
        """A function: what it needs of its surroundings, and its body.

        With what does not run `often`, as reading and starting, the compiler need not take pains.
        """
        cold = "" if often else "__attribute__((cold)) "
        head = f"{cold}static void {name}(Env& e{', ' if parameters else ''}{parameters}) {{"
        unused = ["  [[maybe_unused]] State& s = *e.state;", "  [[maybe_unused]] bool o = false;"]
        if parameters.startswith("const Batch"):
            unused.append("  (void)b;")
        inside = list(statements(loops))
        if any(isinstance(s, Total) and is_mixed(s.type) for s in inside):
            # What such a local holds goes before the scratch memory is emptied.
            body = ["{", *indented(body), "}"]
        mixed = any(is_mixed(t) for table in self.scope.tables.values() for t in table.payloads)
        uses_scratch = mixed or any(isinstance(s, Collect) for s in inside)
        reset = ["  e.scratch.reset();"] if uses_scratch else []
        return join([head, *unused, *indented(body), "  e.overflow |= o;", *reset, "}"])
