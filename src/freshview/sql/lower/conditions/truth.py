"""Conditions as values of type BOOLEAN, and such values as conditions."""

from __future__ import annotations

from freshview.calculus.build import ONE, ZERO, add, const, is_zero, mul
from freshview.calculus.terms import Apply, Cmp, Const, Expr, Lift, Var
from freshview.calculus.types import BOOL
from freshview.errors import TypeProblem
from freshview.sql.lower.conditions.comparisons import null_part
from freshview.sql.lower.conditions.row_test import row_test
from freshview.sql.lower.env import Env, Want
from freshview.sql.lower.products import carriers, closed
from freshview.sql.lower.val import Val, not_null
from freshview.sql.terms import Scalar


def as_value(e: Scalar, env: Env) -> Val:
    """A condition where a value is asked for: true, false or NULL."""
    unknown = env.condition(e, None)
    term = row_test(e, env, True)
    if is_zero(unknown) and term is not None:
        return Val(Apply("or", (term,)), BOOL)
    var = env.names.fresh("holds")
    known = add(
        mul(env.condition(e, True), Lift(var, const(True))),
        mul(env.condition(e, False), Lift(var, const(False))),
    )
    if is_zero(unknown):
        return Val(Var(var), BOOL, (known,))
    whole = add(known, mul(unknown, Lift(var, const(None))))
    return Val(Var(var), BOOL.or_null(), (whole,), (var,), (known,))


def truth_value(v: Val, want: Want, env: Env) -> Expr:
    """A value of type bool as a condition."""
    if v.type.kind == "null":
        return ONE if want is None else ZERO
    if v.type.kind != "bool":
        raise TypeProblem(
            f"a condition is of type bool, not {v.type.kind}", instead="compare it with a value"
        )
    if want is None:
        return null_part(v)
    if isinstance(v.term, Apply):
        test: Expr = v.term if want else Apply("not", (v.term,))
        guards = [not_null(n) for n in carriers(v.term, env.catalog.functions)]
        return closed(*(f for f in v.present if f not in guards), test)
    if isinstance(v.term, Const):
        return ONE if v.term.value is want else ZERO
    return closed(*v.prefix, Cmp("=", v.term, const(want)))
