"""The parts of a running join that exchange messages: reshufflers, one of them the controller.

Every reshuffler hears the acknowledgements of all joiners, so any of them can take over as the
controller. A takeover has a term: reshufflers answer with the epoch that they are in and ignore
orders of earlier terms from then on. What nobody accepted of a dead controller's last decision is
gone; what somebody accepted is told to all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeAlias

from freshview.theta.controller import Counts, observe
from freshview.theta.placement import hosts_of
from freshview.theta.protocol import Data, Message, Signal, Tuple, targets
from freshview.theta.terms import Groups, Placement


@dataclass(frozen=True, slots=True)
class Change:
    """The controller of a term orders an epoch with its placement."""

    term: int
    epoch: int
    placement: Placement


@dataclass(frozen=True, slots=True)
class Takeover:
    """A reshuffler is the controller of a new term."""

    term: int
    controller: int


@dataclass(frozen=True, slots=True)
class Status:
    """The answer to a takeover: where a reshuffler is."""

    term: int
    reshuffler: int
    epoch: int
    placement: Placement


@dataclass(frozen=True, slots=True)
class Resume:
    """All state has moved: a reshuffler that was stalled goes on (blocking migration alone)."""

    term: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Acked:
    """A joiner finished an epoch."""

    epoch: int
    host: int


@dataclass(frozen=True, slots=True)
class Relay:
    """What the head of a block forwards, in the order in which it comes."""

    deliveries: tuple[tuple[int, Message], ...]


Order: TypeAlias = Change | Takeover | Status | Resume | Acked
Post: TypeAlias = Callable[[Hashable, object], None]
"""Sends a message to an end."""


@dataclass
class Reshuffler:
    """Routes tuples under the latest epoch that it knows; controls, if it was elected."""

    number: int
    placement: Placement
    reshufflers: int
    post: Post
    blocking: bool = False
    epoch: int = 0
    term: int = 0
    stalled: bool = False
    inputs: deque[Tuple] = field(default_factory=deque)
    previous: Placement | None = None
    acked: dict[int, set[int]] = field(default_factory=dict)
    controls: bool = False
    statuses: dict[int, Status] = field(default_factory=dict)
    electing: bool = False
    resumed: int = 0
    counts: Counts = field(default_factory=Counts)

    def route_next(self) -> None:
        """Count the next tuple, scaled up (algorithm 1), and send it to its joiners."""
        t = self.inputs.popleft()
        self.counts = observe(self.counts, t.side, self.reshufflers)
        stored, visited = targets(self.placement, t)
        copies = {h: Data(t, self.epoch) for h in stored}
        copies |= {h: Data(t, self.epoch, stored=False) for h in visited}
        self._deliver(self.placement, dict(copies))

    def handle(self, order: Order) -> None:
        """Follow an order, or hear an acknowledgement."""
        match order:
            case Change(term, epoch, placement):
                if term >= self.term and epoch == self.epoch + 1:
                    self._enter(epoch, placement)
            case Takeover(term, controller):
                if term > self.term:
                    self.term, self.controls = term, False
                    status = Status(term, self.number, self.epoch, self.placement)
                    self.post(("reshuffler", controller), status)
            case Status(term):
                if term == self.term and self.controls:
                    self.statuses[order.reshuffler] = order
                    self._finish_election()
            case Resume(term, epoch):
                if term >= self.term and epoch == self.epoch:
                    self.stalled = False
            case Acked(epoch, host):
                self.acked.setdefault(epoch, set()).add(host)
        if self.controls and self.blocking and self.is_settled() and self.resumed < self.epoch:
            self.resumed = self.epoch
            self.broadcast(Resume(self.term, self.epoch))

    def take_over(self, term: int) -> None:
        """Become the controller."""
        self.term, self.controls, self.electing, self.resumed = term, True, True, 0
        self.statuses = {self.number: Status(term, self.number, self.epoch, self.placement)}
        self.broadcast(Takeover(term, self.number))
        self._finish_election()

    def is_settled(self) -> bool:
        """Whether all joiners finished the epoch that this reshuffler is in."""
        if self.epoch == 0:
            return True
        assert self.previous is not None
        waited = {*hosts_of(self.previous), *hosts_of(self.placement)}
        return self.acked.get(self.epoch, set()) >= waited

    def may_decide(self) -> bool:
        """A migration may begin when the last one has ended everywhere."""
        return self.controls and not self.electing and not self.stalled and self.is_settled()

    def broadcast(self, order: Order, only: set[int] | None = None) -> None:
        """Tell all reshufflers, this one included; or some, if the controller dies over it."""
        for k in range(self.reshufflers):
            if only is None or k in only:
                self.post(("reshuffler", k), order)

    def _finish_election(self) -> None:
        if len(self.statuses) < self.reshufflers or not self.electing:
            return
        self.electing = False
        latest = max(self.statuses.values(), key=lambda s: s.epoch)
        self.broadcast(Change(self.term, latest.epoch, latest.placement))

    def _enter(self, epoch: int, placement: Placement) -> None:
        old = self.placement
        signal = Signal(epoch, placement, self.number)
        self._deliver(old, dict.fromkeys(hosts_of(old), signal))
        for host in set(hosts_of(placement)) - set(hosts_of(old)):
            self.post(("joiner", host), signal)
        self.previous, self.placement, self.epoch = old, placement, epoch
        self.stalled = self.blocking

    def _deliver(self, placement: Placement, messages: dict[int, Message]) -> None:
        """To the joiners, through the heads of their blocks where there is more than one group."""
        if not isinstance(placement, Groups) or len(placement.grids) == 1:
            for host, message in messages.items():
                self.post(("joiner", host), message)
            return
        for head, block in blocks(placement).items():
            inside = tuple((h, m) for h, m in messages.items() if h in block)
            if inside:
                self.post(("head", head), Relay(inside))


def blocks(placement: Groups) -> dict[int, frozenset[int]]:
    """The hosts that hold the same parts, coarsely seen: one block a cell of the smallest group.

    A pair of tuples that meets in several groups meets in one block, and its head forwards both
    to all its joiners in the same order.
    """
    smallest = placement.grids[-1].mapping
    hosts_by_cell: dict[int, set[int]] = {}
    for grid in placement.grids:
        rows, columns = grid.mapping.n // smallest.n, grid.mapping.m // smallest.m
        for row in range(grid.mapping.n):
            for column in range(grid.mapping.m):
                cell = row // rows * smallest.m + column // columns
                hosts_by_cell.setdefault(cell, set()).add(grid.host(row, column))
    return {cell: frozenset(hosts) for cell, hosts in hosts_by_cell.items()}
