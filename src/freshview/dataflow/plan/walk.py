"""Plans as trees: columns, parts, times, and which tables an expression reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from freshview.dataflow.plan.terms import (
    Aggregate,
    Condition,
    Field,
    Filter,
    FlatMap,
    Join,
    Plan,
    Project,
    Scan,
    Test,
)
from freshview.sql.terms import Name, Scalar
from freshview.sql.walk import inside


def fields(p: Plan) -> tuple[Field, ...]:
    """The columns of a plan."""
    match p:
        case Scan(relation, table):
            return tuple(Field(table, c.name, c.type) for c in relation.columns)
        case Project() | FlatMap() | Aggregate():
            return p.fields
        case Filter(child):
            return fields(child)
        case Join(left, right):
            return fields(left) + fields(right)
        case _:
            assert_never(p)


def inputs(p: Plan) -> tuple[Plan, ...]:
    """The plans below."""
    match p:
        case Scan():
            return ()
        case Project(child) | FlatMap(child) | Filter(child) | Aggregate(child):
            return (child,)
        case Join(left, right):
            return (left, right)
        case _:
            assert_never(p)


def with_inputs(p: Plan, new: tuple[Plan, ...]) -> Plan:
    """The same node over other plans."""
    match p:
        case Scan():
            return p
        case Project() | FlatMap() | Filter() | Aggregate():
            return replace(p, input=new[0])
        case Join():
            return replace(p, left=new[0], right=new[1])
        case _:
            assert_never(p)


def scans(p: Plan) -> Iterator[Scan]:
    """The leaves, from the left."""
    if isinstance(p, Scan):
        yield p
    for child in inputs(p):
        yield from scans(child)


def nodes(p: Plan) -> Iterator[Plan]:
    """The plan and all plans in it, inputs first."""
    for child in inputs(p):
        yield from nodes(child)
    yield p


def times(p: Plan) -> tuple[Field, ...]:
    """The times of a plan's rows: one for each stream below that tells it. Groups have none."""
    match p:
        case Scan(relation, table):
            place = relation.time_column
            if place is None:
                return ()
            column = relation.columns[place]
            return (Field(table, column.name, column.type),)
        case Aggregate():
            return ()
        case _:
            return tuple(t for child in inputs(p) for t in times(child))


def appends(p: Plan) -> bool:
    """Whether no row of a plan ever goes."""
    if isinstance(p, Aggregate):
        return False
    return p.appends if isinstance(p, Scan) else all(appends(child) for child in inputs(p))


def names(e: Condition) -> frozenset[tuple[str, str]]:
    """The columns that an expression reads: of which table, and their names."""
    if isinstance(e, Test):
        return frozenset()
    return frozenset((n.table or "", n.name) for n in inside(e) if isinstance(n, Name))


def reads_only(e: Condition, p: Plan) -> bool:
    """Whether an expression can be computed from the columns of a plan."""
    return not isinstance(e, Test) and names(e) <= {(f.table, f.name) for f in fields(p)}


def column(f: Field) -> Scalar:
    """A column as an expression."""
    return Name(f.name, f.table)
