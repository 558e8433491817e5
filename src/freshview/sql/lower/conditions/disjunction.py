"""Some condition of several: one factor where it can be, else a sum that counts no row twice."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from freshview.calculus.build import ONE, add, exists, is_zero, mul, sub
from freshview.calculus.scope import free
from freshview.calculus.terms import Apply, Cmp, Expr
from freshview.calculus.walk import freshen
from freshview.sql.lower.conditions.disjoint import disjoint
from freshview.sql.lower.conditions.row_test import row_test
from freshview.sql.lower.env import Env
from freshview.sql.lower.scope import Scope
from freshview.sql.terms import And, Or, Scalar
from freshview.sql.walk import conjuncts


def factored(e: Or) -> Scalar:
    """(A and X) or (A and Y) => A and (X or Y), so that the join in A is seen by everyone."""
    branches = [conjuncts(p) for p in e.parts]
    shared = [c for c in branches[0] if all(c in b for b in branches[1:])]
    if not shared:
        return e
    rests = [tuple(c for c in b if c not in shared) for b in branches]
    if not all(rests):
        return And(tuple(shared), e.at)
    rest = Or(tuple(r[0] if len(r) == 1 else And(r, e.at) for r in rests), e.at)
    return And((*shared, rest), e.at)


MOST_BRANCHES = 4
"""Conditions that are told apart; the union of more of them would be written out in as many
products as there are sets of them."""


@dataclass(frozen=True)
class _Branch:
    """A condition's part, and, where one cheap factor says so, that it does not hold."""

    holds: Expr
    fails: Expr | None
    is_flat: bool


def disjunction(conditions: tuple[Scalar, ...], env: Env, want: bool) -> Expr:
    """1 where at least one of the conditions is `want`.

    Conditions on one FROM item become one factor, disjoint ones a plain sum. Otherwise
    a + (not a)*b where `not a` is one factor, and a + b - a*b where it is not.
    """
    branches = _branches(conditions, env, want)
    flats = [b.holds for b in branches if b.is_flat]
    if len(flats) == len(branches) and all(disjoint(a, b) for a, b in combinations(flats, 2)):
        return add(*flats)
    if len(branches) > MOST_BRANCHES:
        branches = _merged(branches)
    if len(branches) == 1:
        return branches[0].holds
    total: list[Expr] = []
    fails: Expr = ONE
    for b in branches:
        if b.fails is not None:
            total.append(mul(fails, b.holds))
            fails = mul(fails, b.fails)
    rest: Expr | None = None
    for b in branches:
        if b.fails is None:
            rest = b.holds if rest is None else _union(rest, b.holds, env)
    return add(*total) if rest is None else add(*total, mul(fails, rest))


def _merged(branches: list[_Branch]) -> list[_Branch]:
    """All the tests of a row as one test, all the other conditions as one that counts once."""
    tests = [b.holds for b in branches if b.is_flat]
    others = [b.holds for b in branches if not b.is_flat]
    merged = [_Branch(Apply("or", tuple(tests)), None, True)] if tests else []
    if others:
        merged.append(_Branch(exists(add(*others)), None, False))
    return merged


def _union(a: Expr, b: Expr, env: Env) -> Expr:
    return sub(add(a, b), mul(freshen(a, env.names), freshen(b, env.names)))


def _branches(conditions: tuple[Scalar, ...], env: Env, want: bool) -> list[_Branch]:
    """The conditions on one FROM item merged into one factor each, the others as they are."""
    merged: dict[str, list[Expr]] = {}
    others: list[_Branch] = []
    for condition in conditions:
        term = row_test(condition, env, want)
        owners = set() if term is None else {_owner(v, env) for v in free(term)}
        if term is not None and len(owners) <= 1:
            merged.setdefault(next(iter(owners), ""), []).append(term)
        else:
            others.append(_branch(condition, term, env, want))
    one_item = [_one_factor(terms, env) for _, terms in sorted(merged.items())]
    return one_item + others


def _owner(var: str, env: Env) -> str:
    """The FROM item of a variable; after GROUP BY a row is one thing."""
    scope: Scope | None = env.scope
    depth = 0
    while scope is not None:
        owner = scope.owner(var)
        if owner is not None:
            return "" if scope.grouped is not None else f"{depth} {owner}"
        scope, depth = scope.outer, depth + 1
    return ""


def _one_factor(terms: list[Expr], env: Env) -> _Branch:
    whole = terms[0] if len(terms) == 1 else Apply("or", tuple(terms))
    # `or` is never NULL, so its negation holds where the condition is unknown, too.
    return _Branch(whole, Apply("not", (Apply("or", tuple(terms)),)), True)


def _branch(condition: Scalar, term: Expr | None, env: Env, want: bool) -> _Branch:
    if term is None:
        return _Branch(env.condition(condition, want), None, False)
    fails: Expr | None = None
    if isinstance(term, Cmp) and term.op != "=" and is_zero(env.condition(condition, None)):
        fails = env.condition(condition, not want)
    return _Branch(term, fails, True)
