"""Batches through native joiners in one call: routed, joined and stored in C++.

For joins of which every condition is native. The tables that C++ routes by are those of
`theta/placement.py`, written out; while state moves it has those of both epochs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from freshview.theta.local.columns import Tuples
from freshview.theta.local.native.kernel import JoinKernel, addresses, arrays_of, numbers
from freshview.theta.local.native.store import NativeStore
from freshview.theta.migration import exchanges_of
from freshview.theta.operator.joiner import SIDES, BatchJoiner
from freshview.theta.operator.output import Pairs, too_often
from freshview.theta.placement import BUCKETS, Layout, address_count, finest, old_part
from freshview.theta.terms import Groups, Hybrid, Numbers, Placement, RangePlacement, Side

MOST_PRODUCT = (1 << 63) - 1
"""How often a pair may come."""

MOST_BYTES = 1 << 40
"""A budget beyond all state."""

LOCAL_PACE = 4
"""A side of which nothing is sent is settled so much faster: it may be that much larger."""


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
        self._is_sent: dict[Side, bool] = {}

    def route(self, layout: Layout, joiners: Iterable[BatchJoiner]) -> bool:
        """Route by a layout from now on; false where its grids cannot be written as tables."""
        here = self._note(joiners)
        tables = routing_tables(layout, here)
        if tables is not None:
            self._call("route", *tables)
        return tables is not None

    def begin(self, before: Placement, layout: Layout, joiners: Iterable[BatchJoiner]) -> bool:
        """Enter the epoch of a layout; false, and nothing is done, where it has no tables."""
        here = self._note(joiners)
        tables = routing_tables(layout, here)
        if tables is None:
            return False
        self._is_sent = {}
        rest = []
        for side in SIDES:
            senders = exchanges_of(side, before, layout.placement)
            self._is_sent[side] = any(senders.values())
            by_host: list[list[int]] = [[] for _ in range(max(here.values()) + 1)]
            for host, some in senders.items():
                by_host[here[host]] = [here[sender] for sender in sorted(some)]
            first = np.cumsum([0, *map(len, by_host)])
            count = address_count(before, side)
            parts = [old_part(before, side, address) for address in range(count)]
            rest += [parts, first.tolist(), [h for some in by_host for h in some]]
        self._call("begin", *tables, *(np.array(part, np.int64).tobytes() for part in rest))
        return True

    def settle(self, budget: float) -> list[int]:
        """Settle a piece of the state at every joiner; the bytes that each of them sent.

        Both sides come to their end together: of the one that is only sorted out, there may be
        more than of the one that is sent.
        """
        for side in SIDES:
            self._prepare_all(side, int(min(budget, MOST_BYTES) * len(self._stores[side])) // 8 + 1)
        sent = []
        for host in self._stores["R"]:
            stores = {side: self._stores[side][host] for side in SIDES}
            moved = [s.left for side, s in stores.items() if self._is_sent[side]]
            mine = 0
            for side, store in stores.items():
                if not store.left:
                    continue
                share = 1.0
                if not self._is_sent[side]:
                    share = store.left / moved[0] if moved and moved[0] else float(LOCAL_PACE)
                mine += store.settle(budget * max(share, 1.0))
            sent.append(mine)
        return sent

    @property
    def is_settled(self) -> bool:
        """Whether nothing is on its way."""
        return not any(s.left for stores in self._stores.values() for s in stores.values())

    def end(self, joiners: Iterable[BatchJoiner]) -> None:
        """Leave the epoch: everything is where it belongs."""
        self._call("end")
        self._note(joiners)

    def _note(self, joiners: Iterable[BatchJoiner]) -> dict[int, int]:
        """Remember the stores; the number that C++ has for each host."""
        here: dict[int, int] = {}
        self._stores = {"R": {}, "S": {}}
        for joiner in joiners:
            for side in SIDES:
                store = joiner.state[side]
                assert isinstance(store, NativeStore)
                here[joiner.host] = store.host
                self._stores[side][store.host] = store
        return here

    def _call(self, name: str, *arguments: object) -> Any:
        return self.kernel.calls[name](self.kernel.handle, *arguments)

    def run(self, batch: Mapping[Side, Tuples]) -> Joined:
        """Join and store a batch."""
        filled = {side: t for side in SIDES if (t := batch.get(side)) is not None and len(t)}
        self._check_products(filled)
        for side, tuples in filled.items():
            self.prepare(side, tuples)
        pairs: list[Pairs] = []
        total = np.zeros(0, np.int64)
        for side, tuples in filled.items():  # R first: the rows of S see them
            arrays, order = arrays_of(tuples), self.kernel.order(side, tuples)
            where = int(side == "S"), addresses(arrays), len(order), addresses([order])[0]
            *parts, received = self._call("run", *where)
            # Copied now: rows of S that are stored next may change what R has met.
            pairs.extend(self._pairs(side, tuples, *map(numbers, parts)))
            total = numbers(received) + (total if len(total) else 0)
        return Joined(pairs, total)

    def _check_products(self, batch: Mapping[Side, Tuples]) -> None:
        """Refuse a batch of which a pair might come more often than 64 bits can count.

        Most rows come once, and nobody has to look at pairs.
        """
        heaviest = [self._heaviest(side, batch.get(side)) for side in SIDES]
        if heaviest[0] * heaviest[1] <= MOST_PRODUCT:
            return
        more = {side: int(np.abs(t.weight).sum()) for side, t in batch.items()}
        for side, tuples in batch.items():
            across: Side = "S" if side == "R" else "R"
            for store in self._stores[across].values():
                rows, slots = store.probe(tuples)
                if not len(rows):
                    continue
                mine = int(np.abs(tuples.weight[rows]).max()) + more[side]
                theirs = int(np.abs(store.take(slots).weight).max()) + more.get(across, 0)
                if mine * theirs > MOST_PRODUCT:
                    raise too_often()

    def prepare(self, side: Side, tuples: Tuples) -> None:
        """Have room for a batch, wherever its tuples go."""
        for store in self._stores[side].values():
            store.prepare(tuples, len(tuples))

    def _prepare_all(self, side: Side, more: int) -> None:
        """Have room for so many tuples that come from other joiners."""
        stores = self._stores[side].values()
        form = next((s.form for s in stores if s.form is not None), None)
        if form is not None:
            stored = sum(map(len, stores))
            for store in stores:
                store.prepare(form, min(more, stored))

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


def routing_tables(layout: Layout, here: Mapping[int, int]) -> list[bytes | None] | None:
    """What C++ has of a layout; None where its grids cannot be written as tables."""
    tables = grid_tables(layout.placement)
    if tables is None:
        return None
    hosts: list[bytes | None] = []
    for side in SIDES:
        hosts += _hosts_of_addresses(layout, side, here)
    return [*hosts, *tables]


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
        case RangePlacement():
            return None  # rows have addresses, which Python computes
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
