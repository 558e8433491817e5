"""The operators that every kind of stream has, and that give another one of its kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, overload

from freshview.signal.arrays import Condition, Projection
from freshview.signal.execute.events import Events
from freshview.signal.execute.query import Query
from freshview.signal.execute.show import show
from freshview.signal.execute.snapshot import restore
from freshview.signal.language.check import integer
from freshview.signal.terms import BadSignal, GroupBy, Scale, Select, Shift, Term, Where

Self = TypeVar("Self", bound="EventOperators")
Result = TypeVar("Result", bound="EventOperators")


@dataclass(frozen=True)
class EventOperators:
    """A plan whose result is events of groups, each with a lifetime and a payload."""

    term: Term

    def where(self: Self, predicate: Condition) -> Self:
        """The events for which a condition holds: `where(lambda e: e.value < 100)`."""
        return self._like(Where(self.term, predicate))

    def select(self: Self, function: Projection) -> Self:
        """Events with another payload: an array, which is called `value`, or a dict of arrays."""
        return self._like(Select(self.term, function))

    def scale(self: Self, factor: complex) -> Self:
        """All numbers times a scalar."""
        return self._like(Scale(self.term, factor))

    def shift(self: Self, by: int) -> Self:
        """Events later by so much, or earlier."""
        return self._like(Shift(self.term, integer("a shift", by)))

    def map(
        self: Self, query: Callable[[Self], Result] | None = None, *, key: str | Sequence[str]
    ) -> Self | Result:
        """The groups of a key, and a query over them; the key columns leave the payload."""
        names = (key,) if isinstance(key, str) else tuple(key)
        grouped = self._like(GroupBy(self.term, names))
        return grouped if query is None else query(grouped)

    @overload
    def reduce(self: Self, query: Callable[[Self], Result], /) -> Result: ...

    @overload
    def reduce(self: Self, other: Result, query: Callable[[Self, Result], Result], /) -> Result: ...

    def reduce(
        self: Self,
        first: Result | Callable[[Self], Result],
        query: Callable[[Self, Result], Result] | None = None,
        /,
    ) -> Result:
        """A query over each group: `reduce(query)`, or of two inputs `reduce(other, query)`."""
        if not isinstance(first, EventOperators):
            return first(self)
        if query is None:
            raise BadSignal(
                "reduce got an input, and no query", instead="give reduce(other, query)"
            )
        return query(self, first)

    def query(self, *, keep_result: bool = True) -> Query:
        """The query, ready for its first batch."""
        return Query(self.term, is_uniform=self._is_uniform, keep_result=keep_result)

    def over(self, data: object) -> Events:
        """What the query says about a whole history: the tables of its sources, or its only one."""
        query = self.query(keep_result=False)
        changes = query.push(data)
        return Events(changes.rows, changes.directory, self._is_uniform, False, changes.is_grouped)

    def restore(self, snapshot: bytes, *, keep_result: bool = True) -> Query:
        """The query in the state of a snapshot of it."""
        return restore(self.query(keep_result=keep_result), snapshot)

    def explain(self) -> str:
        """The plan."""
        return show(self.term)

    @property
    def _is_uniform(self) -> bool:
        return False

    def _like(self: Self, term: Term) -> Self:
        return replace(self, term=term)
