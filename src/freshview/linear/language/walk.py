"""One walker for all passes: children, rebuilding, substitution, names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import assert_never

from freshview.linear.language.build import CONSTRUCTORS, scale
from freshview.linear.language.terms import (
    Add,
    Binder,
    Expr,
    Filled,
    Identity,
    Iterate,
    Let,
    Mul,
    Scale,
    Stack,
    Unary,
    Until,
    Var,
)


def children(e: Expr) -> tuple[Expr, ...]:
    """The direct subterms, left to right."""
    match e:
        case Var() | Filled() | Identity():
            return ()
        case Scale(_, body) | Unary(body):
            return (body,)
        case Add(parts) | Mul(parts) | Stack(parts):
            return parts
        case Let(_, value, body):
            return (value, body)
        case Iterate(_, start, _, body) | Until(_, start, _, body):
            return (start, body)
        case _:
            assert_never(e)


def rebuild(e: Expr, parts: tuple[Expr, ...]) -> Expr:
    """The same node over other subterms, through the constructors."""
    match e:
        case Var() | Filled() | Identity():
            return e
        case Scale(by, _):
            return scale(by, parts[0])
        case Add() | Mul() | Unary() | Stack():
            return CONSTRUCTORS[type(e)](*parts)
        case Let():
            return replace(e, value=parts[0], body=parts[1])
        case Iterate() | Until():
            return replace(e, start=parts[0], body=parts[1])
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
        case Binder(name=name):
            outside, inside = children(e)
            return free(outside) | (free(inside) - {name})
        case _:
            return frozenset().union(*(free(c) for c in children(e)))


def substitute(e: Expr, by: Mapping[str, Expr]) -> Expr:
    """Put terms for names; what is bound inside the term stays."""
    match e:
        case Var(name):
            return by.get(name, e)
        case Binder(name=name):
            outside, inside = children(e)
            inner = {n: t for n, t in by.items() if n != name}
            return rebuild(e, (substitute(outside, by), substitute(inside, inner)))
        case _:
            return map_children(e, lambda c: substitute(c, by))


def binders(e: Expr) -> set[str]:
    """The names that are bound somewhere inside a term."""
    return {t.name for t in subterms(e) if isinstance(t, Binder)}


class Names:
    """A supply of fresh names; deterministic, one a compilation.

    >>> names = Names({"x0"})
    >>> names.next("x"), names.next("x"), names.fresh("A"), names.fresh("A")
    ('x1', 'x2', 'A', 'A_1')
    """

    def __init__(self, used: set[str]) -> None:
        self.used = set(used)

    def fresh(self, hint: str) -> str:
        """The hint itself, or the hint with a number."""
        name, n = hint, 0
        while name in self.used:
            n += 1
            name = f"{hint}_{n}"
        self.used.add(name)
        return name

    def next(self, stem: str) -> str:
        """The stem with the least number that is free."""
        n = 0
        while f"{stem}{n}" in self.used:
            n += 1
        return self.fresh(f"{stem}{n}")
