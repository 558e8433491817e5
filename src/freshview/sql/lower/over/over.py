"""The window functions of a SELECT, and QUALIFY."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from freshview.calculus.terms import Expr
from freshview.errors import FreshviewError, UnsupportedSql
from freshview.sql.lower.group_by import Body
from freshview.sql.lower.over.first_rows import (
    FirstRows,
    first_rows,
    numbers_of_copies,
    only_first,
)
from freshview.sql.lower.over.functions import rank, window_value
from freshview.sql.lower.over.partition import partition
from freshview.sql.lower.select_list import by_alias
from freshview.sql.lower.val import Val
from freshview.sql.terms import Over, Scalar, Select
from freshview.sql.walk import conjuncts, inside, parts


def with_windows(query: Select, body: Body) -> Body:
    """The rows of a SELECT with the values of its window functions, those that QUALIFY keeps.

    Each value is assigned from a copy of the rows, as they are behind WHERE, GROUP BY and HAVING.
    """
    tests: tuple[Scalar, ...] = ()
    if query.qualify is not None:
        tests = conjuncts(by_alias(query.qualify, body.outputs, body.inner))
    asked = [o.expr for o in body.outputs]
    asked += [by_alias(k.expr, body.outputs, body.inner, columns_first=False) for k in query.order]
    known = dict(body.env.known)
    kept = body
    if firsts := [(t, f) for t in tests if (f := first_rows(t)) is not None]:
        test, first = firsts[0]
        kept = only_first(first, body)
        tests = tuple(t for t in tests if t is not test or not first.exact)
        if any(x == first.over for e in (*asked, *tests) for x in _windows(e)):
            kept, known[first.over] = _numbered(first, kept)
    factors = kept.factors
    for over in (x for e in (*asked, *tests) for x in _windows(e)):
        if over not in known:
            assigned, v = _lower(over, body)
            factors = (*factors, *assigned, *v.prefix)
            known[over] = replace(v, prefix=(), certain=None)
    env = replace(body.env, known=known)
    factors = (*factors, *(env.condition(t, True) for t in tests))
    return replace(body, factors=factors, env=env)


def _numbered(first: FirstRows, kept: Body) -> tuple[Body, Val]:
    """The first rows with their numbers, each copy of a row with its own."""
    p = partition(first.over, kept)
    if p.unique:
        v = rank(p)
        return replace(kept, factors=(*kept.factors, *p.assigned, *v.prefix)), replace(v, prefix=())
    factors, v = numbers_of_copies(first, kept)
    return replace(kept, factors=factors), v


def _lower(over: Over, body: Body) -> tuple[tuple[Expr, ...], Val]:
    try:
        for part in parts(over):
            for nested in _windows(part):
                raise UnsupportedSql(
                    f"{nested.fn.upper()} OVER inside of another window function is not supported",
                    instead="compute it in a subquery",
                    at=nested.at,
                )
        whole = partition(over, body)
        return whole.assigned, window_value(whole)
    except FreshviewError as problem:
        raise problem.located(over.at) from None


def _windows(e: Scalar) -> Iterator[Over]:
    """The window functions in an expression."""
    return (x for x in inside(e) if isinstance(x, Over))


def refuse_windows(e: Scalar, clause: str) -> None:
    """Refuse a window function in a clause that runs before there are windows."""
    for x in _windows(e):
        raise UnsupportedSql(
            f"{x.fn.upper()} OVER is not allowed in {clause}",
            instead="use QUALIFY, or compute it in a subquery",
            at=x.at,
        )
