"""Other names for the tables of a plan, so that it can stand in another plan that has them, too."""

from __future__ import annotations

from collections.abc import Sequence
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
from freshview.dataflow.plan.walk import inputs, with_inputs
from freshview.sql.terms import Item, Name, Scalar
from freshview.sql.walk import rewrite


def rename_tables(p: Plan, prefix: str) -> Plan:
    """The same plan, with a prefix before the names of all its tables."""
    p = with_inputs(p, tuple(rename_tables(child, prefix) for child in inputs(p)))

    def of(table: str) -> str:
        return f"{prefix}_{table}" if table else table

    def rule(e: Scalar) -> Scalar | None:
        return replace(e, table=of(e.table)) if isinstance(e, Name) and e.table else None

    def scalar(e: Scalar) -> Scalar:
        return rewrite(e, rule)

    def condition(c: Condition) -> Condition:
        return c if isinstance(c, Test) else scalar(c)

    def items(some: Sequence[Item]) -> tuple[Item, ...]:
        return tuple(replace(i, expr=scalar(i.expr)) for i in some)

    def fields(some: Sequence[Field]) -> tuple[Field, ...]:
        return tuple(replace(f, table=of(f.table)) for f in some)

    match p:
        case Scan(_, table):
            return replace(p, table=of(table))
        case Project(_, some, table, columns):
            return replace(p, items=items(some), table=of(table), fields=fields(columns))
        case FlatMap(_, _, _, columns):
            return replace(p, fields=fields(columns))
        case Filter(_, asked):
            return replace(p, condition=condition(asked))
        case Join(_, _, on):
            return replace(p, on=tuple(condition(c) for c in on))
        case Aggregate(_, keys, some):
            return replace(p, keys=tuple(scalar(k) for k in keys), items=items(some))
        case _:
            assert_never(p)
