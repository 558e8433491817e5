"""What a scheme has counted, as values: a driver that begins anew decides as the last one would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from freshview.errors import FreshviewError
from freshview.theta.controller import Counts
from freshview.theta.local.columns import Array
from freshview.theta.operator.joiner import SIDES
from freshview.theta.operator.placement_text import Json
from freshview.theta.schemes import Dynamic, HybridByKey, Ranged, Scheme, Static, SymmetricHash
from freshview.theta.terms import Sizes

Arrays: TypeAlias = Mapping[str, Array]


def dump_scheme(scheme: Scheme) -> tuple[Json, Arrays]:
    """The state of a scheme: values of JSON, and arrays.

    >>> scheme = Dynamic(4, counts=Counts(base=Sizes(1.0, 2.0)), next_host=4)
    >>> another = Dynamic(4)
    >>> load_scheme(another, *dump_scheme(scheme))
    >>> another == scheme
    True
    """
    match scheme:
        case Dynamic():
            return {"counts": _numbers(scheme.counts), "next_host": scheme.next_host}, {}
        case HybridByKey():
            heavy = [[bucket, _numbers(counts)] for bucket, counts in scheme.heavy.items()]
            arrays: dict[str, Array] = {}
            for side in SIDES:
                buckets = np.flatnonzero(scheme.sizes[side])
                arrays[f"buckets {side}"] = buckets
                arrays[f"sizes {side}"] = scheme.sizes[side][buckets]
            return {"heavy": heavy}, arrays
        case SymmetricHash() | Static() | Ranged():
            return {}, {}
        case _:
            raise FreshviewError(
                f"the scheme '{scheme.name}' cannot be written down",
                instead="use one of Freshview's schemes on Spark",
            )


def load_scheme(scheme: Scheme, state: Json, arrays: Arrays) -> None:
    """Give a scheme the state that `dump_scheme` wrote."""
    match scheme:
        case Dynamic():
            scheme.counts = _counts(state["counts"])
            scheme.next_host = state["next_host"]
        case HybridByKey():
            scheme.heavy = {bucket: _counts(counts) for bucket, counts in state["heavy"]}
            for side in SIDES:
                scheme.sizes[side][:] = 0
                scheme.sizes[side][arrays[f"buckets {side}"]] = arrays[f"sizes {side}"]


def _numbers(counts: Counts) -> list[list[float]]:
    return [[float(s.r), float(s.s)] for s in (counts.base, counts.net, counts.churn)]


def _counts(numbers: list[list[float]]) -> Counts:
    base, net, churn = (Sizes(*pair) for pair in numbers)
    return Counts(base, net, churn)
