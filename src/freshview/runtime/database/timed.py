"""The time of a database: event time of its streams, and the clock that views read as now()."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime

from freshview.calculus.clock import CLOCK, later
from freshview.runtime.database.state import State
from freshview.runtime.ingest.change import Change
from freshview.runtime.ingest.event_time import StreamTime
from freshview.runtime.views.view import ViewHandle


class TimedDatabase(ABC):
    """The part of a database that knows of time."""

    state: State

    @abstractmethod
    def still(self) -> AbstractContextManager[int]:
        """While this lasts, nothing changes."""

    @abstractmethod
    def declare_script(self, sql: str, file: str, policy: str = "") -> list[ViewHandle]:
        """Declare all that a script of declarations says, or, on an error, nothing."""

    @abstractmethod
    def change_by(self, change: Callable[[], Change | None]) -> None:
        """Make one change; nothing else changes while it is computed from what is there."""

    def event_time(self, stream: str) -> StreamTime:
        """How far the time of a stream has come: its watermark, and the rows that came too late.

        The stream was declared with `WATERMARK FOR column AS column - delay`.
        """
        with self.still():
            return self.state.times.of(self.state.stream(stream))

    def advance(self, stream: str, to: object) -> None:
        """Promise that no row of a stream is before this time, also where none has come so far."""
        with self.still():
            relation = self.state.stream(stream)
            self.state.times.advance(relation, to)
            if relation.name in self.state.progress:
                self.change_by(lambda: Change(relation, []))  # what is final now comes with it

    @property
    def clock(self) -> datetime:
        """Where the clock stands that views read as `now()`; it begins at 1970."""
        with self.still():
            now = self.state.clock.now
            assert isinstance(now, datetime)
            return now

    def advance_clock(self, to: datetime) -> None:
        """Move the clock, by a change like any other: rows retire, and come into force.

        It stands still until it is moved, and never goes back.
        """
        with self.still():
            if not self.state.catalog.has(CLOCK.name):
                self.declare_script("CREATE CLOCK", "<clock>")
            rows, steps = self.state.clock.to(later(self.state.clock, to))
            change = Change(CLOCK, [row for row, _ in rows], counts=[n for _, n in rows])
            if rows:
                self.change_by(lambda: change)
            self.state.clock = steps
