"""Who decides where tuples go: static schemes, the adaptive grid, and the hybrid by join key.

All of them give placements; joiners, routing and migration are the same for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from freshview.theta.controller import (
    Counts,
    Policy,
    checkpoint,
    choose,
    is_due,
    observe,
    rescale,
    sampled,
    start,
)
from freshview.theta.grid import group_sizes
from freshview.theta.placement import BUCKETS, bucket_of, hosts_of
from freshview.theta.terms import (
    Groups,
    Hashes,
    HashPlacement,
    Hybrid,
    Keys,
    Numbers,
    Placement,
    RangePlacement,
    Side,
    Sizes,
)


class Scheme(Protocol):
    """Watches what comes and goes, and says where it should be."""

    @property
    def name(self) -> str:
        """What users call it."""
        ...

    def first(self) -> Placement:
        """The placement before any tuple."""
        ...

    def change(
        self, side: Side, keys: Keys, hashes: Hashes, sizes: Numbers, sign: Literal[1, -1] = 1
    ) -> None:
        """Tuples came, or were deleted: their sizes are below zero.

        With the sign -1 that is undone: their batch has failed.
        """
        ...

    def purge(self, side: Side, size: float) -> None:
        """Tuples left the window."""
        ...

    def decide(self, current: Placement) -> Placement:
        """The placement that is best now; the current one where nothing should move."""
        ...

    def explain(self) -> str:
        """In words, what it does and why."""
        ...


class Fixed:
    """What schemes have in common whose first placement is the last."""

    def change(
        self, side: Side, keys: Keys, hashes: Hashes, sizes: Numbers, sign: Literal[1, -1] = 1
    ) -> None:
        """Nothing is counted."""

    def purge(self, side: Side, size: float) -> None:
        """Nothing is counted."""

    def decide(self, current: Placement) -> Placement:
        """Nothing ever moves."""
        return current


@dataclass
class SymmetricHash(Fixed):
    """Both sides by the hash of the join key; equalities alone."""

    joiners: int
    name: str = "hash"

    def first(self) -> Placement:
        """Every value at one joiner."""
        return HashPlacement(tuple(range(self.joiners)))

    def explain(self) -> str:
        """One copy of each tuple; a frequent value burdens one joiner."""
        return f"hash: each value of the join key at one of {self.joiners} joiners, no replicas"


@dataclass
class Static(Fixed):
    """A grid that stays: square where nothing is known, optimal for sizes that an oracle tells."""

    joiners: int
    sizes: Sizes | None = None

    @property
    def name(self) -> str:
        """`square` or `optimal`."""
        return "square" if self.sizes is None else "optimal"

    def first(self) -> Placement:
        """The grid for all the time."""
        groups = start(self.joiners)
        return groups if self.sizes is None else choose(self.sizes, groups)

    def explain(self) -> str:
        """The mapping and why it is this one."""
        why = "nothing is known of the sizes" if self.sizes is None else "the final sizes are given"
        return f"{self.name}: the grid {show_mappings(self.first())}, since {why}; it never changes"


@dataclass
class Ranged(Fixed):
    """A band join by ranges of its values: each but the last ends before one of the `bounds`.

    Rows of the right input have one copy, those of the left one in each range that they reach.
    Bounds are in the units of a `Band`: days for dates, microseconds for timestamps.
    """

    bounds: Sequence[float]
    name: str = "range"

    def first(self) -> Placement:
        """A joiner a range."""
        return RangePlacement(tuple(range(len(self.bounds) + 1)), tuple(self.bounds))

    def explain(self) -> str:
        """How many ranges; a range with many rows burdens its joiner."""
        return (
            f"range: {len(self.bounds) + 1} ranges of the values of the band, a joiner each; a row "
            "of the left input has a copy in each that it reaches"
        )


@dataclass
class Dynamic:
    """The adaptive grid: algorithms 1 to 3 on counts, exact or of a sample."""

    joiners: int
    policy: Policy = field(default_factory=Policy)
    sample: int = 1
    name: str = "dynamic"
    counts: Counts = field(default_factory=Counts)
    next_host: int = 0

    def first(self) -> Placement:
        """A square, or as near to it as the joiners allow."""
        self.next_host = self.joiners
        return start(self.joiners)

    def change(
        self, side: Side, keys: Keys, hashes: Hashes, sizes: Numbers, sign: Literal[1, -1] = 1
    ) -> None:
        """Count the bytes of the sample, scaled up."""
        seen = sizes[sampled(keys, self.sample)] if self.sample > 1 else sizes
        came, went = float(seen[seen > 0].sum()), float(-seen[seen < 0].sum())
        scale = sign * self.sample
        self.counts = observe(self.counts, side, came * scale, went * scale)

    def purge(self, side: Side, size: float) -> None:
        """Count what went."""
        self.counts = observe(self.counts, side, purged=size)

    def decide(self, current: Placement) -> Placement:
        """At a checkpoint the best mapping, and more or fewer joiners where a cap says so."""
        assert isinstance(current, Groups)
        if not is_due(self.policy, self.counts, current.joiners):
            return current
        now = self.counts.now
        self.counts = checkpoint(self.counts)
        self.next_host = max(self.next_host, max(current.hosts) + 1)
        return rescale(self.policy, now, choose(now, current), self.next_host)

    def explain(self) -> str:
        """The bound that holds."""
        e = self.policy.threshold
        bound = 1.4 if self.policy.shrinking else (3 + 2 * e) / (3 + e)
        one = len(group_sizes(self.joiners)) == 1
        bound *= 1 if one else 2
        return (
            f"dynamic: {'a grid' if one else 'grids'} of {self.joiners} joiners that "
            f"{'follows' if one else 'follow'} the sizes of the inputs; "
            f"checks at changes by {e:g} keep the load within {bound:.3g} of the optimum "
            f"while no input is {self.joiners} times the other"
        )


@dataclass
class HybridByKey:
    """For equalities under skew: light values by hash, each heavy one on a grid that adapts alone.

    Values are counted in buckets. One is heavy when its tuples, or its pairs, are more than `share`
    of what one joiner would have of all, and light again below a quarter of that. Fewer than
    `least` bytes are not worth a grid.
    """

    joiners: int
    policy: Policy = field(default_factory=Policy)
    share: float = 0.5
    least: float = 4096
    name: str = "hybrid"
    heavy: dict[int, Counts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sizes: dict[Side, NDArray[np.float64]] = {
            "R": np.zeros(BUCKETS),
            "S": np.zeros(BUCKETS),
        }

    def first(self) -> Placement:
        """No value is heavy yet."""
        return Hybrid(tuple(range(self.joiners)))

    def change(
        self, side: Side, keys: Keys, hashes: Hashes, sizes: Numbers, sign: Literal[1, -1] = 1
    ) -> None:
        """Count the bytes of each bucket."""
        sums = np.bincount(bucket_of(hashes), weights=sizes, minlength=BUCKETS)
        self.sizes[side] += sign * sums
        for bucket, counts in self.heavy.items():
            came, went = max(sums[bucket], 0.0), max(-sums[bucket], 0.0)
            self.heavy[bucket] = observe(counts, side, sign * came, sign * went)

    def purge(self, side: Side, size: float) -> None:
        """All values shrink in proportion: which tuples went is not told."""
        total = float(self.sizes[side].sum())
        gone = min(1.0, size / total) if total else 0.0
        for bucket, counts in self.heavy.items():
            had = float(self.sizes[side][bucket])
            self.heavy[bucket] = observe(counts, side, purged=had * gone)
        self.sizes[side] *= 1 - gone

    def decide(self, current: Placement) -> Placement:
        """Grids for values that became heavy, new mappings for those that changed."""
        assert isinstance(current, Hybrid)
        weights = self._weights()
        grids = dict(current.heavy)
        for bucket in np.flatnonzero(weights > self.share).tolist():
            if bucket not in grids:
                grids[bucket] = choose(self._sizes(bucket), start(self.joiners))
                self.heavy[bucket] = Counts(base=self._sizes(bucket))
        for bucket in list(grids):
            counts = self.heavy.setdefault(bucket, Counts(base=self._sizes(bucket)))
            if weights[bucket] < self.share / 4:
                del grids[bucket], self.heavy[bucket]
            elif is_due(self.policy, counts, self.joiners):
                grids[bucket] = choose(counts.now, grids[bucket])
                self.heavy[bucket] = checkpoint(counts)
        return Hybrid(current.hosts, tuple(sorted(grids.items(), key=lambda entry: entry[0])))

    def explain(self) -> str:
        """How many values are on grids."""
        return (
            f"hybrid: values of the join key by hash over {self.joiners} joiners, and each of the "
            f"{len(self.heavy)} heavy ones on a grid of its own"
        )

    def _sizes(self, bucket: int) -> Sizes:
        return Sizes(float(self.sizes["R"][bucket]), float(self.sizes["S"][bucket]))

    def _weights(self) -> NDArray[np.float64]:
        """What each bucket has of all, in shares of one joiner: of the tuples or of the pairs."""
        r, s = self.sizes["R"], self.sizes["S"]
        tuples, pairs = r + s, r * s
        both = [tuples / max(tuples.sum(), 1), pairs / max(pairs.sum(), 1)]
        worth = tuples >= self.least
        return np.where(worth, np.maximum(*both) * self.joiners, 0.0)


def show_mappings(placement: Placement) -> str:
    """The mappings of the grids, or how many joiners there are.

    >>> show_mappings(start(6))
    '(2, 2) + (1, 2)'
    """
    if isinstance(placement, Groups):
        return " + ".join(str(g.mapping) for g in placement.grids)
    return f"{len(hosts_of(placement))} joiners"
