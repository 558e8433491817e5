"""GROUP BY with its groupings: columns, ALL, ROLLUP, CUBE and GROUPING SETS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from freshview.sql.parse.node import Node
from freshview.sql.terms import Aggregate, Call, Item, Literal, Scalar, Star
from freshview.sql.walk import inside

Grouping = tuple[Scalar, ...]

MOST_SETS = 64
"""Groupings of one SELECT: each of them is kept by maps of its own."""


@dataclass(frozen=True)
class Groups:
    """What GROUP BY says: expressions; `sets` and their `keys`, if there are several groupings."""

    group: Grouping = ()
    sets: tuple[Grouping, ...] = ()
    keys: Grouping = ()


def groups(node: Node | None, items: Sequence[Item | Star]) -> Groups:
    """The GROUP BY clause of a SELECT with these items."""
    if node is None:
        return Groups()
    node.only("expressions", "all", "rollup", "cube", "grouping_sets")
    written = node.all("expressions")
    if node.flag("all"):
        return Groups(_all(node, items))
    behind = [*node.all("rollup"), *node.all("cube"), *node.all("grouping_sets")]
    if behind:  # a, b WITH ROLLUP; a, b GROUPING SETS (...)
        if len(behind) > 1:
            behind[1].refuse("a second list of groupings", "write one")
        own = tuple(n.scalar() for n in written)
        sets = _sets(behind[0], [(e,) for e in own] if not behind[0].all("expressions") else None)
        return _several(node, [sets], own)
    if not any(n.key in _LISTS for n in written):
        return Groups(tuple(n.scalar() for n in written))
    return _several(node, [_sets(n, None) for n in written])


def _all(node: Node, items: Sequence[Item | Star]) -> Grouping:
    """GROUP BY ALL: by every item without an aggregate."""
    keys: list[Scalar] = []
    for item in items:
        if isinstance(item, Star):
            node.refuse("GROUP BY ALL beside *", "name the columns")
        if not any(isinstance(x, Aggregate) for x in inside(item.expr)):
            keys.append(item.expr)
    # A constant by itself would be read as the position of a column.
    return tuple(Call("coalesce", (k,), k.at) if isinstance(k, Literal) else k for k in keys)


def _several(node: Node, parts: list[list[Grouping]], keys: Grouping = ()) -> Groups:
    """GROUP BY part, part: every grouping of one part beside every one of the others."""
    sets: list[Grouping] = [()]
    for part in parts:
        if len(sets) * len(part) > MOST_SETS:
            node.refuse(f"a GROUP BY with more than {MOST_SETS} groupings", "leave some out")
        sets = [tuple(dict.fromkeys((*a, *b))) for a in sets for b in part]
    named = (e for part in parts for grouping in part for e in grouping)
    every = tuple(dict.fromkeys((*keys, *named)))
    if not every:
        node.refuse("a GROUP BY of no column", "leave it out")
    return Groups((), tuple(sets), every)


_LISTS = ("rollup", "cube", "groupingsets")


def _sets(node: Node, own: list[Grouping] | None) -> list[Grouping]:
    """The groupings that one element of GROUP BY stands for."""
    if node.key not in _LISTS:
        return [_columns(node)]
    node.only("expressions")
    if node.key == "groupingsets":
        return [s for n in node.all("expressions") for s in _sets(n, None)]
    elements = own if own is not None else [_columns(n) for n in node.all("expressions")]
    count = len(elements)
    if node.key == "cube" and 2**count > MOST_SETS:
        node.refuse(f"CUBE of {count} columns", f"there are at most {MOST_SETS} groupings")
    chosen = (
        [elements[:i] for i in range(count, -1, -1)]
        if node.key == "rollup"
        else [list(c) for i in range(count, -1, -1) for c in combinations(elements, i)]
    )
    return [tuple(e for element in c for e in element) for c in chosen]


def _columns(node: Node) -> Grouping:
    """(a, b) or a single expression."""
    if node.key == "tuple":
        return tuple(n.scalar() for n in node.all("expressions"))
    return (node.scalar(),)
