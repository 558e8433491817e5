"""A * (B + C) => A * B + A * C, and from the other side."""

from __future__ import annotations

from collections.abc import Iterator

from freshview.linear.language.build import add, mul, scale
from freshview.linear.language.meta import Scope
from freshview.linear.language.terms import Add, Expr, Mul, Scale


def distribute(e: Expr, scope: Scope) -> Iterator[Expr]:
    """A * (B + C) => A * B + A * C, one sum at a time."""
    match e:
        case Scale(by, Add(terms)):
            yield add(*(scale(by, t) for t in terms))
        case Mul(factors):
            for i, f in enumerate(factors):
                if isinstance(f, Add):
                    yield add(*(mul(*factors[:i], t, *factors[i + 1 :]) for t in f.terms))
        case _:
            return
