"""The inputs of a join: columns with types, and where the time of a row comes from."""

from __future__ import annotations

from collections.abc import Mapping

from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import read_type
from freshview.errors import UnknownName
from freshview.temporal.clock import Clock
from freshview.temporal.terms import MOST_TIME, BadWindow, Time

_TIMES = ("int", "double", "date", "timestamp")


class Source:
    """A stream, or a stored table.

    `columns` maps names to types: int, double, string, bool, date, timestamp, decimal(n), each with
    a question mark if it may be NULL. The time of a row is that of the column `time`, or what a
    `clock` says when it comes; rows more than `delay` behind the latest are late. Times are
    numbers: microseconds since 1970 for timestamps, days for dates. Without a delay no row is
    late, and windows keep all rows until `ThetaJoin.advance` says how far time has come; clocks
    never go back, so theirs is zero. Rows of a source that `retracts` may be deleted. A `table` has
    no time: its rows are in every window, and the rows of a stream that joins it are all kept.

    >>> Source("bids", {"t": "int", "price": "double?"}, time="t", delay=5).relation.columns[1].name
    'price'
    """

    def __init__(
        self,
        name: str,
        columns: Mapping[str, str],
        *,
        time: str | None = None,
        delay: Time | None = None,
        clock: Clock | None = None,
        retracts: bool = False,
        table: bool = False,
    ) -> None:
        if not columns:
            raise UnknownName(f"'{name}' has no columns", instead="declare one or more")
        declared = tuple(Column(c, read_type(t)) for c, t in columns.items())
        self.relation = Relation(name, declared, static=table)
        self.time = self._place(time)
        self.delay = 0 if delay is None and clock is not None else delay
        self.clock = clock
        self.retracts = retracts
        self.table = table
        self._check_time(delay)
        if retracts and clock is not None:
            raise BadWindow(
                f"the rows of '{name}' get their time when they come, and a deletion another one",
                instead="name a column with the time",
            )

    def _check_time(self, delay: Time | None) -> None:
        if self.time is not None and self.clock is not None:
            raise BadWindow(
                f"the rows of '{self.name}' have times of a column and of a clock",
                instead="give one of the two",
            )
        if self.table and self.is_timed:
            raise BadWindow(
                f"'{self.name}' is a table, and its rows have no time",
                instead="declare a stream, or leave out the time",
            )
        if delay is None:
            return
        if not self.is_timed:
            raise BadWindow(
                f"the rows of '{self.name}' have a delay and no time",
                instead="name a column with the time, or a clock",
            )
        if not isinstance(delay, int | float) or not 0 <= delay <= MOST_TIME:
            raise BadWindow(
                f"the delay of '{self.name}' is {delay!r}",
                instead="give a number, zero or more: microseconds for timestamps, days for dates",
            )

    @property
    def time_kind(self) -> str | None:
        """What its times count: days of dates, microseconds of timestamps, or numbers."""
        if self.time is None:
            return None
        kind = self.relation.columns[self.time].type.kind
        return kind if kind in ("date", "timestamp") else "number"

    @property
    def name(self) -> str:
        """What users call it."""
        return self.relation.name

    @property
    def is_timed(self) -> bool:
        """Whether its rows have times."""
        return self.time is not None or self.clock is not None

    def _place(self, name: str | None) -> int | None:
        if name is None:
            return None
        for place, column in enumerate(self.relation.columns):
            if column.name == name:
                if column.type.kind not in _TIMES:
                    raise BadWindow(
                        f"'{name}' is a {column.type.kind}, not a time",
                        instead=f"use a column of kind {', '.join(_TIMES)}",
                    )
                return place
        raise UnknownName(f"'{self.name}' has no column '{name}'")
