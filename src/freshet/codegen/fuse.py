"""Fusion: maps over the same rows share one record, so that one look-up serves them all.

A count, a sum and a sum of squares over one join have the same keys. They are told by their
definitions: equal up to renaming when the factors that only weigh rows are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from freshet.calculus.alike import alike
from freshet.calculus.build import factors, mul, sum_
from freshet.calculus.scope import is_value
from freshet.calculus.terms import Apply, Cmp, Expr, Sum
from freshet.program.terms import Map

TESTS = ("like", "not", "or", "and", "in")
"""Functions that choose rows; all the others weigh them."""


def fuse(maps: Sequence[Map]) -> list[list[tuple[Map, tuple[int, ...]]]]:
    """Groups of maps that share records; with each map, the record's column of each of its keys."""
    groups: list[list[tuple[Map, tuple[int, ...]]]] = []
    cores: list[Expr] = []
    for m in maps:
        own = core(m.definition)
        for group, known in zip(groups, cores, strict=True):
            columns = _columns(group[0][0], m, alike(own, known))
            if columns is not None:
                group.append((m, columns))
                break
        else:
            groups.append([(m, tuple(range(len(m.keys))))])
            cores.append(own)
    return groups


def _columns(first: Map, m: Map, renaming: dict[str, str] | None) -> tuple[int, ...] | None:
    if renaming is None or m.inputs or first.inputs:
        return None
    there = [c.name for c in first.keys]
    try:
        columns = tuple(there.index(renaming[c.name]) for c in m.keys)
    except (KeyError, ValueError):
        return None
    same = all(first.keys[i].type == c.type for i, c in zip(columns, m.keys, strict=True))
    return columns if same and sorted(columns) == list(range(len(there))) else None


def core(e: Expr) -> Expr:
    """A definition without the factors that only weigh its rows.

    >>> from freshet.calculus.text import read, show
    >>> show(core(read("Sum[a](R(a, b) * {b > 3} * b)")))
    'Sum[a](R(a, b) * {b > 3})'
    """
    keys = e.keys if isinstance(e, Sum) else ()
    body = e.body if isinstance(e, Sum) else e
    kept = mul(*(f for f in factors(body) if not is_value(f) or _chooses(f)))
    return sum_(keys, kept) if isinstance(e, Sum) else kept


def _chooses(e: Expr) -> bool:
    return isinstance(e, Cmp) or (isinstance(e, Apply) and e.fn in TESTS)
