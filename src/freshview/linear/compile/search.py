"""The cheapest equivalent of a term: breadth first over the rules, no term visited twice."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from freshview.linear.compile.rules import EQUIVALENCES
from freshview.linear.compile.simplify import simplify
from freshview.linear.cost.operations import Sizes, cost
from freshview.linear.language.meta import Scope, bound, infer
from freshview.linear.language.terms import Binder, Expr
from freshview.linear.language.walk import children, free, rebuild


@dataclass
class Search:
    """A search with its cache; `budget` bounds how many terms one search visits."""

    sizes: Sizes
    budget: int = 400
    known: dict[tuple[Expr, tuple[tuple[str, object], ...]], Expr] = field(default_factory=dict)
    visited: int = 0

    def cheapest(self, e: Expr, scope: Scope) -> Expr:
        """The cheapest term found; of equally cheap ones the first, which is nearest to `e`."""
        start = simplify(e, scope)
        key = (start, tuple(sorted(((n, scope[n]) for n in _read(start, scope)), key=_by_name)))
        if key in self.known:
            return self.known[key]
        best, least = start, cost(start, scope, self.sizes).at(self.sizes)
        seen = {start}
        queue = deque([start])
        while queue and len(seen) < self.budget:
            for alternative in alternatives(queue.popleft(), scope):
                term = simplify(alternative, scope)
                if term in seen:
                    continue
                seen.add(term)
                queue.append(term)
                price = cost(term, scope, self.sizes).at(self.sizes)
                if price < least:
                    best, least = term, price
        self.visited += len(seen)
        self.known[key] = best
        return best


def alternatives(e: Expr, scope: Scope) -> Iterator[Expr]:
    """All the terms that one rule makes of a term, at its root or anywhere inside."""
    for rule in EQUIVALENCES:
        yield from rule(e, scope)
    parts = children(e)
    for i, c in enumerate(parts):
        inner = scope
        if isinstance(e, Binder) and i == 1:
            inner = {**scope, e.name: bound(e, infer(parts[0], scope))}
        for other in alternatives(c, inner):
            yield rebuild(e, (*parts[:i], other, *parts[i + 1 :]))


def _read(e: Expr, scope: Scope) -> list[str]:
    return [n for n in free(e) if n in scope]


def _by_name(pair: tuple[str, object]) -> str:
    return pair[0]
