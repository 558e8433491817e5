"""Studies of grids far larger than this machine, by counts: streams in, loads over time out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from freshview.theta.controller import Policy
from freshview.theta.simulate.counted import CountedJoin
from freshview.theta.terms import Side, Sizes

STEPS = 2000
"""Pieces in which a stream arrives: between two of them nothing is measured."""


@dataclass(frozen=True, slots=True)
class Point:
    """The operator at one moment."""

    sizes: Sizes
    mapping: str
    load: float
    ratio: float
    migrations: int


@dataclass(frozen=True, slots=True)
class Study:
    """One stream on one number of joiners."""

    joiners: int
    points: tuple[Point, ...]
    exchanged: float
    received: float

    @property
    def worst(self) -> float:
        """The largest ratio of the load to its optimum after the warm-up."""
        return max(p.ratio for p in self.points)

    @property
    def last(self) -> Point:
        """The operator in the end."""
        return self.points[-1]


def growing(sizes: Sizes, steps: int = STEPS) -> Iterator[tuple[Side, float]]:
    """Both sides grow evenly to their sizes.

    >>> list(growing(Sizes(8, 2), steps=2))
    [('R', 4.0), ('S', 1.0), ('R', 4.0), ('S', 1.0)]
    """
    for _ in range(steps):
        yield "R", sizes.r / steps
        yield "S", sizes.s / steps


def fluctuating(total: float, factor: float, steps: int = STEPS) -> Iterator[tuple[Side, float]]:
    """One side grows until it is `factor` times the other, then the other does, and so on.

    The stream of the Fluct-Join of section 4.5.4.
    """
    sizes: dict[Side, float] = {"R": 1.0, "S": 1.0}
    side: Side = "R"
    yield "R", 1.0
    yield "S", 1.0
    piece = total / steps
    while sizes["R"] + sizes["S"] < total:
        other: Side = "S" if side == "R" else "R"
        # A piece is small beside what there is, so that checkpoints are not passed by much.
        amount = min(piece, (sizes["R"] + sizes["S"]) / 200)
        sizes[side] += amount
        yield side, amount
        if sizes[side] >= factor * sizes[other]:
            side = other


def study(
    joiners: int,
    arrivals: Iterable[tuple[Side, float]],
    policy: Policy | None = None,
    *,
    adaptive: bool = True,
) -> Study:
    """What the operator does with a stream; static and square if it is not adaptive.

    The example of figure 4.3: 1 GB and 64 GB on 64 joiners.

    >>> both = [study(64, growing(Sizes(1, 64)), adaptive=a) for a in (True, False)]
    >>> [(one.last.mapping, round(64 * one.last.load)) for one in both]
    [('(1, 64)', 128), ('(8, 8)', 520)]
    """
    policy = policy or Policy()
    join = CountedJoin(joiners, policy, adaptive)
    points, received = [], 0.0
    for side, amount in arrivals:
        join.change(side, amount)
        mapping = join.groups.grids[0].mapping
        received += amount / (mapping.n if side == "R" else mapping.m)
        if join.counts.now.total >= policy.warm_up:
            points.append(
                Point(join.counts.now, str(mapping), join.load(), join.ratio(), join.migrations)
            )
    return Study(joiners, tuple(points), join.exchanged, received)


def weak_scaling(
    per_joiner: Sizes, joiners: Iterable[int], policy: Policy | None = None
) -> list[Study]:
    """The same load of input a joiner, on more and more joiners."""
    return [study(j, growing(Sizes(per_joiner.r * j, per_joiner.s * j)), policy) for j in joiners]
