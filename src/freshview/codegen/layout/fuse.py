"""Fusion: maps over the same rows share one record, so that one look-up serves them all.

A count, a sum and a sum of squares over one join have the same keys. They are recognized by their
definitions: equal up to renaming when the factors that only weigh rows are left out. A map over
some of the rows of another, as `SUM(CASE ...)` gives, joins it too, where no more rows are walked
through for that: where a trigger reads it, the same trigger reads the same slice of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType

from freshview.calculus.alpha_equivalence import alike
from freshview.calculus.build import factors, mul, sum_
from freshview.calculus.scope import is_value
from freshview.calculus.terms import Delta, Expr, Mul, Sum, View
from freshview.calculus.walk import subterms
from freshview.codegen.layout.selection import is_test
from freshview.program.terms import Map, Program

Columns = tuple[int, ...]
"""The record's column of each key of a map."""

MOST_TESTS = 6
"""Definitions with more tests than this are not compared without some of them."""


@dataclass
class _Group:
    core: Expr
    members: list[tuple[Map, Columns]] = field(default_factory=list)

    @property
    def first(self) -> Map:
        return self.members[0][0]


@dataclass(frozen=True)
class Walk:
    """A slice of a map that a trigger reads: which one, and the keys that are known."""

    trigger: int
    known: frozenset[int]


Walks = Mapping[str, frozenset[Walk]]
"""How triggers read maps."""

NOTHING: Mapping[str, str] = MappingProxyType({})


def walks_of(program: Program) -> Walks:
    """How triggers read maps: maybe row by row.

    What is known are the columns of the row, or those of the rows of a batch.
    """
    out: dict[str, set[Walk]] = {}
    for number, t in enumerate(program.triggers):
        for s in t.statements:
            parts = list(subterms(s.term))
            known = {*t.params, *(v for e in parts if isinstance(e, Delta) for v in e.vars)}
            for e in parts:
                if isinstance(e, View):
                    at = frozenset(i for i, v in enumerate(e.vars) if v in known)
                    out.setdefault(e.name, set()).add(Walk(number, at))
    return {name: frozenset(walks) for name, walks in out.items()}


def fuse(
    maps: Sequence[Map], walks: Walks, forgets: Mapping[str, str] = NOTHING
) -> list[list[tuple[Map, Columns]]]:
    """Groups of maps that share records.

    `forgets` says what maps lose when time goes on: a record goes when all of its maps have lost
    it, so only those that lose the same are in one. Maps of several keys that are walked, slice by
    slice, keep their rows for themselves, unless the same triggers walk through the same slices of
    those that have more.
    """
    groups: list[_Group] = []
    for m in maps:
        own = core(m.definition)
        for group in groups:
            columns = _columns(group.first, m, own, group.core)
            if columns is not None and forgets.get(group.first.name) == forgets.get(m.name):
                group.members.append((m, columns))
                break
        else:
            groups.append(_Group(own, [(m, tuple(range(len(m.keys))))]))
    for group in sorted(groups, key=lambda g: -len(_tests(g.core))):
        lost = forgets.get(group.first.name)
        alike_lost = [g for g in groups if forgets.get(g.first.name) == lost]
        if _join_wider(group, alike_lost, walks):
            groups.remove(group)
    return [g.members for g in groups]


def _join_wider(group: _Group, groups: Sequence[_Group], walks: Walks) -> bool:
    """Put the maps of a group into the records of one that has all their rows, if there is one."""
    for wider in _wider(group.core):
        for other in groups:
            columns = _columns(other.first, group.first, wider, other.core)
            if columns is None:
                continue
            joining = [(m, tuple(columns[i] for i in own)) for m, own in group.members]
            if _slices(joining, walks) <= _slices(other.members, walks):
                other.members += joining
                return True
    return False


def _slices(members: Sequence[tuple[Map, Columns]], walks: Walks) -> set[Walk]:
    """The slices of records that are read, by their columns."""
    return {
        Walk(walk.trigger, frozenset(columns[i] for i in walk.known))
        for m, columns in members
        if len(m.keys) > 1
        for walk in walks.get(m.name, ())
    }


def _columns(first: Map, m: Map, own: Expr, known: Expr) -> Columns | None:
    renaming = alike(own, known)
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
    """A definition without the factors that only weigh its rows, in the sums of a view tree, too.

    >>> from freshview.calculus.text import read, show
    >>> show(core(read("Sum[a](R(a, b) * {b > 3} * b)")))
    'Sum[a](R(a, b) * {b > 3})'
    >>> show(core(read("Sum[a](R(a, b) * b) * Sum[a](S(a, c) * c)")))
    'Sum[a](R(a, b)) * Sum[a](S(a, c))'
    """
    match e:
        case Sum(keys, body):
            return sum_(keys, core(body))
        case Mul(parts):
            return mul(*(core(f) for f in parts if is_test(f) or not is_value(f)))
        case _:
            return e


def _wider(e: Expr) -> Iterator[Expr]:
    """A definition without some of its tests, with the fewest left out first."""
    tests = _tests(e)
    if len(tests) <= MOST_TESTS:
        for n in range(1, len(tests) + 1):
            for left_out in combinations(tests, n):
                yield _without(e, left_out.__contains__)


def _tests(e: Expr) -> list[Expr]:
    return [f for f in factors(_body(e)) if is_test(f)]


def _body(e: Expr) -> Expr:
    return e.body if isinstance(e, Sum) else e


def _without(e: Expr, unwanted: Callable[[Expr], bool]) -> Expr:
    body = mul(*(f for f in factors(_body(e)) if not unwanted(f)))
    return sum_(e.keys, body) if isinstance(e, Sum) else body
