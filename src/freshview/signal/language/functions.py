"""Functions of time as payloads of continuous signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from freshview.errors import UnknownName
from freshview.signal.arrays import Array, EventColumns, ValueFunction
from freshview.signal.terms import BadSignal, Operation


def composed(operation: Operation, f: ValueFunction, g: ValueFunction) -> ValueFunction:
    """The arithmetic of two functions, over events that have the arguments of both."""

    def function(t: Array, e: EventColumns) -> Array:
        a, b = values(f, t, _Side(e, "l.")), values(g, t, _Side(e, "r."))
        match operation:
            case "plus":
                return a + b
            case "minus":
                return a - b
            case "times":
                return a * b

    return function


def dispatch(functions: Sequence[ValueFunction], column: str = "kind") -> ValueFunction:
    """Functions that differ from event to event: a column has the number of each event's own.

    `signal.with_function(dispatch([sine, ramp]))` evaluates each of them once, over its events.
    """

    def function(t: Array, e: EventColumns) -> Array:
        which = e[column]
        if len(which) and not ((which >= 0) & (which < len(functions))).all():
            at = int(np.argmax((which < 0) | (which >= len(functions))))
            raise BadSignal(
                f"the event at time {int(t[at])} asks for function {int(which[at])}",
                instead=f"'{column}' is a number below {len(functions)}",
            )
        result: Array | None = None
        for number, each in enumerate(functions):
            mine = np.flatnonzero(which == number)
            if not len(mine):
                continue
            part = values(each, t[mine], _Some(e, mine))
            if result is None:
                result = np.zeros(len(which), part.dtype)
            result = result.astype(np.result_type(result, part), copy=False)
            result[mine] = part
        return np.zeros(0) if result is None else result

    return function


def values(function: ValueFunction, t: Array, e: EventColumns) -> Array:
    """The values of a function, which arithmetic can be done on."""
    answer = function(t, e)
    if isinstance(answer, Mapping):
        raise BadSignal(
            f"a function of time gives the columns {', '.join(map(str, answer))}, not one value",
            instead="return an array",
        )
    return np.asanyarray(answer)


def own_value(t: Array, e: EventColumns) -> Array:
    """The value of a signal without a function: its only column."""
    if len(names := e.columns) != 1:
        raise BadSignal(
            f"a signal with the columns {', '.join(names)} has no value to calculate with",
            instead="give it a function: with_function(lambda t, e: e.value)",
        )
    return e[names[0]]


@dataclass(frozen=True)
class Prefixed:
    """A projection that puts a prefix before all names."""

    prefix: str

    def __call__(self, e: EventColumns) -> dict[str, Array]:
        """The payload by its longer names."""
        return {f"{self.prefix}{name}": e[name] for name in e.columns}


class _Side:
    """The events of one side of a join, by the names that they had there."""

    def __init__(self, events: EventColumns, prefix: str) -> None:
        self._events, self._prefix = events, prefix

    @property
    def columns(self) -> list[str]:
        head = self._prefix
        return [n.removeprefix(head) for n in self._events.columns if n.startswith(head)]

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self.columns:
            return self._events[f"{self._prefix}{name}"]
        if name in ("time", "start", "end"):
            return self._events[name]
        raise UnknownName(
            f"the events have no column '{name}'", instead=f"they have {', '.join(self.columns)}"
        )

    def __getitem__(self, name: str) -> Array:
        return self.__getattr__(name)


class _Some(_Side):
    """Some of the events."""

    def __init__(self, events: EventColumns, rows: Array) -> None:
        super().__init__(events, "")
        self._rows = rows

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._events[name][self._rows]

    @property
    def columns(self) -> list[str]:
        return list(self._events.columns)
