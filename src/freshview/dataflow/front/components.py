"""Plans from components, step by step: sources, joins, and operators that are added to them.

customers = DataSource("customer", {...}).add(Projection("custkey", "mktsegment"))
orders = DataSource("orders", {...}).add(Selection(lambda o: o.price > 3))
join = EquiJoin(customers, "custkey", orders, "custkey")
join.add(Grouping("mktsegment", n=count())).stream.run()
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, Self

from freshview.dataflow.front.stream import Stream, source
from freshview.temporal import Window
from freshview.temporal.terms import Time


class Operator(Protocol):
    """What a component does to its rows."""

    def __call__(self, rows: Stream) -> Stream:
        """The rows behind it."""
        ...


class Projection:
    """Some columns, by their names or by what is computed of a row."""

    def __init__(self, *columns: str | Callable[[Any], Any]) -> None:
        self.columns = columns

    def __call__(self, rows: Stream) -> Stream:
        """See `Operator`."""
        return rows.map(
            lambda row: tuple(row[c] if isinstance(c, str) else c(row) for c in self.columns)
        )


class Selection:
    """The rows for which a condition holds."""

    def __init__(self, condition: Callable[[Any], Any], *, rowwise: bool = False) -> None:
        self.condition, self.rowwise = condition, rowwise

    def __call__(self, rows: Stream) -> Stream:
        """See `Operator`."""
        return rows.filter(self.condition, rowwise=self.rowwise)


class Flattening:
    """The rows that a function gives for each row."""

    def __init__(self, function: Callable[[Any], Any], columns: Mapping[str, str]) -> None:
        self.function, self.columns = function, columns

    def __call__(self, rows: Stream) -> Stream:
        """See `Operator`."""
        return rows.flat_map(self.function, self.columns)


class Grouping:
    """Groups by columns, with aggregates by their names, over the rows of a window."""

    def __init__(self, *by: str, window: Window | None = None, **aggregates: object) -> None:
        self.by, self.window, self.aggregates = by, window, aggregates

    def __call__(self, rows: Stream) -> Stream:
        """See `Operator`."""
        by = (lambda row: tuple(row[c] for c in self.by)) if self.by else None
        groups = rows.group_by(by, **self.aggregates)
        return groups if self.window is None else groups.within(self.window)


class Component:
    """Operators one after the other; `stream` is the plan up to here."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def add(self, operator: Operator) -> Self:
        """Add an operator behind the others."""
        self.stream = operator(self.stream)
        return self


class DataSource(Component):
    """The rows of a stream."""

    def __init__(
        self,
        name: str,
        columns: Mapping[str, str],
        *,
        time: str | None = None,
        delay: Time | None = None,
        appends: bool = False,
        file: str | Path | None = None,
    ) -> None:
        rows = source(name, columns, time=time, delay=delay, appends=appends, file=file)
        super().__init__(rows)


class EquiJoin(Component):
    """Pairs whose columns are equal."""

    def __init__(
        self,
        left: Component,
        left_column: str,
        right: Component,
        right_column: str,
        *,
        window: Window | None = None,
    ) -> None:
        pairs = left.stream.join(right.stream, lambda r, s: r[left_column] == s[right_column])
        super().__init__(pairs if window is None else pairs.within(window))


class AnyJoin(Component):
    """Pairs for which a condition of both rows holds."""

    def __init__(
        self,
        left: Component,
        right: Component,
        on: Callable[..., Any] | None = None,
        *,
        window: Window | None = None,
        rowwise: bool = False,
    ) -> None:
        pairs = left.stream.join(right.stream, on, rowwise=rowwise)
        super().__init__(pairs if window is None else pairs.within(window))
