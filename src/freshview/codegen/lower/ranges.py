"""Sums over ranges: which factor of a product an ordered index can add up without a loop.

`Sum[g](A[g, x] * {x > y} * ...)`, with every factor that depends on x monotone in it, is a sum
over one range of x: O(log n) with an ordered aggregate index of A by (g, x).
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

from freshview.calculus.build import factors
from freshview.calculus.scope import free, outs
from freshview.calculus.terms import Expr, Lift, Sum, View
from freshview.codegen.lower.monotonicity import Conditions, conditions


@dataclass(frozen=True)
class RangeTerm:
    """What a sum over a range consists of."""

    atom: View
    x: str
    groups: tuple[str, ...]
    """Variables of the atom that the sum keeps: there is one range for each of their values."""
    outside: list[Expr]
    """Factors that do not depend on x."""
    conditions: Conditions


def ranges(e: Sum, bound: Set[str]) -> Iterator[RangeTerm]:
    """The ways to see a sum as one over a range, given the variables that are bound."""
    parts = factors(e.body)
    for i, atom in enumerate(parts):
        if not isinstance(atom, View) or atom.inputs or len(set(atom.vars)) < len(atom.vars):
            continue
        others = list(parts[:i] + parts[i + 1 :])
        elsewhere: set[str] = set().union(*(outs(p) for p in others)) - set(atom.vars)
        for x in atom.vars:
            if x in bound or x in e.keys or any(x in outs(p) for p in others):
                continue
            groups = tuple(v for v in atom.vars if v != x and v not in bound)
            if not set(groups) <= set(e.keys) or any(set(groups) & free(p) for p in others):
                continue
            outside, dependent = _split(others, x)
            limits = conditions(x, dependent) if dependent else None
            own = {p.var for p in dependent if isinstance(p, Lift)}
            if limits is None or own & set(e.keys) or (own & elsewhere) - own:
                continue
            yield RangeTerm(atom, x, groups, outside, limits)


def _split(parts: list[Expr], x: str) -> tuple[list[Expr], list[Expr]]:
    """The factors that do not depend on x, directly or through an assignment; and the others."""
    reached = {x}
    outside: list[Expr] = []
    dependent: list[Expr] = []
    for p in parts:
        if free(p) & reached:
            dependent.append(p)
            reached |= outs(p)
        else:
            outside.append(p)
    return outside, dependent
