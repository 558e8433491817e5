"""The inputs of a join: columns with types, and where the time of a row comes from."""

from __future__ import annotations

from collections.abc import Mapping

from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import read_type
from freshview.errors import UnknownName
from freshview.temporal.clock import Clock
from freshview.temporal.terms import BadWindow, Time

_TIMES = ("int", "double", "date", "timestamp")


class Source:
    """A stream, or a stored table.

    `columns` maps names to types: int, double, string, bool, date, timestamp, decimal(n), each with
    a question mark if it may be NULL. The time of a row is that of the column `time`, or what a
    `clock` says when it comes; rows more than `delay` behind the latest are late. Rows of a source
    that `retracts` may be deleted. A `table` has no time: its rows are in every window.

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
        self.delay = delay
        self.clock = clock
        self.retracts = retracts
        self.table = table
        if retracts and clock is not None:
            raise BadWindow(
                f"the rows of '{name}' get their time when they come, and a deletion another one",
                instead="name a column with the time",
            )

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
                        f"'{name}' is a {column.type.kind}, and no time",
                        instead=f"use a column of kind {', '.join(_TIMES)}",
                    )
                return place
        raise UnknownName(f"'{self.name}' has no column '{name}'")
