"""Simplification: the rules that are always right to apply, at every node, until none answers."""

from __future__ import annotations

from freshet.linear.meta import Scope, infer
from freshet.linear.rules import SIMPLIFICATIONS
from freshet.linear.terms import Expr, Iterate, Let
from freshet.linear.walk import map_children


def simplify(e: Expr, scope: Scope) -> Expr:
    """The term after all simplifications, children first."""
    while True:
        match e:
            case Let(name, value, body):
                value = simplify(value, scope)
                inner = {**scope, name: infer(value, scope)}
                new: Expr = Let(name, value, simplify(body, inner))
            case Iterate():
                new = e  # unrolled first: what its body means depends on the round
            case _:
                new = map_children(e, lambda c: simplify(c, scope))
        for rule in SIMPLIFICATIONS:
            answer = rule(new, scope)
            if answer is not None:
                new = answer
                break
        else:
            return new
        e = new
