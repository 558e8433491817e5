"""CASE: a sum of disjoint branches, each of which binds the same variable."""

from __future__ import annotations

from collections.abc import Callable

from freshview.calculus.build import add, sum_
from freshview.calculus.terms import Expr, Lift, Var
from freshview.calculus.types import NULL as NULL_TYPE
from freshview.calculus.types import common
from freshview.sql.lower.conditions.disjoint import disjoint
from freshview.sql.lower.conditions.row_test import row_test
from freshview.sql.lower.env import Env
from freshview.sql.lower.products import assign, product
from freshview.sql.lower.val import Val
from freshview.sql.lower.values.coerce import coerce
from freshview.sql.terms import Case, Literal, Scalar


def case(e: Case, env: Env) -> Val:
    """T(c1)*(x := e1) + (not T(c1))*T(c2)*(x := e2) + ... + (none of them)*(x := else)."""
    otherwise = e.otherwise or Literal(None, NULL_TYPE, e.at)
    answers = [*(answer for _, answer in e.branches), otherwise]
    values = [env.value(a) for a in answers]
    t = values[0].type
    for v in values[1:]:
        t = common(t, v.type)
    t = t.or_null() if any(v.nulls for v in values) else t.not_null()
    var = env.names.fresh("chosen")

    def whole(v: Val) -> tuple[Expr, ...]:
        return assign(var, coerce(v, t), env.catalog.functions)

    def certain(v: Val) -> tuple[Expr, ...]:
        return (*v.present, Lift(var, coerce(v, t).term))

    paths = _paths(e, env)

    def branches(bind: Callable[[Val], tuple[Expr, ...]]) -> Expr:
        pairs = zip(paths, values, strict=True)
        return add(*(sum_((var,), product(*path, *bind(v))) for path, v in pairs))

    # A row takes one branch, and reads the value with or without NULL: names may be shared.
    if not t.nullable:
        return Val(Var(var), t, (branches(whole),))
    return Val(Var(var), t, (branches(whole),), (var,), (branches(certain),))


def _paths(e: Case, env: Env) -> list[tuple[Expr, ...]]:
    """What leads to each answer: none of the conditions before holds, and its own does."""
    conditions = [c for c, _ in e.branches]
    tests = [row_test(c, env, True) for c in conditions]
    fails = [_not_true(c, env) for c in conditions]
    paths: list[tuple[Expr, ...]] = []
    for i, condition in enumerate(conditions):
        before = (fails[j] for j in range(i) if not _exclude(tests[j], tests[i]))
        paths.append((*before, env.condition(condition, True)))
    return [*paths, tuple(fails)]


def _exclude(a: Expr | None, b: Expr | None) -> bool:
    """Whether two tests of a row can be seen never to hold together."""
    return a is not None and b is not None and disjoint(a, b)


def _not_true(e: Scalar, env: Env) -> Expr:
    """1 where the condition is false or unknown."""
    return add(env.condition(e, False), env.condition(e, None))
