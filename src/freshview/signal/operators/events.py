"""Operators that look at one event at a time: filters, projections, times, groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from freshview.errors import FreshviewError, TypeProblem, UnknownName
from freshview.signal.arrays import (
    Array,
    Condition,
    EventColumns,
    Projected,
    Projection,
    ValueFunction,
)
from freshview.signal.columns.directory import Directory
from freshview.signal.columns.ranges import ceil_div, counted
from freshview.signal.columns.rows import Ints, Rows, consolidated, in_runs
from freshview.signal.columns.runs import Runs, by_value
from freshview.signal.operators.node import State, Stateless
from freshview.signal.terms import BadSignal, Grid

Result = TypeVar("Result")


class Event:
    """What functions of the user see: whole columns, by their names.

    `start`, `end` and `time`, which is the start, are the times; key columns have their names.
    """

    def __init__(self, rows: Rows, directory: Directory) -> None:
        self._rows = rows
        self._directory = directory

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_"):
            raise AttributeError(name)
        rows = self._rows
        if name in rows.columns:
            return rows.columns[name]
        if name in ("time", "start"):
            return rows.start
        if name == "end":
            return rows.end
        if name in self._directory.names:
            at = self._directory.names.index(name)
            return self._directory.decode(rows.group)[at]
        known = ", ".join([*rows.columns, *self._directory.names, "time"])
        raise UnknownName(f"the events have no column '{name}'", instead=f"they have {known}")

    @property
    def columns(self) -> list[str]:
        """The names of the payload."""
        return list(self._rows.columns)

    def __getitem__(self, name: str) -> Array:
        return self.__getattr__(name)

    def __len__(self) -> int:
        return len(self._rows)


def payload(result: Projected, rows: int, what: str) -> dict[str, Array]:
    """The columns that a function of the user gives: one array, or several by name."""
    columns = result if isinstance(result, Mapping) else {"value": result}
    if not columns:
        raise BadSignal(f"{what} gives no columns", instead="return an array or a dict of arrays")
    return {
        str(name): column(values, rows, f"{what}, '{name}'") for name, values in columns.items()
    }


def column(values: ArrayLike, rows: int, what: str, *, is_new: bool = False) -> Array:
    """An array with a row an event, of one of the types that payloads have.

    It is a copy, unless the array `is_new`: nobody else writes to it later.
    """
    array = np.asarray(values)
    if array.ndim == 0:
        array = np.broadcast_to(array, (rows,))
    if array.ndim > 2 or len(array) != rows:
        raise BadSignal(
            f"{what} has the shape {array.shape} for {rows} events",
            instead="return one value, or one vector, an event",
        )
    match array.dtype.kind:
        case "b" | "U":
            return array
        case "i" | "u":
            return array.astype(np.int64, copy=not is_new)
        case "f":
            return array.astype(np.float64, copy=not is_new)
        case "c":
            return array.astype(np.complex128, copy=not is_new)
        case _:
            raise TypeProblem(
                f"{what} has values of type {array.dtype}",
                instead="return numbers, texts or Booleans",
            )


def example(rows: Rows) -> Rows:
    """One event of zeros, for functions that do not work on none."""
    one = {
        n: np.zeros((1, *c.shape[1:]), c.dtype if c.dtype.kind != "U" else "U1")
        for n, c in rows.columns.items()
    }
    zero = np.zeros(1, np.int64)
    return Rows(zero, zero, zero + 1, np.ones(1, np.int8), one)


@dataclass(frozen=True, slots=True)
class WhereOperator(Stateless):
    """The events for which a predicate holds."""

    predicate: Condition
    directory: Directory

    def apply(self, rows: Rows) -> Rows:
        """Some of the rows."""
        if not len(rows):
            return rows
        mask = np.asarray(self.predicate(Event(rows, self.directory)))
        if mask.dtype.kind != "b" or mask.shape != (len(rows),):
            raise TypeProblem(
                f"the condition of where gives {mask.dtype} of the shape {mask.shape}",
                instead="return a Boolean an event, by comparisons of whole columns, & and |",
            )
        return rows if mask.all() else rows.take(mask)

    def schema(self, *inputs: Rows) -> Rows:
        """That of the input; the predicate is tried out."""
        _tried(self.predicate, inputs[0], self.directory, "the condition of where")
        return inputs[0]


@dataclass(frozen=True, slots=True)
class SelectOperator(Stateless):
    """Events with another payload."""

    function: Projection
    directory: Directory

    def apply(self, rows: Rows) -> Rows:
        """The same events; no function sees none at all."""
        if not len(rows):
            return self.schema(rows)
        result = self.function(Event(rows, self.directory))
        return rows.with_columns(payload(result, len(rows), "select"))

    def schema(self, *inputs: Rows) -> Rows:
        """By an event of zeros."""
        one = example(inputs[0])
        result = _tried(self.function, inputs[0], self.directory, "the function of select")
        return one.with_columns(payload(result, 1, "select")).take(slice(0, 0))


def _tried(
    function: Callable[[EventColumns], Result], rows: Rows, directory: Directory, what: str
) -> Result:
    one = example(rows)
    shown = Trial(one, directory)
    try:
        with np.errstate(all="ignore"):
            return function(shown)
    except FreshviewError:
        raise
    except Exception as e:
        raise BadSignal(
            f"{what} fails on an event of zeros: {e}",
            instead="it gets whole columns as arrays, and must take any values",
        ) from e


class Trial(Event):
    """One event of zeros, also where no group has a number yet."""

    def __getattr__(self, name: str) -> Array:
        if name in self._directory.names and name not in self._rows.columns:
            return np.zeros(1, np.int64)
        return super().__getattr__(name)


@dataclass(frozen=True, slots=True)
class ScaleOperator(Stateless):
    """All numbers times a scalar."""

    factor: float | complex

    def apply(self, rows: Rows) -> Rows:
        """Texts and Booleans cannot be scaled."""
        return rows.with_columns({n: numbers(n, c) * self.factor for n, c in rows.columns.items()})


def numbers(name: str, values: Array) -> Array:
    """A column that arithmetic can be done on."""
    if values.dtype.kind not in "ifc":
        raise TypeProblem(
            f"there is no arithmetic on the column '{name}' of type {values.dtype}",
            instead="select the columns with numbers first",
        )
    return values


@dataclass(frozen=True, slots=True)
class ShiftOperator(Stateless):
    """Events later by so much."""

    by: int

    def apply(self, rows: Rows) -> Rows:
        """Starts and ends together."""
        return rows.shifted(self.by)

    def forget(self, state: State, *ahead: Ints) -> tuple[State, Ints]:
        """Time passes later, too."""
        return state, ahead[0] + self.by


@dataclass(frozen=True, slots=True)
class LifetimeOperator(Stateless):
    """Events that live so long."""

    duration: int

    def apply(self, rows: Rows) -> Rows:
        """From their starts on."""
        return rows.lasting(self.duration)


@dataclass(frozen=True, slots=True)
class DownsampleOperator(Stateless):
    """The samples on a coarser grid."""

    grid: Grid

    def apply(self, rows: Rows) -> Rows:
        """Those whose time is on it."""
        if _on_grid(rows.runs, self.grid):
            return rows
        return rows.take((rows.start - self.grid.offset) % self.grid.period == 0)


def _on_grid(runs: Runs | None, grid: Grid) -> bool:
    """Whether all events of runs start at beats."""
    if runs is None or runs.step % grid.period:
        return False
    return bool(((runs.first - grid.offset) % grid.period == 0).all())


@dataclass(frozen=True, slots=True)
class GroupByOperator(Stateless):
    """Events in the groups of their keys."""

    key: tuple[str, ...]
    directory: Directory

    def apply(self, rows: Rows) -> Rows:
        """The key columns become the number of the group."""
        for name in self.key:
            if name not in rows.columns:
                raise UnknownName(
                    f"the events have no column '{name}' to group by",
                    instead=f"they have {', '.join(rows.columns)}",
                )
            kind = rows.columns[name].dtype.kind
            if kind not in "iU" or rows.columns[name].ndim > 1:
                raise TypeProblem(
                    f"the key column '{name}' has the type {rows.columns[name].dtype}",
                    instead="group by integers or texts",
                )
        keys = [rows.columns[name] for name in self.key]
        rest = {n: c for n, c in rows.columns.items() if n not in self.key}
        runs = rows.runs
        for column_ in keys:
            runs = runs and by_value(runs, column_)
        if runs is not None:
            group = self.directory.encode([k[runs.begin] for k in keys])
            return in_runs(runs.with_spans(group, runs.first, runs.count), rest)
        end, weight = rows.end, None if rows.is_plain else rows.weight
        return Rows(self.directory.encode(keys), rows.start, end, weight, rest)


@dataclass(frozen=True, slots=True)
class SampleOperator(Stateless):
    """The beats of a grid at which events live, with the values that they have there."""

    grid: Grid
    function: ValueFunction | None
    directory: Directory
    references: bool = False
    """Also the first and the last unit of time of each event, for interpolation between events."""

    def apply(self, rows: Rows) -> Rows:
        """Each event becomes its samples."""
        if rows.are_points:
            sampled = self._points(rows)
        else:
            event, time = self._times(rows)
            sampled = rows.take(event).with_lifetimes(time, time + 1)
        if self.function is not None:
            sampled = self._evaluated(sampled)
        return sampled if sampled.is_plain else consolidated(sampled)

    def _points(self, rows: Rows) -> Rows:
        if self.references or self.grid.period == 1 or _on_grid(rows.runs, self.grid):
            return rows
        on_beat = (rows.start - self.grid.offset) % self.grid.period == 0
        return rows if on_beat.all() else rows.take(on_beat)

    def _times(self, rows: Rows) -> tuple[Ints, Ints]:
        first = ceil_div(rows.start - self.grid.offset, self.grid.period)
        last = ceil_div(rows.end - self.grid.offset, self.grid.period)
        event, place = counted(np.maximum(last - first, 0))
        time = self.grid.times(first[event] + place)
        if not self.references:
            return event, time
        ends = (rows.start, rows.end - 1)
        event = np.concatenate([event, *(np.arange(len(rows)) for _ in ends)])
        time = np.concatenate([time, *ends])
        order = np.lexsort((time, event))
        event, time = event[order], time[order]
        new = np.ones(len(event), np.bool_)
        new[1:] = (event[1:] != event[:-1]) | (time[1:] != time[:-1])
        return event[new], time[new]

    def _evaluated(self, rows: Rows) -> Rows:
        assert self.function is not None
        one = rows if len(rows) else example(rows)
        with np.errstate(all="ignore" if not len(rows) else "warn"):
            result = self.function(one.start, Event(one, self.directory))
        columns = payload(result, len(one), "the function of the signal")
        return one.with_columns(columns).take(slice(0, len(rows)))
