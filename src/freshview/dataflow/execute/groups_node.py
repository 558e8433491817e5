"""Groups of a plan at work: a view over the rows in the window, kept by deltas.

Windows decide which rows the view has. A row that leaves one is a deletion.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol, assert_never

import numpy as np

from freshview.calculus.rows import Row
from freshview.calculus.types import Type, Value
from freshview.dataflow.execute.layout import Change, Layout
from freshview.dataflow.plan.build import WINDOW_START, has_panes
from freshview.dataflow.plan.scalars import labels, relabelled, relation_of
from freshview.dataflow.plan.terms import Aggregate, Field, Plan
from freshview.dataflow.plan.walk import column, inputs
from freshview.runtime.database.connect import connect
from freshview.runtime.settings import EngineChoice
from freshview.runtime.views.view import ViewHandle
from freshview.sql.lower.view import lower
from freshview.sql.statements import CreateView
from freshview.sql.terms import Item, Scalar, Select, Table
from freshview.temporal import (
    Between,
    FullHistory,
    Hopping,
    Landmark,
    Sliding,
    Tumbling,
    TupleCount,
    Window,
    panes,
)
from freshview.temporal.terms import Time
from freshview.theta.local.columns import Column, python_values

RESULT = "result"
STREAM = "rows"


class InWindow(Protocol):
    """Which rows a view has now."""

    def __call__(self, changes: list[Change], now: Time | None) -> list[Change]:
        """The rows that come into the window and leave it, with a batch and the time of now."""
        ...


class GroupsNode:
    """The view of an aggregate; or of all rows, with their columns in the order of `columns`."""

    def __init__(
        self, p: Plan, engine: EngineChoice, columns: Sequence[Field], *, is_last: bool
    ) -> None:
        below, items, keys, window = _query(p, columns)
        self._window = in_window(window, below)
        over: Sequence[Field] = below.fields
        if has_panes(window):
            start = Field("", WINDOW_START, below.times[0].type)
            over = (start, *over)
            items = (Item(column(start), WINDOW_START), *items)
            keys = (column(start), *keys)
        self._db = connect(engine=engine, keep_rows=False)
        self._db.state.catalog = self._db.catalog.with_relation(relation_of(over, STREAM))
        query = Select(
            tuple(replace(i, expr=relabelled(i.expr, over)) for i in items),
            (Table(STREAM, STREAM),),
            group=tuple(relabelled(k, over) for k in keys),
        )
        view = CreateView(RESULT, (), query)
        self._db.define(lower(view, self._db.catalog), "auto")
        self._version = self._db.version
        if not is_last:
            self.view.track(1)
        self._is_last = is_last
        self.is_stateless = isinstance(window, FullHistory | Landmark | Tumbling | Hopping)

    @property
    def view(self) -> ViewHandle:
        """The view."""
        return self._db.view(RESULT)

    def apply(self, changes: list[Change], now: Time | None) -> list[Change]:
        """Change the view; the rows of it that came and went, unless they are the result."""
        admitted = self._window(changes, now)
        if admitted:
            self._db.apply({STREAM: admitted})
        if self._is_last or not admitted:
            return []
        rows = self.view.changes(self._version).to_pylist()
        self._version = self._db.version
        return [(tuple(row.values())[:-1], row["__count"]) for row in rows]


def _query(
    p: Plan, columns: Sequence[Field]
) -> tuple[Layout, tuple[Item, ...], tuple[Scalar, ...], Window]:
    if isinstance(p, Aggregate):
        return Layout.of(inputs(p)[0]), p.items, p.keys, p.window
    plain = [f.name for f in columns]
    both = zip(plain, labels(columns), strict=True)
    names = [n if plain.count(n) == 1 else label for n, label in both]
    items = tuple(Item(column(f), n) for f, n in zip(columns, names, strict=True))
    return Layout.of(p), items, (), FullHistory()


def in_window(window: Window, layout: Layout) -> InWindow:
    """The rows of a window over rows of a layout."""
    match window:
        case FullHistory():
            return lambda changes, now: [(_values(row, layout), n) for row, n in changes]
        case Landmark(start):
            return lambda changes, now: [
                (_values(row, layout), n) for row, n in changes if layout.latest(row) >= start
            ]
        case Tumbling() | Hopping():
            return lambda changes, now: list(_in_panes(window, layout, changes))
        case Sliding(length):
            return _Sliding(length, layout)
        case TupleCount(rows):
            return _Last(rows, layout)
        case Between():
            raise AssertionError("groups have no window between two times")
        case _:
            assert_never(window)


def _values(row: Row, layout: Layout) -> Row:
    return row[: layout.width]


def _in_panes(
    window: Tumbling | Hopping, layout: Layout, changes: list[Change]
) -> Iterator[Change]:
    """Each row once for each window that its time falls into."""
    starts: dict[Time, list[Value]] = {}
    for row, n in changes:
        at = layout.latest(row)
        if at not in starts:
            numbers = [start for start, _ in panes(window, at)]
            starts[at] = time_values(numbers, layout.times[0].type)
        for start in starts[at]:
            yield (start, *_values(row, layout)), n


def time_values(numbers: Sequence[Time], t: Type) -> list[Value]:
    """Numbers as the times that they stand for."""
    array = np.array(numbers, np.float64 if t.kind == "double" else np.int64)
    return list(python_values(Column(t.kind, array, np.ones(len(array), np.bool_))))


class _Sliding:
    """The rows less than a length behind now; time never goes back, so what left stays away."""

    def __init__(self, length: Time, layout: Layout) -> None:
        self._length, self._layout = length, layout
        self._rows: defaultdict[Time, Counter[Row]] = defaultdict(Counter)
        self._times: list[Time] = []

    def __call__(self, changes: list[Change], now: Time | None) -> list[Change]:
        """The rows that come, and those that are too old now."""
        out: list[Change] = []
        for row, n in changes:
            at = self._layout.latest(row)
            if now is not None and at <= now - self._length:
                continue  # it left before, or comes too old
            if at not in self._rows:
                heapq.heappush(self._times, at)
            self._rows[at][_values(row, self._layout)] += n
            out.append((_values(row, self._layout), n))
        while self._times and now is not None and self._times[0] <= now - self._length:
            gone = self._rows.pop(heapq.heappop(self._times))
            out += [(row, -n) for row, n in gone.items() if n]
        return out


class _Last:
    """The last rows, by their number."""

    def __init__(self, most: int, layout: Layout) -> None:
        self._layout = layout
        self._most = most
        self._rows: deque[Row] = deque()

    def __call__(self, changes: list[Change], now: Time | None) -> list[Change]:
        """The rows that come, and those that they push out."""
        out: Counter[Row] = Counter()
        for row, n in changes:
            for _ in range(min(n, self._most)):
                self._rows.append(_values(row, self._layout))
                out[self._rows[-1]] += 1
                if len(self._rows) > self._most:
                    out[self._rows.popleft()] -= 1
        return [(row, n) for row, n in out.items() if n]
