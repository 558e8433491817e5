"""How rows of one stream find those of another: the local indexes of a view's joins, in words."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

from freshview.calculus.build import factors, mul
from freshview.calculus.scope import free, relations, stored
from freshview.calculus.terms import Cmp, Delta, Expr, Mul, Sum, View
from freshview.calculus.text import show
from freshview.calculus.walk import children
from freshview.codegen.lower.ranges import ranges
from freshview.program.expiry import forgetful
from freshview.program.terms import Program

ONE_PROCESS = "scheme: one joiner, as all the rows are in this process"


def joins(program: Program, *, ordered: bool, scheme: str = ONE_PROCESS) -> list[str]:
    """A line for each way in which changes of a relation find the rows of others, and why.

    `ordered` tells whether the engine has ordered indexes. Nothing where no view joins.
    """
    maps_by_search: dict[tuple[str, str, str], dict[str, None]] = {}
    maps = {m.name: m for m in program.maps}
    shown = {name for q in program.queries for name in stored(q.term)}

    def sources(name: str) -> Set[str]:
        e = maps[name].definition
        return frozenset(relations(e)).union(*(sources(n) for n in stored(e) if n in maps))

    for t in program.triggers:
        if t.event == "delete" or not t.relation:
            continue  # an insertion says the same
        for s in t.statements:
            if s.op != "+=" or s.target.name in stored(s.term):
                continue
            for way in _ways(s.term, frozenset(t.params), (), ordered):
                if way.view.name in shown and way.known == set(way.view.vars):
                    continue
                of = ", ".join(sorted(sources(way.view.name)))
                maps_by_search.setdefault((t.relation, of, way.words), {})[way.view.name] = None
    lines = [
        f"a change of {changed} finds rows of {of} in {', '.join(names)} by {words}"
        for (changed, of, words), names in maps_by_search.items()
    ]
    kept = sorted(forgetful(program))
    if kept and lines:
        lines.append(f"kept for a window only: {', '.join(kept)}")
    return [scheme, *lines] if lines else []


@dataclass(frozen=True)
class _Way:
    """A map that a statement reads, what is known of its keys, and how it is searched."""

    view: View
    known: Set[str]
    words: str


def _ways(e: Expr, bound: Set[str], sums: tuple[Sum, ...], ordered: bool) -> Iterator[_Way]:
    """Every map that a term reads, with the variables that are known there."""
    if isinstance(e, View) and e.vars:
        yield _Way(e, bound & set(e.vars), _index(e, bound, sums, ordered))
    if isinstance(e, Sum):
        sums = (*sums, e)
    if isinstance(e, Mul):
        bound = bound | {v for f in e.factors if isinstance(f, Delta) for v in f.vars}
    for part in children(e):
        yield from _ways(part, bound, sums, ordered)


def _index(view: View, bound: Set[str], sums: tuple[Sum, ...], ordered: bool) -> str:
    known = bound & set(view.vars)
    names = ", ".join(v for v in view.vars if v in known)
    if known == set(view.vars):
        return f"a hash index on {names}: one look-up"
    tests = [show(c) for c in _tests(view, sums)]
    asked = f", and {' and '.join(tests)} asked of each" if tests else ""
    for e in sums if ordered else ():
        for r in ranges(_without_rows(e), bound):
            if r.atom == view:
                by = f" for each {', '.join(r.groups)}" if r.groups else ""
                return f"an ordered index on {r.x}: a sum over one range{by}"
    if known:
        return f"a hash index on {names}: all the rows of a value are looked at{asked}"
    why = "no equality, and no sum over one range" if ordered else "no equality"
    return f"a nested loop: there is {why}; all the rows are looked at{asked}"


def _without_rows(e: Sum) -> Sum:
    """The sum over what is stored: the rows of the batch are known when it is computed."""
    return Sum(e.keys, mul(*(f for f in factors(e.body) if not isinstance(f, Delta))))


def _tests(view: View, sums: tuple[Sum, ...]) -> list[Cmp]:
    parts: list[Expr] = [f for e in sums for f in factors(e.body)]
    return [f for f in dict.fromkeys(parts) if isinstance(f, Cmp) and free(f) & set(view.vars)]
