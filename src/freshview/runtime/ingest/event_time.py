"""Event time at the door: watermarks follow the rows, and late rows are set aside."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from freshview.calculus.domain import INT_MAX
from freshview.calculus.rows import Row, RowLike, conform, in_order
from freshview.calculus.schema import EventTime, Relation
from freshview.errors import BadRow, FreshviewError
from freshview.runtime.ingest.change import Change
from freshview.runtime.ingest.columns import rows_in

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    from freshview.runtime.ingest.lazy_imports import np, pa, pc

Moment: TypeAlias = Any
"""A value of a column of event time: an integer, a double, a date or a timestamp."""

SET_ASIDE = 1000
"""The late rows of a stream that are kept to be looked at; all are counted."""


@dataclass(frozen=True, slots=True)
class StreamTime:
    """How far the time of a stream has come, and what came too late."""

    watermark: Moment | None = None
    """No row before it is taken any more; None until there is a row."""
    late: int = 0
    """How many rows came too late; a row that came three times counts three times."""
    rows: tuple[tuple[Row, int], ...] = field(default=(), repr=False)
    """The last of them, each with its multiplicity."""


def delayed(latest: Moment, delay: int | float) -> Moment:
    """The watermark after a row of this time; the first moment where there is none before.

    >>> delayed(12, 5), delayed(date(2024, 3, 1), 1), delayed(datetime(2024, 1, 1), 1_000_000)
    (7, datetime.date(2024, 2, 29), datetime.datetime(2023, 12, 31, 23, 59, 59))
    """
    try:
        if isinstance(latest, datetime):
            return latest - timedelta(microseconds=delay)
        if isinstance(latest, date):
            return latest - timedelta(days=delay)
    except OverflowError:
        return type(latest).min
    early = latest - delay
    return max(early, -INT_MAX) if isinstance(early, int) else early


@dataclass(frozen=True, slots=True)
class Admission:
    """What a change may do: the rows that are in time, and the times of streams after it."""

    changes: tuple[Change, ...]
    times: Mapping[str, StreamTime]
    late: Mapping[str, Sequence[tuple[Row, int]]]
    """The rows that came too late, by stream."""


class EventTimes:
    """The times of all the streams that have one, by their names."""

    def __init__(self) -> None:
        self.by_stream: dict[str, StreamTime] = {}

    def of(self, relation: Relation) -> StreamTime:
        """The time of a stream; without a declared one that is an error."""
        if relation.time is None:
            raise FreshviewError(
                f"'{relation.name}' has no event time",
                instead="declare it with WATERMARK FOR column AS column - delay",
            )
        return self.by_stream.get(relation.name, StreamTime())

    def admit(self, changes: Sequence[Change]) -> Admission:
        """The changes without late rows; rows of one change are not late for each other."""
        out: list[Change] = []
        times: dict[str, StreamTime] = {}
        late: dict[str, Sequence[tuple[Row, int]]] = {}
        for change in changes:
            relation = change.relation
            if relation.time is not None:
                before = times.get(relation.name) or self.of(relation)
                if relation.time.promise:
                    times[relation.name] = _promised(before, change)
                    out.append(change)
                    continue
                change, latest, dropped = _in_time(change, before.watermark)
                times[relation.name] = _after(before, latest, relation.time, dropped)
                late[relation.name] = dropped
            out.append(change)
        return Admission(tuple(out), times, late)

    def accept(self, admission: Admission) -> None:
        """Remember what an admitted change has done."""
        self.by_stream.update(admission.times)

    def advance(self, relation: Relation, to: object) -> None:
        """Let the watermark of a stream be at least here, whatever rows have come."""
        time = self.of(relation)
        column = relation.columns[relation.time_column or 0]
        try:
            moment: Moment = conform(to, column.type)  # type: ignore[arg-type]
        except ValueError as e:
            raise BadRow(
                f"the watermark of '{relation.name}' cannot be {to!r}",
                instead=f"give a {column.type}",
            ) from e
        if time.watermark is None or moment > time.watermark:
            self.by_stream[relation.name] = replace(time, watermark=moment)


def _after(
    before: StreamTime,
    latest: Moment | None,
    declared: EventTime,
    late: Sequence[tuple[Row, int]],
) -> StreamTime:
    """The time of a stream after a change whose latest row is of this time."""
    mark = before.watermark
    if latest is not None:
        at = delayed(latest, declared.delay)
        mark = at if mark is None else max(mark, at)
    shown = deque((*before.rows, *late), maxlen=SET_ASIDE)
    return StreamTime(mark, before.late + sum(abs(n) for _, n in late), tuple(shown))


def _promised(before: StreamTime, change: Change) -> StreamTime:
    """The time of a stream whose rows say how early the next ones may be."""
    relation = change.relation
    assert relation.time is not None
    at = [c.name for c in relation.columns].index(relation.time.promise)
    rows = [in_order(relation, row) for row in change.python_rows()]
    promised = [conform(row[at], relation.columns[at].type) for row in rows]
    marks = [m for m in (before.watermark, *promised) if m is not None]
    return replace(before, watermark=max(marks, default=None))


def _in_time(
    change: Change, mark: Moment | None
) -> tuple[Change, Moment | None, list[tuple[Row, int]]]:
    """A change without the rows before a watermark, the latest of its times, and these rows."""
    relation = change.relation
    if type(change) is not Change:
        raise BadRow(
            f"products of '{relation.name}' cannot be held against its watermark",
            instead="give its rows",
        )
    dropped: list[tuple[Row, int]] = []
    column = None if change.rows is not None else time_column(relation, change.table)
    if column is not None:
        late = None if mark is None else pc.less(column, pa.scalar(mark, column.type))
        if late is not None and pc.any(late).as_py():
            change, dropped = _split_table(change, late)
        return change, pc.max(column).as_py(), dropped
    rows = change.python_rows()
    moments = list(_moments(relation, rows))
    flags = [mark is not None and m is not None and m < mark for m in moments]
    if any(flags):
        change, dropped = _split_rows(change, rows, flags)
    return change, max((m for m in moments if m is not None), default=None), dropped


def time_column(relation: Relation, table: pa.Table) -> pa.ChunkedArray | None:
    """The times of the rows of a table, in the form that values have; None where rows tell it."""
    wanted = relation.columns[relation.time_column or 0]
    form = {
        "int": (pa.types.is_signed_integer, pa.int64()),
        "double": (pa.types.is_floating, pa.float64()),
        "date": (pa.types.is_date32, pa.date32()),
        "timestamp": (_is_coarse, pa.timestamp("us")),
    }[wanted.type.kind]
    if not isinstance(table, pa.Table | pa.RecordBatch):
        return None
    names = [str(name).lower() for name in table.schema.names]
    if names.count(wanted.name.lower()) != 1:
        return None
    column = table.column(names.index(wanted.name.lower()))
    if not form[0](column.type) or column.null_count:
        return None
    return column.cast(form[1])


def _is_coarse(t: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(t) and t.tz is None and t.unit != "ns")


def _moments(relation: Relation, rows: Iterable[RowLike]) -> Iterable[Moment | None]:
    """The time of each row; None where it has none, which whoever takes the row refuses."""
    at = relation.time_column or 0
    t = relation.columns[at].type
    for row in rows:
        try:
            moment: Moment = conform(in_order(relation, row)[at], t)
        except (BadRow, ValueError, IndexError):
            moment = None
        yield moment


def _split_table(change: Change, late: Any) -> tuple[Change, list[tuple[Row, int]]]:
    """A change without its late rows, and these."""
    relation, table = change.relation, change.table
    counts = change.counts
    if counts is not None:
        if len(counts) != len(late):
            return change, []  # whoever takes it refuses it
        kept_rows = pc.invert(late).to_numpy(zero_copy_only=False)
        counts = np.ascontiguousarray(np.asarray(counts, dtype=np.int64)[kept_rows])
    kept = Change(relation, None, table.filter(pc.invert(late)), counts, change.sign)
    each = change.each(len(late))
    rows = rows_in(relation, pa.table(table).filter(late))
    dropped = [n for n, out in zip(each, late.to_pylist(), strict=True) if out]
    return kept, list(zip(rows, dropped, strict=True))


def _split_rows(
    change: Change, rows: Sequence[RowLike], late: Sequence[bool]
) -> tuple[Change, list[tuple[Row, int]]]:
    relation = change.relation
    each = change.each(len(rows))
    kept = [(row, n) for row, n, out in zip(rows, each, late, strict=True) if not out]
    dropped = [
        (tuple(in_order(relation, row)), n)
        for row, n, out in zip(rows, each, late, strict=True)
        if out
    ]
    return Change(relation, [r for r, _ in kept], counts=[n for _, n in kept]), dropped
