"""A view's SELECT as a query of the calculus."""

from __future__ import annotations

from dataclasses import replace

from freshet.calculus.build import NULL, ONE, ZERO, is_zero, mul
from freshet.calculus.check import check_bound, infer
from freshet.calculus.schema import Column, Query
from freshet.calculus.terms import Cmp, Lift
from freshet.calculus.walk import Names
from freshet.depth import deep
from freshet.errors import FreshetError, TypeProblem
from freshet.sql import select
from freshet.sql.catalog import Catalog
from freshet.sql.conjunctive import check_conjunctive
from freshet.sql.scope import Env
from freshet.sql.terms import CreateView


@deep
def lower(statement: CreateView, catalog: Catalog, name: str | None = None) -> Query:
    """The meaning of a view: column variables, and the term that binds them.

    >>> from freshet.calculus.text import show
    >>> from freshet.sql.load import load
    >>> _, [query] = load("CREATE STREAM r (a INT NOT NULL, b INT NOT NULL);"
    ...                   "SELECT a, SUM(b) AS total FROM r GROUP BY a")
    >>> print(show(query.term))
    Exists(Sum[r_a](r(r_a, r_b))) * (sum := Sum[r_a](r(r_a, r_b_1) * r_b_1))
    """
    try:
        if statement.factorized:
            check_conjunctive(statement.query)
        env = Env(catalog, Names())
        rows = select.rows(statement.query, env, top=True)
        check_bound(rows.term)
        infer(rows.term, catalog.schema())
    except FreshetError as problem:
        raise problem.located(statement.at) from None
    # A query that never has a row still says which columns it has.
    term = mul(Cmp("=", ONE, ZERO), *(Lift(b.var, NULL) for b in rows.columns))
    term = term if is_zero(rows.term) else rows.term
    columns = tuple(Column(b.name, b.type) for b in rows.columns)
    if statement.columns:
        if len(statement.columns) != len(columns):
            raise TypeProblem(
                f"the view has {len(columns)} columns, {len(statement.columns)} names are given",
                instead="give every column a name",
                at=statement.at,
            )
        columns = tuple(replace(c, name=n) for c, n in zip(columns, statement.columns, strict=True))
    title = name or statement.name or "query"
    vars = tuple(b.var for b in rows.columns)
    return Query(title, columns, vars, term, rows.order, statement.factorized)
