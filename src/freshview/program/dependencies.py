"""What primary keys say of maps: which columns determine which others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from freshview.calculus.schema import Relation
from freshview.calculus.scope import free, has_data
from freshview.calculus.terms import Delta, Expr, Lift, Rel
from freshview.calculus.walk import distinct_subterms


@dataclass(frozen=True)
class Dependency:
    """Variables whose values determine those of others."""

    key: frozenset[str]
    others: frozenset[str]


def dependencies(e: Expr, keys: Mapping[str, Sequence[int]]) -> tuple[Dependency, ...]:
    """What holds in every row of a term: `keys` are the places of primary keys in relations.

    >>> from freshview.calculus.text import read
    >>> [d] = dependencies(read("Orders(o, c, day) * {day > 1}"), {"Orders": (0,)})
    >>> sorted(d.key), sorted(d.others)
    (['o'], ['c', 'day', 'o'])
    """
    out = []
    for x in _determining(e):
        if isinstance(x, Lift):
            out.append(Dependency(free(x.body), frozenset((x.var,))))
        elif keys.get(x.name):
            key = frozenset(x.vars[i] for i in keys[x.name])
            out.append(Dependency(key, frozenset(x.vars)))
    return tuple(out)


@lru_cache(maxsize=1 << 14)  # plans that are compared have the same definitions
def _determining(e: Expr) -> tuple[Rel | Delta | Lift, ...]:
    """The parts of a term where variables determine others: relations and computed values."""
    parts = (x for x in distinct_subterms(e) if isinstance(x, Rel | Delta | Lift))
    return tuple(x for x in parts if not isinstance(x, Lift) or not has_data(x.body))


def determined(names: Iterable[str], known: Sequence[Dependency]) -> frozenset[str]:
    """All that some variables determine, themselves among it."""
    out = set(names)
    grown = True
    while grown:
        grown = False
        for d in known:
            if d.key <= out and not d.others <= out:
                out |= d.others
                grown = True
    return frozenset(out)


def independent(
    names: Sequence[str], bound: Iterable[str], known: Sequence[Dependency]
) -> list[str]:
    """The names that are left when those are left out that the others and `bound` determine.

    >>> by_order = Dependency(frozenset({"o"}), frozenset({"o", "c", "day"}))
    >>> independent(["c", "o", "day", "item"], (), [by_order])
    ['o', 'item']
    """
    left = [n for n in names if n not in bound]
    for name in tuple(left) if known else ():
        others = [n for n in left if n != name]
        if name in determined((*others, *bound), known):
            left = others
    return left


def primary_keys(relations: Iterable[Relation]) -> dict[str, tuple[int, ...]]:
    """The places of the primary key of every relation."""
    return {r.name: tuple(i for i, c in enumerate(r.columns) if c.name in r.key) for r in relations}
