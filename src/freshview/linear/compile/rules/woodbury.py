"""The inverse of a matrix that changed by a product (Sherman, Morrison and Woodbury)."""

from __future__ import annotations

from collections.abc import Iterator

from freshview.linear.language.build import add, identity, inverse, mul, neg, scale, split
from freshview.linear.language.meta import Scope, shape
from freshview.linear.language.terms import Add, Expr, Inverse


def woodbury(e: Expr, scope: Scope) -> Iterator[Expr]:
    """inv(M + P * Q) => inv(M) - inv(M) * P * inv(I + Q * inv(M) * P) * Q * inv(M).

    With P and Q of one column and one row, inv(I + ...) is 1 / (1 + Q * inv(M) * P): Sherman and
    Morrison's formula.
    """
    if not isinstance(e, Inverse) or not isinstance(e.body, Add):
        return
    for i, t in enumerate(e.body.terms):
        by, factors = split(t)
        rest = add(*e.body.terms[:i], *e.body.terms[i + 1 :])
        for at in range(1, len(factors)):
            p, q = scale(by, mul(*factors[:at])), mul(*factors[at:])
            small = inverse(add(identity(shape(q, scope)[0]), mul(q, inverse(rest), p)))
            yield add(inverse(rest), neg(mul(inverse(rest), p, small, q, inverse(rest))))
