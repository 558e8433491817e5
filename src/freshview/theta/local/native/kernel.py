"""The stores of a join in this process: one handle in C++, of which each joiner has a pair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freshview.theta.local.columns import Array, Tuples
from freshview.theta.local.indexes import joinable
from freshview.theta.local.native.emit import LETTERS, Inputs, NativePredicate
from freshview.theta.local.native.library import Calls
from freshview.theta.local.store import Shape
from freshview.theta.terms import Numbers, Side

SIDES: tuple[Side, Side] = ("R", "S")
Addresses = tuple[int, ...]


class JoinKernel:
    """A compiled predicate and the arena of its stores."""

    def __init__(
        self, calls: Calls, predicate: NativePredicate, shape: Shape, inputs: Inputs, seed: int
    ) -> None:
        self.calls = calls
        self.predicate = predicate
        self.shape = shape
        self.inputs = inputs
        self.handle = calls["open"](
            *(_kinds(inputs.of(side)) for side in SIDES),
            predicate.ints,
            predicate.doubles,
            *(int(shape.retracts(side)) for side in SIDES),
            *(2 * seed + (side == "S") for side in SIDES),
            inputs.time_r,
            inputs.time_s,
        )
        self.joins_alone = (
            not shape.theta.functions
            and predicate.settles_window
            and (len(predicate.settled) == len(shape.theta.comparisons))
        )
        """Whether every condition is native: no pair has to be looked at in Python."""
        theta = shape.theta
        self.index_bound = None if theta.equalities else predicate.index_bound
        """The condition that the ordered index reads, if that is what there is."""

    def order(self, side: Side, tuples: Tuples) -> Numbers:
        """The rows of a batch that can join, those of near values beside each other."""
        rows = np.flatnonzero(joinable(self.shape.theta.comparisons, side, tuples))
        if self.index_bound is None or len(rows) < 2:
            return rows
        values, _ = self.index_bound.values(side, tuples.columns)
        return rows[np.argsort(values[rows])]

    @property
    def index_bytes(self) -> int:
        """What the indexes of all stores take."""
        size: int = self.calls["size"](self.handle)
        return size


def addresses(arrays: Sequence[Array]) -> Addresses:
    """Where arrays are; they must outlive the call that gets this."""
    return tuple(a.__array_interface__["data"][0] for a in arrays)


def arrays_of(tuples: Tuples) -> list[Array]:
    """The arrays of a batch, each in one piece."""
    return [a if a.flags.c_contiguous else np.ascontiguousarray(a) for a in tuples.arrays()]


def numbers(data: bytes) -> Numbers:
    """Numbers that C++ gave back."""
    return np.frombuffer(data, np.int64)


def _kinds(columns: tuple[tuple[str, bool], ...]) -> str:
    letters = "".join(LETTERS[kind] for kind, _ in columns)  # type: ignore[index]
    return letters + "".join("?" if nullable else "!" for _, nullable in columns)
