"""The locations of a term's atoms: of maps and batches, in the term's variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from freshview.calculus.terms import Delta, Rel, View
from freshview.distributed.terms import (
    Dist,
    Everywhere,
    Location,
    Placement,
    PlacementProblem,
    Random,
    Slice,
    rekeyed,
)
from freshview.program.terms import Program


@dataclass(frozen=True)
class AtomLocations:
    """The locations of maps and batches by name, with their columns."""

    maps: Mapping[str, tuple[tuple[str, ...], Location]]
    batches: Mapping[str, tuple[tuple[str, ...], Location]]

    @classmethod
    def of(cls, program: Program, placement: Placement) -> AtomLocations:
        """The places of a program's maps and batches."""
        maps = {}
        for m in program.maps:
            if m.name not in placement.maps:
                raise PlacementProblem(f"map '{m.name}' has no location", instead="place it")
            columns = tuple(c.name for c in m.keys)
            maps[m.name] = columns, checked(m.name, columns, placement.maps[m.name])
        batches = {}
        for r in program.relations:
            columns = tuple(c.name for c in r.columns)
            at = placement.batches.get(r.name, Random())
            batches[r.name] = columns, checked(f"(DELTA {r.name})", columns, at)
        return cls(maps, batches)

    def atom(self, e: View | Delta | Rel) -> Location:
        """The location of an atom; static tables are everywhere."""
        match e:
            case View(name, names, _):
                columns, at = self.maps[name]
            case Delta(name, names):
                columns, at = self.batches[name]
            case Rel():
                return Everywhere()
        return rekeyed(at, dict(zip(columns, names, strict=True)))


def checked(name: str, columns: tuple[str, ...], at: Location) -> Location:
    """The location, if it is valid for these columns; else `PlacementProblem`."""
    if isinstance(at, Dist | Slice):
        missing = [k for k in at.keys if k not in columns]
        if missing:
            raise PlacementProblem(
                f"'{name}' has no column '{missing[0]}' to be partitioned by",
                instead=f"choose among {', '.join(columns) or 'none: it has no keys'}",
            )
        if not at.keys:
            raise PlacementProblem(f"'{name}' is partitioned by no column", instead="name one")
        if len(set(at.keys)) < len(at.keys):
            raise PlacementProblem(
                f"'{name}' is partitioned by one column twice", instead="name it once"
            )
    batch = name.startswith("(DELTA")
    if isinstance(at, Random) and not batch:
        raise PlacementProblem(
            f"map '{name}' cannot be placed at random",
            instead="partition it by keys, or replicate it",
        )
    if batch and isinstance(at, Everywhere):
        raise PlacementProblem(
            f"{name} cannot arrive on the driver and the workers", instead="choose one side"
        )
    return at
