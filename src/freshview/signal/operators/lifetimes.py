"""From streams to signals: the check that no two events overlap, and aggregates of those alive."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freshview.errors import UnknownName
from freshview.signal.arrays import Array
from freshview.signal.columns.directory import Directory
from freshview.signal.columns.ranges import MIN_TIME, Ranges, merged, spans
from freshview.signal.columns.rows import Ints, Rows, digests
from freshview.signal.columns.runs import Runs
from freshview.signal.columns.store import Store
from freshview.signal.operators.events import numbers
from freshview.signal.operators.node import Local, Operator, State, around, reached
from freshview.signal.terms import BadSignal


@dataclass(frozen=True)
class ToSignalOperator(Operator):
    """Lets events pass that overlap with no other of their group; one that does is an error."""

    directory: Directory

    def schema(self, *inputs: Rows) -> Rows:
        """That of the stream."""
        return inputs[0]

    def start(self, *inputs: Rows) -> State:
        """What is alive now, or may be again."""
        return (Store(inputs[0].with_columns({})),)

    def step(self, state: State, *changes: Rows) -> tuple[State, Rows]:
        """The same change, if the events after it are a signal."""
        (store,), (change,) = state, changes
        if not len(change):
            return state, change
        lifetimes = change.with_columns({})
        after = store.apply(lifetimes)
        if _continues(store, lifetimes.runs):
            return (after,), change
        near = reached(store, lifetimes.inserts(), lambda rows: around(after, rows, 1, 1))
        rows, part = after.gather(merged(near.group, near.low, near.high))
        wrong = (part[1:] == part[:-1]) & (rows.start[1:] < rows.end[:-1])
        if wrong.any():
            at = int(np.argmax(wrong))
            which = self.directory.show(int(rows.group[at]))
            raise BadSignal(
                f"two events of {which} overlap at time {int(rows.start[at + 1])}, one from "
                f"{_shown(rows, at)} and one from {_shown(rows, at + 1)}",
                instead="aggregate them, or correct one: delete it before it comes anew",
            )
        return (after,), change

    def forget(self, state: State, *ahead: Ints) -> tuple[State, Ints]:
        """Keep the last event of each group."""
        (store,), (at,) = state, ahead
        before = store.previous(np.arange(len(at)), at)
        return (store.forget(np.where(before == MIN_TIME, at, np.minimum(before, at))),), at


def _continues(store: Store, runs: Runs | None) -> bool:
    """Whether runs come after all events of their groups, and none of them overlap."""
    if runs is None or runs.width > runs.step or not runs.is_sorted:
        return False
    longest = max((s.longest for s in store.segments), default=0)
    same = runs.group[1:] == runs.group[:-1]
    apart = runs.first[1:] >= runs.last[:-1] + runs.width
    return bool((store.last(runs.group) + longest <= runs.first).all() and apart[same].all())


def _shown(rows: Rows, at: int) -> str:
    return f"{int(rows.start[at])} to {int(rows.end[at])}"


@dataclass(frozen=True)
class SnapshotOperator(Local):
    """Aggregates of the events alive, from each start or end to the next.

    Events are added up in the order of their starts, ends and payloads, whatever order they came
    in, so that equal events give equal digits.
    """

    aggregates: tuple[tuple[str, str, str], ...]

    def schema(self, *inputs: Rows) -> Rows:
        """A column an aggregate."""
        columns: dict[str, Array] = {}
        for new, function, name in self.aggregates:
            if function == "count":
                columns[new] = np.zeros(0, np.int64)
                continue
            if name not in inputs[0].columns:
                raise UnknownName(
                    f"the events have no column '{name}'",
                    instead=f"they have {', '.join(inputs[0].columns)}",
                )
            values = numbers(name, inputs[0].columns[name])
            if function in ("min", "max") and values.dtype.kind == "c":
                raise BadSignal(f"'{name}' is complex, and has no {function}")
            columns[new] = values / 1.0 if function == "mean" else values
        return inputs[0].with_columns(columns)

    def touched(self, store: Store, changed: Rows) -> Ranges:
        """From the snapshot in which an event begins to the one that begins when it ends."""
        longest = _longest(store)
        return Ranges(changed.group, changed.start - longest + 1, changed.end)

    def compute(self, store: Store, ranges: Ranges) -> Rows:
        """The snapshots that begin within ranges."""
        longest = _longest(store)
        wide = merged(ranges.group, ranges.low - longest, ranges.high + longest)
        rows, part = store.gather(wide)
        if not len(rows):
            return self.schema(store.empty)
        order = np.lexsort((digests(rows), rows.start, part))
        rows, part = rows.take(order), part[order]
        times, owners = np.r_[rows.start, rows.end], np.r_[part, part]
        order = np.lexsort((times, owners))
        new = np.ones(len(times), np.bool_)
        new[1:] = (np.diff(owners[order]) != 0) | (np.diff(times[order]) != 0)
        number = np.empty(len(times), np.int64)
        number[order] = np.cumsum(new) - 1
        bound, owner = times[order][new], owners[order][new]
        event = np.repeat(np.arange(len(rows)), number[len(rows) :] - number[: len(rows)])
        snapshot = spans(number[: len(rows)], number[len(rows) :])
        inside = (bound >= wide.low[owner] + longest) & (bound <= wide.high[owner] - longest)
        wanted = inside[snapshot]
        order = np.argsort(snapshot[wanted], kind="stable")
        event, snapshot = event[wanted][order], snapshot[wanted][order]
        begin = np.flatnonzero(np.append(True, snapshot[1:] != snapshot[:-1])[: len(snapshot)])
        which = snapshot[begin]
        result = Rows(
            wide.group[owner[which]],
            bound[which],
            bound[np.minimum(which + 1, len(bound) - 1)],
            np.ones(len(which), np.int8),
            {},
        )
        return result.with_columns(self._columns(store, rows, event, begin))

    def _columns(self, store: Store, rows: Rows, event: Ints, begin: Ints) -> dict[str, Array]:
        if not len(begin):
            return dict(self.schema(store.empty).columns)
        counts = np.diff(np.append(begin, len(event)))
        columns: dict[str, Array] = {}
        for new, function, name in self.aggregates:
            if function == "count":
                columns[new] = counts
                continue
            values = rows.columns[name][event]
            match function:
                case "min":
                    columns[new] = np.minimum.reduceat(values, begin)
                case "max":
                    columns[new] = np.maximum.reduceat(values, begin)
                case _:
                    total = np.add.reduceat(values, begin)
                    shape = (-1,) + (1,) * (total.ndim - 1)
                    columns[new] = total / counts.reshape(shape) if function == "mean" else total
        return columns

    def forget(self, state: State, *ahead: Ints) -> tuple[State, Ints]:
        """Keep what may still live, and what lived at the same time."""
        (store,), (at,) = state, ahead
        longest = _longest(store)
        return (store.forget(at - 2 * longest),), at - longest


def _longest(store: Store) -> int:
    return max((s.longest for s in store.segments), default=1)
