"""Cyclic joins: the test of Graham, Yu and Ozsoyoglu (GYO)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from freshview.calculus.build import factors
from freshview.calculus.terms import Expr, Rel, Sum
from freshview.calculus.walk import distinct_subterms


def is_cyclic(atoms: Sequence[Rel]) -> bool:
    """Whether the hypergraph of a join does not reduce to nothing.

    Twice, to a fixpoint: forget a variable that only one atom has; forget an atom whose
    variables another atom has.

    >>> is_cyclic([Rel("R", ("a", "b")), Rel("S", ("b", "c")), Rel("T", ("c", "a"))])
    True
    >>> is_cyclic([Rel("R", ("a", "b")), Rel("S", ("b", "c"))])
    False
    """
    edges = [set(a.vars) for a in atoms]
    changed = True
    while changed:
        changed = False
        for edge in edges:
            lonely = {v for v in edge if sum(v in other for other in edges) == 1}
            if lonely:
                edge -= lonely
                changed = True
        for i, edge in enumerate(edges):
            if any(i != j and edge <= other for j, other in enumerate(edges)):
                edges.pop(i)
                changed = True
                break
    return len(edges) > 1


@lru_cache(maxsize=1 << 12)
def has_cycle(definition: Expr) -> bool:
    """Whether a product of the definition joins in a cycle."""
    for e in distinct_subterms(definition):
        body = e.body if isinstance(e, Sum) else e
        if is_cyclic([f for f in factors(body) if isinstance(f, Rel)]):
            return True
    return False
