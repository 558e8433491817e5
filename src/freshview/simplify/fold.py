"""Partial evaluation: constants are computed, neutral terms dropped (DBToaster 2014, 5.3)."""

from __future__ import annotations

from freshview.algebra import NUMBERS
from freshview.calculus.build import (
    NULL,
    ONE,
    ZERO,
    add,
    const,
    is_number,
    is_zero,
    mul,
    number,
    sum_,
)
from freshview.calculus.compare import compare
from freshview.calculus.functions import BUILTINS, call
from freshview.calculus.scope import ins, is_value
from freshview.calculus.terms import Add, Apply, Cmp, Const, Exists, Expr, Lift, Mul, Sum, Top, Var
from freshview.calculus.walk import variables
from freshview.errors import FreshviewError


def fold(e: Expr) -> Expr | None:
    """Q*0 => 0, {1 < 2} => 1, f(1) => its value, Exists({a < b}) => {a < b}, null as a factor => 0.

    >>> from freshview.calculus.text import read, show
    >>> show(fold(read("{3 <= 5}")))
    '1'
    """
    match e:
        case Cmp(op, Const(a, _), Const(b, _)):
            return ONE if compare(op, a, b) else ZERO
        case Cmp("=" | "<>" as op, Apply("when", (count, _)), right) if right is NULL:
            return Cmp(op, count, ZERO)  # an aggregate is NULL over no rows, and only there
        case Cmp(op, left, right) if NULL in (left, right) and op not in ("=", "<>"):
            return ZERO
        case Cmp(op, Var(x), Var(y)) if x == y and op in ("=", "<>", "<", ">"):
            return ONE if op == "=" else ZERO
        case Apply(fn, args, "") if fn in BUILTINS:
            return _fold_call(fn, args)
        case Add(terms):
            return _fold_sum(terms)
        case Mul(factors):
            return _fold_product(factors)
        case Exists(body):
            return _fold_exists(body)
        case Sum(keys, body) if sum_(keys, body) is not e:
            return sum_(keys, body)
        case Top(_, _, limit, body) if is_zero(body) or limit == 0:
            return ZERO
    return None


def _fold_call(fn: str, args: tuple[Expr, ...]) -> Expr | None:
    if fn in ("or", "and"):
        return _fold_logic(fn, args)
    if all(isinstance(a, Const) for a in args):
        values = tuple(a.value for a in args if isinstance(a, Const))
        try:
            return const(call(BUILTINS[fn], values))
        except FreshviewError:  # it is refused where it is reached, which may be nowhere
            return None
    return None


def _fold_logic(fn: str, args: tuple[Expr, ...]) -> Expr | None:
    """A constant argument decides the whole or says nothing."""
    kept: list[Expr] = []
    for a in args:
        if not isinstance(a, Const):
            kept.append(a)
        elif bool(a.value) == (fn == "or"):
            return const(fn == "or")
    if not kept:
        return const(fn == "and")
    return Apply(fn, tuple(kept)) if len(kept) < len(args) else None


def _fold_sum(terms: tuple[Expr, ...]) -> Expr | None:
    numbers = [t for t in terms if is_number(t)]
    if len(numbers) < 2:
        return None
    total = NUMBERS.zero
    for n in numbers:
        total = NUMBERS.add(total, number(n))
    return add(*(t for t in terms if not is_number(t)), const(total))


def _fold_product(factors: tuple[Expr, ...]) -> Expr | None:
    """A NULL factor counts 0, a truth value 0 or 1, an `or` of one test is that test."""
    for i, f in enumerate(factors):
        rest = factors[:i] + factors[i + 1 :]
        match f:
            case Const(value, t) if t.kind in ("null", "bool"):
                return mul(*rest) if value else ZERO
            case Apply("or" | "and", (only,)) if is_indicator(only):
                return mul(*factors[:i], only, *factors[i + 1 :])
    return None


def is_indicator(e: Expr) -> bool:
    """Whether every row of a term has multiplicity 1: then Exists says nothing."""
    match e:
        case Cmp() | Lift() | Exists():
            return True
        case Apply("or" | "and" | "not" | "like" | "in", _):
            return True
        case Mul(factors):
            return all(is_indicator(f) for f in factors)
        case _:
            return e == ONE


def _fold_exists(body: Expr) -> Expr | None:
    if is_zero(body):
        return ZERO
    if is_indicator(body):
        return body
    match body:
        case Const(value, _):
            return ONE if value else ZERO
        case Mul((first, *rest)) if is_number(first):
            return Exists(mul(*rest))
        case Sum(keys, Mul((first, *rest))) if is_number(first):
            return Exists(Sum(keys, mul(*rest)))
        case Sum(keys, Mul(parts)):
            return _known_outside(keys, parts)
    return None


def _known_outside(keys: tuple[str, ...], parts: tuple[Expr, ...]) -> Expr | None:
    """Exists(Sum_[x, A](Q * (x := f(A)))) => Exists(Sum_A(Q)) * (x := f(A))."""
    for i, f in enumerate(parts):
        rest = parts[:i] + parts[i + 1 :]
        if not (isinstance(f, Lift) and is_value(f.body) and f.var in keys):
            continue
        others = tuple(k for k in keys if k != f.var)
        body = mul(*rest)
        outside = frozenset(others) | ins(body)
        if f.var not in variables(body) and ins(f) <= outside and ins(body) <= ins(mul(*parts)):
            return mul(Exists(sum_(others, body)), f)
    return None
