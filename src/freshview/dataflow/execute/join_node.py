"""A join of a plan at work: a theta join, in this process or on Spark, between two sides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from freshview.calculus.rows import Row
from freshview.calculus.types import DOUBLE, INT
from freshview.dataflow.execute.layout import Change, Layout
from freshview.dataflow.execute.row_operators import Select, row_type
from freshview.dataflow.plan.physical import Component
from freshview.dataflow.plan.scalars import ROWS, labels, select
from freshview.dataflow.plan.terms import Field, Join, Plan, Test
from freshview.dataflow.plan.theta_condition import (
    Compared,
    Distance,
    Local,
    OtherCondition,
    local_conditions,
)
from freshview.dataflow.plan.walk import appends, column, fields, scans, times
from freshview.reference.oracle.evaluate import Database, evaluate
from freshview.sql.terms import Item, Literal, Scalar
from freshview.temporal import FullHistory, Stamps, TupleCount, Window
from freshview.temporal import joins as in_window
from freshview.temporal.terms import Time, Times
from freshview.theta import Band, Comparison, Function, Metrics, Ranged, Source, ThetaJoin
from freshview.theta.local.predicate import Condition as ThetaCondition

LATEST = "latest"
"""The column with the latest of several times."""

Make = Callable[..., ThetaJoin]
"""`ThetaJoin`, or what makes one on Spark."""


class JoinNode:
    """Two sides, the theta join between them, and what is left to ask of its pairs."""

    def __init__(self, p: Join, at: Component, make: Make) -> None:
        self.plan = p
        self.layout = Layout.of(p)
        conditions = local_conditions(p)
        self._left = _Side(p.left, "left", conditions)
        self._right = _Side(p.right, "right", conditions)
        on = [_theta(c, p, self._left, self._right) for c in conditions]
        both = self._left.source, self._right.source
        common: dict[str, Any] = {"name": at.name, "window": self._window()}
        if at.bounds is not None:
            common["scheme"] = Ranged(at.bounds)
        self.theta = make(*both, on, joiners=at.parallelism, **common)

    @property
    def metrics(self) -> Metrics:
        """Those of its joiners."""
        return self.theta.metrics

    def apply(
        self, left: list[Change], right: list[Change], passed: dict[str, Time]
    ) -> list[Change]:
        """The pairs that came and went; `passed` is what the streams had promised before."""
        for side in (self._left, self._right):
            at = side.passed(passed)
            if at is not None:
                self.theta.promise({side.source.name: at})
        output = self.theta.apply(
            {s.source.name: s.rows(c) for s, c in ((self._left, left), (self._right, right))}
        )
        pairs = [(self._pair(row), n) for row, n in output.rows()]
        return self._admitted(pairs)

    def _pair(self, row: Row) -> Row:
        """A pair as the rest of the plan knows it: columns of both sides, then times of both."""
        one, other = self._left, self._right
        l_times, r_start = one.width + one.count, one.total
        r_width = r_start + other.width
        return (
            *row[: one.width],
            *row[r_start:r_width],
            *row[one.width : l_times],
            *row[r_width : r_width + other.count],
        )

    def _window(self) -> Window:
        """The window of the joiners: over the latest times of both sides."""
        window = self.plan.window
        if isinstance(window, TupleCount) or (self._left.count and self._right.count):
            return window
        return FullHistory()

    def _admitted(self, pairs: list[Change]) -> list[Change]:
        """The pairs whose streams are all in one window: joiners have asked the latest alone."""
        counts = self._left.count, self._right.count
        if max(counts) < 2 or min(counts) < 1 or isinstance(self.plan.window, FullHistory):
            return pairs
        if not pairs:
            return pairs
        at = np.array([row[self.layout.width :] for row, _ in pairs])
        answer = np.ones(len(pairs), np.bool_)
        for i in range(counts[0]):
            for j in range(counts[0], sum(counts)):
                answer &= in_window(self.plan.window, _stamps(at[:, i]), _stamps(at[:, j]))
        return [pair for pair, is_in in zip(pairs, answer.tolist(), strict=True) if is_in]


def _stamps(at: Times) -> Stamps:
    nothing = np.zeros(len(at), np.int64)
    return Stamps(at, nothing, nothing)


@dataclass
class _Side:
    """One input of a join: its rows as the joiners get them, with computed keys and a time."""

    plan: Plan
    title: str
    conditions: Sequence[Local]
    computed: list[Scalar] = field(default_factory=list)

    def __post_init__(self) -> None:
        below = Layout.of(self.plan)
        self.width, self.count = below.width, len(below.times)
        for c in self.conditions:
            if isinstance(c, Compared):
                e = c.left if self.title == "left" else c.right
                if e not in [column(f) for f in below.fields] and e not in self.computed:
                    self.computed.append(e)
        self._keys = Select(below, self.computed) if self.computed else None
        types = [c.type for c in select(below.fields, self._items()).columns]
        extra = [Field("#key", f"{k}", t) for k, t in enumerate(types)] if self.computed else []
        hidden = list(below.hidden)
        if self.count > 1:
            is_double = any(t.type == DOUBLE for t in hidden)
            hidden.append(Field("#", LATEST, DOUBLE if is_double else INT))
        every = (*below.fields, *hidden, *extra)
        self.total = len(every)
        self.names = labels(every)
        by_name = {name: str(f.type) for name, f in zip(self.names, every, strict=True)}
        time = self.names[self.width + len(hidden) - 1] if self.count else None
        is_table = not self.count and all(s.relation.static for s in scans(self.plan))
        retracts = not appends(self.plan)
        self.source = Source(self.title, by_name, time=time, retracts=retracts, table=is_table)
        self._layout = below
        self._streams = [t.table for t in times(self.plan)]

    def _items(self) -> list[Item]:
        exprs = self.computed or [Literal(0, INT)]
        return [Item(e, f"k{k}") for k, e in enumerate(exprs)]

    def name_of(self, e: Scalar) -> str:
        """The column of the joiners that has an expression."""
        plain = [column(f) for f in self._layout.fields]
        if e in plain:
            return self.names[plain.index(e)]
        return self.names[len(self.names) - len(self.computed) + self.computed.index(e)]

    def rows(self, changes: list[Change]) -> list[Change]:
        """The rows with their latest time, and the computed keys."""
        if self.count < 2 and self._keys is None:
            return changes
        keyed = changes if self._keys is None else self._keys(changes)
        out: list[Change] = []
        for (row, n), (keys, _) in zip(changes, keyed, strict=True):
            latest = (self._layout.latest(row),) if self.count > 1 else ()
            extra = keys[: len(self.computed)] if self._keys is not None else ()
            out.append(((*row, *latest, *extra), n))
        return out

    def passed(self, by_stream: dict[str, Time]) -> Time | None:
        """The time that all streams of this side have passed; None if one promises nothing."""
        known = [by_stream[name] for name in self._streams if name in by_stream]
        return min(known) if known and len(known) == len(self._streams) else None


def _theta(c: Local, p: Join, left: _Side, right: _Side) -> ThetaCondition:
    match c:
        case Compared(a, op, b):
            return Comparison(left.name_of(a), op, right.name_of(b))
        case Distance(a, b, low, high):
            return Band(left.name_of(a), right.name_of(b), low, high)
        case OtherCondition(Test(function)):
            return Function(OfBoth(function, fields(p.left), fields(p.right)))
        case OtherCondition(condition):
            assert not isinstance(condition, Test)
            return Function(AsSql(condition, fields(p.left), fields(p.right)))


class OfBoth:
    """A user's function of a row of each side."""

    def __init__(
        self, function: Callable[..., object], left: Sequence[Field], right: Sequence[Field]
    ) -> None:
        self.function, self.left, self.right = function, tuple(left), tuple(right)

    def __call__(self, r: Row, s: Row) -> object:
        """What it says of a pair."""
        left, right = row_type(self.left), row_type(self.right)
        return self.function(left(*r[: len(self.left)]), right(*s[: len(self.right)]))


class AsSql:
    """A condition over both sides, as SQL means it."""

    def __init__(self, condition: Scalar, left: Sequence[Field], right: Sequence[Field]) -> None:
        self.widths = len(left), len(right)
        one = [Item(Literal(1, INT), "one")]
        self.query = select((*left, *right), one, where=condition)

    def __call__(self, r: Row, s: Row) -> bool:
        """Whether it holds for a pair."""
        row = (*r[: self.widths[0]], *s[: self.widths[1]])
        return bool(evaluate(self.query.term, Database({ROWS: {row: 1}}), keys=()))
