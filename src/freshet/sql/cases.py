"""CASE: a sum of disjoint branches, each of which binds the same variable."""

from __future__ import annotations

from collections.abc import Callable

from freshet.calculus.build import add, sum_
from freshet.calculus.terms import Expr, Lift, Var
from freshet.calculus.types import NULL as NULL_TYPE
from freshet.calculus.types import common
from freshet.sql import predicates, values
from freshet.sql.disjoint import disjoint
from freshet.sql.products import assign, product
from freshet.sql.scope import Env, Val
from freshet.sql.terms import Case, Literal, Scalar


def case(e: Case, env: Env) -> Val:
    """T(c1)*(x := e1) + (not T(c1))*T(c2)*(x := e2) + ... + (none of them)*(x := else)."""
    otherwise = e.otherwise or Literal(None, NULL_TYPE, e.at)
    answers = [*(answer for _, answer in e.branches), otherwise]
    found = [values.value(a, env) for a in answers]
    t = found[0].type
    for v in found[1:]:
        t = common(t, v.type)
    t = t.or_null() if any(v.nulls for v in found) else t.not_null()
    var = env.names.fresh("chosen")

    def whole(v: Val) -> tuple[Expr, ...]:
        return assign(var, values.coerce(v, t), env.catalog.functions)

    def certain(v: Val) -> tuple[Expr, ...]:
        return (*v.present, Lift(var, values.coerce(v, t).term))

    prefix = _branches(e, found, var, whole, env)
    if not t.nullable:
        return Val(Var(var), t, (prefix,))
    return Val(Var(var), t, (prefix,), (var,), (_branches(e, found, var, certain, env),))


def _branches(
    e: Case, answers: list[Val], var: str, bind: Callable[[Val], tuple[Expr, ...]], env: Env
) -> Expr:
    """One addend for each answer: a row is in one of them, so they may share their names."""
    conditions = [c for c, _ in e.branches]
    tests = [predicates.flat(c, env, True) for c in conditions]
    branches: list[Expr] = []
    for i, condition in enumerate(conditions):
        before = [
            c
            for c, test in zip(conditions[:i], tests, strict=False)
            if not _exclude(test, tests[i])
        ]
        chosen = predicates.part(condition, env, True)
        factors = (*_none_of(before, env), chosen, *bind(answers[i]))
        branches.append(sum_((var,), product(*factors)))
    rest = (*_none_of(conditions, env), *bind(answers[-1]))
    branches.append(sum_((var,), product(*rest)))
    return add(*branches)


def _exclude(a: Expr | None, b: Expr | None) -> bool:
    """Whether two tests of a row can be seen never to hold together."""
    return a is not None and b is not None and disjoint(a, b)


def _none_of(conditions: list[Scalar], env: Env) -> tuple[Expr, ...]:
    return tuple(predicates.not_true(c, env) for c in conditions)
