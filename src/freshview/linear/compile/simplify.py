"""Simplification: the rules that are always right to apply, at every node, until none answers."""

from __future__ import annotations

from freshview.linear.compile.rules import SIMPLIFICATIONS
from freshview.linear.language.meta import Scope, bound, infer
from freshview.linear.language.terms import Binder, Expr, Iterate
from freshview.linear.language.walk import children, map_children, rebuild


def simplify(e: Expr, scope: Scope) -> Expr:
    """The term after all simplifications, children first."""
    while True:
        match e:
            case Iterate():
                new: Expr = e  # unrolled first: what its body means depends on the round
            case Binder(name=name):
                first, body = children(e)
                first = simplify(first, scope)
                inner = {**scope, name: bound(e, infer(first, scope))}
                new = rebuild(e, (first, simplify(body, inner)))
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
