"""When to migrate, and to which mapping (algorithms 1 to 3 of the thesis).

The controller counts what came since its last checkpoint. A checkpoint is due when either side
changed by the factor epsilon; then the best mapping is chosen. Between checkpoints the load factor
stays within (3 + 2 epsilon) / (3 + epsilon) of the optimum, 1.25 for epsilon 1, and the tuples of
the interval pay for the migration at its end: 7 / epsilon a tuple.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freshview.theta.grid import (
    can_merge,
    group_sizes,
    load_factor,
    optimal,
    padded,
    reshape,
    square,
)
from freshview.theta.grid import merge as merge_grid
from freshview.theta.grid import split as split_grid
from freshview.theta.placement import form_groups
from freshview.theta.terms import BadGrid, Grid, Groups, Keys, Mapping, Mask, Side, Sizes

NOTHING = Sizes(0, 0)

SHRINKING_EPSILON = 0.5
"""With deletions and windows the bound is 1.4, at changes by a half (algorithm 3)."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How eagerly the mapping follows the streams.

    No checkpoint before `warm_up` units came. `shrinking` state, by windows or deletions, is
    checked at changes by a half at most. With a `cap`, grids split into four when every joiner
    would hold more than half of it, and merge again below an eighth, but not to less than
    the `fewest` joiners.
    """

    epsilon: float = 1.0
    warm_up: float = 0
    shrinking: bool = False
    cap: float | None = None
    fewest: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.epsilon <= 1:
            raise BadGrid(
                f"epsilon is {self.epsilon}", instead="give a number above 0, and 1 at most"
            )
        if self.cap is not None and not self.cap > 0:
            raise BadGrid(f"the cap is {self.cap}", instead="give the bytes of a joiner, or None")

    @property
    def threshold(self) -> float:
        """The change of a side, as a part of it, at which a checkpoint is due."""
        return min(self.epsilon, SHRINKING_EPSILON) if self.shrinking else self.epsilon


@dataclass(frozen=True, slots=True)
class Counts:
    """Sizes at the last checkpoint, and what changed since: net, and arrivals plus purges."""

    base: Sizes = NOTHING
    net: Sizes = NOTHING
    churn: Sizes = NOTHING

    @property
    def now(self) -> Sizes:
        """What there is of each side."""
        return Sizes(self.base.r + self.net.r, self.base.s + self.net.s)


def observe(counts: Counts, side: Side, arrived: float = 0, purged: float = 0) -> Counts:
    """The counts after some units of a side arrived and some were purged.

    >>> observe(observe(Counts(), "R", 10), "R", 2, 5).now
    Sizes(r=7, s=0)
    """
    net, churn = counts.net, counts.churn
    change, moved = arrived - purged, arrived + purged
    if side == "R":
        net, churn = Sizes(net.r + change, net.s), Sizes(churn.r + moved, churn.s)
    else:
        net, churn = Sizes(net.r, net.s + change), Sizes(churn.r, churn.s + moved)
    return Counts(counts.base, net, churn)


def sampled(keys: Keys, rate: int) -> Mask:
    """About one tuple in `rate`, chosen by its key: what one of `rate` reshufflers sees.

    Its counts times the rate estimate those of the stream (algorithm 1): nobody collects them.
    """
    return np.asarray((keys >> np.uint64(8)) % np.uint64(rate) == 0)


def is_due(policy: Policy, counts: Counts, joiners: int) -> bool:
    """Whether either side, dummy tuples included, changed by the threshold since the checkpoint."""
    now = counts.now
    if now.total < policy.warm_up or not now.total:
        return False
    base, full = padded(counts.base, joiners), padded(now, joiners)
    change_r = max(counts.churn.r, abs(full.r - base.r))
    change_s = max(counts.churn.s, abs(full.s - base.s))
    return change_r >= policy.threshold * base.r or change_s >= policy.threshold * base.s


def checkpoint(counts: Counts) -> Counts:
    """The counts after a checkpoint: what came is part of the base."""
    return Counts(base=counts.now)


def start(joiners: int) -> Groups:
    """Where an operator begins that knows nothing: each group a square."""
    return form_groups(tuple(square(size) for size in group_sizes(joiners)))


def choose(sizes: Sizes, groups: Groups) -> Groups:
    """Each group under its best mapping.

    All groups choose by the same sizes, so the parts of the larger always divide those of the
    smaller: n and m of a group are multiples of those of the next.
    """
    return Groups(tuple(_best(grid, sizes) for grid in groups.grids))


def rescale(policy: Policy, sizes: Sizes, groups: Groups, next_host: int) -> Groups:
    """The groups split into four times the joiners, merged into a quarter of them, or as they are.

    >>> one = start(1)
    >>> rescale(Policy(cap=10), Sizes(4, 4), one, 1).hosts
    (0, 1, 2, 3)
    """
    if policy.cap is None:
        return groups
    loads = [load_factor(g.mapping, share_of(sizes, groups, k)) for k, g in enumerate(groups.grids)]
    if min(loads) > policy.cap / 2:
        grids = []
        for grid in groups.grids:
            fresh = tuple(range(next_host, next_host + 3 * grid.mapping.joiners))
            next_host += len(fresh)
            grids.append(split_grid(grid, fresh))
        return Groups(tuple(grids))
    may_shrink = groups.joiners >= 4 * policy.fewest and all(map(can_merge, groups.grids))
    if may_shrink and max(loads) < policy.cap / 8:
        return Groups(tuple(merge_grid(g) for g in groups.grids))
    return groups


def share_of(sizes: Sizes, groups: Groups, group: int) -> Sizes:
    """What one of the groups stores, by its share of the joiners."""
    part = groups.grids[group].mapping.joiners / groups.joiners
    return Sizes(sizes.r * part, sizes.s * part)


def least_load(groups: Groups, sizes: Sizes) -> float:
    """What the fullest joiner would store under the best mappings of these groups.

    Groups store less than `grid.lower_bound`, which is about what a joiner receives: a tuple is
    stored in one group and only visits the others.

    >>> least_load(start(20), Sizes(100, 100)), least_load(start(16), Sizes(100, 100))
    (40.0, 50.0)
    """
    loads = []
    for k, grid in enumerate(groups.grids):
        share = share_of(sizes, groups, k)
        loads.append(load_factor(optimal(grid.mapping.joiners, share), share))
    return max(loads)


def _best(grid: Grid, sizes: Sizes) -> Grid:
    joiners = grid.mapping.joiners
    best: Mapping = optimal(joiners, padded(sizes, joiners), grid.mapping)
    return grid if best == grid.mapping else reshape(grid, best)
