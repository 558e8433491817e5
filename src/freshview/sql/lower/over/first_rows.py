"""ROW_NUMBER() <= k: the first rows of each partition, of which an ordered index keeps track."""

from __future__ import annotations

from dataclasses import dataclass, replace

from freshview.calculus.build import add, const, exists, mul, sum_, top
from freshview.calculus.scope import outs
from freshview.calculus.terms import Cmp, Expr, Lift, Op, Order, Var
from freshview.calculus.types import INT
from freshview.errors import UnsupportedSql
from freshview.sql.lower.group_by import Body
from freshview.sql.lower.over.ordering import before, same
from freshview.sql.lower.over.partition import partition
from freshview.sql.lower.products import product
from freshview.sql.lower.val import Val
from freshview.sql.terms import Compare, Literal, Over, Scalar

MOST_NUMBERS = 100
"""So many copies of a row are numbered one by one: each number is a case of its own."""

_TURNED: dict[Op, Op] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}


@dataclass(frozen=True)
class FirstRows:
    """ROW_NUMBER() OVER (...) <= count; `exact` where nothing else is asked of the number."""

    over: Over
    count: int
    exact: bool


def first_rows(test: Scalar) -> FirstRows | None:
    """What a condition says of the first rows of a partition, if it says so.

    >>> from freshview.sql.terms import Name, OrderKey
    >>> number = Over("row_number", (), order=(OrderKey(Name("x")),))
    >>> first = first_rows(Compare("<", number, Literal(3, INT)))
    >>> first.count, first.exact
    (2, True)
    """
    if not isinstance(test, Compare):
        return None
    op, number, limit = test.op, test.left, test.right
    if isinstance(limit, Over):
        op, number, limit = _TURNED[op], limit, number
    if not isinstance(number, Over) or number.fn != "row_number" or not number.order:
        return None
    if not isinstance(limit, Literal) or type(limit.value) is not int or op not in ("<", "<=", "="):
        return None
    count = limit.value - (op == "<")
    return FirstRows(number, count, op != "=" or count == 1) if count > 0 else None


def only_first(f: FirstRows, body: Body) -> Body:
    """The SELECT with the first rows of each partition only; copies of a row count one by one."""
    p = partition(f.over, body)
    rows = product(*body.factors, *p.assigned)
    order = tuple(Order(k.own, k.descending, k.nulls_first) for k in p.every_key)
    chosen = top(p.keys, order, f.count, sum_(tuple(sorted(outs(rows))), rows))
    return replace(body, factors=(chosen,))


def numbers_of_copies(f: FirstRows, body: Body) -> tuple[tuple[Expr, ...], Val]:
    """The rows of `only_first` once for each copy, with their numbers."""
    if f.count > MOST_NUMBERS:
        raise UnsupportedSql(
            f"numbers up to {f.count} of rows that may come twice are not supported",
            instead=f"ask for {MOST_NUMBERS} or less, do not select the number, or declare the "
            "PRIMARY KEY of every table in FROM",
            at=f.over.at,
        )
    p = partition(f.over, body)
    names = body.env.names
    less, copies, number = names.fresh("less"), names.fresh("copies"), names.fresh("number")
    counts = (
        Lift(less, p.group(p.where(before(p.every_key)), may_be_empty=True).total()),
        Lift(copies, p.group(p.where(same(p.every_key)), may_be_empty=True).total()),
    )
    cases = (
        mul(
            Cmp("<", Var(less), const(i)),
            Cmp(">=", add(Var(less), Var(copies)), const(i)),
            Lift(number, const(i)),
        )
        for i in range(1, f.count + 1)
    )
    columns = {c.var for item in body.env.scope.items for c in item.columns}
    rows = product(*body.factors)
    once = exists(sum_(tuple(sorted(columns & outs(rows))), rows))
    return (once, *p.assigned, *counts, add(*cases)), Val(Var(number), INT)
