"""Like terms: Q - Q => 0, 2*Q + 3*Q => 5*Q, up to the names of local variables."""

from __future__ import annotations

from freshview.algebra import NUMBERS, Number
from freshview.calculus.alpha_equivalence import alike
from freshview.calculus.build import add, const, is_number, mul, number, sum_
from freshview.calculus.scope import free
from freshview.calculus.terms import Add, Expr, Mul, Sum


def cancel(e: Expr) -> Expr | None:
    """c1*Q + c2*Q => (c1 + c2)*Q.

    >>> from freshview.calculus.text import read, show
    >>> show(cancel(read("R(x) * S(y) - S(y) * R(x) + R(x) + R(x)")))
    '2 * R(x)'
    """
    if not isinstance(e, Add):
        return None
    groups: list[tuple[Number, Expr]] = []
    for term in e.terms:
        coefficient, rest = split(term)
        for i, (known, other) in enumerate(groups):
            if rest == other or alike(rest, other, free(rest)) is not None:
                groups[i] = (NUMBERS.add(known, coefficient), other)
                break
        else:
            groups.append((coefficient, rest))
    if len(groups) == len(e.terms):
        return None
    return add(*(scaled(c, q) for c, q in groups))


def split(e: Expr) -> tuple[Number, Expr]:
    """A term as a number times a term without one, looking through one Sum.

    >>> from freshview.calculus.text import read, show
    >>> split(read("Sum[x](3 * R(x, y))"))[0]
    3
    """
    match e:
        case Mul((first, *rest)) if is_number(first):
            return number(first), mul(*rest)
        case Sum(keys, Mul((first, *rest))) if is_number(first):
            return number(first), sum_(keys, mul(*rest))
        case _ if is_number(e):
            return number(e), const(1)
    return 1, e


def scaled(coefficient: Number, e: Expr) -> Expr:
    """A number times a term, the number kept inside the Sum where terms keep it."""
    if isinstance(e, Sum):
        return sum_(e.keys, mul(const(coefficient), e.body))
    return mul(const(coefficient), e)
