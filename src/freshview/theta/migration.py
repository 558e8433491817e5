"""From one placement to the next with the least exchange (lemma 4.4.5, figures 4.4 and 4.6).

What a host has and keeps is not sent. What it lacks comes from one host that has it: of the old
replicas of a part, the one in its own old column (row) of the grid, so that the exchange runs in
parallel between pairs, each of which sends |R|/n and receives |R|/n.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import lcm

import numpy as np

from freshview.theta.placement import (
    BUCKET_BITS,
    BUCKETS,
    addresses,
    hosts_of,
    kinds_of,
    old_part,
    stored_at,
)
from freshview.theta.terms import (
    Groups,
    Hashes,
    Hybrid,
    Keys,
    Mask,
    Numbers,
    Placement,
    Side,
)

_NOBODY = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Moves:
    """What one host does with its tuples: which it keeps, and copies of which go to whom."""

    keep: Mask
    row: Numbers
    to: Numbers


class Transfers:
    """The migration from one placement to another: what each host keeps, discards and sends."""

    def __init__(self, old: Placement, new: Placement) -> None:
        self.old = old
        self.new = new
        self._by_host: dict[tuple[int, Side, int, int], tuple[bool, tuple[int, ...]]] = {}

    def moves(self, host: int, side: Side, keys: Keys, hashes: Hashes) -> Moves:
        """What a host does with tuples that it stores under the old placement.

        >>> from freshview.theta.grid import reshape
        >>> from freshview.theta.terms import Grid, Mapping
        >>> before = Grid(Mapping(2, 1), (0, 1))
        >>> after = reshape(before, Mapping(1, 2))
        >>> transfers = Transfers(Groups((before,)), Groups((after,)))
        >>> keys = np.array([1, 2], np.uint64)  # both in the first half
        >>> transfers.moves(0, "R", keys, keys).to.tolist()
        [1, 1]
        >>> transfers.moves(0, "S", keys, keys).keep.tolist()
        [True, True]
        """
        if not len(keys):
            return Moves(np.zeros(0, np.bool_), _NOBODY, _NOBODY)
        here = addresses(self.old, side, keys, hashes)
        there = addresses(self.new, side, keys, hashes)
        width = int(there.max()) + 1
        kinds, inverse = kinds_of(here * width + there)  # few
        plans = [self._plan(host, side, *divmod(pair, width)) for pair in kinds.tolist()]
        keep = np.array([kept for kept, _ in plans], np.bool_)[inverse]
        counts = np.array([len(sent) for _, sent in plans], np.int64)
        if not counts.any():
            return Moves(keep, _NOBODY, _NOBODY)
        lengths = counts[inverse]
        row = np.repeat(np.arange(len(keys)), lengths)
        starts = np.cumsum(counts) - counts
        within = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        targets = np.array([to for _, sent in plans for to in sent], np.int64)
        return Moves(keep, row, targets[starts[inverse][row] + within])

    def _plan(self, host: int, side: Side, here: int, there: int) -> tuple[bool, tuple[int, ...]]:
        plan = self._by_host.get((host, side, here, there))
        if plan is None:
            plan = transfer(self.old, self.new, side, here, there, host)
            self._by_host[host, side, here, there] = plan
        return plan


def transfer(
    old: Placement, new: Placement, side: Side, here: int, there: int, host: int
) -> tuple[bool, tuple[int, ...]]:
    """Whether a host keeps the tuples of two addresses, and the hosts it sends them to."""
    before, after = stored_at(old, side, here), stored_at(new, side, there)
    sent = []
    for x, target in enumerate(after):
        if target not in before and _sender(old, side, here, before, x, len(after)) == host:
            sent.append(target)
    return host in after, tuple(sent)


@lru_cache(maxsize=256)
def exchanges(old: Placement, new: Placement) -> dict[int, frozenset[int]]:
    """For each host, those that may send it tuples in this migration: whom it has to wait for."""
    r, s = exchanges_of("R", old, new), exchanges_of("S", old, new)
    return {host: r[host] | s[host] for host in r}


@lru_cache(maxsize=256)
def exchanges_of(side: Side, old: Placement, new: Placement) -> dict[int, frozenset[int]]:
    """For each host, those that may send it tuples of one side."""
    hosts = dict.fromkeys((*hosts_of(old), *hosts_of(new)))
    senders: dict[int, set[int]] = {h: set() for h in hosts}
    keys, hashes = _representatives(old, new)
    pairs = zip(
        addresses(old, side, keys, hashes).tolist(),
        addresses(new, side, keys, hashes).tolist(),
        strict=True,
    )
    for here, there in set(pairs):
        before, after = stored_at(old, side, here), stored_at(new, side, there)
        for x, target in enumerate(after):
            if target not in before:
                senders[target].add(_sender(old, side, here, before, x, len(after)))
    return {h: frozenset(s) for h, s in senders.items()}


def _sender(
    old: Placement, side: Side, here: int, before: tuple[int, ...], x: int, after: int
) -> int:
    """Who sends to the x-th of the new replicas."""
    if after >= len(before):
        return before[x * len(before) // after]
    fold = len(before) // after
    return before[x * fold + old_part(old, side, here) % fold]


def _representatives(old: Placement, new: Placement) -> tuple[Keys, Hashes]:
    """Keys and hashes among which every address of both placements occurs."""
    values = [b << 64 - BUCKET_BITS for b in _buckets(old, new)]
    parts = max(_parts(old), _parts(new))
    ends = sorted({e for p in (old, new) for e in _group_marks(p)})
    keys = [(part << 64) // parts | end for part in range(parts) for end in ends]
    grid = [(k, v) for k in keys for v in values]
    return (
        np.array([k for k, _ in grid], np.uint64),
        np.array([v for _, v in grid], np.uint64),
    )


def _all_groups(placement: Placement) -> tuple[Groups, ...]:
    match placement:
        case Groups():
            return (placement,)
        case Hybrid(_, heavy):
            return tuple(g for _, g in heavy)
        case _:
            return ()


def _parts(placement: Placement) -> int:
    grids = [g for groups in _all_groups(placement) for g in groups.grids]
    return max((max(g.mapping.n, g.mapping.m) for g in grids), default=1)


def _group_marks(placement: Placement) -> set[int]:
    """The least lower bits of a key for each of the groups."""
    marks = {0}
    for groups in _all_groups(placement):
        sizes = [g.mapping.joiners for g in groups.grids]
        marks |= {(sum(sizes[:k]) << 32) // sum(sizes) for k in range(len(sizes))}
    return marks


def _buckets(old: Placement, new: Placement) -> list[int]:
    """All the heavy buckets, and a light one for every pair of hosts that light ones can have."""
    heavy = {b for p in (old, new) if isinstance(p, Hybrid) for b, _ in p.heavy}
    hosts = [len(p.hosts) for p in (old, new) if not isinstance(p, Groups)]
    every = lcm(*hosts)
    light = (next(b for b in range(r, BUCKETS, every) if b not in heavy) for r in range(every))
    return sorted({*heavy, *light})
