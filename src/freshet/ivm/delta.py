"""Delta rules: Q(D + dD) - Q(D) as a term over D and dD (seed 001, 3.4; seed 000, 3.4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from freshet.calculus.build import ZERO, add, const, is_zero, mul, sub, sum_
from freshet.calculus.terms import (
    Add,
    Apply,
    Cmp,
    Const,
    Delta,
    Exists,
    Expr,
    Lift,
    Mul,
    Nested,
    Rel,
    Sum,
    Top,
    Var,
    View,
)
from freshet.ivm.domains import extract_domain


@dataclass(frozen=True, slots=True)
class Update:
    """A change of one relation: a batch (no params), or one row bound to `params`, +1 or -1."""

    relation: str
    params: tuple[str, ...] = ()
    sign: int = 1

    @property
    def is_batch(self) -> bool:
        """Whether the change comes as a relation."""
        return not self.params


def delta(e: Expr, update: Update) -> Expr:
    """How the value of a term changes with an update.

    >>> from freshet.calculus.text import read, show
    >>> show(delta(read("Sum[](R(a, b) * S(b))"), Update("S", ("t",))))
    'Sum[](R(a, b) * (b := t))'
    >>> show(delta(read("Sum[](R(a) * S(a))"), Update("R")))
    'Sum[]((DELTA R)(a) * S(a))'
    """
    match e:
        case Const() | Var() | Apply() | Cmp() | Delta() | View():
            return ZERO
        case Rel(name, names):
            return _atom(e, update) if name == update.relation else ZERO
        case Add(terms):
            return add(*(delta(t, update) for t in terms))
        case Mul((head, *tail)):
            rest = mul(*tail)
            dh, dr = delta(head, update), delta(rest, update)
            return add(mul(dh, rest), mul(head, dr), mul(dh, dr))
        case Mul():
            return ZERO
        case Sum(keys, body):
            return sum_(keys, delta(body, update))
        case Lift() | Exists() | Top():
            return _nested(e, delta(e.body, update))
        case _:
            assert_never(e)


def _atom(e: Rel, update: Update) -> Expr:
    """A batch is a relation; a single row is a product of assignments, with its sign."""
    if update.is_batch:
        return Delta(e.name, e.vars)
    row = (Lift(x, Var(t)) for x, t in zip(e.vars, update.params, strict=True))
    return mul(const(update.sign), *row)


def _nested(e: Nested, change: Expr) -> Expr:
    """Not linear: new minus old, within the domain where they can differ.

    d(x := Q) = dom(dQ) * ((x := Q + dQ) - (x := Q)), and likewise for Exists and Top.
    """
    if is_zero(change):
        return ZERO
    domain = extract_domain(change, frozenset(e.keys) if isinstance(e, Top) else None)
    new = add(e.body, change)
    after: Expr
    match e:
        case Lift(var, _):
            after = Lift(var, new)
        case Exists():
            after = Exists(new)
        case Top(keys, order, limit, _):
            after = Top(keys, order, limit, new)
        case _:
            assert_never(e)
    return mul(domain, sub(after, e))
