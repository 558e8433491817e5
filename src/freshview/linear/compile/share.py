"""Common subexpressions of a trigger get names where that costs less, and only there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from freshview.linear.cost.operations import Sizes, chain, cost, dims
from freshview.linear.language.build import mul, transpose
from freshview.linear.language.meta import Meta, infer
from freshview.linear.language.show import Tree
from freshview.linear.language.terms import Expr, Inverse, Mul, Statement, Transpose, Var
from freshview.linear.language.walk import Names, free, map_children, subterms


def share(
    statements: Sequence[Statement], scope: dict[str, Meta], sizes: Sizes, names: Names
) -> tuple[Statement, ...]:
    """The statements with names for what they compute twice, as far as that saves operations."""
    shared = list(statements)
    while True:
        best = None
        for candidate in _candidates(shared, scope, sizes):
            saved, changed = _try(candidate, shared, scope, sizes)
            if saved > 0 and (best is None or saved > best[0]):
                best = (saved, candidate, changed)
        if best is None:
            return tuple(shared)
        _, term, changed = best
        name = names.next("t")
        scope[name] = infer(term, scope)
        first = min(changed)
        for i, new in changed.items():
            shared[i] = Statement(shared[i].name, _named(new, name))
        shared.insert(first, Statement(name, term))


_HOLE = Var("?")


def _named(e: Expr, name: str) -> Expr:
    return Var(name) if e == _HOLE else map_children(e, lambda c: _named(c, name))


def _try(
    term: Expr, statements: Sequence[Statement], scope: dict[str, Meta], sizes: Sizes
) -> tuple[float, dict[int, Expr]]:
    """What a name for a term would save, and the statements that would read it."""
    inner = {**scope, _HOLE.name: infer(term, scope)}
    changed: dict[int, Expr] = {}
    saved = -cost(term, scope, sizes).at(sizes)
    read = free(term)
    for i, s in enumerate(statements):
        if not read <= free(s.term):
            continue
        new = _put(s.term, term)
        if new != s.term:
            changed[i] = new
            old = cost(s.term, scope, sizes).at(sizes)
            saved += old - cost(new, inner, sizes).at(sizes)
    return saved, changed


def _put(e: Expr, term: Expr) -> Expr:
    """The term with a hole wherever another, or its transpose, occurs."""
    if e == term:
        return _HOLE
    turned = transpose(term)
    if e == turned:
        return Transpose(_HOLE)
    new = map_children(e, lambda c: _put(c, term))
    if isinstance(term, Mul) and isinstance(new, Mul) and isinstance(turned, Mul):
        for part, hole in ((term, _HOLE), (turned, Transpose(_HOLE))):
            new = _contract(new, part.factors, hole)
            if not isinstance(new, Mul):
                break
    return new


def _contract(e: Mul, part: tuple[Expr, ...], hole: Expr) -> Expr:
    factors = list(e.factors)
    i = 0
    while i + len(part) <= len(factors):
        if tuple(factors[i : i + len(part)]) == part:
            factors[i : i + len(part)] = [hole]
        i += 1
    return mul(*factors)


def _candidates(
    statements: Sequence[Statement], scope: dict[str, Meta], sizes: Sizes
) -> Iterator[Expr]:
    """Every operation that some statement computes, and no transposed twin of it."""
    seen: set[Expr] = set()
    again: set[Expr] = set()
    for s in statements:
        for t in subterms(s.term):
            parts: list[Expr] = []
            if isinstance(t, Mul):
                tree = chain(dims(t.factors, scope), sizes)[1]
                parts = [mul(*t.factors[i : j + 1]) for i, j in _groups(tree)]
            elif isinstance(t, Inverse):
                parts = [t]
            for p in parts:
                if p in seen or transpose(p) in seen:
                    if p not in again and transpose(p) not in again:
                        again.add(p)
                        yield p
                seen.add(p)
                yield from _inside(p, statements, again)


def _inside(p: Expr, statements: Sequence[Statement], again: set[Expr]) -> Iterator[Expr]:
    """A product that another statement contains without computing it in this order."""
    if not isinstance(p, Mul) or p in again or transpose(p) in again:
        return
    read = free(p)
    near = [s.term for s in statements if read <= free(s.term)]
    if sum(t == _HOLE for term in near for t in subterms(_put(term, p))) > 1:
        again.add(p)
        yield p


def _groups(tree: Tree) -> Iterator[tuple[int, int]]:
    """The first and last places of all the products inside a product."""
    if isinstance(tree, int):
        return
    yield _ends(tree)
    for side in tree:
        yield from _groups(side)


def _ends(tree: Tree) -> tuple[int, int]:
    if isinstance(tree, int):
        return tree, tree
    return _ends(tree[0])[0], _ends(tree[1])[1]
