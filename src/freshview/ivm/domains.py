"""Domain extraction: which valuations a change can touch at all (Nikolic 2016, Fig. 3.5).

A domain binds variables with multiplicity 1; put before new-minus-old it bounds the work to what
changed. Two corrections of the printed algorithm: a Sum projects whenever the domain binds more
than the group-by variables, and values and comparisons are not domains of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from freshview.calculus.build import add, mul, sum_
from freshview.calculus.scope import free, has_data, ins, outs, reads_delta, relations, tests_before
from freshview.calculus.terms import (
    Add,
    Apply,
    Cmp,
    Const,
    Delta,
    Exists,
    Expr,
    Lift,
    Mul,
    Rel,
    Sum,
    Top,
    Var,
    View,
)
from freshview.calculus.walk import bottom_up, rename, variables
from freshview.simplify.push_sums import components

Parts = tuple[Expr, ...]


def extract_domain(
    e: Expr,
    keys: frozenset[str] | None = None,
    known: frozenset[str] = frozenset(),
    small: frozenset[str] = frozenset(),
) -> Parts:
    """Factors of multiplicity 1 that hold wherever `e` is not zero; none if nothing bounds it.

    A domain leads its product, so it reads nothing but the trigger's variables (`known`). Where
    the change itself binds nothing of the result, the relations that it is joined with may lead
    there: a change of S(s) reaches the p of R(p, s) * S(s). Relations of low cardinality (`small`)
    bound a change wherever they are joined with it.

    >>> from freshview.calculus.text import read, show
    >>> [show(p) for p in extract_domain(read("Sum[a]((DELTA R)(a, b) * {b > 3})"))]
    ['Exists(Sum[a](Exists((DELTA R)(a, b_d)) * {b_d > 3}))']
    >>> e = read("(a := x) * S(a, b) + (a := x) * b")
    >>> [show(p) for p in extract_domain(e, known=frozenset("x"))]
    ['(a := x)']
    >>> [show(p) for p in extract_domain(read("(DELTA R)(a) * S(a)"), small=frozenset("S"))]
    ['Exists((DELTA R)(a))', 'Exists(S(a))']
    """
    thin = _with_inner_sums(e)
    for through in (False, True):
        extraction = _Extraction(known, through, small)
        parts = extraction.domain(thin)
        if keys is not None:
            parts = extraction.project(parts, keys)
        if outs(mul(*parts)) & (outs(e) if keys is None else keys):
            break
    return tuple(_with_own_variables(p) for p in parts)


def common_domain(domains: tuple[Parts, ...], known: frozenset[str] = frozenset()) -> Parts:
    """A domain that holds where any of them does; none if nothing bounds it.

    >>> from freshview.calculus.text import read, show
    >>> domains = ((read("(a := x)"),), (read("(a := y)"),))
    >>> [show(p) for p in common_domain(domains, frozenset("xy"))]
    ['Exists((a := x) + (a := y))']
    """
    return _Extraction(known, through=False).union(list(domains))


def _with_inner_sums(e: Expr) -> Expr:
    """Sum[a](dR(a, b, c) * f(b)) => Sum[a](Sum[a, b](dR(a, b, c)) * f(b)), in every Sum.

    Changes that cancel out in all the columns that are asked for touch nothing, and a domain of
    few columns costs less; so does one over the relations that a change is joined with.
    """

    def rule(t: Expr) -> Expr | None:
        if not isinstance(t, Sum) or not isinstance(t.body, Mul):
            return None
        factors = t.body.factors
        new = []
        for i, f in enumerate(factors):
            if isinstance(f, Delta | Rel):
                others = (variables(g) for j, g in enumerate(factors) if j != i)
                asked = frozenset(t.keys).union(*others)
                kept = tuple(v for v in f.vars if v in asked)
                f = Sum(kept, f) if kept and len(kept) < len(f.vars) else f
            new.append(f)
        return None if tuple(new) == factors else Sum(t.keys, mul(*new))

    return bottom_up(e, rule)


def _with_own_variables(e: Expr) -> Expr:
    """Rename the local variables of a domain, which stands beside the term it came from."""
    local = variables(e) - free(e)
    return rename(e, {v: f"{v}_d" for v in sorted(local)})


@dataclass(frozen=True)
class _Extraction:
    """One pass: `through` also takes relations that a change is joined with, not only small ones.

    New-minus-old says most things twice, at every level of nesting: the domain of a part is
    computed once.
    """

    known: frozenset[str]
    through: bool
    small: frozenset[str] = frozenset()
    memo: dict[Expr, Parts] = field(default_factory=dict)

    def domain(self, e: Expr) -> Parts:
        """What bounds a term."""
        if e not in self.memo:
            self.memo[e] = self._domain(e)
        return self.memo[e]

    def _domain(self, e: Expr) -> Parts:
        match e:
            case Const() | Var() | Apply() | View():
                return ()
            case Cmp():
                return (e,)
            case Rel(name, _) | Sum(_, Rel(name, _)) if outs(e):
                return (Exists(e),) if self.through or name in self.small else ()
            case Rel():
                return ()
            case Delta():
                return (Exists(e),)
            case Mul(factors):
                return self.grounded(tuple(p for f in factors for p in self.domain(f)))
            case Add(terms):
                return self.union([self.grounded(self.domain(t)) for t in terms])
            case Sum(keys, Delta()) if keys:
                return (Exists(e),)
            case Sum(keys, body):
                return self.project(self.domain(body), frozenset(keys))
            case Lift(_, body):  # it holds where its body has no row, too
                return () if has_data(body) else (e,)
            case Exists(body):
                return self.domain(body)
            case Top(keys, _, _, body):
                return self.project(self.domain(body), frozenset(keys))
            case _:
                assert_never(e)

    def grounded(self, parts: Parts) -> Parts:
        """Drop what reads a variable that neither the domain nor the trigger binds."""
        waiting = list(dict.fromkeys(parts))
        bound: frozenset[str] = frozenset()
        kept: list[Expr] = []
        while ready := [p for p in waiting if ins(p) <= bound | self.known]:
            waiting = [p for p in waiting if not ins(p) <= bound | self.known]
            bound = bound.union(*(outs(p) for p in ready))
            kept.extend(ready)
        return tuple(p for p in kept if free(p) & bound)

    def project(self, parts: Parts, keys: frozenset[str]) -> Parts:
        """What a domain says about the keys: connected parts are projected together."""
        parts = self.grounded(parts)
        linking = frozenset().union(*(outs(p) for p in parts)) - keys
        kept: list[Expr] = []
        for group in components(parts, linking):
            others = (p for p in parts if p not in group)
            body = mul(*group, *tests_before(mul(*group), others))
            seen = outs(body) & keys
            if not self._is_bounded(group) or (not seen and not free(body) <= keys):
                continue
            whole = outs(body) <= keys
            kept.extend(group if whole else (Exists(sum_(tuple(sorted(seen)), body)),))
        return self.grounded(tuple(kept))

    def _is_bounded(self, group: Parts) -> bool:
        """Whether a change takes part: large relations say nothing about where it goes."""
        read = frozenset().union(*(relations(p) for p in group))
        if not self.through or (read and read <= self.small):
            return True
        return any(reads_delta(p) or free(p) & self.known for p in group)

    def union(self, domains: list[Parts]) -> Parts:
        """What all addends share; where they share nothing, the union of what they say."""
        shared = tuple(p for p in domains[0] if all(p in d for d in domains[1:]))
        shared = self.grounded(shared)
        if shared and self._is_bounded(shared):
            return shared
        seen = frozenset.intersection(*(outs(mul(*d)) for d in domains))
        if not seen:
            return ()
        rows = [sum_(tuple(sorted(seen)), mul(*self.project(d, seen))) for d in domains]
        return (Exists(add(*rows)),) if all(outs(r) == seen for r in rows) else ()
