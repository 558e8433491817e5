"""Batches through native joiners in one call: routed, joined and stored in C++.

For the time when no state moves and every condition is native. The tables that C++ routes by are
those of `theta/placement.py`, written out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from freshview.theta.local.columns import Tuples
from freshview.theta.local.native.kernel import JoinKernel, addresses, arrays_of, numbers
from freshview.theta.local.native.store import NativeStore
from freshview.theta.operator.joiner import SIDES, BatchJoiner
from freshview.theta.operator.output import Pairs
from freshview.theta.placement import BUCKETS, Layout, address_count, finest
from freshview.theta.terms import Groups, Hybrid, Numbers, Placement, Side

MOST_PRODUCT = (1 << 63) - 1
"""How often a pair may come."""


@dataclass(frozen=True, slots=True)
class Joined:
    """The pairs of a batch, and the bytes that each joiner received."""

    pairs: list[Pairs]
    received: Numbers


class DirectJoin:
    """The native joiners of an exchange."""

    def __init__(self, kernel: JoinKernel) -> None:
        self.kernel = kernel
        self._stores: dict[Side, dict[int, NativeStore]] = {}
        self._nothing = np.zeros(0, np.int64)

    def route(self, layout: Layout, joiners: Iterable[BatchJoiner]) -> bool:
        """Route by a layout from now on; false where its grids cannot be written as tables."""
        here: dict[int, int] = {}
        self._stores = {"R": {}, "S": {}}
        for joiner in joiners:
            for side in SIDES:
                store = joiner.state[side]
                assert isinstance(store, NativeStore)
                here[joiner.host] = store.host
                self._stores[side][store.host] = store
        tables = grid_tables(layout.placement)
        if tables is None:
            return False
        hosts = [part for side in SIDES for part in _hosts_of_addresses(layout, side, here)]
        self.kernel.calls["route"](self.kernel.handle, *hosts, *tables)
        return True

    def run(self, batch: Mapping[Side, Tuples]) -> Joined | None:
        """Join and store a batch; None, and nothing is done, where a product may be too large."""
        heaviest = [self._heaviest(side, batch.get(side)) for side in SIDES]
        if heaviest[0] * heaviest[1] > MOST_PRODUCT:
            return None
        filled = {side: t for side in SIDES if (t := batch.get(side)) is not None and len(t)}
        for side, tuples in filled.items():
            self.prepare(side, tuples)
        pairs: list[Pairs] = []
        total = self._nothing
        for side, tuples in filled.items():  # R first: the rows of S see them
            arrays, order = arrays_of(tuples), self.kernel.order(side, tuples)
            where = int(side == "S"), addresses(arrays), len(order), addresses([order])[0]
            *parts, received = self.kernel.calls["run"](self.kernel.handle, *where)
            # Copied now: rows of S that are stored next may change what R has met.
            pairs.extend(self._pairs(side, tuples, *map(numbers, parts)))
            total = numbers(received) + (total if len(total) else 0)
        return Joined(pairs, total)

    def prepare(self, side: Side, tuples: Tuples) -> None:
        """Have room for a batch, wherever its tuples go."""
        for store in self._stores[side].values():
            store.prepare(tuples, len(tuples))

    def _pairs(
        self, side: Side, tuples: Tuples, hosts: Numbers, rows: Numbers, slots: Numbers
    ) -> Iterable[Pairs]:
        across: Side = "S" if side == "R" else "R"
        start = 0
        for host, count in zip(hosts[::2].tolist(), hosts[1::2].tolist(), strict=True):
            some = slice(start, start + count)
            mine = tuples.take(rows[some])
            theirs = self._stores[across][host].take(slots[some])
            yield Pairs(mine, theirs) if side == "R" else Pairs(theirs, mine)
            start += count

    def _heaviest(self, side: Side, tuples: Tuples | None) -> int:
        stored = max((s.heaviest for s in self._stores[side].values()), default=0)
        if tuples is None or not len(tuples):
            return stored
        new = int(np.abs(tuples.weight).max())
        # Equal rows of a side that retracts add up.
        merged = stored + int(np.abs(tuples.weight).sum()) if self._merges(side) else 0
        return max(stored, new, merged)

    def _merges(self, side: Side) -> bool:
        return self.kernel.shape.retracts(side)


def grid_tables(placement: Placement) -> tuple[bytes | None, bytes, bytes] | None:
    """What C++ has of a placement: buckets, grids, and the ends of groups; see `Routing`."""
    match placement:
        case Groups():
            grids: list[tuple[int, Groups]] = [(-1, placement)]
            buckets = None
            base = {"R": 0, "S": 0}
        case Hybrid(hosts, heavy):
            grids = list(heavy)
            buckets = np.arange(BUCKETS, dtype=np.int64) % len(hosts)
            base = {"R": len(hosts), "S": len(hosts)}
        case _:
            table = np.arange(BUCKETS, dtype=np.int64) % len(placement.hosts)
            return table.tobytes(), b"", b""
    sizes = {tuple(g.mapping.joiners for g in groups.grids) for _, groups in grids}
    if len(sizes) > 1:
        return None
    numbers_of_grids: list[int] = []
    for k, (bucket, groups) in enumerate(grids):
        if buckets is not None:
            buckets[bucket] = -1 - k
        numbers_of_grids += [base["R"], base["S"], finest(groups, "R"), finest(groups, "S")]
        for side in SIDES:
            base[side] += len(groups.grids) * finest(groups, side)
    shares = np.array(next(iter(sizes), ()), np.int64)
    ends = (np.cumsum(shares) << 32) // max(int(shares.sum()), 1)
    grid_bytes = np.array(numbers_of_grids, np.int64).tobytes()
    return None if buckets is None else buckets.tobytes(), grid_bytes, ends.tobytes()


def _hosts_of_addresses(layout: Layout, side: Side, here: Mapping[int, int]) -> list[bytes]:
    """Where the hosts of each address begin, where those that only join, and all the hosts."""
    start, visited, hosts = [0], [], []
    for address in range(address_count(layout.placement, side)):
        kept, others = layout.hosts(side, address)
        hosts += [here[h] for h in (*kept, *others)]
        visited.append(start[-1] + len(kept))
        start.append(len(hosts))
    return [np.array(part, np.int64).tobytes() for part in (start, visited, hosts)]
