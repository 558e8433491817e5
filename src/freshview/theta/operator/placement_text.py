"""Placements as values of JSON: how they are written down, and sent to joiners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, assert_never

from freshview.theta.terms import Grid, Groups, HashPlacement, Hybrid, Placement, RangePlacement
from freshview.theta.terms import Mapping as GridMapping

Json: TypeAlias = Mapping[str, Any]


def show_placement(placement: Placement) -> Json:
    """A placement as a value of JSON.

    >>> show_placement(HashPlacement((0, 1)))
    {'hash': [0, 1]}
    """
    match placement:
        case Groups(grids):
            return {"grids": [[g.mapping.n, g.mapping.m, list(g.hosts)] for g in grids]}
        case HashPlacement(hosts):
            return {"hash": list(hosts)}
        case RangePlacement(hosts, bounds):
            return {"ranges": list(hosts), "bounds": list(bounds)}
        case Hybrid(hosts, heavy):
            by_bucket = [[bucket, show_placement(groups)["grids"]] for bucket, groups in heavy]
            return {"hybrid": list(hosts), "heavy": by_bucket}
        case _:
            assert_never(placement)


def read_placement(value: Json) -> Placement:
    """The inverse of `show_placement`.

    >>> one = Groups((Grid(GridMapping(2, 1), (0, 1)),))
    >>> read_placement(show_placement(Hybrid((0, 1), ((7, one),)))).heavy == ((7, one),)
    True
    """
    if "grids" in value:
        return _groups(value["grids"])
    if "hash" in value:
        return HashPlacement(tuple(value["hash"]))
    if "ranges" in value:
        return RangePlacement(tuple(value["ranges"]), tuple(value["bounds"]))
    heavy = tuple((bucket, _groups(grids)) for bucket, grids in value["heavy"])
    return Hybrid(tuple(value["hybrid"]), heavy)


def _groups(grids: list[tuple[int, int, list[int]]]) -> Groups:
    return Groups(tuple(Grid(GridMapping(n, m), tuple(hosts)) for n, m, hosts in grids))
