"""Joins that become relations of their own, since the query would write them out too often.

An outer join says of each row on its left that it has partners, or none: k outer joins over one
another are 2^k products, each with its deltas. So where a fourth one comes, what stands on its left
is a part of the query: a derived relation, read by its changes
(docs/decisions/0020-views-by-their-changes.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod

from freshview.calculus.alpha_equivalence import alike
from freshview.calculus.build import sum_
from freshview.calculus.schema import Column, Query
from freshview.calculus.scope import ins
from freshview.calculus.terms import Add, Expr, Lift, Mul, Rel, Sum, Top, Var
from freshview.calculus.types import Type
from freshview.calculus.walk import Names, bottom_up, distinct_subterms

MOST_PRODUCTS = 8
"""Products that one query writes out for its outer joins: those of three LEFT JOINs."""


def products(e: Expr) -> int:
    """Of how many products a term is the sum, written out.

    >>> from freshview.calculus.text import read
    >>> products(read("R(a) * (S(a) + T(a)) * (U(a) + V(a) + W(a)) * (x := S(a) + T(a))"))
    6
    """
    match e:
        case Add(terms):
            return sum(map(products, terms))
        case Mul(parts):
            return prod(map(products, parts))
        case Sum(_, body):
            return products(body)
        case _:
            return 1


@dataclass
class Parts:
    """The parts of one query; each stands behind those that it reads."""

    title: str
    names: Names
    queries: list[Query] = field(default_factory=list)

    def atom(self, term: Expr, types: dict[str, Type]) -> Expr:
        """A term as the rows of a part, with its variables; a term that reads others stays."""
        vars = tuple(types)
        if ins(term):
            return term
        for q in self.queries:
            renaming = alike(term, q.term) if len(q.vars) == len(vars) else None
            if renaming is not None and {renaming.get(v, v) for v in vars} == {*q.vars}:
                there = {renaming.get(v, v): v for v in vars}
                return Rel(q.name, tuple(there[v] for v in q.vars))
        columns = tuple(Column(v, t) for v, t in types.items())
        q = Query(self.names.fresh(f"{self.title}.joins"), columns, vars, sum_(vars, term))
        self.queries.append(q)
        return Rel(q.name, vars)

    def pruned(self, query: Query) -> tuple[Query, tuple[Query, ...]]:
        """The query and its parts, without columns of parts that nobody asks for."""
        done: list[Query] = []
        whole = query
        parts = list(self.queries)
        while parts:
            q = parts.pop()  # those that read it are behind it, and done
            kept = _asked(q, [whole, *done, *parts])
            if len(kept) < len(q.vars):
                whole, q, *rest = (_without(x, q, kept) for x in (whole, q, *done, *parts))
                done, parts = rest[: len(done)], rest[len(done) :]
            done.append(q)
        return whole, tuple(reversed(done))


def _asked(part: Query, readers: list[Query]) -> list[int]:
    """The columns of a part that some reader does more with than to have them."""
    asked: set[int] = set()
    for q in readers:
        atoms = [e for e in distinct_subterms(q.term) if isinstance(e, Rel) and e.name == part.name]
        used = _used(q, part.name)
        met = [v for a in atoms for v in a.vars]
        for a in atoms:
            asked |= {i for i, v in enumerate(a.vars) if v in used or met.count(v) > 1}
    return sorted(asked) or [0]


def _used(q: Query, part: str) -> frozenset[str]:
    """The variables that a query shows or that anything reads but sums, which only pass them on."""
    used = {*q.vars, *(o.var for o in q.order)}
    for e in distinct_subterms(q.term):
        match e:
            case Rel(name, names) if name != part:
                used |= {*names}
            case Var(var) | Lift(var, _):
                used.add(var)
            case Top(keys, order, _, _):
                used |= {*keys, *(o.var for o in order)}
            case _:
                pass
    return frozenset(used)


def _without(q: Query, part: Query, kept: list[int]) -> Query:
    """A query whose atoms of a part have the kept columns alone; for the part, itself with them."""
    if q.name == part.name:
        vars = tuple(q.vars[i] for i in kept)
        columns = tuple(q.columns[i] for i in kept)
        return replace(q, columns=columns, vars=vars, term=sum_(vars, q.term))
    gone = {
        v
        for e in distinct_subterms(q.term)
        if isinstance(e, Rel) and e.name == part.name
        for i, v in enumerate(e.vars)
        if i not in kept
    }

    def rule(e: Expr) -> Expr | None:
        if isinstance(e, Rel) and e.name == part.name:
            return Rel(e.name, tuple(e.vars[i] for i in kept))
        if isinstance(e, Sum) and gone & {*e.keys}:
            return sum_(tuple(k for k in e.keys if k not in gone), e.body)
        return None

    return replace(q, term=bottom_up(q.term, rule))
