"""What the driver knows of joiners elsewhere: epochs, what is stored, and what to order next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from freshview.temporal import Horizon
from freshview.theta.local.columns import Tuples
from freshview.theta.metrics import Metrics
from freshview.theta.operator.exchange import NEW_BYTES_PAID, Epochs
from freshview.theta.operator.joiner import SIDES
from freshview.theta.operator.partition import BatchOrder
from freshview.theta.operator.placement_text import Json, read_placement, show_placement
from freshview.theta.placement import Layout, hosts_of
from freshview.theta.terms import Placement, Side


class RemoteEpochs(Epochs):
    """The epochs of joiners that are told them with the next batch, and report after it."""

    def __init__(self, placement: Placement, pace: int | None, metrics: Metrics) -> None:
        super().__init__(placement, metrics)
        self.pace = pace
        self._begins = False
        """Whether the next batch begins the epoch."""
        self._ended = False
        """Whether the next batch says that the last migration has ended."""
        self._retiring: dict[Side, tuple[int, ...]] = {"R": (), "S": ()}
        self._busiest = 0
        self._held: dict[Side, int] = {"R": 0, "S": 0}
        self._purged: dict[Side, int] = {"R": 0, "S": 0}
        """What the joiners have reported, and what of it is counted."""
        self._counted: dict[Side, int] = {"R": 0, "S": 0}

    def _enter(self, placement: Placement) -> None:
        self._begins = True
        hosts = () if self.pace is None else hosts_of(self.placement)
        self._retiring = dict.fromkeys(SIDES, hosts)

    def purged(self) -> dict[Side, float]:
        """What was purged since this was last asked, replicas not counted."""
        sizes: dict[Side, float] = {"R": 0.0, "S": 0.0}
        for side in SIDES:
            gone = self._purged[side] - self._counted[side]
            if gone:
                sizes[side] = self.stored[side] * gone / (self._held[side] + gone)
                self.stored[side] -= sizes[side]
                self._counted[side] = self._purged[side]
        return sizes

    def order(self, horizon: Horizon, batch: Mapping[Side, Tuples]) -> BatchOrder:
        """What the joiners do with the next batch."""
        for side, tuples in batch.items():
            self.stored[side] += float((tuples.size * tuples.weight).sum())
        settle, blocking = 0.0, self.pace is None
        if self.is_migrating and not self._begins:
            settle = float("inf" if self.pace is None else self.pace)
            settle = max(settle, NEW_BYTES_PAID * self._busiest)
        return BatchOrder(
            horizon,
            settle,
            self._ended,
            self.placement if self._begins else None,
            self._begins and blocking,
            self._retiring if self.is_migrating else {},
        )

    def report(self, statuses: Sequence[Json]) -> None:
        """The batch is done: what the partitions say of themselves."""
        self._retiring = {
            side: tuple(h for s in statuses for h in s["retiring"][side]) for side in SIDES
        }
        was_migrating, self.is_migrating = self.is_migrating, any(self._retiring.values())
        self._begins, self._ended = False, was_migrating and not self.is_migrating
        self._busiest = max(s["busiest"] for s in statuses)
        stored = [joiner for s in statuses for joiner in s["stored"]]
        self._held = {side: sum(j[k] for j in stored) for k, side in enumerate(SIDES, 1)}
        self._purged = {side: sum(s["purged"][side] for s in statuses) for side in SIDES}
        metrics = self.metrics
        metrics.storage = {host: r + s for host, r, s in sorted(stored)}
        metrics.moved_bytes = sum(s["moved"] for s in statuses)
        metrics.longest_move = max(s["longest_move"] for s in statuses)
        metrics.spilled_bytes = sum(s["spilled"] for s in statuses)
        metrics.received_bytes = sum(s["received"] for s in statuses)
        metrics.purged_bytes = sum(self._purged.values())

    def dump(self) -> Json:
        """All that a new driver must know to go on after the next report."""
        return {
            "placement": show_placement(self.placement),
            "migrating": self.is_migrating,
            "begins": self._begins,
            "ended": self._ended,
            "retiring": self._retiring,
            "busiest": self._busiest,
            "stored": self.stored,
            "held": self._held,
            "purged": self._purged,
            "counted": self._counted,
            "migrations": self.metrics.migrations,
        }

    def load(self, state: Json) -> None:
        """Become what `dump` wrote."""
        self.layout = Layout(read_placement(state["placement"]))
        self.is_migrating = state["migrating"]
        self._begins, self._ended = state["begins"], state["ended"]
        self._retiring = {side: tuple(state["retiring"][side]) for side in SIDES}
        self._busiest = state["busiest"]
        self.stored, self._held = dict(state["stored"]), dict(state["held"])
        self._purged, self._counted = dict(state["purged"]), dict(state["counted"])
        self.metrics.migrations = state["migrations"]
