"""Statements as code: those that may mingle together, the others one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from freshview.calculus.build import is_zero
from freshview.calculus.check import infer
from freshview.calculus.scope import relations, stored
from freshview.calculus.types import INT
from freshview.codegen.cpp.code import Spot, comment
from freshview.codegen.cpp.types import Cpp, cpp_type
from freshview.codegen.kernel.share_lookups import share_lookups
from freshview.codegen.kernel.stage import Local
from freshview.codegen.layout.storage import MapPlace, Storage
from freshview.codegen.options import KernelPasses
from freshview.codegen.terms.access import read_payload
from freshview.codegen.terms.context import ONE, Bound
from freshview.codegen.terms.term import Terms
from freshview.program.terms import Statement
from freshview.program.text import show_statement


class Statements:
    """What writes the statements of triggers, and remembers those that walk through all the data.

    A statement on a `deferred` map only marks the state as stale.
    """

    def __init__(
        self, terms: Terms, passes: KernelPasses, deferred: Mapping[str, Statement]
    ) -> None:
        self.terms = terms
        self.passes = passes
        self.deferred = deferred
        self.scanning: list[Statement] = []

    def reads(self, statements: Iterable[Statement]) -> set[str]:
        """The tables that statements read."""
        names = {n for s in statements for n in stored(s.term) | relations(s.term)}
        return {self.terms.places[n].storage.root.name for n in names}

    def writes(self, statements: Iterable[Statement]) -> set[str]:
        """The tables that statements write."""
        return {self._place(s).storage.root.name for s in statements}

    def _place(self, s: Statement) -> MapPlace:
        return self.terms.places[s.target.name]

    def _groups(
        self, statements: Sequence[Statement], params: tuple[str, ...]
    ) -> list[list[Statement]]:
        """Runs of statements that do not read what any of them writes: their code may mingle.

        Those that replace maps mingle if the maps share their records.
        """
        groups: list[list[Statement]] = []
        for s in statements:
            together = [*groups[-1], s] if groups else []
            apart = self.reads(together) & self.writes(together)
            if groups and not apart and self._may_mingle(groups[-1], s, params):
                groups[-1].append(s)
            else:
                groups.append([s])
        return groups

    def _may_mingle(
        self, group: Sequence[Statement], s: Statement, params: tuple[str, ...]
    ) -> bool:
        first = group[0]
        if s.op != first.op or s.op == "+=":
            return s.op == first.op
        known = any(s.target.name == other.target.name for other in group)
        return (
            self.passes.share and not known and self._slice(s, params) == self._slice(first, params)
        )

    def _slice(self, s: Statement, params: tuple[str, ...]) -> tuple[str, dict[int, str]]:
        """What a statement replaces: the table, and what its columns have to be."""
        place = self._place(s)
        fixed = zip(place.columns, s.target.vars, strict=True)
        return place.storage.name, {c: v for c, v in fixed if v in params}

    def emit(
        self,
        statements: Sequence[Statement],
        spot: Spot,
        env: Bound,
        m: Cpp,
        params: tuple[str, ...],
    ) -> None:
        """Code that carries out statements in the order of the program."""
        put_off = [s for s in statements if s.target.name in self.deferred]
        if put_off:
            names = ", ".join(dict.fromkeys(s.target.name for s in put_off))
            spot.line(f"s.stale = true;  {comment(f'{names}: recomputed when read')}")
            statements = [s for s in statements if s.target.name not in self.deferred]
        if all(_empties(s) for s in statements):  # in any order, so those of one table together
            statements = sorted(statements, key=lambda s: self._place(s).storage.name)
        for number, group in enumerate(self._groups(statements, params)):
            for s in group:
                for line in show_statement(s).split("\n"):
                    spot.line(comment(line))
            _, together = spot.open(("group", number), "", "{")
            if group[0].op == ":=":
                self.terms.scans.clear()
                self._replace(group, together, env, m, params)
                if self.terms.scans:
                    self.scanning += group
            else:
                self._add_all(group, together, env, m)
            if self.passes.share:
                written = self.writes(group)
                moving = {
                    p.storage.name
                    for p in self.terms.places.values()
                    if p.storage.root.name in written
                }
                share_lookups(together.block, moving)

    def collect(self, local: Local, spot: Spot, readers: Sequence[Statement]) -> Storage:
        """A table of the batch, and its place among the maps for as long as the trigger runs.

        Whoever calls declares it when all the code that asks it is there.
        """
        terms = self.terms
        payload, types = infer(local.term, terms.schema)
        keys = tuple(types[v] for v in local.keys)
        rows = Storage(
            f"tmp{len(terms.transients)}", keys, [terms.payload(local.term, {})], transient=True
        )
        terms.transients.append(rows)
        place = MapPlace(rows, 0, tuple(range(len(keys))))
        terms.places[local.name] = place
        terms.schema = replace(
            terms.schema, maps={**terms.schema.maps, local.name: (keys, payload)}
        )

        def write(at: Spot, b: Bound, n: Cpp) -> None:
            terms.write(place, [b[v] for v in local.keys], at, n)

        _, inner = spot.open(("local", rows.name), "", f"{{  {comment(local.name)}")
        terms.scans.clear()
        terms.emit(local.term, inner, {}, ONE, write, last=True)
        if terms.scans:
            self.scanning += [s for s in readers if local.name in stored(s.term)]
        return rows

    def _add_all(self, group: Sequence[Statement], spot: Spot, env: Bound, m: Cpp) -> None:
        for count, s in enumerate(group):
            inner = spot
            if not self.passes.share:
                _, inner = spot.open(("alone", count), "", "{")
            self.terms.scans.clear()
            if self.reads([s]) & self.writes([s]):
                self._pour(self._rows([s], inner, env, m), [s], inner)
            else:
                self._add(s, inner, env, m)
            if self.terms.scans:
                self.scanning.append(s)

    def _add(
        self, s: Statement, spot: Spot, env: Bound, m: Cpp, place: MapPlace | None = None
    ) -> None:
        """Add up a statement's rows in its target, or in another place."""
        into = place or self._place(s)

        def write(at: Spot, b: Bound, n: Cpp) -> None:
            self.terms.write(into, [b[v] for v in s.target.vars], at, n)

        self.terms.emit(s.term, spot, env, m, write, last=True)

    def _rows(self, group: Sequence[Statement], spot: Spot, env: Bound, m: Cpp) -> Storage:
        """The right sides in a transient table: all is known before anything is written.

        Its keys lie as in the table of the targets. The last payload marks rows that are in the
        targets, whatever their new numbers.
        """
        terms = self.terms
        targets = [self._place(s) for s in group]
        payloads = [*(t.payload_type for t in targets), INT]
        keys = tuple(targets[0].storage.keys)
        rows = Storage(f"tmp{len(terms.transients)}", keys, payloads, transient=True)
        terms.transients.append(rows)
        spot.line(f"{rows.table} {rows.name}{{}};")
        _, inner = spot.open(("rows", rows.name), "", "{")
        for i, (s, target) in enumerate(zip(group, targets, strict=True)):
            self._add(s, inner, env, m, MapPlace(rows, i, target.columns))
        return rows

    def _pour(self, rows: Storage, group: Sequence[Statement], spot: Spot) -> None:
        """Write a transient table to the targets of statements."""
        opener = f"{rows.name}.each(e.scratch, [&](const {rows.record}& @) {{"
        r, inner = spot.open(("pour", rows.name), "r", opener, "});")
        for i, s in enumerate(group):
            target = self._place(s)
            kinds = [(c, target.key_type(j)) for j, c in enumerate(target.columns)]
            keys = [Cpp(f"{r}.k{c}", t, cpp_type(t)) for c, t in kinds]
            value = read_payload(f"{r}.p{i}", rows.payloads[i], "e.scratch")
            self.terms.write(target, keys, inner, value, s.op)

    def _replace(
        self, group: Sequence[Statement], spot: Spot, env: Bound, m: Cpp, params: tuple[str, ...]
    ) -> None:
        """M[p, x] := q replaces the slice of M that the trigger's parameters choose."""
        first = group[0].target
        place = self._place(group[0])
        table = place.storage
        whole = len(group) == len(table.payloads)
        if whole and all(_empties(s) for s in group) and not set(first.vars) & set(params):
            table.emptied = True
            spot.line(f"EMPTY_{table.name}")
            return
        rows = self._rows(group, spot, env, m)
        marked = MapPlace(rows, len(group), place.columns)

        def mark(at: Spot, b: Bound, _: Cpp) -> None:
            self.terms.write(marked, [b[v] for v in first.vars], at, ONE)

        known = {v: env[v] for v in first.vars if v in params}
        scans = len(self.terms.scans)
        self.terms.emit(first, spot, known, ONE, mark, last=True)
        del self.terms.scans[scans:]  # the answer itself is not the data
        self._pour(rows, group, spot)


def _empties(s: Statement) -> bool:
    """Whether nothing is left of its target, or of a slice of it."""
    return s.op == ":=" and is_zero(s.term)
