"""Percentiles: the values at which the number of rows below passes a share of all the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from freshview.calculus.build import ONE, ZERO, add, const, exists, mul, sub, sum_
from freshview.calculus.terms import Apply, Cmp, Expr, Lift, Op, Var
from freshview.calculus.types import DOUBLE, Type
from freshview.calculus.walk import freshen
from freshview.errors import TypeProblem
from freshview.sql.lower.aggregates.group import Computed, Group
from freshview.sql.lower.val import Val
from freshview.sql.lower.values.coerce import coerce

Tests = Callable[[Var, Var], tuple[Expr, ...]]
"""What is asked of a value: of the numbers of rows before it, and up to it."""


@dataclass
class _Ranked(Computed):
    """The rows of a group in the order of a value, and what is computed of them."""

    argument: Val
    descending: bool

    def value(self, tests: Tests, t: Type) -> Var:
        """The only value that meets the tests, in a type."""
        names = self.group.env.names
        x = names.fresh("x")
        rows = self.group.by((x,), *self.argument.present, Lift(x, self.argument.term))
        before, up_to = names.fresh("before"), names.fresh("up_to")
        ops: tuple[Op, Op] = (">", ">=") if self.descending else ("<", "<=")
        counts = (Lift(before, self._rows(ops[0], x)), Lift(up_to, self._rows(ops[1], x)))
        asked = tests(Var(before), Var(up_to))
        value = coerce(Val(Var(x), self.argument.type.not_null()), t).term
        body = mul(exists(rows), *counts, *asked, value)
        return self.let("value", freshen(sum_(self.group.keys, body), names))

    def _rows(self, op: Op, x: str) -> Expr:
        """How many rows have a value on one side of x."""
        other = self.group.env.names.fresh("other")
        lift = Lift(other, self.argument.term)
        return self.group.total(*self.argument.present, lift, Cmp(op, Var(other), Var(x)))


def percentile(fn: str, argument: Val, share: Decimal, group: Group) -> Val:
    """PERCENTILE_CONT, which interpolates, and PERCENTILE_DISC; with _desc from the largest down.

    PERCENTILE_APPROX is PERCENTILE_DISC in the type of its argument.

    Rows are counted from 0: row k is of the value that has k rows or less before it, and more
    than k up to it.
    """
    if not argument.type.is_numeric:
        raise TypeProblem(
            f"a percentile needs numbers, not {argument.type.kind}",
            instead="take MIN, MAX or MODE of other values",
        )
    if not 0 <= share <= 1:
        raise TypeProblem(f"the share {share} of a percentile is not between 0 and 1")
    ranked = _Ranked(group, argument, fn.endswith("_desc"))
    n = ranked.let("count", group.total(*argument.present))
    t = argument.type if fn == "percentile_approx" else DOUBLE
    value = (_interpolated if "cont" in fn else _discrete)(ranked, n, share, t)
    var = ranked.let("percentile", Apply("when", (n, value)))
    return Val(var, t.or_null(), tuple(ranked.prefix), (var.name,))


def _discrete(ranked: _Ranked, n: Var, share: Decimal, t: Type) -> Var:
    """The first value up to which there is this share of the rows."""
    enough = mul(const(share), n)

    def tests(before: Var, up_to: Var) -> tuple[Expr, ...]:
        if not share:
            return (Cmp("=", before, ZERO),)
        return (Cmp("<", before, enough), Cmp(">=", up_to, enough))

    return ranked.value(tests, t)


def _interpolated(ranked: _Ranked, n: Var, share: Decimal, t: Type) -> Var:
    """Between the values of the rows on both sides of this share of the last row's number."""
    at = ranked.let("at", mul(const(share), sub(n, ONE)))
    row = ranked.let("row", Apply("floor", (at,)))

    def low(before: Var, up_to: Var) -> tuple[Expr, ...]:
        return Cmp("<=", before, row), Cmp(">", up_to, row)

    def high(before: Var, up_to: Var) -> tuple[Expr, ...]:
        following = Apply("ceil", (at,))
        return Cmp("<=", before, following), Cmp(">", up_to, following)

    below, above = ranked.value(low, t), ranked.value(high, t)
    part = ranked.let("part", sub(at, row))
    return ranked.let("between", add(mul(below, sub(ONE, part)), mul(above, part)))
