"""What needs no thought (Lago, A.1): zeros, identities, lets of nothing, unrolled iterations."""

from __future__ import annotations

from freshview.linear.language.build import above, add, beside, mul, split
from freshview.linear.language.meta import Scope, shape
from freshview.linear.language.terms import (
    Above,
    Add,
    Beside,
    Expr,
    Identity,
    Iterate,
    Let,
    Mul,
    Scale,
    Stack,
    Until,
    Var,
    Zero,
)
from freshview.linear.language.walk import binders, free, substitute, subterms


def zeros(e: Expr, scope: Scope) -> Expr | None:
    """A * 0 => 0; A + 0 => A; [0, 0] => 0; and a sum of stacks of equal cuts is stacked sums."""
    match e:
        case Mul(factors) if any(isinstance(f, Zero) for f in factors):
            return Zero(*shape(e, scope))
        case Scale(by, body) if by == 0 or isinstance(body, Zero):
            return Zero(*shape(e, scope))
        case Add(terms) if any(isinstance(t, Zero) for t in terms):
            kept = [t for t in terms if not isinstance(t, Zero)]
            return add(*kept) if kept else terms[0]
        case Stack(parts) if all(isinstance(p, Zero) for p in parts):
            return Zero(*shape(e, scope))
        case _:
            return None


def identities(e: Expr, scope: Scope) -> Expr | None:
    """A * I => A; I * A => A."""
    match e:
        case Mul(factors) if any(isinstance(f, Identity) for f in factors):
            kept = [f for f in factors if not isinstance(f, Identity)]
            return mul(*kept) if kept else factors[0]
        case _:
            return None


def one_part(e: Expr, scope: Scope) -> Expr | None:
    """[A, 0] + [0, B] => [A, B] where the cuts are equal, and so for [A; 0] + [0; B]."""
    if not isinstance(e, Add):
        return None
    for kind, build in ((Beside, beside), (Above, above)):
        stacks = [t for t in e.terms if isinstance(t, kind)]
        for i, a in enumerate(stacks):
            for b in stacks[i + 1 :]:
                if len(a.parts) != len(b.parts):
                    continue
                pairs = list(zip(a.parts, b.parts, strict=True))
                alike = all(shape(x, scope) == shape(y, scope) for x, y in pairs)
                if alike and all(isinstance(x, Zero) or isinstance(y, Zero) for x, y in pairs):
                    merged = build(*(y if isinstance(x, Zero) else x for x, y in pairs))
                    rest = [t for t in e.terms if t is not a and t is not b]
                    return add(*rest, merged)
    return None


def drop_let(e: Expr, scope: Scope) -> Expr | None:
    """A let of a variable, or one that is read once or never, is put where it is read."""
    match e:
        case Let(name, value, body):
            uses = sum(t == Var(name) for t in subterms(body))
            repeated = any(isinstance(t, Iterate | Until) for t in subterms(body))
            captured = bool(free(value) & binders(body))
            small = isinstance(value, Var) or (uses <= 1 and not repeated)
            if small and not captured:
                return substitute(body, {name: value})
    return None


def unroll(e: Expr, scope: Scope) -> Expr | None:
    """iterate(0, M, f) => M; iterate(n, M, f) => let x = f(M) in iterate(n - 1, x, f)."""
    match e:
        case Iterate(0, start, _, _):
            return start
        case Iterate(count, start, name, body):
            by, factors = split(start)
            if by == 1 and len(factors) == 1 and isinstance(start, Var | Identity | Zero):
                after = substitute(body, {name: start})
            else:
                after = Let(name, start, body)
            if count == 1:
                return after
            return Let(name, after, Iterate(count - 1, Var(name), name, body))
        case _:
            return None
