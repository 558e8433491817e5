"""Filters with feedback: each output depends on all inputs before it, by way of a small state.

The state is noted after the last input of a batch and every now and then, so that a late input
asks for the recomputation of what follows it, and not of what came before.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.signal import lfilter

from freshview.signal.columns.ranges import MAX_TIME, MIN_TIME, Ranges, counted, merged
from freshview.signal.columns.rows import (
    Array,
    Ints,
    Rows,
    difference,
    is_sorted,
    negated,
    points,
)
from freshview.signal.columns.store import Store
from freshview.signal.operators.events import column, numbers
from freshview.signal.operators.node import Operator, State
from freshview.signal.steps import BadStep, DigitalFilter
from freshview.signal.terms import Grid

NOTED = 512
"""A state is noted once in so many inputs."""

LONGEST_SILENCE = 4096
"""More missing beats than these end a sequence, even where missing samples are zero."""


@dataclass(frozen=True, slots=True)
class Sequences:
    """Inputs laid end to end, sequence by sequence, with the state that each begins with.

    `row` is the row of each input; -1 for a beat that is missing.
    """

    row: Ints
    offset: Ints
    length: Ints
    owner: Ints
    """Which range each is of."""
    resumes: Array
    """Whether a noted state goes before it; else it is the first of its group, or after a gap."""


class RecursiveOperator(Operator):
    """A filter with a state, over the events of each group in order."""

    def beats(self) -> Grid | None:
        """Where missing beats count; without a grid, events follow each other as they are."""
        return None

    def fills(self) -> bool:
        """Whether missing beats are zero; else a sequence ends where one is."""
        return True

    @abstractmethod
    def width(self, kind: Array) -> int:
        """How many numbers a state has."""

    @abstractmethod
    def advance(self, x: Array, state: Array) -> tuple[Array, Array]:
        """Outputs and states after inputs `[sequences, time]`; each row by itself."""

    def fresh(self, first: Array) -> Array:
        """The states before sequences with these first inputs."""
        return np.zeros((len(first), self.width(first)), first.dtype)

    def schema(self, *inputs: Rows) -> Rows:
        """Numbers of the kind that comes out."""
        columns = {}
        for name, values in inputs[0].columns.items():
            one = np.zeros((1, 1), self._kind(name, values))
            columns[name] = self.advance(one, self.fresh(one[:, 0]))[0][0, :0]
        return inputs[0].with_columns(columns)

    def start(self, *inputs: Rows) -> State:
        """The inputs, and the states that were noted."""
        columns = {}
        for name, values in inputs[0].columns.items():
            if values.ndim > 1:
                raise BadStep(f"'{name}' is a vector", instead="select its components")
            kind = self._kind(name, values)
            columns[name] = self.fresh(np.zeros(0, kind))
        return Store(inputs[0]), Store(inputs[0].with_columns(columns))

    def step(self, state: State, *changes: Rows) -> tuple[State, Rows]:
        """What follows the first change of each group, before and after."""
        (store, notes), (change,) = state, changes
        if not len(change):
            return state, self.schema(store.empty)
        after = store.apply(change)
        first = _firsts(change)
        order = merged(first.group, first.start, np.full(len(first), MAX_TIME - 1))
        stale, _ = notes.gather(order)
        old = self.schema(store.empty)
        if len(store):
            old, _ = self._run(store, notes, order)
        fewer = notes.apply(negated(stale)) if len(stale) else notes
        new, noted = self._run(after, fewer, order)
        return (after, _thinned(fewer.apply(noted), len(after))), difference(old, new)

    def forget(self, state: State, *ahead: Ints) -> tuple[State, Ints]:
        """Keep the last state before the time, and what came after it."""
        (store, notes), (at,) = state, ahead
        noted = notes.previous(np.arange(len(at)), at)
        after = np.where(noted == MIN_TIME, MIN_TIME, noted + 1)
        return (store.forget(after), notes.forget(noted)), at

    def _run(self, store: Store, notes: Store, ranges: Ranges) -> tuple[Rows, Rows]:
        """The outputs from the starts of ranges on, and states to note."""
        since = notes.previous(ranges.group, ranges.low)
        begun = since > MIN_TIME
        low = np.where(begun, since + 1, MIN_TIME)
        rows, owner = store.gather(Ranges(ranges.group, low, ranges.high))
        if not len(rows):
            return self.schema(store.empty), notes.empty
        before, _ = notes.gather(Ranges(ranges.group[begun], since[begun], since[begun]))
        place = np.cumsum(begun) - 1
        sequences = self._sequences(rows, owner, since)
        is_input = sequences.row >= 0
        wanted = rows.start >= ranges.low[owner]
        outputs, states = {}, {}
        at, seen = _noted(sequences)
        for name, values in rows.columns.items():
            x = _spread(values.astype(self._kind(name, values)), sequences.row)
            first = x[sequences.offset]
            state = self.fresh(first)
            resumed = sequences.resumes
            state[resumed] = before.columns[name][place[sequences.owner[resumed]]]
            y, kept = _run_all(self, x, sequences, state, at)
            answer = np.empty(len(rows), y.dtype)
            answer[sequences.row[is_input]] = y[is_input]
            outputs[name], states[name] = answer[wanted], kept
        result = rows.take(wanted).with_columns(outputs)
        return result, points(rows.group[seen], rows.start[seen], states)

    def _sequences(self, rows: Rows, owner: Ints, since: Ints) -> Sequences:
        count = len(rows)
        first = np.ones(count, np.bool_)
        first[1:] = owner[1:] != owner[:-1]
        resumes = first & (since[owner] > MIN_TIME)
        silent = np.zeros(count, np.int64)
        if (grid := self.beats()) is not None:
            before = np.where(first, np.where(resumes, since[owner], rows.start), 0)
            before[1:] = np.where(first[1:], before[1:], rows.start[:-1])
            silent = np.maximum((rows.start - before) // grid.period - 1, 0)
        limit = LONGEST_SILENCE if self.fills() else 0
        broken = silent > limit
        new = first | broken
        resumes &= ~broken
        silent = np.where(new & ~resumes, 0, silent)
        entry = np.full(count + int(silent.sum()), -1)
        entry[np.cumsum(silent + 1) - 1] = np.arange(count)
        begin = np.flatnonzero(new)
        ends = np.cumsum(silent + 1)
        offset = ends[begin] - silent[begin] - 1
        length = np.append(offset[1:], len(entry)) - offset
        return Sequences(entry, offset, length, owner[begin], resumes[begin])

    def _kind(self, name: str, values: Array) -> np.dtype[np.generic]:
        kind = numbers(name, values).dtype
        return np.dtype(np.complex128 if kind.kind == "c" else np.float64)


def _firsts(change: Rows) -> Rows:
    """The first event of each group, and perhaps later ones of a change that is not in order."""
    new = np.ones(len(change), np.bool_)
    new[1:] = change.group[1:] != change.group[:-1]
    if not is_sorted(change):
        return change
    return change.take(new)


def _thinned(notes: Store, inputs: int) -> Store:
    """Fewer notes, where each of many small batches left its own: the last ones always stay."""
    if len(notes) <= inputs // 8 + 8 * len(notes.codes()):
        return notes
    rows = notes.all()
    last = np.append(rows.group[1:] != rows.group[:-1], True)
    nth = np.arange(len(rows)) - np.searchsorted(rows.group, rows.group)
    return Store(notes.empty).apply(rows.take(last | (nth % 8 == 7)))


def _spread(values: Array, row: Ints) -> Array:
    """Inputs with zeros where beats are missing."""
    if len(row) == len(values):
        return values
    return np.where(row >= 0, values[np.maximum(row, 0)], 0)


def _noted(sequences: Sequences) -> tuple[Ints, Ints]:
    """After which entries states are noted, and their rows: every so often, and at the end."""
    sequence, nth = counted(sequences.length)
    ends_range = np.append(sequences.owner[1:] != sequences.owner[:-1], True)
    at_end = ends_range[sequence] & (nth == sequences.length[sequence] - 1)
    noted = (nth % NOTED == NOTED - 1) & (sequences.row >= 0)
    at = np.flatnonzero(noted | at_end)
    return at, sequences.row[at]


def _run_all(
    operator: RecursiveOperator, x: Array, sequences: Sequences, state: Array, at: Ints
) -> tuple[Array, Array]:
    """All sequences side by side; as many calls as they have different lengths, and notes."""
    order = np.argsort(-sequences.length, kind="stable")
    length, offset = sequences.length[order], sequences.offset[order]
    state = state[order]
    note = np.full(len(x), -1)
    note[at] = np.arange(len(at))
    y: Array | None = None
    kept = np.empty((len(at), state.shape[1]), state.dtype)
    done, most = 0, int(length[0])
    distinct = np.unique(length)
    while done < most:
        active = int(np.searchsorted(-length, -done, "left"))
        end = int(distinct[np.searchsorted(distinct, done, "right")])
        end = min(end, done // NOTED * NOTED + NOTED)
        index = offset[:active, None] + np.arange(done, end)
        out, after = operator.advance(x[index], state[:active])
        if y is None:
            y = np.empty(len(x), out.dtype)
        y[index] = out
        state[:active] = after
        here = note[index[:, -1]]
        kept[here[here >= 0]] = after[here >= 0]
        done = end
    assert y is not None
    return y, kept


@dataclass(frozen=True)
class IirOperator(RecursiveOperator):
    """A rational filter, in the transposed direct form."""

    grid: Grid
    b: tuple[float, ...]
    a: tuple[float, ...]
    missing_to_zero: bool = True

    def beats(self) -> Grid | None:
        """The grid of the signal."""
        return self.grid

    def fills(self) -> bool:
        """As the query says."""
        return self.missing_to_zero

    def width(self, kind: Array) -> int:
        """The order of the filter."""
        return max(len(self.a), len(self.b)) - 1

    def advance(self, x: Array, state: Array) -> tuple[Array, Array]:
        """SciPy's filter; a longer input gives what its pieces give, to the last digit."""
        y, after = lfilter(self.b, self.a, x, axis=-1, zi=state)
        return y, after


@dataclass(frozen=True)
class EmaOperator(RecursiveOperator):
    """The exponential moving average, which begins with the first value."""

    alpha: float

    @cached_property
    def _keep(self) -> float:
        return 1.0 - self.alpha

    def width(self, kind: Array) -> int:
        """What is left of the average before."""
        return 1

    def fresh(self, first: Array) -> Array:
        """As if the first value had always been there."""
        return np.asarray(first * self._keep)[:, None]

    def advance(self, x: Array, state: Array) -> tuple[Array, Array]:
        """A filter of order one."""
        y, after = lfilter([self.alpha], [1.0, -self._keep], x, axis=-1, zi=state)
        return y, after


@dataclass(frozen=True)
class FeedbackOperator(RecursiveOperator):
    """A filter of the user that looks at its own outputs; a state is the last inputs and outputs.

    The function is called once a beat, for all the groups at a time.
    """

    grid: Grid
    filter: DigitalFilter

    def beats(self) -> Grid | None:
        """The grid of the signal."""
        return self.grid

    def fills(self) -> bool:
        """As the filter says."""
        return self.filter.missing_to_zero

    def width(self, kind: Array) -> int:
        """All inputs and outputs that it looks at."""
        return self.filter.forward - 1 + self.filter.backward

    def advance(self, x: Array, state: Array) -> tuple[Array, Array]:
        """Beat by beat."""
        memory, filter_ = self.filter.forward - 1, self.filter
        inputs = np.concatenate([state[:, :memory], x], axis=1)
        outputs = state[:, memory:]
        answers = np.empty_like(x)
        for n in range(x.shape[1]):
            window = np.ascontiguousarray(inputs[:, n : n + filter_.forward])
            y = column(filter_.compute(window, outputs), len(x), f"the filter '{filter_.name}'")
            answers[:, n] = y
            outputs = np.concatenate([outputs[:, 1:], y[:, None].astype(x.dtype)], axis=1)
        left = inputs[:, inputs.shape[1] - memory :] if memory else inputs[:, :0]
        return answers, np.concatenate([left, outputs], axis=1)
