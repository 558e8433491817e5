"""Links that lose, repeat and reorder packets, and what makes FIFO channels of them.

Each packet has a sequence number. The receiver takes the next one that it expects and drops the
others; the sender repeats what was not acknowledged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from random import Random
from typing import Generic, TypeVar

Body = TypeVar("Body")


@dataclass
class Link(Generic[Body]):
    """One direction between two ends."""

    waiting: deque[tuple[int, Body]] = field(default_factory=deque)
    wire: list[tuple[int, Body]] = field(default_factory=list)
    next_number: int = 0
    expected: int = 0
    received: int = 0

    def send(self, body: Body) -> None:
        """Give a message to the sender's side; it stays there until it is acknowledged."""
        self.waiting.append((self.next_number, body))
        self.next_number += 1

    @property
    def is_idle(self) -> bool:
        """Whether all that was sent has been received and acknowledged."""
        return not self.waiting

    def step(self, random: Random, loss: float) -> Body | None:
        """One event at random: a packet is put on the wire, lost, or comes out of it."""
        if self.wire and random.random() < 0.6:
            number, body = self.wire.pop(random.randrange(len(self.wire)))
            return self._receive(number, body, random, loss)
        if self.waiting:
            self.wire.append(self.waiting[random.randrange(min(3, len(self.waiting)))])
            if random.random() < loss:
                self.wire.pop(random.randrange(len(self.wire)))
        return None

    def _receive(self, number: int, body: Body, random: Random, loss: float) -> Body | None:
        fits = number == self.expected
        self.expected += fits
        self.received += 1
        if random.random() >= loss:  # the acknowledgement arrives: all before it are done
            while self.waiting and self.waiting[0][0] < self.expected:
                self.waiting.popleft()
        return body if fits else None


@dataclass
class Network(Generic[Body]):
    """All the links, and a schedule that picks the next event at random."""

    random: Random
    loss: float = 0.0
    links: dict[tuple[Hashable, Hashable], Link[Body]] = field(default_factory=dict)
    busy: list[tuple[Hashable, Hashable]] = field(default_factory=list)

    def send(self, sender: Hashable, receiver: Hashable, body: Body) -> None:
        """Messages between two ends arrive in the order in which they are sent."""
        ends = (sender, receiver)
        link = self.links.setdefault(ends, Link())
        if link.is_idle:
            self.busy.append(ends)
        link.send(body)

    def step(self) -> tuple[Hashable, Hashable, Body] | None:
        """One event; a message with its ends if one arrives."""
        place = self.random.randrange(len(self.busy))
        ends = self.busy[place]
        link = self.links[ends]
        body = link.step(self.random, self.loss)
        if link.is_idle:
            link.wire.clear()  # only repetitions are left
            self.busy[place] = self.busy[-1]
            self.busy.pop()
        return None if body is None else (*ends, body)

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is on its way."""
        return not self.busy
