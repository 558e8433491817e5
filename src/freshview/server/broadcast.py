"""Events for any number of readers, none of whom can slow down whoever sends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import TypeAlias

Event: TypeAlias = Mapping[str, object]


class Broadcast:
    """The latest event of each topic, for readers who may be slower than the events.

    A reader who is behind gets the latest event of a topic and misses those before it, so what is
    kept for a reader is at most one event a topic. Readers belong to the event loop; `send` may be
    called by any thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._latest: dict[str, Event] = {}
        self._readers: dict[_Reader, asyncio.AbstractEventLoop] = {}
        self._closed = False

    @property
    def readers(self) -> int:
        """How many are reading."""
        return len(self._readers)

    def send(self, topic: str, event: Event) -> None:
        """Send an event to all who read, and keep it for those who come later."""
        with self._lock:
            self._latest[topic] = event
            readers = list(self._readers.items())
        for reader, loop in readers:
            with suppress(RuntimeError):  # the loop has ended, and its reader with it
                loop.call_soon_threadsafe(reader.take, topic, event)

    def forget(self, topic: str) -> None:
        """Keep no event of a topic for those who come later."""
        with self._lock:
            self._latest.pop(topic, None)

    async def read(self, patience: float) -> AsyncIterator[Event]:
        """The latest events, then those that come, until the broadcast is closed.

        After so many seconds without one comes an empty event.
        """
        reader = _Reader()
        loop = asyncio.get_running_loop()
        with self._lock:
            for topic, event in self._latest.items():
                reader.take(topic, event)
            self._readers[reader] = loop
        try:
            while not self._closed:
                for event in await reader.give(patience):
                    yield event
        finally:
            with self._lock:
                self._readers.pop(reader, None)

    def close(self) -> None:
        """End all the readings."""
        self._closed = True
        with self._lock:
            readers = list(self._readers.items())
        for reader, loop in readers:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(reader.wake)


class _Reader:
    """The events that one reader has not got yet, the latest a topic."""

    def __init__(self) -> None:
        self._waiting: dict[str, Event] = {}
        self._ready = asyncio.Event()

    def take(self, topic: str, event: Event) -> None:
        self._waiting[topic] = event
        self._ready.set()

    def wake(self) -> None:
        self._ready.set()

    async def give(self, patience: float) -> list[Event]:
        try:
            await asyncio.wait_for(self._ready.wait(), patience)
        except TimeoutError:
            return [{}]
        self._ready.clear()
        events, self._waiting = list(self._waiting.values()), {}
        return events
