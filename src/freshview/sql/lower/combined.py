"""UNION, INTERSECT and EXCEPT: rows of two queries added up, met and taken away."""

from __future__ import annotations

from freshview.calculus.build import add, exists, mul, sub, sum_
from freshview.calculus.terms import Apply, Cmp, Expr, Lift, Var
from freshview.calculus.types import common
from freshview.calculus.walk import freshen, rename
from freshview.errors import TypeProblem
from freshview.sql.lower.env import Env, Rows
from freshview.sql.lower.products import assign, closed, no_row, product
from freshview.sql.lower.scope import Bound, hint
from freshview.sql.lower.val import column
from freshview.sql.lower.values.coerce import coerce
from freshview.sql.terms import Combined


def combined(item: Combined, env: Env) -> Rows:
    """The rows of queries put together; columns are called as those of the first one."""
    return put_together(item, [env.rows(arm) for arm in item.arms], env)


def put_together(item: Combined, arms: list[Rows], env: Env) -> Rows:
    """The same of queries that are lowered: a NULL is equal to a NULL here.

    With n and m copies of a row, UNION ALL has n + m of them, INTERSECT ALL the smaller of n and
    m, and EXCEPT ALL n - m, if that is more than 0; without ALL there is one copy or none.
    """
    columns = _columns(item, arms, env)
    terms = [_renamed(rows, columns, env) for rows in arms]
    if item.op == "union":
        whole = add(*terms)
        return Rows(whole if item.every else exists(whole), columns)
    left, right = terms
    there = exists(left)
    if not item.every:
        if item.op == "intersect":
            return Rows(mul(there, exists(right)), columns)
        return Rows(mul(there, no_row(_copies(right, columns, env), env.names)), columns)
    n, m = env.names.fresh("left"), env.names.fresh("right")
    counts = (Lift(n, _copies(left, columns, env)), Lift(m, _copies(right, columns, env)))
    if item.op == "intersect":
        whole = mul(there, exists(right), *counts, Apply("least", (Var(n), Var(m))))
    else:
        whole = mul(there, *counts, Cmp(">", Var(n), Var(m)), sub(Var(n), Var(m)))
    return Rows(sum_(tuple(c.var for c in columns), whole), columns)


def _columns(item: Combined, arms: list[Rows], env: Env) -> tuple[Bound, ...]:
    """The columns of all the arms, in the narrowest types that hold their values."""
    word = item.op.upper()
    first, *others = arms
    types = [c.type for c in first.columns]
    for rows in others:
        if len(rows.columns) != len(types):
            raise TypeProblem(
                f"{word} of {len(types)} columns and of {len(rows.columns)}",
                instead="select as many on both sides",
                at=item.at,
            )
        for i, c in enumerate(rows.columns):
            try:
                types[i] = common(types[i], c.type)
            except TypeProblem as problem:
                raise TypeProblem(
                    f"column '{first.columns[i].name}' of this {word}: {problem.what}",
                    instead="cast one of them",
                    at=item.at,
                ) from None
    return tuple(
        Bound(c.name, env.names.fresh(hint(c.name)), t)
        for c, t in zip(first.columns, types, strict=True)
    )


def _renamed(rows: Rows, columns: tuple[Bound, ...], env: Env) -> Expr:
    """The rows of an arm under the variables of the whole, and in its types."""
    names: dict[str, str] = {}
    lifts: list[Expr] = []
    for own, c in zip(rows.columns, columns, strict=True):
        if own.type.not_null() == c.type.not_null():
            names[own.var] = c.var
        else:
            value = coerce(column(own.var, own.type), c.type)
            lifts += assign(c.var, value, env.catalog.functions)
    term = rename(rows.term, names)
    return sum_(tuple(c.var for c in columns), product(term, *lifts)) if lifts else term


def _copies(term: Expr, columns: tuple[Bound, ...], env: Env) -> Expr:
    """How often a row is there whose columns the context binds."""
    own = {c.var: env.names.fresh(c.var) for c in columns}
    tests = [Cmp("=", Var(own[c.var]), Var(c.var)) for c in columns]
    return freshen(closed(rename(term, own), *tests), env.names)
