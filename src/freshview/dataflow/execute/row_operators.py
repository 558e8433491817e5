"""Operators that look at one row at a time: what is done with a row where it is."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, cast

from freshview.calculus.rows import Row, checked
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import INT, Value
from freshview.dataflow.execute.layout import TIMES, Change, Layout
from freshview.dataflow.plan.scalars import ROWS, select
from freshview.dataflow.plan.terms import Field, Filter, FlatMap, Plan, Project, Test
from freshview.dataflow.plan.walk import column, inputs
from freshview.errors import BadRow
from freshview.reference.oracle.evaluate import Database, evaluate
from freshview.sql.terms import Item, Name, Scalar

Operator: TypeAlias = Callable[[list[Change]], list[Change]]

_NUMBER = Field("#", "number", INT)
"""Where a row stands in its batch: rows keep their order, and equal ones stay apart."""


def operator(p: Plan) -> Operator:
    """What a node does with the rows of its input."""
    below = Layout.of(inputs(p)[0])
    match p:
        case Project(_, items):
            return Select(below, [i.expr for i in items])
        case Filter(_, Test(function)):
            return PythonFilter(below, function)
        case Filter(_, condition):
            assert not isinstance(condition, Test)
            return Select(below, [column(f) for f in below.fields], condition)
        case FlatMap(_, function, is_map, declared):
            return PythonMap(below, function, declared, is_map)
        case _:
            raise AssertionError(f"{type(p).__name__} is no operator of single rows")


class Select:
    """SELECT expressions WHERE condition, row by row, as SQL means it."""

    def __init__(
        self, layout: Layout, columns: Sequence[Scalar], where: Scalar | None = None
    ) -> None:
        self.width = len(columns)
        over = (*layout.all, _NUMBER)
        hidden = [Name(f.name, TIMES) for f in layout.hidden]
        outputs = [*columns, *hidden, Name(_NUMBER.name, _NUMBER.table)]
        self._places = _places(outputs, over) if where is None else None
        if self._places is None:
            items = [Item(e, f"c{k}") for k, e in enumerate(outputs)]
            query = select(over, items, where=where)
            self._term, self._vars = query.term, query.vars

    def __call__(self, changes: list[Change]) -> list[Change]:
        """The rows that pass, in their order."""
        if self._places is not None:
            places = self._places[:-1]
            return [(tuple([row[k] for k in places]), n) for row, n in changes]
        numbered = {(*row, k): 1 for k, (row, _) in enumerate(changes)}
        rows = evaluate(self._term, Database({ROWS: numbered}), keys=self._vars)
        ordered = sorted(rows, key=_number)
        return [(row[:-1], changes[_number(row)][1]) for row in ordered]


def _number(row: Row) -> int:
    assert isinstance(row[-1], int)
    return row[-1]


def _places(outputs: Sequence[Scalar], over: Sequence[Field]) -> list[int] | None:
    """Where the outputs stand in a row, if all of them are columns."""
    at = {(f.table, f.name): k for k, f in enumerate(over)}
    places = [at.get((e.table or "", e.name)) for e in outputs if isinstance(e, Name)]
    known = [k for k in places if k is not None]
    return known if len(known) == len(outputs) else None


class PythonFilter:
    """The rows for which a Python function says something true."""

    def __init__(self, layout: Layout, function: Callable[..., object]) -> None:
        self._row = row_type(layout.fields)
        self._width = layout.width
        self._function = function

    def __call__(self, changes: list[Change]) -> list[Change]:
        """The rows that pass, in their order."""
        return [c for c in changes if self._function(self._row(*c[0][: self._width]))]


class PythonMap:
    """What a Python function gives for each row, with the times of that row."""

    def __init__(
        self,
        layout: Layout,
        function: Callable[..., object],
        declared: Sequence[Field],
        is_map: bool,
    ) -> None:
        self._row = row_type(layout.fields)
        self._width = layout.width
        self._function = function
        self._is_map = is_map
        name = str(getattr(function, "__name__", "function"))
        self._relation = Relation(name, tuple(Column(f.name, f.type) for f in declared))

    def __call__(self, changes: list[Change]) -> list[Change]:
        """The new rows, those of one row behind those of the row before it."""
        out: list[Change] = []
        for row, n in changes:
            values, times = row[: self._width], row[self._width :]
            result = self._function(self._row(*values))
            for new in [result] if self._is_map else self._listed(result):
                out.append(((*checked(self._relation, self._cells(new)), *times), n))
        return out

    def _listed(self, result: object) -> Iterable[object]:
        if isinstance(result, Iterable) and not isinstance(result, str | Mapping):
            return result
        raise BadRow(
            f"'{self._relation.name}' gives {result!r} for a row",
            instead="let it give a list of rows, empty for none",
        )

    def _cells(self, new: object) -> Sequence[Value] | Mapping[str, Value]:
        if isinstance(new, tuple | list | Mapping):
            return new
        return (cast("Value", new),)  # whether it is one is checked with the others


def row_type(over: Sequence[Field]) -> Callable[..., Row]:
    """What functions get: a tuple whose columns have names, those of several tables with both.

    >>> from freshview.calculus.types import INT
    >>> one = [Field("a", "t", INT), Field("b", "t", INT), Field("b", "k", INT)]
    >>> row_type(one)(1, 2, 3)
    Row(a_t=1, b_t=2, k=3)
    """
    names = [f.name for f in over]
    titles = [f.name if names.count(f.name) == 1 else f"{f.table}_{f.name}" for f in over]
    return namedtuple("Row", titles, rename=True)
