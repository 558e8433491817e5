"""What was declared in a database, in order: scripts of SQL, and views given by their terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, get_args

from freshview.calculus.schema import Column, Query
from freshview.calculus.text import read, show
from freshview.calculus.types import read_type
from freshview.errors import SnapshotProblem
from freshview.plan.options import Strategy


@dataclass(frozen=True, slots=True)
class Script:
    """SQL, what errors call it, and the policy of its views that name none."""

    sql: str
    file: str
    policy: str = ""


@dataclass(frozen=True, slots=True)
class Defined:
    """A view given by its term, and how it is to be kept.

    `order` is a variable order for the strategy `factorized`.
    """

    query: Query
    strategy: Strategy
    order: str = ""


Declaration: TypeAlias = Script | Defined


def show_declaration(d: Declaration) -> object:
    """A declaration as values that JSON holds."""
    if isinstance(d, Script):
        return [d.sql, d.file, d.policy]
    over = [_show_query(v) for v in d.query.over]
    return {**_show_query(d.query), "over": over, "strategy": d.strategy, "order": d.order}


def _show_query(q: Query) -> dict[str, object]:
    return {
        "name": q.name,
        "columns": [[c.name, str(c.type)] for c in q.columns],
        "vars": list(q.vars),
        "term": show(q.term),
        "policy": q.policy,
    }


def _read_query(values: Mapping[str, Any]) -> Query:
    columns = tuple(Column(name, read_type(t)) for name, t in values["columns"])
    term, policy = read(values["term"]), values.get("policy", "")
    return Query(values["name"], columns, tuple(values["vars"]), term, policy=policy)


def read_declaration(values: Any) -> Declaration:
    """The inverse of `show_declaration`.

    >>> from freshview.calculus.types import INT
    >>> q = Query("q", (Column("n", INT),), ("n",), read("(n := Sum[](R(a)))"))
    >>> read_declaration(show_declaration(Defined(q, "factorized"))).query == q
    True
    """
    if not isinstance(values, Mapping):
        return Script(*values)
    over = tuple(_read_query(v) for v in values.get("over", ()))
    query = replace(_read_query(values), over=over)
    if values["strategy"] not in get_args(Strategy):
        raise SnapshotProblem(f"'{query.name}' is kept by a strategy that is not known")
    return Defined(query, values["strategy"], values["order"])
