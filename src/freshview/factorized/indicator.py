"""Indicators for cyclic joins: views over part of a cycle, no larger than its result allows.

A view that joins two sides of a triangle pairs what the third side never connects. An indicator
of the third, 1 where it has a row, leaves those pairs out and multiplies no payload twice
(F-IVM 2018, App. B). Which relations to watch follows from the reduction of Graham, Yu and
Ozsoyoglu: the edges that it cannot remove are in a cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from freshview.factorized.terms import Leaf, Tree, trees


def add_indicators(root: Tree) -> Tree:
    """The same tree; a view gets indicators of relations outside it that close a cycle with it."""
    leaves = [t for t in trees(root) if isinstance(t, Leaf) and not t.indicator]
    return _watched(root, leaves)


def _watched(t: Tree, leaves: Sequence[Leaf]) -> Tree:
    if isinstance(t, Leaf):
        return t
    children = tuple(_watched(c, leaves) for c in t.children)
    met = dict.fromkeys(k for c in children for k in c.keys)
    inside = [x for x in trees(t) if isinstance(x, Leaf)]
    outside = [x for x in leaves if not any(x is y for y in inside)]
    projected = [Leaf(x.atom, tuple(k for k in met if k in x.keys), True) for x in outside]
    candidates = list(dict.fromkeys(x for x in projected if x.keys))
    edges = [frozenset(x.keys) for x in (*children, *candidates)]
    left = in_cycle(edges)
    watched = [x for i, x in enumerate(candidates, len(children)) if i in left]
    return replace(t, children=(*children, *watched))


def in_cycle(edges: Sequence[frozenset[str]]) -> frozenset[int]:
    """The edges of a hypergraph that are left when it is reduced; none if it is acyclic.

    Twice, to a fixpoint: forget a variable that only one edge has; forget an edge whose variables
    another edge has.

    >>> triangle = [frozenset("AB"), frozenset("BC"), frozenset("CA")]
    >>> sorted(in_cycle([*triangle, frozenset("AD")])), sorted(in_cycle(triangle[:2]))
    ([0, 1, 2], [])
    """
    left = dict(enumerate(map(set, edges)))
    changed = True
    while changed:
        changed = False
        for i, edge in left.items():
            lonely = {v for v in edge if not any(v in e for j, e in left.items() if j != i)}
            if lonely:
                edge -= lonely
                changed = True
        for i in sorted(left, reverse=True):
            if any(i != j and left[i] <= left[j] for j in left):
                del left[i]
                changed = True
                break
    return frozenset(left) if len(left) > 1 else frozenset()
