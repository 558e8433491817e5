"""Sums over ranges: which plans kernels answer by ordered indexes, and not row by row."""

from __future__ import annotations

from freshview.calculus.build import factors, is_number
from freshview.calculus.scope import free
from freshview.calculus.terms import Add, Cmp, Expr, Sum, View
from freshview.calculus.walk import distinct_subterms
from freshview.program.terms import Program


def has_range_sums(program: Program) -> bool:
    """Whether a trigger adds up the numbers of a map over a range of one of its keys."""
    return any(
        isinstance(e, Sum) and _is_range_sum(e, frozenset(t.params))
        for t in program.triggers
        if t.event != "ready"
        for s in t.statements
        for e in distinct_subterms(s.term)
    )


def _is_range_sum(e: Sum, bound: frozenset[str]) -> bool:
    """Whether one key of one map is compared, and nothing else is asked of it.

    >>> from freshview.calculus.text import read
    >>> e = read("Sum[b](M[b, x] * ({x > y + 9} + {x < y}))")
    >>> _is_range_sum(e, frozenset("by"))
    True
    >>> _is_range_sum(read("Sum[b](M[b, x, v] * {x > y} * v)"), frozenset("by"))
    False
    """
    parts = factors(e.body)
    views = [p for p in parts if isinstance(p, View) and not p.inputs]
    compared = [set(v.vars) - bound - set(e.keys) for v in views]
    if len(views) != 1 or len(compared[0]) != 1:
        return False
    others = [p for p in parts if p is not views[0] and free(p) & compared[0]]
    return bool(others) and all(_is_range(p, compared[0]) for p in others)


def _is_range(e: Expr, x: set[str]) -> bool:
    """Whether a factor is one inequality, or one inequality or another."""
    if isinstance(e, Add):
        return all(
            any(_is_range(f, x) for f in factors(t))
            and all(isinstance(f, Cmp) or is_number(f) or not free(f) & x for f in factors(t))
            for t in e.terms
        )
    return isinstance(e, Cmp) and e.op not in ("=", "<>") and bool(free(e) & x)
