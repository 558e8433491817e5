"""From plans to operators: which one runs each term, and what its inputs are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

import numpy as np

from freshview.signal.arrays import Array
from freshview.signal.columns.directory import Directory
from freshview.signal.columns.rows import Rows
from freshview.signal.operators.events import (
    DownsampleOperator,
    GroupByOperator,
    LifetimeOperator,
    SampleOperator,
    ScaleOperator,
    SelectOperator,
    ShiftOperator,
    WhereOperator,
)
from freshview.signal.operators.filters import FirOperator, FunctionOperator
from freshview.signal.operators.interpolate import InterpolateOperator
from freshview.signal.operators.joins import AsOfOperator, JoinOperator, UnionOperator
from freshview.signal.operators.lifetimes import SnapshotOperator, ToSignalOperator
from freshview.signal.operators.node import Operator
from freshview.signal.operators.overlap_add import OverlapAddOperator
from freshview.signal.operators.recursive import EmaOperator, FeedbackOperator, IirOperator
from freshview.signal.operators.stretches import GapsOperator, SessionsOperator
from freshview.signal.operators.windows import HopOperator, WindowOperator
from freshview.signal.terms import (
    AsOf,
    BadSignal,
    Downsample,
    Ema,
    Field,
    Filtered,
    Fir,
    Gaps,
    GroupBy,
    Hop,
    Iir,
    Join,
    Lifetime,
    OverlapAdd,
    Points,
    Sample,
    Scale,
    Select,
    Sessions,
    Shift,
    Snapshot,
    Source,
    Term,
    ToSignal,
    Union,
    Where,
    Window,
)

_DTYPES = {
    "double": np.dtype(np.float64),
    "complex": np.dtype(np.complex128),
    "int": np.dtype(np.int64),
    "bool": np.dtype(np.bool_),
    "string": np.dtype("U1"),
}


@dataclass(frozen=True, slots=True)
class OperatorNode:
    """An operator with the numbers of the nodes that it reads, and its result without rows."""

    operator: Operator
    inputs: tuple[int, ...]
    schema: Rows
    is_grouped: bool


@dataclass
class Graph:
    """Operators in the order in which changes go through them; the last one is the result."""

    directory: Directory
    sources: dict[Source, int] = field(default_factory=dict)
    nodes: list[OperatorNode | None] = field(default_factory=list)
    """None stands for a source."""
    schemas: list[Rows] = field(default_factory=list)
    grouped: list[bool] = field(default_factory=list)
    places: dict[Term, int] = field(default_factory=dict)

    def place(self, term: Term) -> int:
        """The number of a term's node, which is built if it is not there yet."""
        if term in self.places:
            return self.places[term]
        if isinstance(term, Source):
            self._check_source(term)
            self.nodes.append(None)
            self.schemas.append(source_schema(term.fields))
            self.grouped.append(False)
            self.sources[term] = len(self.nodes) - 1
        else:
            inputs = tuple(self.place(t) for t in inputs_of(term))
            schemas = [self.schemas[i] for i in inputs]
            grouped = self._grouping(term, [self.grouped[i] for i in inputs], schemas)
            operator = operator_of(term, self.directory, schemas)
            schema = operator.schema(*schemas).take(slice(0, 0))
            self.nodes.append(OperatorNode(operator, inputs, schema, grouped))
            self.schemas.append(schema)
            self.grouped.append(grouped)
        self.places[term] = len(self.nodes) - 1
        return self.places[term]

    def _check_source(self, term: Source) -> None:
        if any(s.name == term.name for s in self.sources):
            raise BadSignal(
                f"two sources of the query are called '{term.name}'", instead="rename one of them"
            )

    def _grouping(self, term: Term, grouped: list[bool], schemas: list[Rows]) -> bool:
        if isinstance(term, GroupBy):
            if grouped[0]:
                raise BadSignal("the events are grouped already", instead="give all keys at once")
            names = self.directory.names
            if names and names != term.key:
                raise BadSignal(
                    f"the query groups by {', '.join(names)} and by {', '.join(term.key)}",
                    instead="group all its inputs by columns of the same names",
                )
            self.directory.names = term.key
            return True
        if len(set(grouped)) > 1:
            raise BadSignal(
                f"one input is grouped by {', '.join(self.directory.names)}, and the other is not",
                instead="map both to the same key",
            )
        return grouped[0]


def source_schema(fields: tuple[Field, ...]) -> Rows:
    """The columns of a source, without rows."""
    none = np.zeros(0, np.int64)
    columns: dict[str, Array] = {}
    for f in fields:
        columns[f.name] = np.zeros((0, f.size) if f.size else 0, _DTYPES[f.kind])
    return Rows(none, none, none, np.zeros(0, np.int8), columns)


def inputs_of(term: Term) -> tuple[Term, ...]:
    """The terms that a term reads."""
    match term:
        case Source():
            return ()
        case Join() | AsOf() | Union():
            return term.left, term.right
        case _:
            return (term.input,)


def operator_of(term: Term, directory: Directory, schemas: list[Rows]) -> Operator:
    """What runs a term that is no source."""
    match term:
        case Source():
            raise AssertionError("sources are not run")
        case GroupBy(_, key):
            return GroupByOperator(key, directory)
        case Where(_, predicate):
            return WhereOperator(predicate, directory)
        case Select(_, function):
            return SelectOperator(function, directory)
        case Scale(_, factor):
            return ScaleOperator(factor)
        case Shift(_, by):
            return ShiftOperator(by)
        case Lifetime(_, duration):
            return LifetimeOperator(duration)
        case Union():
            return UnionOperator()
        case Snapshot(_, aggregates):
            return SnapshotOperator(aggregates)
        case ToSignal():
            return ToSignalOperator(directory)
        case Join(_, _, combine):
            return JoinOperator(combine)
        case AsOf(_, _, direction, tolerance, keep):
            return AsOfOperator(direction, tolerance, keep)
        case Gaps(_, limit):
            return GapsOperator(limit)
        case Sessions(_, timeout):
            return SessionsOperator(timeout)
        case Ema(_, alpha):
            return EmaOperator(alpha)
        case Points(_, grid, function):
            return SampleOperator(grid, function, directory, references=True)
        case _:
            return _uniform_operator(term, directory, schemas)


def _uniform_operator(
    term: Sample | Downsample | Hop | Window | OverlapAdd | Fir | Iir | Filtered,
    directory: Directory,
    schemas: list[Rows],
) -> Operator:
    match term:
        case Sample(_, grid, None, function):
            return SampleOperator(grid, function, directory)
        case Sample(_, grid, policy):
            assert policy is not None
            return InterpolateOperator(grid, policy)
        case Downsample(_, grid):
            return DownsampleOperator(grid)
        case Hop(_, grid, size, hop, missing, aggregate):
            return HopOperator(
                grid, size, hop, missing, (), name=aggregate.name, function=aggregate.function
            )
        case Window(_, grid, size, hop, missing, steps):
            return WindowOperator(grid, size, hop, missing, steps)
        case OverlapAdd(_, grid, merge, hop):
            sizes = {c.shape[1] for c in schemas[0].columns.values() if c.ndim == 2}
            return OverlapAddOperator(grid, max(sizes, default=1), hop, merge)
        case Fir(_, grid, taps, missing):
            return FirOperator(grid, len(taps), missing, taps)
        case Iir(_, grid, b, a, missing):
            return IirOperator(grid, b, a, missing == "zero")
        case Filtered(_, grid, filter_):
            if filter_.backward:
                return FeedbackOperator(grid, filter_)
            missing = "zero" if filter_.missing_to_zero else "invalid"
            return FunctionOperator(grid, filter_.forward, missing, filter_)
        case _:
            assert_never(term)
