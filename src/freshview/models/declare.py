"""The SELECT of a cofactor as a query of the calculus: features lifted, groups as keys."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from freshview.calculus.build import NULL, const, exists, mul, sum_
from freshview.calculus.schema import Column, Query
from freshview.calculus.scope import relations
from freshview.calculus.terms import Apply, Cmp, Expr, Lift, Sum, Var
from freshview.calculus.types import ring
from freshview.calculus.walk import Names, freshen, variables
from freshview.errors import AmbiguousName, FreshviewError, TypeProblem, UnknownName, UnsupportedSql
from freshview.simplify import simplify
from freshview.sql import Catalog
from freshview.sql.lower.view import lower
from freshview.sql.parse.statements import parse
from freshview.sql.statements import CreateView
from freshview.sql.terms import Aggregate, Item, Literal, Name, Scalar, Select, Star
from freshview.sql.walk import inside

PAYLOAD = "payload"
LARGEST = 1e150
"""The square of a larger number may be infinite, and would never leave the sums again."""


def cofactor_query(sql: str, catalog: Catalog, name: str, categorical: Collection[str]) -> Query:
    """Keys, and the cofactor of the selected columns over the rows in which all of them are known.

    >>> from freshview.calculus.text import show
    >>> from freshview.sql.load import load
    >>> catalog, _ = load("CREATE STREAM r (a INT NOT NULL, b INT)")
    >>> print(show(cofactor_query("SELECT b FROM r", catalog, "m", ()).term))
    (payload := Sum[](r(r_a, r_b) * {r_b <> null} * [cofactor: Cofactor]('b', r_b)))
    """
    select, keys = _ungrouped(_select(sql))
    try:
        rows = lower(CreateView(None, (), select, select.at), catalog, name, distinct=False)
    except FreshviewError as problem:
        raise problem.located(select.at) from None
    if select.sources and not relations(simplify(rows.term)):
        raise UnsupportedSql(
            "this WHERE is never true", instead="write one that rows can pass", at=select.at
        )
    cut = len(rows.columns) - keys
    columns = list(zip(rows.columns, rows.vars, strict=True))
    features, groups = columns[:cut], columns[cut:]
    if any(isinstance(i, Star) for i in select.items):
        by_name = {c.name.lower() for c, _ in groups}
        features = [(c, v) for c, v in features if c.name.lower() not in by_name]
    _check(features, groups, categorical)
    lifted = [f for c, v in features for f in _lift(c, v, categorical)]
    body = rows.term.body if isinstance(rows.term, Sum) else rows.term
    by = tuple(v for _, v in groups)
    whole = sum_(by, mul(body, *lifted))
    payload = Names(set(variables(whole))).fresh(PAYLOAD)
    return Query(
        name,
        (*(c for c, _ in groups), Column(PAYLOAD, ring("Cofactor"))),
        (*by, payload),
        _term(whole, by, payload),
        over=rows.over,
    )


def _term(whole: Expr, by: tuple[str, ...], payload: str) -> Expr:
    """A row for every group that has rows; without groups, one row always."""
    if not by:
        return Lift(payload, whole)
    names = Names({*variables(whole), payload})
    return mul(exists(whole), Lift(payload, freshen(whole, names, frozenset(by))))


def _select(sql: str) -> Select:
    statements = parse(sql)
    if len(statements) != 1:
        raise UnsupportedSql("a cofactor is declared by one SELECT", instead="write one statement")
    (statement,) = statements
    if not isinstance(statement, CreateView) or statement.name is not None:
        raise UnsupportedSql(
            "a cofactor is declared by a SELECT, and named by name=",
            instead="write SELECT columns FROM a join",
        )
    query = statement.query
    for clause, there in (
        ("HAVING", query.having is not None),
        ("DISTINCT", query.distinct),
        ("ORDER BY", bool(query.order)),
        ("LIMIT", query.limit is not None),
    ):
        if there:
            raise UnsupportedSql(
                f"{clause} has no place in a cofactor",
                instead="select columns of a join, with WHERE and GROUP BY",
                at=query.at,
            )
    exprs = [i.expr for i in query.items if isinstance(i, Item)]
    for e in (*exprs, *query.group):
        for x in inside(e):
            if isinstance(x, Aggregate):
                raise UnsupportedSql(
                    f"{x.fn.upper()} has no place in a cofactor",
                    instead="select the columns themselves",
                    at=x.at,
                )
    return query


def _ungrouped(query: Select) -> tuple[Select, int]:
    """The rows before they are grouped, the keys behind the features, and how many they are.

    A selected column that is also in GROUP BY is a key, and no feature.
    """
    keys: list[Item] = []
    for e in query.group:
        meant = _meant(e, query)
        keys.append(meant[0] if meant else Item(e, None, query.at))
    key_items = [i for e in query.group for i in _meant(e, query)]
    features = [i for i in query.items if i not in key_items]
    return replace(query, items=(*features, *keys), group=()), len(keys)


def _meant(e: Scalar, query: Select) -> list[Item]:
    """The selected columns that an expression of GROUP BY means: by place, column or alias."""
    items = [i for i in query.items if isinstance(i, Item)]
    if isinstance(e, Literal) and isinstance(e.value, int):
        if len(items) < len(query.items) or not 1 <= e.value <= len(items):
            raise UnknownName(
                f"GROUP BY {e.value} is not a column",
                instead="write the name of the column",
                at=e.at,
            )
        return [items[e.value - 1]]
    if not isinstance(e, Name):
        return [i for i in items if i.expr == e]
    name = e.name.lower()
    here = [i for i in items if isinstance(i.expr, Name) and _is_column(i.expr, e)]
    named = [i for i in items if i.name is not None and i.name.lower() == name]
    return here or ([] if e.table else named)


def _is_column(x: Name, e: Name) -> bool:
    same_table = x.table is None or e.table is None or x.table.lower() == e.table.lower()
    return same_table and x.name.lower() == e.name.lower()


def _check(
    features: list[tuple[Column, str]],
    groups: list[tuple[Column, str]],
    categorical: Collection[str],
) -> None:
    names = [c.name.lower() for c, _ in features]
    for c, _ in features:
        if names.count(c.name.lower()) > 1:
            raise AmbiguousName(
                f"two columns of the cofactor are called '{c.name}'", instead="name one with AS"
            )
    for name in categorical:
        if name.lower() not in names:
            raise UnknownName(
                f"the categorical column '{name}' is not selected",
                instead=f"the columns are {', '.join(c.name for c, _ in features)}",
            )
    if not features:
        raise UnsupportedSql(
            "a cofactor needs columns besides its keys",
            instead="select columns of numbers, or categorical ones",
        )
    for c, _ in groups:
        if c.name.lower() == PAYLOAD:
            raise AmbiguousName(f"a key cannot be called '{c.name}'", instead="name it with AS")


def _lift(column: Column, var: str, categorical: Collection[str]) -> list[Expr]:
    """The lifting function of a column, and the tests that it is known and has a square."""
    known: list[Expr] = [Cmp("<>", Var(var), NULL)] if column.type.nullable else []
    if column.type.kind == "double":
        known = [Cmp("<=", Apply("abs", (Var(var),)), const(LARGEST))]  # NULL is not, either
    name = const(column.name)
    if column.name.lower() in {c.lower() for c in categorical}:
        return [*known, Apply("onehot", (name, Var(var)), "Cofactor")]
    if column.type.kind == "bool":
        return [*known, Apply("cofactor", (name, Apply("double", (Var(var),))), "Cofactor")]
    if not column.type.is_numeric:
        kind = "text" if column.type.kind == "string" else f"a {column.type.kind}"
        raise TypeProblem(
            f"column '{column.name}' is {kind}, not a number",
            instead=f"declare categorical=['{column.name}'], or do not select it",
        )
    return [*known, Apply("cofactor", (name, Var(var)), "Cofactor")]
