"""The non-blocking protocol: joiners join while their state moves (algorithm 4).

An epoch has one placement. A joiner that moves to the next epoch has four sets of tuples: `tau`,
what it had when the first signal came; `delta`, what came later under the old epoch; `fresh`, what
came under the new one (delta-prime in the thesis); and `mu`, what other joiners sent it. Pairs
within tau and delta are joined where the old placement puts them, all others where the new one
does: fresh with fresh, with mu, and with the part of tau and delta that stays (KEEP).

The thesis leaves open when a migration ends: here each joiner tells those it sends to, by `End`,
that all its signals came, after which no tuple of the old epoch can. Visitors, which a group joins
without storing them, are kept from their arrival under the new epoch to the end of the migration,
since old tuples that they must meet may still be on their way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias, assert_never

import numpy as np

from freshview.errors import FreshviewError
from freshview.theta.keys import mix
from freshview.theta.migration import exchanges, transfer
from freshview.theta.placement import addresses, stored_at, visited_at
from freshview.theta.terms import Placement, Side


class BrokenProtocol(FreshviewError):
    """A message that cannot come while all keep to the protocol."""


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple of a stream: `number` tells it from all others, `key` says where it belongs."""

    side: Side
    number: int
    key: int
    value: int = 0


@dataclass(frozen=True, slots=True)
class Data:
    """A tuple from a reshuffler under an epoch, to be stored or only joined."""

    tuple: Tuple
    epoch: int
    stored: bool = True


@dataclass(frozen=True, slots=True)
class Signal:
    """A reshuffler sends under a new epoch from now on."""

    epoch: int
    placement: Placement
    reshuffler: int


@dataclass(frozen=True, slots=True)
class Migrated:
    """A tuple that another joiner has and this one needs in an epoch."""

    tuple: Tuple
    epoch: int


@dataclass(frozen=True, slots=True)
class End:
    """A joiner has sent all it had to send for an epoch."""

    epoch: int
    host: int


@dataclass(frozen=True, slots=True)
class Ack:
    """A joiner has finished its migration to an epoch."""

    epoch: int
    host: int


Message: TypeAlias = Data | Signal | Migrated | End


@dataclass(frozen=True, slots=True)
class Send:
    """A message for another joiner."""

    to: int
    message: Message


@dataclass(frozen=True, slots=True)
class Output:
    """A pair of the result."""

    r: Tuple
    s: Tuple


Effect: TypeAlias = Send | Output | Ack
Predicate: TypeAlias = Callable[[Tuple, Tuple], bool]


@dataclass
class Joiner:
    """One joiner as a state machine: a message in, pairs and messages out."""

    host: int
    placement: Placement
    reshufflers: int
    predicate: Predicate
    epoch: int = 0
    tau: list[Tuple] = field(default_factory=list)
    delta: list[Tuple] = field(default_factory=list)
    fresh: list[Tuple] = field(default_factory=list)
    mu: list[Tuple] = field(default_factory=list)
    visitors: list[Tuple] = field(default_factory=list)
    coming: Placement | None = None
    signals: set[int] = field(default_factory=set)
    ends: set[int] = field(default_factory=set)
    early: list[Message] = field(default_factory=list)

    def handle(self, message: Message) -> list[Effect]:
        """What follows from one message."""
        effects = list(self._dispatch(message))
        if self._is_over():
            effects.extend(self._finalize())
        return effects

    def stored(self) -> list[Tuple]:
        """All the tuples that are here."""
        return [*self.tau, *self.delta, *self.mu, *self.fresh]

    def _dispatch(self, message: Message) -> list[Effect]:
        match message:
            case Data(t, epoch, stored):
                if not self.epoch <= epoch <= self.epoch + 1:
                    raise BrokenProtocol(f"epoch {epoch} at a joiner in epoch {self.epoch}")
                if epoch > self.epoch and self.coming is None:
                    self.early.append(message)  # its reshuffler's signal takes another way
                    return []
                if epoch > self.epoch:
                    return self._fresh(t) if stored else self._fresh_visitor(t)
                return self._old(t) if stored else self._join(t, self.tau, self.delta)
            case Migrated(t):
                self.mu.append(t)
                return self._join(t, self.fresh, self.visitors)
            case Signal(_, placement, reshuffler):
                return self._signal(placement, reshuffler)
            case End(_, host):
                self.ends.add(host)
                return []
            case _:
                assert_never(message)

    def _signal(self, placement: Placement, reshuffler: int) -> list[Effect]:
        effects: list[Effect] = []
        if self.coming is None:
            self.coming = placement
            effects = [send for t in self.tau for send in self._migrate(t)]
        self.signals.add(reshuffler)
        if len(self.signals) == self.reshufflers:
            end = End(self.epoch + 1, self.host)
            senders = exchanges(self.placement, placement)
            effects.extend(Send(to, end) for to, froms in senders.items() if self.host in froms)
        waiting, self.early = self.early, []
        for message in waiting:
            effects.extend(self._dispatch(message))
        return effects

    def _old(self, t: Tuple) -> list[Effect]:
        """A tuple of the old epoch, or of the only one."""
        effects = self._join(t, self.tau, self.delta)
        if self.coming is None:
            self.tau.append(t)
            return effects
        self.delta.append(t)
        if self._keeps(t):
            effects.extend(self._join(t, self.fresh, self.visitors))
        effects.extend(self._migrate(t))
        return effects

    def _fresh(self, t: Tuple) -> list[Effect]:
        effects = self._join_fresh(t)
        self.fresh.append(t)
        return effects

    def _fresh_visitor(self, t: Tuple) -> list[Effect]:
        effects = self._join_fresh(t)
        self.visitors.append(t)
        return effects

    def _join_fresh(self, t: Tuple) -> list[Effect]:
        kept = [o for o in (*self.tau, *self.delta) if self._keeps(o)]
        return self._join(t, self.mu, self.fresh, kept)

    def _is_over(self) -> bool:
        if self.coming is None or len(self.signals) < self.reshufflers:
            return False
        return self.ends >= exchanges(self.placement, self.coming)[self.host]

    def _finalize(self) -> list[Effect]:
        assert self.coming is not None
        kept = [t for t in (*self.tau, *self.delta) if self._keeps(t)]
        self.tau = [*kept, *self.mu, *self.fresh]
        self.delta, self.fresh, self.mu, self.visitors = [], [], [], []
        self.signals, self.ends = set(), set()
        self.placement, self.coming = self.coming, None
        self.epoch += 1
        return [Ack(self.epoch, self.host)]

    def _keeps(self, t: Tuple) -> bool:
        assert self.coming is not None
        return self.host in targets(self.coming, t)[0]

    def _migrate(self, t: Tuple) -> list[Effect]:
        assert self.coming is not None
        here, there = address_of(self.placement, t), address_of(self.coming, t)
        _, sent = _transfer(self.placement, self.coming, t.side, here, there, self.host)
        return [Send(to, Migrated(t, self.epoch + 1)) for to in sent]

    def _join(self, t: Tuple, *sets: list[Tuple]) -> list[Effect]:
        pairs: list[Effect] = []
        for other in (o for tuples in sets for o in tuples if o.side != t.side):
            r, s = (t, other) if t.side == "R" else (other, t)
            if self.predicate(r, s):
                pairs.append(Output(r, s))
        return pairs


_transfer = lru_cache(maxsize=65536)(transfer)


@lru_cache(maxsize=65536)
def address_of(placement: Placement, t: Tuple) -> int:
    """The address of one tuple."""
    key, value = np.array([t.key], np.uint64), mix(np.array([t.value], np.uint64))
    return int(addresses(placement, t.side, key, value)[0])


@lru_cache(maxsize=65536)
def targets(placement: Placement, t: Tuple) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The hosts that store a tuple, and those that only join it."""
    address = address_of(placement, t)
    return stored_at(placement, t.side, address), visited_at(placement, t.side, address)
