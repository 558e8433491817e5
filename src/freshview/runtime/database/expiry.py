"""When views are told how far event time has come, so that they forget what windows left behind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from freshview.calculus.clock import CLOCK
from freshview.runtime.ingest.change import Change
from freshview.runtime.ingest.event_time import EventTimes, Moment
from freshview.runtime.relations.stored_base import AnyBase, WatermarkBase
from freshview.runtime.views.group import ViewGroup

FEWEST = 256
"""Rows between two times that views forget: fewer are not worth a look at all that they keep."""


@dataclass(slots=True)
class _Marks:
    """What views know of some watermarks."""

    shown: tuple[Moment, ...] = ()
    rows: int = 0
    """Rows of these streams since then."""
    kept: int = 0
    """Entries that were left then, in the maps that forget."""


@dataclass(slots=True)
class Expiry:
    """Tells views of watermarks when half as many rows have come as they keep for windows.

    So the time that they take to look for what to forget is a part of what the rows took, and they
    keep at most half more than they need.
    """

    _by_relation: dict[str, _Marks] = field(default_factory=dict)

    def due(
        self,
        changes: Sequence[Change],
        times: EventTimes,
        bases: Iterable[AnyBase],
    ) -> list[Change]:
        """Watermarks to go before these changes; they are those that held before them."""
        out = []
        for base in bases:
            if not isinstance(base, WatermarkBase):
                continue
            relation = base.relation
            marks = self._by_relation.setdefault(relation.name, _Marks())
            streams = {c.name for c in relation.columns}
            every = CLOCK.name in streams  # what retires by the clock are rows of any stream
            marks.rows += sum(c.size for c in changes if every or c.relation.name in streams)
            known = [times.by_stream.get(c.name) for c in relation.columns]
            row = tuple(t.watermark for t in known if t is not None and t.watermark is not None)
            enough = marks.rows >= max(FEWEST, marks.kept // 2)
            if enough and len(row) == len(known) and row != marks.shown:
                out.append(Change(relation, [row]))
        return out

    def confirm(self, change: Change, groups: Iterable[ViewGroup]) -> None:
        """Note that views know of watermarks now, and what they keep."""
        from freshview.program.expiry import forgetful  # where a stream has event time

        [row] = change.rows or ()
        marks = self._by_relation[change.relation.name]
        marks.shown, marks.rows = tuple(row), 0
        marks.kept = 0
        for group in groups:
            sizes = group.engine.engine.sizes()
            marks.kept += sum(sizes.get(name, 0) for name in forgetful(group.program))
