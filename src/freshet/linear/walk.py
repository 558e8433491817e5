"""One walker for all passes: children, rebuilding, substitution, names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import assert_never

from freshet.linear.build import above, add, beside, inverse, mul, scale, transpose
from freshet.linear.terms import (
    Above,
    Add,
    Beside,
    Expr,
    Identity,
    Inverse,
    Iterate,
    Let,
    Mul,
    Ones,
    Scale,
    Transpose,
    Var,
    Zero,
)


def children(e: Expr) -> tuple[Expr, ...]:
    """The direct subterms, left to right."""
    match e:
        case Var() | Zero() | Ones() | Identity():
            return ()
        case Scale(_, body) | Transpose(body) | Inverse(body):
            return (body,)
        case Add(parts) | Mul(parts) | Beside(parts) | Above(parts):
            return parts
        case Let(_, value, body):
            return (value, body)
        case Iterate(_, start, _, body):
            return (start, body)
        case _:
            assert_never(e)


def rebuild(e: Expr, parts: tuple[Expr, ...]) -> Expr:
    """The same node over other subterms, through the constructors."""
    match e:
        case Var() | Zero() | Ones() | Identity():
            return e
        case Scale(by, _):
            return scale(by, parts[0])
        case Transpose():
            return transpose(parts[0])
        case Inverse():
            return inverse(parts[0])
        case Add():
            return add(*parts)
        case Mul():
            return mul(*parts)
        case Beside():
            return beside(*parts)
        case Above():
            return above(*parts)
        case Let(name, _, _):
            return Let(name, parts[0], parts[1])
        case Iterate(count, _, name, _):
            return Iterate(count, parts[0], name, parts[1])
        case _:
            assert_never(e)


def map_children(e: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """Apply `f` to the direct subterms; the very same term if nothing changes."""
    old = children(e)
    new = tuple(f(c) for c in old)
    return e if all(a is b for a, b in zip(old, new, strict=True)) else rebuild(e, new)


def subterms(e: Expr) -> Iterator[Expr]:
    """The term and all the terms inside it."""
    yield e
    for c in children(e):
        yield from subterms(c)


@lru_cache(maxsize=1 << 14)
def free(e: Expr) -> frozenset[str]:
    """The names that a term reads from outside."""
    match e:
        case Var(name):
            return frozenset((name,))
        case Let(name, value, body) | Iterate(_, value, name, body):
            return free(value) | (free(body) - {name})
        case _:
            return frozenset().union(*(free(c) for c in children(e)))


def substitute(e: Expr, by: Mapping[str, Expr]) -> Expr:
    """Put terms for names; what is bound inside the term stays."""
    match e:
        case Var(name):
            return by.get(name, e)
        case Let(name, value, body):
            inner = {n: t for n, t in by.items() if n != name}
            return Let(name, substitute(value, by), substitute(body, inner))
        case Iterate(count, start, name, body):
            inner = {n: t for n, t in by.items() if n != name}
            return Iterate(count, substitute(start, by), name, substitute(body, inner))
        case _:
            return map_children(e, lambda c: substitute(c, by))


class Names:
    """A supply of fresh names; deterministic, one a compilation.

    >>> names = Names({"x0"})
    >>> names.next("x"), names.next("x"), names.fresh("A"), names.fresh("A")
    ('x1', 'x2', 'A', 'A_1')
    """

    def __init__(self, taken: set[str]) -> None:
        self.taken = set(taken)

    def fresh(self, hint: str) -> str:
        """The hint itself, or the hint with a number."""
        name, n = hint, 0
        while name in self.taken:
            n += 1
            name = f"{hint}_{n}"
        self.taken.add(name)
        return name

    def next(self, stem: str) -> str:
        """The stem with the least number that is free."""
        n = 0
        while f"{stem}{n}" in self.taken:
            n += 1
        return self.fresh(f"{stem}{n}")
