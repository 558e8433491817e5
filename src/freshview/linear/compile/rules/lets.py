"""Forward substitution, and its converse: a common subexpression gets a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from freshview.linear.language.meta import Scope
from freshview.linear.language.terms import Add, Expr, Inverse, Let, Mul, Var
from freshview.linear.language.walk import Names, binders, free, map_children, substitute, subterms


def inline(e: Expr, scope: Scope) -> Iterator[Expr]:
    """Let x = A in B => B with A for x."""
    match e:
        case Let(name, value, body):
            if not (binders(body) & free(value)):
                yield substitute(body, {name: value})


def share(e: Expr, scope: Scope) -> Iterator[Expr]:
    """A term that occurs twice gets a name; whether that pays is for the cost to say."""
    if isinstance(e, Let) or binders(e):
        return
    counted = Counter(t for t in subterms(e) if isinstance(t, Mul | Add | Inverse))
    for term, uses in counted.items():
        if uses > 1:
            name = Names(set(scope) | free(e)).next("t")

            def put(x: Expr, term: Expr = term, name: str = name) -> Expr:
                return Var(name) if x == term else map_children(x, put)

            yield Let(name, term, put(e))
