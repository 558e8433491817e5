"""EXISTS, IN, ANY and ALL: whether some row, or no row, of a subquery meets a condition."""

from __future__ import annotations

from collections.abc import Callable

from freshview.calculus.build import ZERO, add, exists, is_zero, mul, sub
from freshview.calculus.terms import Expr
from freshview.errors import TypeProblem
from freshview.sql.lower.conditions.comparisons import compare
from freshview.sql.lower.env import Env
from freshview.sql.lower.products import closed, no_row
from freshview.sql.lower.scope import Bound
from freshview.sql.lower.val import column
from freshview.sql.terms import Quantified, Select


def exists_condition(query: Select, env: Env, want: bool | None) -> Expr:
    """EXISTS is never unknown."""
    if want is None:
        return ZERO
    rows = env.count(query)
    return exists(rows) if want else no_row(rows, env.names)


def quantified(e: Quantified, env: Env, want: bool | None) -> Expr:
    """X op ANY Q is true if some row says true, false if no row says true or unknown.

    x op ALL Q is its mirror image: false if some row says false, true if no row says otherwise.
    """
    decisive = not e.every
    if want is decisive:
        return exists(_rows(e, env, (decisive,)))
    if want is not None:
        return no_row(_rows(e, env, (decisive, None)), env.names)
    unknown = _rows(e, env, (None,))
    if is_zero(unknown):
        return ZERO
    return mul(no_row(_rows(e, env, (decisive,)), env.names), exists(unknown))


def _rows(e: Quantified, env: Env, parts: tuple[bool | None, ...]) -> Expr:
    """How many rows of the subquery give the comparison one of these truth values."""
    rows = env.rows(e.query)
    if len(rows.columns) != len(e.left):
        raise TypeProblem(
            f"{len(e.left)} values are compared with {len(rows.columns)} columns",
            instead="select as many columns as stand on the left",
        )
    if len(e.left) > 1 and e.op != "=":
        raise TypeProblem(f"rows of several columns have no {e.op}", instead="compare one column")
    tests = [_test(e, env, rows.columns, p) for p in parts]
    return closed(rows.term, add(*tests))


def _test(e: Quantified, env: Env, columns: tuple[Bound, ...], want: bool | None) -> Expr:
    """One truth value of the comparison of the left side with a row: an AND over its columns."""

    def one(i: int, asked: bool | None) -> Expr:
        left = env.value(e.left[i])
        return compare(e.op, left, column(columns[i].var, columns[i].type), asked, env)

    every = range(len(e.left))
    if want:
        return mul(*(one(i, True) for i in every))
    if want is False:
        # The first column that is false decides; those before it are not.
        return add(*(mul(*(_not_false(one, j) for j in range(i)), one(i, False)) for i in every))
    if all(is_zero(one(i, None)) for i in every):
        return ZERO
    if len(every) == 1:
        return one(0, None)
    open_ = mul(*(_not_false(one, i) for i in every))
    return sub(open_, mul(*(one(i, True) for i in every)))


def _not_false(one: Callable[[int, bool | None], Expr], i: int) -> Expr:
    return add(one(i, True), one(i, None))
