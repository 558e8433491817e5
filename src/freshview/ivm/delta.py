"""Delta rules: Q(D + dD) - Q(D) over D and dD (DBToaster 2014, 3.4; Nikolic 2016, 3.4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import assert_never

from freshview.calculus.build import ZERO, add, const, is_zero, mul, sum_
from freshview.calculus.terms import (
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
from freshview.calculus.walk import turned_visible
from freshview.ivm.domains import common_domain, extract_domain
from freshview.program.updates import Update

NONE: frozenset[str] = frozenset()

MOST_AT_ONCE = 6
"""Factors of one product that change together and whose combinations are written out: more of
them, as in a relation joined with itself many times, change one after the other."""


@lru_cache(maxsize=1 << 13)  # plans that are compared ask alike
def delta(e: Expr, update: Update, small: frozenset[str] = NONE) -> Expr:
    """How the value of a term changes with an update; `small` relations bound nested queries.

    >>> from freshview.calculus.text import read, show
    >>> show(delta(read("Sum[](R(a, b) * S(b))"), Update("S", ("t",))))
    'Sum[](R(a, b) * (b := t))'
    >>> show(delta(read("Sum[](R(a) * S(a))"), Update("R")))
    'Sum[]((DELTA R)(a) * S(a))'
    """
    match e:
        case Const() | Var() | Apply() | Cmp() | Delta() | View():
            return ZERO
        case Rel(name, vars) if name in update.along:
            return Delta(name, vars)
        case Rel(name, _):
            return _atom(e, update) if name == update.relation else ZERO
        case Add(terms):
            return add(*(delta(t, update, small) for t in terms))
        case Mul(factors):
            return _product(factors, update, small)
        case Sum(keys, body):
            change = delta(body, update, small)
            return sum_(keys + turned_visible(body, change), change)
        case Lift() | Exists() | Top():
            # Not linear: new minus old, within the domain where they can differ.
            return _product((e,), update, small)
        case _:
            assert_never(e)


def _atom(e: Rel, update: Update) -> Expr:
    """A batch is a relation; a single row is a product of assignments, with its sign."""
    if update.is_batch:
        return Delta(e.name, e.vars)
    row = (Lift(x, Var(t)) for x, t in zip(e.vars, update.params, strict=True))
    return mul(const(update.sign), *row)


def _product(factors: tuple[Expr, ...], update: Update, small: frozenset[str]) -> Expr:
    """d(Q1*Q2) = dQ1*Q2 + (Q1+dQ1)*dQ2, nested queries with one domain taken together.

    k nested factors would give 3^k products by the rule for two; as one factor N they give
    dom * (Nnew - Nold), since N can only change where one of them does.
    """
    changes = tuple(delta(f, update, small) if _is_linear(f) else ZERO for f in factors)
    groups = _groups(factors, update, small)
    total: list[Expr] = []
    now = factors  # nested factors that were dealt with are new from here on
    for group in groups:
        after = tuple(group.new.get(i, f) for i, f in enumerate(now))
        domain = mul(*group.domain)
        total.append(mul(domain, *after))
        total.append(mul(const(-1), domain, *now))
        now = after
    total.append(_linear(now, changes))
    return add(*total)


def _is_linear(e: Expr) -> bool:
    return not isinstance(e, Lift | Exists | Top)


def _linear(factors: tuple[Expr, ...], changes: tuple[Expr, ...]) -> Expr:
    """The product rule over factors with given changes."""
    if sum(not is_zero(c) for c in changes) > MOST_AT_ONCE:
        return _one_by_one(factors, changes)
    at = next((i for i, c in enumerate(changes) if not is_zero(c)), None)
    if at is None:
        return ZERO
    old, first = factors[at], changes[at]
    rest, change = mul(*factors[at + 1 :]), _linear(factors[at + 1 :], changes[at + 1 :])
    return mul(*factors[:at], add(mul(first, rest), mul(old, change), mul(first, change)))


def _one_by_one(factors: tuple[Expr, ...], changes: tuple[Expr, ...]) -> Expr:
    """The factors change from left to right: those before are new, those after are old.

    k factors that change give k products over sums (Q + dQ), not 2^k - 1 products.
    """
    now = [f if is_zero(c) else add(f, c) for f, c in zip(factors, changes, strict=True)]
    return add(
        *(mul(*now[:i], c, *factors[i + 1 :]) for i, c in enumerate(changes) if not is_zero(c))
    )


@dataclass
class _Group:
    """Nested factors (by position) that change within one domain."""

    domain: tuple[Expr, ...]
    new: dict[int, Expr]


def _groups(factors: tuple[Expr, ...], update: Update, small: frozenset[str]) -> list[_Group]:
    """The nested factors that change, grouped where one domain serves them all."""
    groups: list[_Group] = []
    for i, f in enumerate(factors):
        if not isinstance(f, Lift | Exists | Top):
            continue
        change = delta(f.body, update, small)
        if is_zero(change):
            continue
        domain = domain_of(f, change, update, small)
        for group in groups:
            joint = common_domain((group.domain, domain), frozenset(update.params))
            if joint or (not group.domain and not domain):
                group.domain, group.new[i] = joint, _changed(f, change)
                break
        else:
            groups.append(_Group(domain, {i: _changed(f, change)}))
    return groups


def domain_of(
    e: Nested, change: Expr, update: Update, small: frozenset[str] = NONE
) -> tuple[Expr, ...]:
    """The domain within which a nested query can change."""
    keys = frozenset(e.keys) if isinstance(e, Top) else None
    return extract_domain(change, keys, frozenset(update.params), small)


def _changed(e: Nested, change: Expr) -> Expr:
    """The nested query over the new data."""
    new = add(e.body, change)
    match e:
        case Lift(var, _):
            return Lift(var, new)
        case Exists():
            return Exists(new)
        case Top(keys, order, limit, _):
            return Top(keys, order, limit, new)
        case _:
            assert_never(e)
