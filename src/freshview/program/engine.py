"""The protocol of everything that runs a trigger program: the same calls in every home.

A database, a node of a pipeline, a simulation and a test hold an engine by these calls. What only
one home needs (order, look-ups, files, columns of Arrow) it adds around an engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias, TypeVar

from freshview.algebra import Number
from freshview.calculus.rows import Row
from freshview.calculus.types import Value

Changes: TypeAlias = Mapping[Row, int] | Iterable[tuple[Sequence[Value], int]]
"""Rows of one relation, each with how many times it comes or, negative, goes."""

Batch: TypeAlias = Mapping[str, Changes]
"""The changes of any number of relations, which are one change of the views."""

Tables: TypeAlias = Mapping[str, Iterable[Sequence[Value]]]
"""The rows of static tables."""

Multiset: TypeAlias = dict[Row, Number]
"""Rows with their multiplicities; none is zero."""

State = TypeVar("State")


class ProgramEngine(Protocol[State]):
    """Runs a program: static tables first, then batches; queries can be asked at any time.

    After every call each map equals its definition over the rows seen so far. A batch that is
    refused changes nothing: neither what is read, nor what `changes` tells, nor a snapshot.
    """

    def load(self, tables: Tables | None = None) -> None:
        """Load the static tables, once; the first batch or read without it loads none."""

    def apply(self, changes: Batch) -> None:
        """Apply a batch, whole or not at all; its relations are followed in their order."""

    def read(self, query: str) -> Multiset:
        """The rows of a query in the order of its columns, with their multiplicities."""

    def changes(self, query: str) -> Multiset:
        """The rows of a query that came or, negative, went since this was last asked.

        The first answer is the whole query, so the sum of all the answers is what `read` gave when
        the last one was asked for.
        """

    def snapshot(self) -> State:
        """All that a new engine of the same program needs to go on; later changes leave it alone.

        What `changes` has told is not part of it.
        """

    def restore(self, snapshot: State) -> None:
        """Be as the engine was whose snapshot this is; that of another program is refused."""


def added(rows: Multiset, changes: Iterable[tuple[Row, Number]]) -> Multiset:
    """Rows and changes of them together; none of the sums is zero.

    >>> added({("a",): 2, ("b",): 1}, [(("b",), -1), (("c",), 1)])
    {('a',): 2, ('c',): 1}
    """
    total = dict(rows)
    for row, m in changes:
        total[row] = total.get(row, 0) + m  # type: ignore[operator]
    return {row: m for row, m in total.items() if m}


class ShownRows:
    """What `changes` of an engine has told so far: the rows of each query when it was last asked.

    The only place where engines compare two reads: of queries whose changes cannot be collected
    while they are made (`program/query_keys.py`).

    >>> shown = ShownRows()
    >>> shown.changes("q", {("a",): 2, ("b",): 1})
    {('a',): 2, ('b',): 1}
    >>> shown.changes("q", {("a",): 3, ("c",): 1})
    {('a',): 1, ('c',): 1, ('b',): -1}
    """

    def __init__(self) -> None:
        self._rows: dict[str, Multiset] = {}

    def changes(self, query: str, now: Multiset) -> Multiset:
        """What changed since the last call, up to the rows of now."""
        before = self._rows.get(query, {})
        self._rows[query] = now
        delta = {row: m for row, m in now.items() if before.get(row, 0) != m}
        for row, m in before.items():
            if row not in now:
                delta[row] = -m
            elif row in delta:
                delta[row] -= m  # type: ignore[operator]
        return delta
