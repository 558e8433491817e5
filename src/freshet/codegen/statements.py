"""Statements as code: those that may mingle together, the others one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from freshet.calculus.build import is_zero
from freshet.calculus.check import infer
from freshet.calculus.scope import relations, stored
from freshet.calculus.types import INT
from freshet.codegen.access import payload_at
from freshet.codegen.code import Spot
from freshet.codegen.context import ONE, Bound
from freshet.codegen.hold import Cpp, held
from freshet.codegen.options import Passes
from freshet.codegen.share import share_look_ups
from freshet.codegen.stage import Local
from freshet.codegen.storage import Place, Storage
from freshet.codegen.term import Terms
from freshet.program.terms import Statement
from freshet.program.text import show_statement


class Statements:
    """What writes the statements of triggers, and remembers those that walk through all the data.

    A statement on a `deferred` map only marks the state as stale.
    """

    def __init__(self, terms: Terms, passes: Passes, deferred: Mapping[str, Statement]) -> None:
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
        return {self.terms.places[s.target.name].storage.root.name for s in statements}

    def _groups(self, statements: Sequence[Statement]) -> list[list[Statement]]:
        """Runs of statements that do not read what any of them writes: their code may mingle."""
        groups: list[list[Statement]] = []
        for s in statements:
            together = [*groups[-1], s] if groups else []
            apart = self.reads(together) & self.writes(together)
            if not groups or apart or s.op == ":=" or groups[-1][-1].op == ":=":
                groups.append([s])
            else:
                groups[-1].append(s)
        return groups

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
            spot.line(f"s.stale = true;  // {names}: recomputed when read")
            statements = [s for s in statements if s.target.name not in self.deferred]
        emptied = self._emptied(statements)
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
                    self._replace(s, inner, env, m, params, emptied)
                elif self.reads([s]) & self.writes([s]):
                    self._pour(self._rows(s, inner, env, m), s, inner)
                else:
                    self._add(s, inner, env, m)
                if self.terms.scans:
                    self.scanning.append(s)
            if self.passes.share:
                written = self.writes(group)
                moving = {
                    p.storage.name
                    for p in self.terms.places.values()
                    if p.storage.root.name in written
                }
                share_look_ups(together.block, moving)

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
        place = Place(rows, 0, tuple(range(len(keys))))
        terms.places[local.name] = place
        terms.schema = replace(
            terms.schema, maps={**terms.schema.maps, local.name: (keys, payload)}
        )

        def write(at: Spot, b: Bound, n: Cpp) -> None:
            terms.write(place, [b[v] for v in local.keys], at, n)

        _, inner = spot.open(("local", rows.name), "", f"{{  // {local.name}")
        terms.scans.clear()
        terms.emit(local.term, inner, {}, ONE, write, last=True)
        if terms.scans:
            self.scanning += [s for s in readers if local.name in stored(s.term)]
        return rows

    def _add(self, s: Statement, spot: Spot, env: Bound, m: Cpp) -> None:
        place = self.terms.places[s.target.name]

        def write(at: Spot, b: Bound, n: Cpp) -> None:
            self.terms.write(place, [b[v] for v in s.target.vars], at, n)

        self.terms.emit(s.term, spot, env, m, write, last=True)

    def _rows(self, s: Statement, spot: Spot, env: Bound, m: Cpp) -> Storage:
        """The right side in a transient table: all of it is known before anything is written.

        A second payload marks rows that are in the target, whatever their new number.
        """
        target = self.terms.places[s.target.name]
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
        value = payload_at(f"{r}.p0", t, "e.scratch")
        self.terms.write(self.terms.places[s.target.name], keys, inner, value, s.op)

    def _emptied(self, statements: Sequence[Statement]) -> set[str]:
        """The tables of which nothing is left when statements that only empty maps have run."""
        if not all(s.op == ":=" and is_zero(s.term) for s in statements):
            return set()
        places = {s.target.name: self.terms.places[s.target.name] for s in statements}
        count = Counter(p.storage.name for p in places.values())
        return {p.storage.name for p in places.values() if _is_whole(p, count)}

    def _replace(
        self,
        s: Statement,
        spot: Spot,
        env: Bound,
        m: Cpp,
        params: tuple[str, ...],
        emptied: Collection[str],
    ) -> None:
        """M[p, x] := q replaces the slice of M that the trigger's parameters choose."""
        table = self.terms.places[s.target.name].storage
        alone = len(table.payloads) == 1 or table.name in emptied
        if is_zero(s.term) and alone and not set(s.target.vars) & set(params):
            table.emptied = True
            spot.line(f"EMPTY_{table.name}")
            return
        rows = self._rows(s, spot, env, m)
        marked = Place(rows, 1, tuple(range(len(rows.keys))))

        def mark(at: Spot, b: Bound, _: Cpp) -> None:
            self.terms.write(marked, [b[v] for v in s.target.vars], at, ONE)

        known = {v: env[v] for v in s.target.vars if v in params}
        scans = len(self.terms.scans)
        self.terms.emit(s.target, spot, known, ONE, mark, last=True)
        del self.terms.scans[scans:]  # the answer itself is not the data
        self._pour(rows, s, spot)


def _is_whole(place: Place, count: Mapping[str, int]) -> bool:
    """Whether so many maps are all that lie in a table."""
    return len(place.storage.payloads) == count[place.storage.name]
