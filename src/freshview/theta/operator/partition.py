"""The joiners of one partition, where tuples come in parcels: a batch in two stages.

In the first stage a partition settles a piece of the state that is on its way, enters a new epoch
if one begins, and routes its share of the batch. What it sends arrives in the second stage: moved
tuples are stored, new ones are joined and stored. So the exchange of a migration travels with the
batch, and nothing else waits for it.

A stage depends on nothing but the state and what comes in: partitions that repeat one after a crash
send and keep what they did before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from freshview.temporal import Horizon
from freshview.theta.local.columns import Tuples, concat
from freshview.theta.local.reserve import Spill
from freshview.theta.local.store import Shape, array_stores
from freshview.theta.migration import Transfers, exchanges_of
from freshview.theta.operator.exchange import LOCAL_PACE
from freshview.theta.operator.joiner import SIDES, BatchJoiner, MakeStores, Snapshot
from freshview.theta.operator.output import Pairs, check_weights
from freshview.theta.operator.placement_text import Json, read_placement, show_placement
from freshview.theta.placement import Layout, hosts_of
from freshview.theta.terms import Mask, Numbers, Placement, Side

MOVED, KEPT, JOINED, VISITING = range(4)
"""Why a tuple comes to a joiner: to be stored, having been joined where it was; to be joined and
stored; to be joined; to be joined for another joiner, which will get the partners."""


@dataclass(frozen=True, slots=True)
class BatchOrder:
    """What all the partitions do in a batch beside joining it: the driver decides.

    `settle` bytes of a side at each joiner, if state is on its way, or all of it; forget what is
    behind the `horizon`; then `begin` the epoch of another placement, and settle `at_once` all that
    has to go. `retiring` are the joiners that may have state of a side on its way.
    """

    horizon: Horizon
    settle: float = 0.0
    ended: bool = False
    begin: Placement | None = None
    at_once: bool = False
    retiring: Mapping[Side, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parcels:
    """Tuples on their way: the joiner that each goes to, why, and for which joiner."""

    tuples: Tuples
    at: Numbers
    why: Numbers
    owner: Numbers

    def take(self, rows: Numbers | Mask) -> Parcels:
        """Some of them."""
        return Parcels(self.tuples.take(rows), self.at[rows], self.why[rows], self.owner[rows])


Mail: TypeAlias = Mapping[Side, Parcels]


@dataclass
class Progress:
    """What a partition did so far, and in the last batch."""

    purged: dict[Side, int] = field(default_factory=lambda: {"R": 0, "S": 0})
    moved: int = 0
    longest_move: int = 0
    received: int = 0
    busiest: int = 0
    """The bytes that the busiest joiner received in the last batch."""


class Partition:
    """Some of the joiners: those whose number leaves `part` when divided by `parts`."""

    def __init__(
        self,
        part: int,
        parts: int,
        shape: Shape,
        placement: Placement,
        spill: Spill | None = None,
        make_stores: MakeStores = array_stores,
    ) -> None:
        self.part = part
        self.parts = parts
        self.shape = shape
        self.spill = spill
        self._make_stores = make_stores
        self.layout = Layout(placement)
        self.before: Placement | None = None
        """The placement of the epoch before, while state is on its way."""
        self.progress = Progress()
        self.joiners: dict[int, BatchJoiner] = {}
        self._transfers: Transfers | None = None
        self._senders: dict[Side, Mapping[int, frozenset[int]]] = {}
        self._start_joiners(placement)

    @property
    def placement(self) -> Placement:
        """Where tuples go now."""
        return self.layout.placement

    @property
    def bytes(self) -> int:
        """What is stored here."""
        return sum(j.bytes(side) for j in self.joiners.values() for side in SIDES)

    # ---------------------------------------------------------------- the first stage

    def send(self, order: BatchOrder, batch: Mapping[Side, Tuples]) -> Mail:
        """Settle state, enter an epoch, route a share of the batch: all that goes to joiners."""
        parcels = self.settle(order)
        for side, tuples in batch.items():
            if len(tuples):
                parcels.setdefault(side, []).extend(self._routed(side, tuples, order.retiring))
        return {side: together(some) for side, some in parcels.items() if some}

    def settle(self, order: BatchOrder) -> dict[Side, list[Parcels]]:
        """What the state itself does at the beginning of a batch; tuples that go to others."""
        parcels: dict[Side, list[Parcels]] = {}
        if order.settle:
            self._move(order.settle, parcels)
        if order.ended:
            self._end()
        if self.shape.limit is not None:
            for joiner in self.joiners.values():
                for side, size in joiner.purge(order.horizon).items():
                    self.progress.purged[side] += size
        if order.begin is not None:
            self._begin(order.begin)
        if order.at_once:
            self._move(np.inf, parcels)
        return parcels

    def _begin(self, placement: Placement) -> None:
        self._start_joiners(placement)
        self._enter(self.placement, placement)
        assert self._transfers is not None
        for joiner in self.joiners.values():
            joiner.begin(self._transfers)

    def _enter(self, before: Placement, placement: Placement) -> None:
        self.before = before
        self._transfers = Transfers(before, placement)
        self._senders = {side: exchanges_of(side, before, placement) for side in SIDES}
        self.layout = Layout(placement)

    def _end(self) -> None:
        hosts = set(hosts_of(self.placement))
        for host in [h for h in self.joiners if h not in hosts]:
            self.joiners.pop(host).close()
        self.before, self._transfers, self._senders = None, None, {}

    def _start_joiners(self, placement: Placement) -> None:
        for host in hosts_of(placement):
            if host % self.parts == self.part and host not in self.joiners:
                self.joiners[host] = BatchJoiner(host, self.shape, self._make_stores)

    def _move(self, budget: float, parcels: dict[Side, list[Parcels]]) -> None:
        is_sent = {side: any(self._senders[side].values()) for side in SIDES}
        for joiner in self.joiners.values():
            sent = 0
            for side in SIDES:
                for to, tuples in joiner.send(side, budget * (1 if is_sent[side] else LOCAL_PACE)):
                    if len(tuples):
                        parcels.setdefault(side, []).append(_to(to, MOVED, tuples))
                        sent += int(tuples.size.sum())
            self.progress.moved += sent
            self.progress.longest_move = max(self.progress.longest_move, sent)

    def _routed(
        self, side: Side, tuples: Tuples, retiring: Mapping[Side, tuple[int, ...]]
    ) -> list[Parcels]:
        routes = self.layout.route(side, tuples.key, tuples.hash)
        why = np.where(routes.stored, KEPT, JOINED)
        parcels = [Parcels(tuples.take(routes.row), routes.host, why, routes.host)]
        if self.before is None:
            return parcels
        across: Side = "S" if side == "R" else "R"
        for host in np.unique(routes.host).tolist():
            senders = [h for h in self._senders[across][host] if h in retiring.get(across, ())]
            if senders:
                mine = tuples.take(routes.row[routes.host == host])
                parcels.extend(_to(h, VISITING, mine, owner=host) for h in sorted(senders))
        return parcels

    # ---------------------------------------------------------------- the second stage

    def receive(self, mail: Mail, *, again: bool = False) -> list[Pairs]:
        """Store what moved, join and store what is new; `again`, nobody waits for the pairs."""
        hosts = {h for parcels in mail.values() for h in np.unique(parcels.at).tolist()}
        by_host = {h: {s: p.take(p.at == h) for s, p in mail.items()} for h in sorted(hosts)}
        pairs: list[Pairs] = []
        for host, parcels in by_host.items():
            for side, p in parcels.items():
                moved = p.tuples.take(p.why == MOVED)
                if len(moved):
                    self.joiners[host].receive(side, moved)
        if not again:
            for host, parcels in by_host.items():
                pairs.extend(self._joined(self.joiners[host], parcels))
            check_weights(pairs)
        self.progress.busiest = 0
        for host, parcels in by_host.items():
            size = sum(int(p.tuples.size[_is_new(p)].sum()) for p in parcels.values())
            self.progress.received += size
            self.progress.busiest = max(self.progress.busiest, size)
            for side, p in parcels.items():
                self.joiners[host].store(side, p.tuples.take(p.why == KEPT))
        for joiner in self.joiners.values():
            joiner.tidy()  # in every batch: a partition that is rebuilt must do the same
            if self.spill is not None:
                joiner.spill(self.spill)
        return pairs

    def _joined(self, joiner: BatchJoiner, mail: Mail) -> list[Pairs]:
        new = {side: p.take(_is_new(p)) for side, p in mail.items()}
        filled = {side: p for side, p in new.items() if len(p.at)}
        r, s = filled.get("R"), filled.get("S")
        kept_r = np.zeros(0, np.bool_) if r is None else r.why == KEPT
        r_tuples, s_tuples = (None if p is None else p.tuples for p in (r, s))
        pairs = joiner.join(r_tuples, kept_r, s_tuples)
        for side, parcels in mail.items():
            visiting = parcels.take(parcels.why == VISITING)
            for owner in np.unique(visiting.owner).tolist():
                mine = visiting.tuples.take(visiting.owner == owner)
                pairs.extend(joiner.join_for(owner, side, mine))
        return pairs

    # ---------------------------------------------------------------- as values

    def status(self) -> Json:
        """What the driver knows of it after a batch: values of JSON."""
        p = self.progress
        retiring = {
            side: [h for h, j in self.joiners.items() if side in j.retiring] for side in SIDES
        }
        stored = [[h, j.bytes("R"), j.bytes("S")] for h, j in self.joiners.items()]
        spilled = sum(j.spilled for j in self.joiners.values())
        return {"stored": stored, "retiring": retiring, "spilled": spilled, **vars(p)}

    def snapshot(self) -> tuple[Json, dict[int, Snapshot]]:
        """All that it is: values of JSON, and the state of each joiner."""
        before = None if self.before is None else show_placement(self.before)
        head = {
            "placement": show_placement(self.placement),
            "before": before,
            "hosts": list(self.joiners),
            "progress": vars(self.progress),
        }
        return head, {host: joiner.snapshot() for host, joiner in self.joiners.items()}

    def restore(self, head: Json, snapshots: Mapping[int, Snapshot]) -> None:
        """Become what a snapshot says."""
        self.layout = Layout(read_placement(head["placement"]))
        if head["before"] is not None:
            self._enter(read_placement(head["before"]), self.placement)
        self.progress = Progress(**head["progress"])
        for joiner in self.joiners.values():
            joiner.close()
        self.joiners = {}
        for host in head["hosts"]:
            self.joiners[host] = BatchJoiner(host, self.shape, self._make_stores)
            self.joiners[host].restore(snapshots.get(host, {}), self._transfers)


def _to(host: int, why: int, tuples: Tuples, owner: int = -1) -> Parcels:
    count = len(tuples)
    return Parcels(tuples, np.full(count, host), np.full(count, why), np.full(count, owner))


def _is_new(parcels: Parcels) -> Mask:
    return np.asarray((parcels.why == KEPT) | (parcels.why == JOINED))


def together(some: Sequence[Parcels]) -> Parcels:
    """Parcels one after the other; there must be some."""
    if len(some) == 1:
        return some[0]
    return Parcels(
        concat([p.tuples for p in some]),
        np.concatenate([p.at for p in some]),
        np.concatenate([p.why for p in some]),
        np.concatenate([p.owner for p in some]),
    )
