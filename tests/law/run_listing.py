"""M3 listings run as they say: statements one after the other, each on what those before wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from freshview.calculus.build import is_zero
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.terms import Rel
from freshview.factorized.terms import Join
from freshview.program.listing import Listing
from freshview.program.terms import Statement
from freshview.reference.oracle.evaluate import Database, evaluate


class Runner:
    """The maps of a listing, filled by its triggers."""

    def __init__(self, program: Listing, functions: Functions = BUILTINS) -> None:
        self.program = program
        self.functions = functions
        self.maps: dict[str, dict[Any, Any]] = {m.name: {} for m in program.maps}

    def load(self, join: Join, rows: Mapping[str, Mapping[Any, Any]]) -> None:
        """The rows of static tables into the maps that hold them, then what is made of them."""
        for m in self.program.maps:
            if is_zero(m.definition):
                keys = tuple(c.name for c in m.keys)
                atom = next(a for a in join.atoms if self._holds(m.name, a, keys))
                self.maps[m.name] = dict(evaluate(atom, Database(rows), keys=keys))
        self._run(s for t in self.program.triggers if t.event == "ready" for s in t.statements)

    def _holds(self, name: str, atom: Rel, keys: tuple[str, ...]) -> bool:
        return f"{name}_".startswith(f"VIEW_{atom.name}_") and keys == tuple(
            dict.fromkeys(atom.vars)
        )

    def apply(self, relation: str, changes: Iterable[tuple[Any, int]]) -> None:
        """A batch."""
        batch: dict[Any, int] = {}
        for row, n in changes:
            batch[row] = batch.get(row, 0) + n
        there = {row: n for row, n in batch.items() if n}
        for t in self.program.triggers:
            if t.relation == relation:
                self._run(t.statements, {relation: there})

    def _run(
        self, statements: Iterable[Statement], deltas: Mapping[str, Mapping[Any, Any]] | None = None
    ) -> None:
        for s in statements:
            db = Database({}, deltas or {}, self.maps)
            rows = evaluate(s.term, db, functions=self.functions, keys=s.target.vars)
            if s.op == "+=":
                old = self.maps[s.target.name]
                sums = {k: old.get(k, 0) + rows.get(k, 0) for k in {**old, **rows}}
                rows = {k: v for k, v in sums.items() if v}
            self.maps[s.target.name] = rows
