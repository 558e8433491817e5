"""What joins: a conjunction of comparisons between a column of R and one of S, and of functions.

A comparison with NULL is not true. A function gets both rows as tuples of Python's values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from math import isinf
from typing import Literal, TypeAlias, assert_never

import numpy as np

from freshview.calculus.rows import Row
from freshview.calculus.schema import Relation
from freshview.calculus.types import Kind
from freshview.errors import FreshviewError, UnknownName
from freshview.theta.local.columns import Array, Column, Tuples, python_rows
from freshview.theta.local.common_kind import as_kind, common_kind
from freshview.theta.terms import Mask, Numbers, Side

Op = Literal["=", "!=", "<", "<=", ">", ">="]
_OPS: dict[Op, Callable[[Array, Array], Mask]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_LEAST, _MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
_ROUNDING = 4 * np.finfo(np.float64).eps
_WIDE = Context(prec=1000)
"""A context of its own: that of the thread has 28 digits, and may be anything."""


class BadPredicate(FreshviewError):
    """A predicate that does not fit the inputs of its join."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """`r op s`, for a column of each side."""

    r: str
    op: Op
    s: str

    def __post_init__(self) -> None:
        if self.op not in _OPS:
            raise BadPredicate(
                f"'{self.op}' compares nothing", instead=f"use one of {', '.join(_OPS)}"
            )


@dataclass(frozen=True, slots=True)
class Band:
    """`low <= s - r <= high`: days between dates, microseconds between timestamps."""

    r: str
    s: str
    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise BadPredicate(f"no distance lies between {self.low} and {self.high}")


@dataclass(frozen=True, slots=True)
class Function:
    """A Python function of the two rows; the pair joins where it returns something true."""

    function: Callable[[Row, Row], object]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise BadPredicate(
                f"{self.function!r} is not a function", instead="give one of the two rows"
            )


Condition: TypeAlias = Comparison | Band | Function
Theta: TypeAlias = tuple[Condition, ...]
"""All of them must hold; none at all is the cross product."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Values of the other side, one interval a row; an end that is None has no bound."""

    low: Array | None = None
    high: Array | None = None
    low_open: bool = False
    high_open: bool = False


@dataclass(frozen=True, slots=True)
class Bound:
    """A condition with the places of its columns and the kind in which they are compared."""

    condition: Comparison | Band
    r: int
    s: int
    kind: Kind

    def values(self, side: Side, columns: Sequence[Column]) -> tuple[Array, Mask]:
        """The column that this condition reads from rows of a side, and where it is not NULL."""
        column = columns[self.r if side == "R" else self.s]
        return as_kind(column, self.kind), column.valid

    @property
    def is_equality(self) -> bool:
        """Whether equal hashes are a must."""
        return isinstance(self.condition, Comparison) and self.condition.op == "="

    @property
    def is_exact(self) -> bool:
        """Whether `interval` has the partners alone: sums of doubles are rounded."""
        return not (isinstance(self.condition, Band) and self.kind == "double")

    @property
    def is_range(self) -> bool:
        """Whether the partners of a row lie in one interval."""
        return isinstance(self.condition, Band) or self.condition.op not in ("=", "!=")

    def interval(self, side: Side, values: Array) -> Interval:
        """Where the partners of rows of `side` are, for a condition that is a range.

        Unless it `is_exact`, the interval is a little wider than the condition.
        """
        match self.condition:
            case Band(_, _, low, high):
                low, high = (low, high) if side == "R" else (-high, -low)
                if self.is_exact:
                    return Interval(_shift(values, low), _shift(values, high))
                return Interval(
                    values + float(low) - _rounding(values, low),
                    values + float(high) + _rounding(values, high),
                )
            case Comparison(_, op, _):
                above = (op in ("<", "<=")) == (side == "R")
                is_open = op in ("<", ">")
                if above:
                    return Interval(low=values, low_open=is_open)
                return Interval(high=values, high_open=is_open)
            case _:
                assert_never(self.condition)

    def holds(self, r: Column, s: Column) -> Mask:
        """Whether value i of one column and value i of the other satisfy it, for each i."""
        left, right = as_kind(r, self.kind), as_kind(s, self.kind)
        match self.condition:
            case Band(_, _, low, high):
                if self.is_exact:
                    answer = (right >= _shift(left, low)) & (right <= _shift(left, high))
                else:  # as SQL computes it, whichever row came first
                    apart = right - left
                    answer = (apart >= float(low)) & (apart <= float(high))
            case Comparison(_, op, _):
                answer = _OPS[op](left, right)
            case _:
                assert_never(self.condition)
        return np.asarray(answer, np.bool_) & r.valid & s.valid


@dataclass(frozen=True, slots=True)
class BoundTheta:
    """A predicate over two relations: comparisons, and functions asked after them."""

    comparisons: tuple[Bound, ...]
    functions: tuple[Function, ...]

    @property
    def equalities(self) -> tuple[Bound, ...]:
        """The comparisons for equality."""
        return tuple(b for b in self.comparisons if b.is_equality)

    @property
    def first_range(self) -> Bound | None:
        """The first comparison that an ordered index can answer."""
        return next((b for b in self.comparisons if b.is_range), None)

    def holds(
        self, r: Tuples, i: Numbers, s: Tuples, j: Numbers, settled: tuple[Bound, ...] = ()
    ) -> Mask:
        """Whether row i[k] of `r` joins row j[k] of `s`, for each k.

        What an index has settled is not asked again.
        """
        answer = np.ones(len(i), np.bool_)
        for c in self.comparisons:
            if c not in settled:
                answer &= c.holds(r.columns[c.r].take(i), s.columns[c.s].take(j))
        if self.functions and answer.any():
            at = np.flatnonzero(answer)
            rows_r = python_rows([c.take(i[at]) for c in r.columns])
            rows_s = python_rows([c.take(j[at]) for c in s.columns])
            for k, left, right in zip(at.tolist(), rows_r, rows_s, strict=True):
                answer[k] = all(bool(f.function(left, right)) for f in self.functions)
        return answer


def bind(theta: Theta, r: Relation, s: Relation) -> BoundTheta:
    """A predicate whose columns are found in the relations, or an error that names the one."""
    comparisons = []
    for c in theta:
        if not isinstance(c, Comparison | Band | Function):
            raise BadPredicate(
                f"{c!r} is not a condition of a join",
                instead="give a Comparison, a Band, or a Function around a function of two rows",
            )
        if not isinstance(c, Function):
            left, right = _place(r, c.r), _place(s, c.s)
            kind = common_kind(r.columns[left].type.kind, s.columns[right].type.kind)
            if isinstance(c, Band):
                _check_band(c, kind)
            comparisons.append(Bound(c, left, right, kind))
    return BoundTheta(tuple(comparisons), tuple(c for c in theta if isinstance(c, Function)))


def _place(relation: Relation, name: str) -> int:
    names = [c.name for c in relation.columns]
    if name not in names:
        raise UnknownName(
            f"'{relation.name}' has no column '{name}'", instead=f"it has {', '.join(names)}"
        )
    return names.index(name)


def _check_band(band: Band, kind: str) -> None:
    if kind in ("string", "bool"):
        raise BadPredicate(f"values of kind {kind} have no distance", instead="compare them")
    if kind == "double":
        return
    ends = (band.low, band.high)
    if kind == "decimal":
        if any(isinf(end) for end in ends):
            raise BadPredicate("a band between decimals has finite ends", instead="compare them")
    elif not all(isinstance(end, int) and _LEAST < end <= _MOST for end in ends):
        raise BadPredicate(
            f"a band between columns of kind {kind} has 64-bit integers as its ends",
            instead="round them, or compare the columns",
        )


def _rounding(values: Array, by: float) -> Array:
    """How far `values + by` may be from where `- values` gives `by`, in doubles."""
    pad = _ROUNDING * (np.abs(values) + (0.0 if isinf(by) else abs(float(by))))
    return np.asarray(pad)


def _shift(values: Array, by: float) -> Array:
    """`values + by`, at the end of the range where it would leave it: comparisons stay right."""
    if values.dtype == object:
        shifted = np.empty(len(values), object)
        distance = Decimal(str(by))
        shifted[:] = [_WIDE.add(Decimal(v), distance) for v in values.tolist()]
        return shifted
    by = int(by)
    least, most = max(_LEAST, _LEAST - by), min(_MOST, _MOST - by)
    return np.asarray(np.clip(values, least, most) + by)
