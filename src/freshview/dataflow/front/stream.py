"""Plans in functional Python: each step gives a new stream; nothing runs before `run`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from freshview.dataflow.execute.flow import Flow, maker
from freshview.dataflow.front.values import SymbolicRow, Value, computed, count, items
from freshview.dataflow.plan import build
from freshview.dataflow.plan.optimize import optimize
from freshview.dataflow.plan.physical import Ranges, Topology, components, show_topology
from freshview.dataflow.plan.picture import html_of, picture
from freshview.dataflow.plan.rename_tables import rename_tables
from freshview.dataflow.plan.terms import Aggregate, BadPlan, Condition, Join, Plan, Scan, Test
from freshview.dataflow.plan.text import show_plan
from freshview.dataflow.plan.walk import column, fields
from freshview.draw.drawing import Drawing
from freshview.runtime.settings import EngineChoice
from freshview.sql.terms import Item, Scalar
from freshview.temporal import Hopping, Landmark, Sliding, Tumbling, TupleCount, Window
from freshview.temporal.terms import Time

Function = Callable[..., object]


class Stream:
    """A plan over live streams. Functions of rows are traced: they compute expressions.

    >>> bids = source("bids", {"k": "int", "price": "double"})
    >>> print(bids.filter(lambda b: b.price > 3).group_by(lambda b: b.k, n=count()))
    Aggregate by bids.k: bids.k, COUNT(*) AS n
      Filter bids.price > 3
        Scan bids
    """

    def __init__(self, plan: Plan) -> None:
        self.logical = plan

    def __str__(self) -> str:
        return show_plan(self.logical)

    # ---------------------------------------------------------------- steps

    def named(self, name: str) -> Stream:
        """The same rows under another name, for a stream that a plan reads twice."""
        if isinstance(self.logical, Scan):
            return Stream(replace(self.logical, table=name))
        plan = rename_tables(self.logical, name)
        columns = [Item(column(f), f.name) for f in fields(plan)]
        return Stream(build.project(plan, columns, name))

    def map(self, function: Function, columns: Mapping[str, str] | None = None) -> Stream:
        """Other columns of each row: `lambda r: (r.a, r.b)`, or `{"name": r.a + 1}`.

        With `columns`, which maps their names to types, the function gets every row itself.
        """
        if columns is not None:
            return Stream(build.flat_map(self.logical, function, columns, is_map=True))
        result = computed(function, fields(self.logical), "a map")
        return Stream(build.project(self.logical, items(result)))

    def flat_map(self, function: Function, columns: Mapping[str, str]) -> Stream:
        """The rows that a function gives for each row, in a list; none, one or many."""
        return Stream(build.flat_map(self.logical, function, columns, is_map=False))

    def filter(self, function: Function, *, rowwise: bool = False) -> Stream:
        """The rows for which a condition holds; `rowwise`, the function gets every row itself."""
        return Stream(build.filtered(self.logical, self._condition(function, rowwise)))

    def join(self, other: Stream, on: Function | None = None, *, rowwise: bool = False) -> Stream:
        """Pairs with rows of another stream for which a condition of both holds: any one.

        `rowwise`, the function gets every pair itself.
        """
        over = fields(self.logical), fields(other.logical)
        conditions: tuple[Condition, ...] = ()
        if on is not None and rowwise:
            conditions = (Test(on),)
        elif on is not None:
            conditions = (_scalar(on(*map(SymbolicRow, over))),)
        return Stream(build.join(self.logical, other.logical, conditions))

    def group_by(self, by: Function | None = None, **aggregates: object) -> Stream:
        """A row for each group: its keys, and aggregates by their names; `n=count()` if none.

        Without `by` there is one group.
        """
        over = fields(self.logical)
        keys = [] if by is None else items(computed(by, over, "a key"))
        columns = list(keys)
        for name, value in (aggregates or {"n": count()}).items():
            columns.append(Item(_scalar(computed(value, over, "an aggregate")), name))
        grouped = build.aggregate(self.logical, [k.expr for k in keys], columns)
        return Stream(grouped)

    # ---------------------------------------------------------------- windows

    def on_window(self, length: Time, slide: Time) -> Stream:
        """Windows of a length that begin every `slide`: of a join, or of groups."""
        return self.within(Hopping(length, slide))

    def on_sliding_window(self, length: Time) -> Stream:
        """Rows less than a length apart; of groups, those less than that behind the latest."""
        return self.within(Sliding(length))

    def on_tumbling_window(self, length: Time) -> Stream:
        """Windows one after the other."""
        return self.within(Tumbling(length))

    def on_landmark_window(self, start: Time) -> Stream:
        """All the rows from a time on."""
        return self.within(Landmark(start))

    def on_tuple_window(self, rows: int) -> Stream:
        """The last rows."""
        return self.within(TupleCount(rows))

    def within(self, window: Window) -> Stream:
        """The join or the groups before this, over the rows of a window."""
        match self.logical:
            case Join(left, right, on):
                return Stream(build.join(left, right, on, window))
            case Aggregate(below, keys, columns):
                return Stream(build.aggregate(below, keys, columns, window))
        raise BadPlan("only joins and groups have windows", instead="call join or group_by before")

    # ---------------------------------------------------------------- plans

    def optimized(self, sizes: Mapping[str, float] | None = None) -> Stream:
        """The logical plan after all the rules."""
        return Stream(optimize(self.logical, sizes or {})[-1][1])

    def physical(
        self,
        *,
        joiners: int = 4,
        sizes: Mapping[str, float] | None = None,
        ranges: Ranges | None = None,
    ) -> Topology:
        """The components that would run it, and what flows between them."""
        return components(self.optimized(sizes).logical, sizes or {}, joiners, ranges)

    def explain(
        self,
        *,
        joiners: int = 4,
        sizes: Mapping[str, float] | None = None,
        ranges: Ranges | None = None,
    ) -> str:
        """The logical plan after each rule that changes it, and the physical plan."""
        steps = optimize(self.logical, sizes or {})
        parts = [f"== {title}\n{show_plan(p)}" for title, p in steps]
        topology = self.physical(joiners=joiners, sizes=sizes, ranges=ranges)
        return "\n\n".join([*parts, f"== components\n{show_topology(topology)}"])

    def picture(self, *, joiners: int = 4, sizes: Mapping[str, float] | None = None) -> Drawing:
        """The topology as a drawing: `freshview.draw` writes it as SVG or PDF."""
        return picture(self.physical(joiners=joiners, sizes=sizes))

    def _repr_html_(self) -> str:
        return html_of(show_plan(self.logical), self.picture())

    # ---------------------------------------------------------------- at work

    def run(
        self,
        *,
        joiners: int = 4,
        sizes: Mapping[str, float] | None = None,
        ranges: Ranges | None = None,
        spark: Any = None,
        master: str | None = None,
        checkpoint: str | Path | None = None,
        engine: EngineChoice = "auto",
    ) -> Flow:
        """Start it: in this process, or with its joins on Spark if a session or a master is given.

        `joiners` are shared out among the joins, and `sizes` tells how many rows streams may have.
        `ranges` say by the name of a join where the ranges of its band end, if its rows go by them.
        """
        plan = self.optimized(sizes).logical
        topology = components(plan, sizes or {}, joiners, ranges)
        joins = maker(spark, master, checkpoint)
        return Flow(plan, topology, joins, engine, fields(self.logical))

    def _condition(self, function: Function, rowwise: bool) -> Condition:
        if rowwise:
            return Test(function)
        return _scalar(computed(function, fields(self.logical), "a filter"))


def _scalar(result: object) -> Scalar:
    if not isinstance(result, Value):
        raise BadPlan(
            f"the function gives {result!r}, which is computed of no row",
            instead="compute it from the row's columns, or write rowwise=True if it wants values",
        )
    return result.scalar


def source(
    name: str,
    columns: Mapping[str, str],
    *,
    time: str | None = None,
    delay: Time | None = None,
    appends: bool = False,
    file: str | Path | None = None,
) -> Stream:
    """A stream: its columns with their types, the column of its time, how late rows may be.

    Rows may be deleted, unless it only `appends`. They are pushed, or read from a `file` of CSV.
    """
    relation = build.relation(name, columns, time=time, delay=delay)
    return Stream(build.scan(relation, appends=appends, origin=build.csv_file(file)))


def table(name: str, columns: Mapping[str, str], *, file: str | Path | None = None) -> Stream:
    """A stored table: its rows have no time, and are in every window."""
    relation = build.relation(name, columns, table=True)
    return Stream(build.scan(relation, origin=build.csv_file(file)))


__all__ = ["Stream", "source", "table"]
