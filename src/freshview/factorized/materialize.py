"""Which views are kept: mu of F-IVM 2018, Fig. 5."""

from __future__ import annotations

from collections.abc import Iterator

from freshview.factorized.terms import Leaf, Tree, TreeNode, relations


def materialized(
    root: TreeNode, updated: frozenset[str], static: frozenset[str] = frozenset()
) -> tuple[Tree, ...]:
    """The views to keep when the `updated` relations change, from the root down.

    A view is kept if it is the root, or if a relation beside it changes: then its sibling's delta
    is joined with it. Relations count as often as they occur, so a self-join keeps both sides.
    Rows of a `static` table are read where they are; the counts of an indicator are always kept,
    for they tell when it turns on and off.
    """
    return tuple(_materialized(root, None, updated, static))


def _materialized(
    t: Tree, parent: TreeNode | None, updated: frozenset[str], static: frozenset[str]
) -> Iterator[Tree]:
    beside = relations(parent) - relations(t) if parent is not None else None
    if isinstance(t, Leaf):
        if t.atom.name not in static and (t.indicator or (beside and updated & beside.keys())):
            yield t
        return
    if beside is None or t.listed or updated & beside.keys():
        yield t
    for child in t.children:
        yield from _materialized(child, t, updated, static)
