"""The clock of a pipeline, which views read as now()."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from freshview.calculus.clock import CLOCK
from freshview.calculus.schema import Relation
from freshview.durable.batch_log import Note
from freshview.errors import FreshviewError
from freshview.pipelines.catalog import PipelineCatalog
from freshview.pipelines.event_time import step, steps_in
from freshview.pipelines.flow import Flow
from freshview.spark.io.decode import DecodedBatch

PUSHED = "push"
"""The name of a batch that was pushed, not read from a source."""


class TimedPipeline(PipelineCatalog):
    """The part of a running pipeline that moves the clock."""

    _note: dict[str, Any]
    _streams: dict[str, Relation]

    @abstractmethod
    def start(self) -> Self:
        """Start the pipeline, if it does not run already."""

    @abstractmethod
    def apply(
        self,
        arrivals: Mapping[str, DecodedBatch],
        note: Note,
        batch: str,
        seconds: float = 0.0,
    ) -> int:
        """Apply decoded batches as one change."""

    @abstractmethod
    def _catch_up(self, flow: Flow) -> int:
        """Finish a logged version."""

    @property
    def clock(self) -> datetime:
        """Where the clock stands that views read as `now()`; it begins at 1970."""
        with self.still():
            now = steps_in(self._note).now
            assert isinstance(now, datetime)
            return now

    def advance_clock(self, to: datetime) -> int:
        """Move the clock, by a batch like any other: rows retire, and come into force.

        The step is in the log as rows are, so that a replay takes the same ones.
        """
        self.start()
        with self._lock:
            self._catch_up(self._running_flow())
            if CLOCK.name not in self._streams:
                raise FreshviewError(
                    "no view of this pipeline reads the clock",
                    instead="name now() in a condition of a view",
                )
            batch, note = step(self._note, to)
            if batch is None:
                return self.version
            return self.apply({CLOCK.name: DecodedBatch(batch)}, note, PUSHED)
