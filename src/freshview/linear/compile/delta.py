"""Delta derivation (Lago's second phase): how each statement changes when an input does.

d(A * B) = dA * B + A * dB + dA * dB        d(A + B) = dA + dB        d(A') = (dA)'
d(inv(A)) = inv(A + dA) - inv(A)            d([A, B]) = [dA, dB]      d(c * A) = c * dA

What is iterated until it stays goes on from where it stopped, over the new matrices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from freshview.linear.compile.normal import Normal
from freshview.linear.language.build import above, add, beside, inverse, mul, neg, scale, transpose
from freshview.linear.language.meta import Scope, shape
from freshview.linear.language.terms import (
    Above,
    Add,
    Beside,
    Binder,
    Expr,
    Filled,
    Identity,
    Inverse,
    Mul,
    Scale,
    Statement,
    Transpose,
    Until,
    Var,
    Zero,
)
from freshview.linear.language.walk import free, substitute


def delta(e: Expr, changes: Mapping[str, Expr], scope: Scope) -> Expr | None:
    """The change of a term, where `changes` tells those of names; None if it does not change."""
    match e:
        case Var(name):
            return changes.get(name)
        case Filled() | Identity():
            return None
        case Scale(by, body):
            d = delta(body, changes, scope)
            return None if d is None else scale(by, d)
        case Transpose(body):
            d = delta(body, changes, scope)
            return None if d is None else transpose(d)
        case Inverse(body):
            d = delta(body, changes, scope)
            return None if d is None else add(inverse(add(body, d)), neg(inverse(body)))
        case Add(terms):
            deltas = [d for t in terms if (d := delta(t, changes, scope)) is not None]
            return add(*deltas) if deltas else None
        case Mul((head, *tail)):
            return _product(head, mul(*tail), changes, scope)
        case Beside(parts) | Above(parts):
            moved = [delta(p, changes, scope) for p in parts]
            if all(d is None for d in moved):
                return None
            filled = [
                Zero(*shape(p, scope)) if d is None else d
                for p, d in zip(parts, moved, strict=True)
            ]
            return beside(*filled) if isinstance(e, Beside) else above(*filled)
        case Mul() | Binder():
            raise AssertionError("a statement in A-normal form has none of these")
        case _:
            assert_never(e)


def _product(a: Expr, b: Expr, changes: Mapping[str, Expr], scope: Scope) -> Expr | None:
    da = delta(a, changes, scope)
    db = delta(b, changes, scope)
    terms: list[Expr] = []
    if da is not None:
        terms.append(mul(da, b))
    if db is not None:
        terms.append(mul(a, db))
    if da is not None and db is not None:
        terms.append(mul(da, db))
    return add(*terms) if terms else None


def renewed(s: Statement, changes: Mapping[str, Expr]) -> Expr | None:
    """An iteration over the changed matrices, which starts from its old result.

    None if nothing that a round reads has changed: where the first one started makes no difference.
    """
    assert isinstance(s.term, Until)
    moved = {n: add(Var(n), d) for n, d in changes.items() if n in free(s.term.body)}
    if not moved:
        return None
    return replace(s.term, start=Var(s.name), body=substitute(s.term.body, moved), warm=True)


def derive(program: Normal, changed: str) -> tuple[Statement, ...]:
    """The deltas of all statements that change, each over names of deltas: d_x."""
    changes: dict[str, Expr] = {changed: Var(f"d_{changed}")}
    deltas: list[Statement] = []
    for s in program.statements:
        if isinstance(s.term, Until):
            d = renewed(s, changes)
            if d is not None and program.semiring == "real":
                d = add(d, neg(Var(s.name)))  # elsewhere the sum is a choice, and d the better one
        else:
            d = delta(s.term, changes, program.scope)
        if d is not None:
            changes[s.name] = Var(f"d_{s.name}")
            deltas.append(Statement(f"d_{s.name}", d))
    return tuple(deltas)
