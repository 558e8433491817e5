"""Event time of a pipeline: late rows go to the dead letters, watermarks go into the log.

What is known of the time of streams is in the note of a version, as the offsets of sources are. So
a batch that comes again after a crash finds the watermarks that it found before, and loses the
same rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import pyarrow as pa

from freshview.calculus.clock import (
    CLOCK,
    Step,
    Steps,
    later,
    progress_of,
    steps_from_start,
    steps_of,
)
from freshview.calculus.schema import Relation
from freshview.durable.batch_log import Note
from freshview.errors import FreshviewError
from freshview.runtime.ingest.change import Change
from freshview.runtime.ingest.columns import COUNT, table_of
from freshview.runtime.ingest.event_time import EventTimes
from freshview.runtime.persistence.event_times import (
    read_moment,
    read_times,
    show_moment,
    show_times,
)
from freshview.spark.io.decode import DecodedBatch
from freshview.spark.io.rows import RejectedRow
from freshview.sql import Catalog

TIMES = "times"
"""The key of a note for the watermarks of streams, and how many rows came too late."""

PROGRESS = "progress"
"""The key of a note for the steps of the watermarks that views read."""

STEPS = "clock"
"""The key of a note for the steps of the clock."""

SHOWN = "watermarks"
"""The key of a note for the watermarks that the views know."""


@dataclass(frozen=True, slots=True)
class InTime:
    """A batch without its late rows, these, and what the note says of time after it."""

    arrivals: dict[str, DecodedBatch]
    late: list[RejectedRow]
    times: EventTimes


def check_times(streams: Iterable[Relation], by_key: Iterable[Relation]) -> None:
    """Refuse streams with a watermark whose rows are replaced by key.

    The row that is replaced may be older than the watermark, and that of the event be in time.
    """
    kept = {r.name for r in by_key}
    for r in streams:
        if r.time is not None and r.name in kept:
            raise FreshviewError(
                f"'{r.name}' has a watermark, and its rows are replaced by key",
                instead="leave WATERMARK out, or let its source append rows",
            )


def in_time(
    arrivals: Mapping[str, DecodedBatch],
    streams: Mapping[str, Relation],
    catalog: Catalog,
    note: Note,
) -> InTime:
    """Part the late rows from a batch, by the watermarks of the version before it."""
    times = times_of(note, catalog)
    kept, late = dict(arrivals), []
    for name, a in arrivals.items():
        relation = streams[name]
        if relation.time is None:
            continue
        rows, counts = a.table.drop_columns([COUNT]), a.table.column(COUNT)
        admission = times.admit([Change(relation, None, rows, counts.to_numpy())])
        times.accept(admission)
        [change] = admission.changes
        dropped = admission.late.get(name, ())
        if dropped:
            table = change.table.append_column(COUNT, pa.array(change.counts, pa.int64()))
            kept[name] = replace(a, table=table)
            reason = f"its {relation.time.column} is before the watermark"
            names = [c.name for c in relation.columns]
            late += [
                RejectedRow(
                    name, reason, json.dumps(dict(zip(names, row, strict=True)), default=str)
                )
                for row, _ in dropped
            ]
    return InTime(kept, late, times)


def times_of(note: Note, catalog: Catalog) -> EventTimes:
    """How far the time of streams had come at the version of a note."""
    times = EventTimes()
    times.by_stream.update(read_times(note.get(TIMES, {}), catalog))
    return times


def watermarks(
    marks: Iterable[Relation], catalog: Catalog, note: Note
) -> tuple[dict[str, pa.Table], dict[str, list[object]]]:
    """Changes that tell the views of the watermarks of a note, where they do not know them yet."""
    times = times_of(note, catalog).by_stream
    known: dict[str, list[object]] = dict(note.get(SHOWN, {}))
    changes = {}
    for relation in marks:
        each = [times.get(c.name) for c in relation.columns]
        row = tuple(t.watermark for t in each if t is not None and t.watermark is not None)
        shown: list[object] = [show_moment(m) for m in row]
        if len(row) == len(each) and known.get(relation.name) != shown:
            table = table_of(relation.columns, [row], relation.name)
            changes[relation.name] = table.append_column(COUNT, pa.array([1], pa.int64()))
            known[relation.name] = shown
    return changes, known


def steps_in(note: Note) -> Steps:
    """The steps that the clock had taken at the version of a note."""
    shown = note.get(STEPS, ())
    return Steps(tuple((_moment(since), _moment(until)) for since, until in shown))


def _moment(shown: str) -> datetime:
    return datetime.fromisoformat(shown)


def step(note: Note, to: object) -> tuple[pa.Table | None, dict[str, object]]:
    """The rows of the clock when it moves, None if it stands still, and what the note says then."""
    before = steps_in(note)
    rows, steps = before.to(later(before, to))
    return (_step_rows(CLOCK, rows), {STEPS: _shown(steps)}) if rows else (None, {})


def _step_rows(relation: Relation, rows: list[tuple[Step, int]]) -> pa.Table:
    table = table_of(relation.columns, [row for row, _ in rows], relation.name)
    return table.append_column(COUNT, pa.array([count for _, count in rows], pa.int64()))


def _shown(steps: Steps) -> list[list[object]]:
    return [[show_moment(since), show_moment(until)] for since, until in steps.each]


def progress(
    streams: Mapping[str, Relation], catalog: Catalog, note: Note
) -> tuple[dict[str, pa.Table], dict[str, object]]:
    """The steps of watermarks that views read, for the times of a note, and what it says then."""
    times = times_of(note, catalog)
    known = dict(note.get(PROGRESS, {}))
    tables: dict[str, pa.Table] = {}
    for relation in streams.values():
        if relation.time is None or relation.time.promise:
            continue
        marks = progress_of(relation)
        time = times.by_stream.get(relation.name)
        if marks.name not in streams or time is None or time.watermark is None:
            continue
        shown = known.get(relation.name, ())
        pairs = [[read_moment(m, relation) for m in pair] for pair in shown]
        rows, steps = steps_of(pairs, steps_from_start(relation)).to(time.watermark)
        if rows:
            tables[marks.name] = _step_rows(marks, rows)
            known[relation.name] = _shown(steps)
            times.advance(marks, time.watermark)
    return tables, {PROGRESS: known, **note_of(times)} if tables else {}


def note_of(times: EventTimes) -> dict[str, object]:
    """What a note says of the time of streams; nothing where none has a time."""
    shown = {name: list(pair) for name, pair in show_times(times).items()}
    return {TIMES: shown} if shown else {}
