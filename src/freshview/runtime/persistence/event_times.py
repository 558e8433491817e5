"""How far the time of streams has come, as values that JSON holds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime

from freshview.calculus.schema import Relation
from freshview.runtime.ingest.event_time import EventTimes, Moment, StreamTime
from freshview.sql import Catalog

Shown = str | int | float | None


def show_times(times: EventTimes) -> dict[str, tuple[Shown, int]]:
    """The watermark of each stream, and how many rows came too late; not the rows themselves."""
    return {name: (show_moment(t.watermark), t.late) for name, t in times.by_stream.items()}


def read_times(shown: Mapping[str, tuple[Shown, int]], catalog: Catalog) -> dict[str, StreamTime]:
    """The inverse of `show_times`."""
    out = {}
    for name, (mark, late) in shown.items():
        out[name] = StreamTime(read_moment(mark, catalog.relation(name)), late)
    return out


def show_moment(moment: Moment | None) -> Shown:
    """A time as JSON has it.

    >>> show_moment(date(2024, 2, 29)), show_moment(5)
    ('2024-02-29', 5)
    """
    return moment.isoformat() if isinstance(moment, date) else moment


def read_moment(shown: Shown, relation: Relation) -> Moment | None:
    """The inverse of `show_moment`, for the event time of a stream."""
    if not isinstance(shown, str):
        return shown
    kind = relation.columns[relation.time_column or 0].type.kind
    return (datetime if kind == "timestamp" else date).fromisoformat(shown)
