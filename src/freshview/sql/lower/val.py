"""The meaning of a scalar expression: a term, what binds it, and where it is NULL."""

from __future__ import annotations

from dataclasses import dataclass

from freshview.calculus.build import NULL
from freshview.calculus.terms import Cmp, Expr, Var
from freshview.calculus.types import Type


@dataclass(frozen=True)
class Val:
    """The meaning of a scalar expression.

    The factors of `prefix` bind what `term` reads, with multiplicity exactly 1 in all. The value
    is NULL if and only if a variable in `nulls` is. `present` is the prefix where the value is
    not NULL, and nothing where it is: all that a comparison needs.
    """

    term: Expr
    type: Type
    prefix: tuple[Expr, ...] = ()
    nulls: tuple[str, ...] = ()
    certain: tuple[Expr, ...] | None = None

    @property
    def present(self) -> tuple[Expr, ...]:
        """Factors of multiplicity 1 if the value is not NULL, 0 if it is."""
        if self.certain is not None:
            return self.certain
        return self.prefix + tuple(not_null(v) for v in self.nulls)


def not_null(var: str) -> Expr:
    """{var <> null}."""
    return Cmp("<>", Var(var), NULL)


def is_null(var: str) -> Expr:
    """{var = null}."""
    return Cmp("=", Var(var), NULL)


def column(var: str, t: Type) -> Val:
    """The value of a variable."""
    return Val(Var(var), t, nulls=(var,) if t.nullable else ())


def combined(term: Expr, t: Type, *operands: Val) -> Val:
    """A value computed of others: NULL as soon as one of them is."""
    nulls = tuple(dict.fromkeys(n for v in operands for n in v.nulls))
    certain = None
    if any(v.certain is not None for v in operands):
        certain = tuple(f for v in operands for f in v.present)
    prefix = tuple(f for v in operands for f in v.prefix)
    t = t.or_null() if nulls else t.not_null()
    return Val(term, t, prefix, nulls, certain)
