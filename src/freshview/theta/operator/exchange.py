"""The joiners of one join and the tuples between them: routing, moving, joining, storing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from freshview.temporal import Horizon
from freshview.theta.controller import least_load
from freshview.theta.local.columns import Tuples
from freshview.theta.local.native.kernel import JoinKernel
from freshview.theta.local.native.store import native_stores
from freshview.theta.local.reserve import Spill
from freshview.theta.local.store import Shape, array_stores
from freshview.theta.metrics import Metrics
from freshview.theta.migration import Transfers, exchanges_of
from freshview.theta.operator.direct import DirectJoin
from freshview.theta.operator.joiner import SIDES, BatchJoiner, MakeStores
from freshview.theta.operator.options import BadJoin
from freshview.theta.operator.output import Pairs, check_weights
from freshview.theta.placement import Layout, hosts_of
from freshview.theta.schemes import show_mappings
from freshview.theta.terms import Groups, Mask, Placement, RangePlacement, Side, Sizes

NEW_BYTES_PAID = 2
"""While state moves, joiners send this many times the new bytes: what theorem 4.4.7 asks for."""

LOCAL_PACE = 4
"""A side of which nothing is sent is settled so much faster: it may be that much larger."""

_NONE = np.zeros(0, np.bool_)

Parts: TypeAlias = dict[Side, tuple[Tuples, Mask]]
"""The new tuples of one host, and which of them it stores."""


class Epochs(ABC):
    """Where tuples go now, whether state is on its way there, and how much is stored."""

    def __init__(self, placement: Placement, metrics: Metrics) -> None:
        self.layout = Layout(placement)
        self.metrics = metrics
        self.is_migrating = False
        self.stored: dict[Side, float] = {"R": 0.0, "S": 0.0}

    @property
    def placement(self) -> Placement:
        """Where tuples go now."""
        return self.layout.placement

    def begin(self, placement: Placement) -> None:
        """Enter the epoch of another placement; nothing happens if it is the current one."""
        if placement == self.placement:
            return
        if isinstance(self.placement, RangePlacement):
            raise BadJoin("rows by ranges stay where they are", instead="use the scheme 'dynamic'")
        self._enter(placement)
        self.layout = Layout(placement)
        self.is_migrating = True
        self.metrics.migrations += 1

    def measure(self) -> None:
        """Bring the gauges up to date."""
        metrics, sizes = self.metrics, Sizes(max(self.stored["R"], 0), max(self.stored["S"], 0))
        metrics.migrating = self.is_migrating
        metrics.mapping = show_mappings(self.placement)
        if isinstance(self.placement, Groups):
            metrics.optimum = least_load(self.placement, sizes)
        else:
            metrics.optimum = sizes.total / len(hosts_of(self.placement))

    @abstractmethod
    def _enter(self, placement: Placement) -> None:
        """Have the joiners enter the epoch."""


class Exchange(Epochs):
    """Runs batches over joiners; a migration is spread over as many batches as its `pace` asks.

    After each batch a joiner settles `pace` bytes of a side, or twice what the busiest joiner
    received if that is more. Without a pace a migration is blocking: it ends before the next batch.
    A batch that raises leaves no trace of its tuples.
    """

    def __init__(
        self,
        shape: Shape,
        placement: Placement,
        pace: int | None,
        metrics: Metrics,
        make_stores: MakeStores = array_stores,
        spill: Spill | None = None,
    ) -> None:
        super().__init__(placement, metrics)
        self.shape = shape
        self.pace = pace
        self.spill = spill
        self._senders: dict[Side, Mapping[int, frozenset[int]]] = {}
        self._make_stores = make_stores
        self.joiners: dict[int, BatchJoiner] = {}
        self._start_joiners(placement)
        self._direct: DirectJoin | None = None
        self._batches = 0
        self._is_routed = False
        """Whether native joiners know the layout of now."""
        self._moves_directly = False
        """Whether what is on its way is settled in C++."""

    def use(self, kernel: JoinKernel) -> None:
        """Have native joiners from now on, with all that is stored; no state may be on its way."""
        self._make_stores = lambda shape: native_stores(kernel)
        for joiner in self.joiners.values():
            joiner.become(self._make_stores(self.shape))
        self._direct = DirectJoin(kernel) if kernel.joins_alone else None

    @property
    def direct(self) -> DirectJoin | None:
        """What joins a batch in one call, if that can be done now."""
        if self._direct is None or (self.is_migrating and not self._moves_directly):
            return None
        if not self._is_routed:
            self._is_routed = self._direct.route(self.layout, self.joiners.values())
        return self._direct if self._is_routed else None

    def is_direct(self) -> bool:
        """Whether single rows can be joined now without Python."""
        return self.direct is not None and not self.is_migrating

    def _enter(self, placement: Placement) -> None:
        self._start_joiners(placement)
        direct = None if self.is_migrating else self.direct
        self._is_routed = self._moves_directly = direct is not None and direct.begin(
            self.placement, Layout(placement), self.joiners.values()
        )
        if self._moves_directly:
            return
        transfers = Transfers(self.placement, placement)
        for joiner in self.joiners.values():
            joiner.begin(transfers)
        self._senders = {side: exchanges_of(side, self.placement, placement) for side in SIDES}

    def run(self, batch: Mapping[Side, Tuples]) -> list[Pairs]:
        """One batch: new tuples are joined and stored, then some state moves."""
        if self.is_migrating and self.pace is None:
            self._move(np.inf)
        direct = self.direct
        if direct is not None:
            joined = direct.run(batch)
            self._stored_all(batch, joined.received.tolist())
            return joined.pairs
        parts, received = self._routed(batch)
        pairs = []
        for host, sides in parts.items():
            r, kept_r = sides.get("R", (None, _NONE))
            s, _ = sides.get("S", (None, _NONE))
            pairs.extend(self.joiners[host].join(r, kept_r, s))
            if self.is_migrating:
                pairs.extend(self._join_retiring(host, sides))
        check_weights(pairs)
        for host, sides in parts.items():
            for side, (tuples, kept) in sides.items():
                self.joiners[host].store(side, tuples.take(kept))
        self._stored_all(batch, list(received.values()))
        self._tidy_next()
        return pairs

    def _tidy_next(self) -> None:
        """Tidy one joiner: at the end of a migration all of them have empty slots."""
        hosts = list(self.joiners)
        self._batches += 1
        self.joiners[hosts[self._batches % len(hosts)]].tidy()

    def _stored_all(self, batch: Mapping[Side, Tuples], received: list[int]) -> None:
        """Count a batch that is stored, and pay for it by moving some state."""
        for side, tuples in batch.items():
            self.stored[side] += float((tuples.size * tuples.weight).sum())
        self.metrics.received_bytes += sum(received)
        if self.is_migrating and self.pace is not None:
            self._move(max(self.pace, NEW_BYTES_PAID * max(received, default=0)))
        if self.spill is not None:
            for joiner in self.joiners.values():
                joiner.spill(self.spill)

    def purge(self, horizon: Horizon) -> dict[Side, float]:
        """Forget what is out of the window; how many bytes of each side, replicas not counted."""
        purged: dict[Side, float] = {"R": 0.0, "S": 0.0}
        if self.shape.limit is None:
            return purged
        held = {side: self._held(side) for side in SIDES}
        gone: dict[Side, int] = {"R": 0, "S": 0}
        for joiner in self.joiners.values():
            for side, size in joiner.purge(horizon).items():
                gone[side] += size
        for side in SIDES:
            if gone[side]:
                purged[side] = self.stored[side] * gone[side] / held[side]
                self.stored[side] -= purged[side]
                self.metrics.purged_bytes += gone[side]
        return purged

    def measure(self) -> None:
        """Bring the gauges up to date."""
        joiners = self.joiners.values()
        self.metrics.storage = {j.host: j.bytes("R") + j.bytes("S") for j in joiners}
        self.metrics.spilled_bytes = sum(j.spilled for j in joiners)
        super().measure()

    def _routed(self, batch: Mapping[Side, Tuples]) -> tuple[dict[int, Parts], dict[int, int]]:
        """The tuples for each host with which of them it stores, and the bytes that it gets."""
        parts: dict[int, Parts] = {}
        received = dict.fromkeys(self.joiners, 0)
        for side, tuples in batch.items():
            if not len(tuples):
                continue
            routes = self.layout.route(side, tuples.key, tuples.hash)
            order = np.argsort(routes.host, kind="stable")
            hosts, starts = np.unique(routes.host[order], return_index=True)
            for host, rows in zip(hosts.tolist(), np.split(order, starts[1:]), strict=True):
                mine = tuples.take(routes.row[rows])
                parts.setdefault(host, {})[side] = mine, routes.stored[rows]
                received[host] += int(mine.size.sum())
        return parts, received

    def _join_retiring(self, host: int, sides: Parts) -> list[Pairs]:
        """New tuples of a host with those of others that it will get."""
        pairs = []
        for side, (tuples, _) in sides.items():
            across: Side = "S" if side == "R" else "R"
            for sender in self._senders[across][host]:
                pairs.extend(self.joiners[sender].join_for(host, side, tuples))
        return pairs

    def _move(self, budget: float) -> None:
        if self._moves_directly and self._direct is not None:
            sent = self._direct.settle(budget)
            is_settled = self._direct.is_settled
        else:
            sent = self._settle(budget)
            is_settled = not any(joiner.retiring for joiner in self.joiners.values())
        self.metrics.moved_bytes += sum(sent)
        self.metrics.longest_move = max(self.metrics.longest_move, *sent)
        if is_settled:
            hosts = set(hosts_of(self.placement))
            for host in [h for h in self.joiners if h not in hosts]:
                self.joiners.pop(host).close()
            if self._moves_directly and self._direct is not None:
                self._direct.end(self.joiners.values())
            self.is_migrating = self._moves_directly = False

    def _settle(self, budget: float) -> list[int]:
        """Settle state at every joiner, in Python; the bytes that each of them sent."""
        all_sent = []
        is_sent = {side: any(self._senders[side].values()) for side in SIDES}
        for joiner in self.joiners.values():
            sent = 0
            for side in SIDES:
                for to, tuples in joiner.send(side, budget * (1 if is_sent[side] else LOCAL_PACE)):
                    self.joiners[to].receive(side, tuples)
                    sent += int(tuples.size.sum())
            all_sent.append(sent)
        return all_sent

    def _start_joiners(self, placement: Placement) -> None:
        for host in hosts_of(placement):
            if host not in self.joiners:
                self.joiners[host] = BatchJoiner(host, self.shape, self._make_stores)

    def _held(self, side: Side) -> int:
        return sum(j.bytes(side) for j in self.joiners.values())
