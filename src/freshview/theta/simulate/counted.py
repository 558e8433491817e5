"""An operator without tuples: it counts, decides and pays as a real one would, at any scale."""

from __future__ import annotations

from freshview.theta.controller import (
    Counts,
    Policy,
    checkpoint,
    choose,
    is_due,
    observe,
    rescale,
    share_of,
    start,
)
from freshview.theta.grid import load_factor, lower_bound
from freshview.theta.terms import Groups, Mapping, Side, Sizes


class CountedJoin:
    """Sizes, mappings and costs of an adaptive join.

    Costs are those of one joiner, in the units of the sizes: `exchanged` by migrations, `expanded`
    by splits and merges, and `time`, what it takes to receive the tuples between checkpoints.
    """

    def __init__(self, joiners: int, policy: Policy, adaptive: bool = True) -> None:
        self.policy = policy
        self.adaptive = adaptive
        self.groups = start(joiners)
        self.counts = Counts()
        self.hosts = joiners
        self.migrations = 0
        self.splits = 0
        self.merges = 0
        self.exchanged = 0.0
        self.expanded = 0.0
        self._time = 0.0

    @property
    def joiners(self) -> int:
        """How many joiners there are now."""
        return self.groups.joiners

    @property
    def time(self) -> float:
        """Units of time in which one joiner received what came."""
        return self._time + self._interval()

    def change(self, side: Side, arrived: float = 0, purged: float = 0) -> None:
        """Some units of a side arrive, some are purged; a checkpoint follows if it is due."""
        self.counts = observe(self.counts, side, arrived, purged)
        if self.adaptive and is_due(self.policy, self.counts, self.joiners):
            self._check()

    def load(self) -> float:
        """The load factor of the most loaded joiner."""
        return max(
            load_factor(grid.mapping, share_of(self.counts.now, self.groups, k))
            for k, grid in enumerate(self.groups.grids)
        )

    def least_load(self) -> float:
        """The load factor of the best operator with as many joiners.

        For groups it is a bound on what a joiner receives that joins tuples only with those it
        stores. Groups send tuples around and may store less, so the ratio may be below one.
        """
        if len(self.groups.grids) > 1:
            return lower_bound(self.joiners, self.counts.now)
        joiners, now = self.joiners, self.counts.now
        mappings = (Mapping(1 << a, joiners >> a) for a in range(joiners.bit_length()))
        return min(load_factor(m, now) for m in mappings)

    def ratio(self) -> float:
        """How far the load is from the optimum; 1 where there is nothing."""
        least = self.least_load()
        return self.load() / least if least else 1.0

    def _check(self) -> None:
        now = self.counts.now
        self._time += self._interval()
        self.counts = checkpoint(self.counts)
        groups = choose(now, self.groups)
        if groups != self.groups:
            self.migrations += 1
            self.exchanged += exchange_cost(self.groups, groups, now)
            self.groups = groups
        scaled = rescale(self.policy, now, self.groups, self.hosts)
        if scaled == self.groups:
            return
        larger = scaled.joiners > self.groups.joiners
        self.splits, self.merges = self.splits + larger, self.merges + (not larger)
        # Figure 4.6: of each half, one copy stays and three go out; merged cells send one quarter.
        self.expanded += self.load() * (1.5 if larger else 1)
        self.hosts = max(self.hosts, max(scaled.hosts) + 1)
        self.groups = scaled

    def _interval(self) -> float:
        mapping = self.groups.grids[0].mapping
        churn = share_of(self.counts.churn, self.groups, 0)
        return max(churn.r / mapping.n, churn.s / mapping.m)


def exchange_cost(old: Groups, new: Groups, sizes: Sizes) -> float:
    """What one joiner sends and receives: 2|R|/n to halve n, 2|S|/m to halve m (lemma 4.4.5).

    >>> from freshview.theta.terms import Grid
    >>> one, two = (Groups((Grid(Mapping(*nm), tuple(range(16))),)) for nm in ((8, 2), (4, 4)))
    >>> exchange_cost(one, two, Sizes(800, 100))
    200.0
    """
    costs = []
    for k, (a, b) in enumerate(zip(old.grids, new.grids, strict=True)):
        share = share_of(sizes, old, k)
        fold = max(a.mapping.n // b.mapping.n, a.mapping.m // b.mapping.m, 1)
        moving = share.r / a.mapping.n if a.mapping.n > b.mapping.n else share.s / a.mapping.m
        costs.append(2 * (fold - 1) * moving)
    return max(costs)
