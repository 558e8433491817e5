"""Small terms that the translation is built of."""

from __future__ import annotations

from freshview.calculus.build import NULL, ONE, ZERO, add, factors, is_zero, mul, sum_
from freshview.calculus.functions import Functions
from freshview.calculus.terms import Apply, Cmp, Expr, Lift, Sum, Var
from freshview.calculus.walk import Names
from freshview.sql.lower.val import Val, is_null, not_null


def product(*parts: Expr) -> Expr:
    """A join that a Sum is about to close: inner sums open up, Sum(Q * Sum(R)) = Sum(Q * R).

    All names are distinct, so the variables of an opened sum meet nobody.
    """
    flat: list[Expr] = []
    for factor in factors(mul(*parts)):
        flat.extend(factors(factor.body) if isinstance(factor, Sum) else (factor,))
    return mul(*flat)


def closed(*parts: Expr) -> Expr:
    """How often a join has a row, as a term without outputs."""
    return sum_((), product(*parts))


def no_row(rows: Expr, names: Names) -> Expr:
    """1 if there is no row: one monomial, `Sum[]((n := Q) * {n = 0})`."""
    if is_zero(rows):
        return ONE
    n = names.fresh("n")
    return Sum((), mul(Lift(n, rows), Cmp("=", Var(n), ZERO)))


def some_null(nulls: tuple[str, ...]) -> Expr:
    """1 if one of the variables is NULL: a sum of disjoint cases."""
    cases: list[Expr] = []
    before: list[Expr] = []
    for var in dict.fromkeys(nulls):
        cases.append(mul(*before, is_null(var)))
        before.append(not_null(var))
    return add(*cases)


def carriers(e: Expr, functions: Functions) -> frozenset[str]:
    """The variables whose NULL makes the term NULL by itself; arithmetic counts NULL as 0."""
    match e:
        case Var(name):
            return frozenset((name,))
        case Apply(fn, args) if functions[fn].strict:
            return frozenset().union(*(carriers(a, functions) for a in args))
        case _:
            return frozenset()


def assign(var: str, value: Val, functions: Functions) -> tuple[Expr, ...]:
    """Factors that bind a variable to a value, NULL included."""
    if set(value.nulls) <= carriers(value.term, functions):
        return (*value.prefix, Lift(var, value.term))
    there = mul(*(not_null(v) for v in dict.fromkeys(value.nulls)), Lift(var, value.term))
    missing = [there]
    before: list[Expr] = []
    for null in dict.fromkeys(value.nulls):
        missing.append(mul(*before, is_null(null), Lift(var, NULL)))
        before.append(not_null(null))
    return (*value.prefix, add(*missing))
