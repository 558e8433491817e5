"""A whole kernel: Program to C++ text. Pure: the same program gives the same text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from freshet.calculus.build import factors, neg
from freshet.calculus.check import Schema
from freshet.calculus.functions import BUILTINS, Functions
from freshet.calculus.schema import Column, Query, Relation
from freshet.calculus.scope import ins, is_value, outs, reads_delta, relations, stored
from freshet.calculus.terms import Add, Exists, Expr, Lift, Sum, Top, View
from freshet.calculus.types import INT
from freshet.calculus.walk import children
from freshet.codegen.code import Block, Spot, join, render
from freshet.codegen.determine import determining
from freshet.codegen.fuse import fuse
from freshet.codegen.hold import Cpp, convert, held
from freshet.codegen.options import USUAL, Passes
from freshet.codegen.storage import Place, Storage, declare_all, declare_orders, follow, members
from freshet.codegen.term import ONE, Bound, Terms, held_in
from freshet.errors import NotNative
from freshet.program.terms import Map, Program, Statement, Trigger
from freshet.program.text import show_statement

AHEAD = 8
"""How many rows ahead memory is fetched: about what a core has under way at once."""

KINDS = {
    "int": "Int",
    "double": "Double",
    "date": "Date",
    "timestamp": "Timestamp",
    "bool": "Bool",
    "null": "Bool",
    "string": "Text",
}


@dataclass(frozen=True)
class Source:
    """The C++ text of a kernel, and what was found out while writing it."""

    text: str
    scans: tuple[Statement, ...]
    """Statements of triggers whose cost follows the data and not the change."""
    deferred: tuple[str, ...]
    """Maps that are recomputed when they are read, and not with every change."""


def emit(program: Program, functions: Functions = BUILTINS, passes: Passes = USUAL) -> str:
    """The C++ source of a program's kernel, or NotNative with the reason."""
    return write(program, functions, passes).text


def write(program: Program, functions: Functions = BUILTINS, passes: Passes = USUAL) -> Source:
    """The C++ source of a program's kernel, with what it says about the program.

    A map that would be recomputed from all the data with every change, and that only queries
    read, is recomputed when it is read; one that an index recomputes, after the rows of a batch.
    """
    first = _Kernel(program, functions, passes)
    text = first.source()
    recomputed = deferrable(program)
    if not recomputed or not passes.defer:
        return Source(text, tuple(first.scanning), ())
    walks = {s.target.name for s in first.scanning}
    deferred = {name: s for name, s in recomputed.items() if name in walks}
    late = {name: s for name, s in recomputed.items() if name not in walks}
    second = _Kernel(program, functions, passes, deferred, late)
    text = second.source()
    scans = tuple(s for s in second.scanning if s.target.name not in deferred)
    return Source(text, scans, tuple(deferred))


def deferrable(program: Program) -> dict[str, Statement]:
    """The maps that changes recompute and only queries read, with what recomputes each of them."""
    out: dict[str, Statement] = {}
    for t in program.triggers:
        for s in t.statements:
            if t.event == "ready" or s.op != ":=":
                continue
            if not (set(s.target.vars) | ins(s.term)) & set(t.params) and not reads_delta(s.term):
                out.setdefault(s.target.name, s)
    while True:
        others = [s for t in program.triggers for s in t.statements if s.target.name not in out]
        read = {name for s in others for name in stored(s.term)} & out.keys()
        # One recomputation that reads another would need an order; there is none to be seen.
        read |= {name for s in out.values() for name in stored(s.term)} & out.keys()
        if not read:
            return out
        out = {name: s for name, s in out.items() if name not in read}


class _Kernel:
    def __init__(
        self,
        program: Program,
        functions: Functions,
        passes: Passes,
        deferred: Mapping[str, Statement] | None = None,
        late: Mapping[str, Statement] | None = None,
    ) -> None:
        self.late = late or {}
        self.passes = passes
        self.deferred = deferred or {}
        self.scanning: list[Statement] = []
        for m in program.maps:
            if m.inputs:
                raise NotNative(f"view cache '{m.name}' is kept by the reference engine only")
        self.program = program
        self.relations = {r.name: r for r in program.relations}
        self.storages: list[Storage] = []
        self.places: dict[str, Place] = {}
        apart = [[(m, tuple(range(len(m.keys))))] for m in program.maps]
        for group in fuse(program.maps) if passes.fuse else apart:
            self._store(group)
        read = _static_reads(program)
        for r in program.relations:
            if r.static and r.name in read:
                whole = Storage(f"r_{_name(r.name)}", r.types, [INT])
                self.storages.append(whole)
                self.places[r.name] = Place(whole, 0, tuple(range(len(r.columns))))
        self.terms = Terms(
            schema=Schema(
                relations={r.name: r.types for r in program.relations},
                maps={m.name: (tuple(c.type for c in m.keys), m.payload) for m in program.maps},
                functions=functions,
            ),
            places=self.places,
            deltas={},
            delta=self._delta,
            transients=[],
            symbols={},
            columns={r.name: r.types for r in program.relations},
            passes=passes,
        )

    def _store(self, group: Sequence[tuple[Map, tuple[int, ...]]]) -> None:
        first = group[0][0]
        storage = Storage(f"m_{_name(first.name)}", tuple(c.type for c in first.keys))
        # In a batch, rows of one key may come in any order; row by row, deletions come first.
        if self.passes.keys and not any(t.event == "batch" for t in self.program.triggers):
            found_by = determining(first, self.relations)
            storage.determining = found_by if len(found_by) < len(first.keys) else None
        self.storages.append(storage)
        for m, columns in group:
            self.places[m.name] = Place(storage, len(storage.payloads), columns)
            storage.payloads.append(m.payload)

    def _delta(self, name: str) -> Place:
        """The batch as a table, its rows added up; made at the start of the trigger."""
        if name not in self.terms.deltas:
            storage = Storage(f"d_{_name(name)}", self.relations[name].types, [INT], transient=True)
            self.terms.transients.append(storage)
            columns = tuple(range(len(storage.keys)))
            self.terms.deltas[name] = Place(storage, 0, columns)
        return self.terms.deltas[name]

    # -- the file ----------------------------------------------------------------------------------

    def source(self) -> str:
        ready = self._ready()
        functions = [self._relation(r) for r in self.program.relations]
        ready += self._refresh()
        queries = [self._query(q) for q in self.program.queries]
        maps = [self._map(m) for m in self.program.maps]
        parts = [
            *(f'#include "{header}.hpp"' for header in ("flat", "kernel", "ordered", "pool")),
            "namespace fr {\n",
            *declare_all([*self.storages, *self.terms.transients]),
            *(declare_orders(s) for s in self.storages),
            self._state(),
            '}  // namespace fr\n\n#include "support.hpp"\n\nnamespace fr {\n',
            *(follow(s) for s in self.storages),
            *functions,
            ready,
            *queries,
            *maps,
            self._tables(),
            '}  // namespace fr\n\n#include "boundary.hpp"\n',
        ]
        return "\n".join(parts)

    def _state(self) -> str:
        lines = ["struct State {", "  Strings strings;", "  bool stale;"]
        lines += [f"  Sym {name};" for name in self.terms.symbols.values()]
        lines += [f"  {member}" for s in self.storages for member in members(s)]
        return join([*lines, "};"])

    def _tables(self) -> str:
        out: list[str] = []
        for r in self.program.relations:
            used = self._used[r.name]
            out.append(_columns(f"in_{_name(r.name)}", r.columns, used))
        for q in self.program.queries:
            out.append(_columns(f"out_{_name(q.name)}", q.columns))
        for m in self.program.maps:
            out.append(_columns(f"map_{_name(m.name)}", (*m.keys, Column("", m.payload))))
        rels = [
            f'  {{"{_c(r.name)}", {len(r.columns)}, in_{_name(r.name)}, '
            f"{str(r.static).lower()}, on_{_name(r.name)}}},"
            for r in self.program.relations
        ]
        qs = []
        for q in self.program.queries:
            name = _name(q.name)
            find = f"key_{name}, find_{name}" if found_by(q) else "nullptr, nullptr"
            width = len(q.columns)
            qs.append(f'  {{"{_c(q.name)}", {width}, out_{name}, read_{name}, {find}}},')
        ms = [
            f'  {{"{_c(m.name)}", {len(m.keys) + 1}, map_{_name(m.name)}, '
            f"dump_{_name(m.name)}, size_{_name(m.name)}}},"
            for m in self.program.maps
        ]
        out += [
            join(["static const Relation all_relations[] = {", *rels, "};"]),
            join(["static const Query all_queries[] = {", *qs, "};"]),
            join(["static const Map all_maps[] = {", *(ms or ["  {}"]), "};"]),
        ]
        creates = [f"  s.{s.name}.init(e.arena);" for s in self.storages]
        texts = [
            f"  s.{name} = s.strings.put(e.arena, {literal});"
            for literal, name in self.terms.symbols.items()
        ]
        out.append(
            join(
                [
                    "static void create(Env& e) {",
                    "  State& s = *e.state;",
                    "  s.strings.init(e.arena);",
                    *creates,
                    *texts,
                    "}",
                    "static Strings& strings_of(State& s) { return s.strings; }",
                    f"const Kernel kernel = {{{len(self.program.relations)}, "
                    f"{len(self.program.queries)}, {len(self.program.maps)}, all_relations, "
                    "all_queries, all_maps, sizeof(State), strings_of, create, ready};",
                ]
            )
        )
        return "\n".join(out)

    # -- triggers ----------------------------------------------------------------------------------

    _used: dict[str, set[int]]

    def _relation(self, r: Relation) -> str:
        self._used = getattr(self, "_used", {})
        if r.static:
            body = self._fill(self.places[r.name]) if r.name in self.places else []
        else:
            body = self._stream(r)
        words = set(re.findall(r"\bcol\d+\b", "\n".join(body)))
        used = {j for j in range(len(r.columns)) if f"col{j}" in words}
        self._used[r.name] = used
        loads = [
            f"  const {t}* col{j} = static_cast<const {t}*>(b.column[{j}]);"
            for j, t in ((j, held_in(r.types[j])) for j in sorted(used))
        ]
        return self._function(f"on_{_name(r.name)}", "const Batch& b", [*loads, *body])

    def _function(self, name: str, given: str, body: Sequence[str]) -> str:
        text = "\n".join(body)
        # Reading and starting are rare: the compiler need not take pains with them.
        cold = "" if given.startswith("const Batch") else "__attribute__((cold)) "
        lines = [f"{cold}static void {name}(Env& e, {given}) {{".replace(", )", ")")]
        lines += ["  State& s = *e.state;"] if re.search(r"\bs\.", text) else []
        checked = re.search(r"\bo\b", text) is not None
        lines += ["  bool o = false;"] if checked else []
        lines += ["  (void)e;"]
        if given.startswith("const Batch"):
            lines += ["  (void)b;"]
        scratch = ["  e.scratch.reset();"] if "e.scratch" in text else []
        told = ["  e.overflow |= o;"] if checked else []
        return join([*lines, *body, *told, *scratch, "}"])

    def _fill(self, place: Place) -> list[str]:
        """Rows of the batch added to a table that holds whole rows."""
        s = place.storage
        where = "e.scratch" if s.transient else "e.arena"
        table = s.name if s.transient else f"s.{s.name}"
        keys = ", ".join(
            f"put_text(e, col{j}[i])" if t.kind == "string" else f"col{j}[i]"
            for j, t in enumerate(s.keys)
        )
        return [
            "  for (i64 i = 0; i < b.size; i++) {",
            f"    auto* w = {table}.at({where}, {{{keys}}});",
            "    w->p0 += b.count[i];",
            f"    if (w->empty()) {table}.drop({where}, w);",
            "  }",
        ]

    def _stream(self, r: Relation) -> list[str]:
        triggers = {t.event: t for t in self.program.triggers if t.relation == r.name}
        if "batch" in triggers:
            return self._on_batch(triggers["batch"])
        if "insert" in triggers or "delete" in triggers:
            return self._on_rows(r, triggers.get("insert"), triggers.get("delete"))
        return []

    def _on_batch(self, t: Trigger) -> list[str]:
        self.terms.deltas.clear()
        body = Block()
        self._statements(t.statements, Spot(body), {}, ONE, params=())
        lines: list[str] = []
        for place in self.terms.deltas.values():
            lines.append(f"  {place.storage.table} {place.storage.name}{{}};")
            lines += self._fill(place)
        return [*lines, *render(body, 1)]

    def _on_rows(self, r: Relation, insert: Trigger | None, delete: Trigger | None) -> list[str]:
        loads = tuple(
            (f"c{j}", f"const {held_in(t)} c{j} = col{j}[i];") for j, t in enumerate(r.types)
        )
        body = Block()
        self.terms.ahead.clear()
        _, row = Spot(body).open("row", "", "for (i64 i = 0; i < b.size; i++) {", "}", loads)
        if self.passes.keys and r.key:
            row.line("if ((b.count[i] < 0) != deletions) continue;")
        _, fetch = row.open("ahead", "", f"if (const i64 later = i + {AHEAD}; later < b.size) {{")
        ahead = row.block.items[-1]
        if insert and delete and _opposite(insert, delete, self.late):
            # One code for both signs; a program that reads none of what it writes can take
            # a row's multiplicity at once.
            now = [s for s in insert.statements if s.target.name not in self.late]
            if self._reads(now) & self._writes(now):
                row.line("const i64 sign = b.count[i] < 0 ? -1 : 1;")
                _, inner = row.open("times", "", "for (i64 n = b.count[i]; n; n -= sign) {")
            else:
                row.line("const i64 sign = b.count[i];")
                inner = row
            self._on_row(insert, r, inner, Cpp("sign", INT, "i64"))
        else:
            for t, test, step in ((insert, "n > 0", "n--"), (delete, "n < 0", "n++")):
                if t is not None:
                    opener = f"for (i64 n = b.count[i]; {test}; {step}) {{"
                    _, inner = row.open(t.event, "", opener)
                    self._on_row(t, r, inner, ONE)
        if self.terms.ahead:
            for line in self.terms.ahead:
                fetch.line(line)
        else:
            row.block.items.remove(ahead)
        lines = render(body, 1)
        after = self._after_rows(
            [*(insert.statements if insert else ()), *(delete.statements if delete else ())]
        )
        if self.passes.keys and r.key:
            # A key gets its new row after the old one is gone, in whatever order they came.
            lines = [
                "  bool some = false;",
                "  for (i64 i = 0; i < b.size; i++) some |= b.count[i] < 0;",
                "  for (bool deletions = some;; deletions = false) {",
                *("  " + line for line in lines),
                "    if (!deletions) break;",
                "  }",
            ]
        return [*lines, *after]

    def _after_rows(self, statements: Sequence[Statement]) -> list[str]:
        """Recompute, once a batch, what an index recomputes and only queries read."""
        names = dict.fromkeys(s.target.name for s in statements if s.target.name in self.late)
        if not names:
            return []
        body = Block()
        self._statements([self.late[name] for name in names], Spot(body), {}, ONE, ())
        return render(body, 1)

    def _on_row(self, t: Trigger, r: Relation, spot: Spot, m: Cpp) -> None:
        env = {p: Cpp(f"c{j}", r.types[j], held_in(r.types[j])) for j, p in enumerate(t.params)}
        before = len(self.terms.transients)
        now = [s for s in t.statements if s.target.name not in self.late]
        self._statements(now, spot, env, m, t.params)
        if len(self.terms.transients) > before:
            spot.line("e.scratch.reset();")

    def _ready(self) -> str:
        body = Block()
        for t in self.program.triggers:
            if t.event == "ready":
                self._statements(t.statements, Spot(body), {}, ONE, ())
        self.scanning.clear()  # this happens once
        return self._function("ready", "", render(body, 1))

    # -- statements --------------------------------------------------------------------------------

    def _reads(self, statements: Iterable[Statement]) -> set[str]:
        names = {n for s in statements for n in stored(s.term) | relations(s.term)}
        return {self.places[n].storage.name for n in names}

    def _writes(self, statements: Iterable[Statement]) -> set[str]:
        return {self.places[s.target.name].storage.name for s in statements}

    def _groups(self, statements: Sequence[Statement]) -> list[list[Statement]]:
        """Runs of statements that do not read what any of them writes: their code may mingle."""
        groups: list[list[Statement]] = []
        for s in statements:
            together = [*groups[-1], s] if groups else []
            apart = self._reads(together) & self._writes(together)
            if not groups or apart or s.op == ":=" or groups[-1][-1].op == ":=":
                groups.append([s])
            else:
                groups[-1].append(s)
        return groups

    def _refresh(self) -> str:
        """Recompute what was put off, if anything changed since."""
        body = Block()
        deferred, self.deferred = self.deferred, {}
        if deferred:
            _, spot = Spot(body).open("stale", "", "if (s.stale) {")
            spot.line("s.stale = false;")
            self._statements(list(deferred.values()), spot, {}, ONE, ())
        self.deferred = deferred
        return self._function("refresh", "", render(body, 1)) if deferred else ""

    def _statements(
        self,
        statements: Sequence[Statement],
        spot: Spot,
        env: Bound,
        m: Cpp,
        params: tuple[str, ...],
    ) -> None:
        put_off = [s for s in statements if s.target.name in self.deferred]
        if put_off:
            names = ", ".join(dict.fromkeys(s.target.name for s in put_off))
            spot.line(f"s.stale = true;  // {names}: recomputed when read")
            statements = [s for s in statements if s.target.name not in self.deferred]
        for number, group in enumerate(self._groups(statements)):
            for s in group:
                for line in show_statement(s).split("\n"):
                    spot.line(f"// {line}")
            _, together = spot.open(("group", number), "", "{")
            for count, s in enumerate(group):
                inner = together
                if not self.passes.share:
                    _, inner = together.open(("alone", count), "", "{")
                self.terms.scans.clear()
                if s.op == ":=":
                    self._replace(s, inner, env, m, params)
                elif self._reads([s]) & self._writes([s]):
                    self._pour(self._rows(s, inner, env, m), s, inner)
                else:
                    self._add(s, inner, env, m)
                if self.terms.scans:
                    self.scanning.append(s)

    def _add(self, s: Statement, spot: Spot, env: Bound, m: Cpp) -> None:
        place = self.places[s.target.name]

        def write(at: Spot, b: Bound, n: Cpp) -> None:
            self.terms.write(place, [b[v] for v in s.target.vars], at, n)

        self.terms.emit(s.term, spot, env, m, write, last=True)

    def _rows(self, s: Statement, spot: Spot, env: Bound, m: Cpp) -> Storage:
        """The right side in a transient table: all of it is known before anything is written.

        A second payload marks rows that are in the target, whatever their new number.
        """
        target = self.places[s.target.name]
        terms = self.terms
        keys = tuple(target.key_type(i) for i in range(len(s.target.vars)))
        payloads = [target.payload_type, INT]
        rows = Storage(f"tmp{len(terms.transients)}", keys, payloads, transient=True)
        terms.transients.append(rows)
        spot.line(f"{rows.table} {rows.name}{{}};")
        place = Place(rows, 0, tuple(range(len(keys))))

        def collect(at: Spot, b: Bound, n: Cpp) -> None:
            terms.write(place, [b[v] for v in s.target.vars], at, n)

        _, inner = spot.open(("rows", rows.name), "", "{")
        terms.emit(s.term, inner, env, m, collect, last=True)
        return rows

    def _pour(self, rows: Storage, s: Statement, spot: Spot) -> None:
        """Write a transient table to the target of a statement."""
        opener = f"{rows.name}.each(e.scratch, [&](const {rows.record}& @) {{"
        r, inner = spot.open(("pour", rows.name), "r", opener, "});")
        keys = [Cpp(f"{r}.k{i}", t, held(t)) for i, t in enumerate(rows.keys)]
        t = rows.payloads[0]
        value = Cpp(f"{r}.p0", t, held(t))
        self.terms.write(self.places[s.target.name], keys, inner, value, s.op)

    def _replace(
        self, s: Statement, spot: Spot, env: Bound, m: Cpp, params: tuple[str, ...]
    ) -> None:
        """M[p, x] := q replaces the slice of M that the trigger's parameters choose."""
        rows = self._rows(s, spot, env, m)
        marked = Place(rows, 1, tuple(range(len(rows.keys))))

        def mark(at: Spot, b: Bound, _: Cpp) -> None:
            self.terms.write(marked, [b[v] for v in s.target.vars], at, ONE)

        known = {v: env[v] for v in s.target.vars if v in params}
        scans = len(self.terms.scans)
        self.terms.emit(s.target, spot, known, ONE, mark, last=True)
        del self.terms.scans[scans:]  # the answer itself is not the data
        self._pour(rows, s, spot)

    # -- reading -----------------------------------------------------------------------------------

    def _query(self, q: Query) -> str:
        name = _name(q.name)
        refresh = ["  refresh(e);"] if self.deferred else []
        out = self._function(f"read_{name}", "Output& out", refresh + self._answer(q, {}))
        key = found_by(q)
        if key:
            types = {j: q.columns[j].type for j in key}
            env = {q.vars[j]: Cpp(f"c{j}", t, held_in(t)) for j, t in types.items()}
            loads = [
                f"  const {held_in(t)} c{j} = *static_cast<const {held_in(t)}*>(b.column[{j}]);"
                for j, t in types.items()
            ]
            body = refresh + loads + self._answer(q, env)
            flags = ", ".join(str(j in key).lower() for j in range(len(q.columns)))
            out += f"static const bool key_{name}[] = {{{flags}}};\n"
            out += self._function(f"find_{name}", "const Batch& b, Output& out", body)
        return out

    def _answer(self, q: Query, env: Bound) -> list[str]:
        """Code that puts the rows of a query out, those with the given values if there are any."""
        body = Block()
        spot = Spot(body)
        if is_unique(q.term):
            self.terms.emit(q.term, spot, env, ONE, lambda s, b, n: self._out(q, s, b, n))
        else:
            names = sorted(set(q.vars) - env.keys())
            rows, spot = self.terms.collected(q.term, names, env, spot, env)
            opener = f"{rows.name}.each(e.scratch, [&](const {rows.record}& @) {{"
            r, inner = spot.open(("scan", rows.name), "r", opener, "});")
            found = {
                v: Cpp(f"{r}.k{i}", t, held(t))
                for i, (v, t) in enumerate(zip(names, rows.keys, strict=True))
            }
            t = rows.payloads[0]
            self._out(q, inner, {**env, **found}, Cpp(f"{r}.p0", t, held(t)))
        return render(body, 1)

    def _out(self, q: Query, spot: Spot, env: Bound, m: Cpp) -> None:
        if m.type.kind != "int":
            raise NotNative(f"the rows of '{q.name}' are not counted by whole numbers")
        _, spot = spot.open(("if", m.text), "", f"if (const i64 n = {m.text}; n > 0) {{")
        spot.line("const i64 at = out.next();")
        spot.line("out.count[at] = n;")
        for j, (v, c) in enumerate(zip(q.vars, q.columns, strict=True)):
            x, kind = env[v], held(c.type)
            if x.type.kind == "string":
                x, spot = self.terms.stored(x, spot)
            else:
                x = convert(x, c.type)
            spot.line(f"static_cast<{kind}*>(out.column[{j}])[at] = {x.text};")

    def _map(self, m: Map) -> str:
        place = self.places[m.name]
        s = place.storage
        lines = ["  refresh(e);"] if m.name in self.deferred else []
        lines += [f"  s.{s.name}.each(e.arena, [&](const {s.record}& r) {{"]
        lines += [f"    if (r.p{place.payload} == 0) return;", "    const i64 at = out.next();"]
        lines += ["    out.count[at] = 1;"]
        for i in range(len(m.keys)):
            t = held(place.key_type(i))
            lines.append(f"    static_cast<{t}*>(out.column[{i}])[at] = r.k{place.columns[i]};")
        t = held(place.payload_type)
        lines.append(f"    static_cast<{t}*>(out.column[{len(m.keys)}])[at] = r.p{place.payload};")
        lines.append("  });")
        size = f"static u64 size_{_name(m.name)}(Env& e) {{ return e.state->{s.name}.size(); }}\n"
        return self._function(f"dump_{_name(m.name)}", "Output& out", lines) + size


def found_by(q: Query) -> tuple[int, ...]:
    """The columns by which rows of a query are found: the keys of the map that it begins with."""
    body = q.term.body if isinstance(q.term, Sum) else q.term
    first = next((f for f in factors(body) if stored(f)), None)
    atom = first.body if isinstance(first, Exists) else first
    if not isinstance(atom, View) or atom.inputs:
        return ()
    kept = outs(q.term)
    return tuple(
        j for j, v in enumerate(q.vars) if v in atom.vars and v in kept and v not in q.vars[:j]
    )


def is_unique(e: Expr) -> bool:
    """Whether every valuation comes at most once: no union, nothing added up over.

    >>> from freshet.calculus.text import read
    >>> is_unique(read("Exists(M[a]) * (n := M[a])")), is_unique(read("Sum[a](M[a, b])"))
    (True, False)
    """
    if isinstance(e, Lift | Exists | Top) or is_value(e):
        return True
    return not isinstance(e, Add | Sum) and all(is_unique(c) for c in children(e))


def _static_reads(program: Program) -> set[str]:
    terms = [s.term for t in program.triggers for s in t.statements]
    terms += [q.term for q in program.queries]
    return {name for e in terms for name in relations(e)}


def _opposite(insert: Trigger, delete: Trigger, late: Mapping[str, Statement]) -> bool:
    """Whether deletion does, row by row, what insertion does, with the sign turned."""
    ones, others = (
        [s for s in t.statements if s.target.name not in late] for t in (insert, delete)
    )
    if insert.params != delete.params or len(ones) != len(others):
        return False
    return all(
        a.target == b.target and a.op == b.op == "+=" and b.term == neg(a.term)
        for a, b in zip(ones, others, strict=True)
    )


def _name(name: str) -> str:
    return re.sub(r"\W", lambda c: f"_{ord(c.group()):x}_", name)


def _c(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')


def _columns(name: str, columns: Sequence[Column], used: set[int] | None = None) -> str:
    rows = []
    for j, c in enumerate(columns):
        t = c.type
        kind = KINDS.get(t.kind) or ("Decimal64" if held(t) == "i64" else "Decimal128")
        known = str(used is None or j in used).lower()
        nullable = str(t.nullable).lower()
        rows.append(f'  {{"{_c(c.name)}", {kind}, {t.scale}, {nullable}, {known}}},')
    return join([f"static const Column {name}[] = {{", *(rows or ["  {}"]), "};"])
