"""Where the change of a query is computed: beside the maps that it is read from.

What is on the driver alone stays there; what workers keep by a column that names the query's rows
is computed by each worker for its own. Maps that are elsewhere are brought there as far as the
touched keys reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from freshview.calculus.terms import View
from freshview.distributed.terms import (
    Dist,
    Everywhere,
    Local,
    Location,
    Replicated,
    rekeyed,
)

Columns: TypeAlias = tuple[str, ...]
Atoms: TypeAlias = Sequence[tuple[View, Columns]]
"""Maps of a term, each with the columns of the term's rows that it shares."""
Placed: TypeAlias = Mapping[str, tuple[Columns, Location]]
"""By map, its columns and its location."""


@dataclass(frozen=True)
class Home:
    """The location of a part of a query, in its variables, and the maps that are elsewhere."""

    at: Local | Replicated | Dist
    far: frozenset[str] = frozenset()

    def words(self) -> str:
        """Where it is.

        >>> Home(Local()).words(), Home(Dist(("a",))).words()
        ('on the driver', 'on the worker of a')
        """
        match self.at:
            case Local():
                return "on the driver"
            case Replicated():
                return "on the first worker"
            case Dist(keys):
                return f"on the worker of {', '.join(keys)}"

    def of(self, columns: Columns) -> Location:
        """The location of rows over some columns: without those of the worker, every one has them.

        >>> Home(Dist(("a",))).of(("a", "b")), Home(Dist(("a",))).of(("b",))
        (Dist(keys=('a',)), Replicated())
        """
        if isinstance(self.at, Dist) and not set(self.at.keys) <= set(columns):
            return Replicated()
        return self.at


def home_of(atoms: Atoms, placed: Placed) -> Home:
    """The home of a part that reads these maps."""
    spots = {atom: _spot(atom, placed) for atom, _ in atoms}
    kinds = {type(at) for at in spots.values()} - {Everywhere}
    home: Local | Replicated | Dist = Local()
    if kinds == {Replicated}:
        home = Replicated()
    elif kinds - {Local}:
        shared = [
            at
            for atom, columns in atoms
            if isinstance(at := spots[atom], Dist) and set(at.keys) <= set(columns)
        ]
        if shared:
            [(home, _)] = Counter(shared).most_common(1)
    far = {atom.name for atom, at in spots.items() if not _is_near(at, home)}
    return Home(home, frozenset(far))


def _spot(atom: View, placed: Placed) -> Location:
    columns, at = placed[atom.name]
    return rekeyed(at, dict(zip(columns, atom.vars, strict=True)))


def _is_near(at: Location, home: Location) -> bool:
    if isinstance(at, Everywhere):
        return True
    return at == home or (isinstance(home, Dist) and isinstance(at, Replicated))
