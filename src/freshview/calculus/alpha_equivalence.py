"""Equality of terms up to the names of variables and the order of factors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import assert_never

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
    Op,
    Rel,
    Sum,
    Top,
    Var,
    View,
)

MOST_STEPS = 20_000
"""Parts compared for one renaming: terms of many parts that look alike can be matched in as many
ways as these have orders. Past it they count as different, which costs a map and no more."""

FLIPPED: Mapping[Op, Op] = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


@lru_cache(maxsize=1 << 16)
def shape(e: Expr) -> str:
    """A text that two alike terms share: names left out, commuting parts sorted.

    >>> shape(Mul((Rel("R", ("x",)), Var("x")))) == shape(Mul((Var("y"), Rel("R", ("y",)))))
    True
    """
    match e:
        case Const(value, t):
            return f"{value!r}:{t}"
        case Var():
            return "v"
        case Apply(fn, args):  # its name tells its ring as well
            return f"{fn}({','.join(map(shape, args))})"
        case Cmp(op, left, right):
            one, other = (
                f"{shape(left)}{op}{shape(right)}",
                f"{shape(right)}{FLIPPED[op]}{shape(left)}",
            )
            return "{" + min(one, other) + "}"
        case Rel(name, names):
            return f"{name}({len(names)})"
        case Delta(name, names):
            return f"d{name}({len(names)})"
        case View(name, names, inputs):
            return f"{name}[{len(inputs)}][{len(names)}]"
        case Add(parts):
            return f"+({','.join(sorted(map(shape, parts)))})"
        case Mul(parts):
            return f"*({','.join(sorted(map(shape, parts)))})"
        case Sum(keys, body):
            return f"S{len(keys)}({shape(body)})"
        case Lift(_, body):
            return f":=({shape(body)})"
        case Exists(body):
            return f"E({shape(body)})"
        case Top(keys, order, limit, body):
            by = "".join("d" if o.descending else "a" for o in order)
            return f"T{len(keys)}{by}{limit}({shape(body)})"
        case _:
            assert_never(e)


class Renaming:
    """A one-to-one map of names, extended and taken back while terms are compared."""

    def __init__(self, names: dict[str, str], *, ordered: bool = False) -> None:
        self.there = dict(names)
        self.back = {v: k for k, v in names.items()}
        self.left = MOST_STEPS
        self.ordered = ordered

    def bind(self, a: str, b: str) -> bool | None:
        """True if newly bound, None if already so, False if it contradicts."""
        if a in self.there or b in self.back:
            return None if self.there.get(a) == b and self.back.get(b) == a else False
        self.there[a], self.back[b] = b, a
        return True

    def bind_all(self, a: tuple[str, ...], b: tuple[str, ...]) -> list[str] | None:
        """Bind name by name; the list of new bindings, or None (and nothing bound)."""
        if len(a) != len(b):
            return None
        new: list[str] = []
        for x, y in zip(a, b, strict=True):
            done = self.bind(x, y)
            if done is False:
                self.unbind(new)
                return None
            if done:
                new.append(x)
        return new

    def unbind(self, names: list[str]) -> None:
        """Take bindings back."""
        for name in names:
            del self.back[self.there.pop(name)]


def alike(
    a: Expr, b: Expr, fixed: frozenset[str] = frozenset(), *, ordered: bool = False
) -> Mapping[str, str] | None:
    """A renaming of the variables of `a` that makes it `b`, or None; `fixed` names stay.

    `ordered` keeps the factors of a product in their order, for a ring that does not commute.

    >>> from freshview.calculus.text import read
    >>> dict(alike(read("Sum[a](R(a, b) * b)"), read("Sum[x](y * R(x, y))")))
    {'a': 'x', 'b': 'y'}
    >>> alike(read("Sum[a](R(a, b) * b)"), read("Sum[x](y * R(x, y))"), ordered=True)
    """
    return _renaming(a, b, fixed, ordered) if shape(a) == shape(b) else None


@lru_cache(maxsize=1 << 14)  # plans that are compared ask alike
def _renaming(a: Expr, b: Expr, fixed: frozenset[str], ordered: bool) -> Mapping[str, str] | None:
    renaming = Renaming({name: name for name in fixed}, ordered=ordered)
    for _ in _match(a, b, renaming):
        return MappingProxyType(dict(renaming.there))
    return None


def _names(a: tuple[str, ...], b: tuple[str, ...], r: Renaming) -> Iterator[None]:
    new = r.bind_all(a, b)
    if new is not None:
        yield
        r.unbind(new)


def _match(a: Expr, b: Expr, r: Renaming) -> Iterator[None]:
    """Yield once for every way to match; the renaming holds while the caller looks at it."""
    r.left -= 1
    if r.left < 0:
        return
    match a, b:
        case Const(), Const():
            if a == b:
                yield
        case Var(x), Var(y):
            yield from _names((x,), (y,), r)
        case Apply(f, xs), Apply(g, ys) if f == g and len(xs) == len(ys):
            yield from _sequence(xs, ys, r)
        case Cmp(p, left, right), Cmp(q, first, second):
            if p == q:
                yield from _sequence((left, right), (first, second), r)
            if FLIPPED[p] == q:
                yield from _sequence((left, right), (second, first), r)
        case (Rel(n, xs), Rel(m, ys)) | (Delta(n, xs), Delta(m, ys)) if n == m:
            yield from _names(xs, ys, r)
        case View(n, xs, i), View(m, ys, j) if n == m:
            yield from _names(i + xs, j + ys, r)
        case Mul(xs), Mul(ys) if r.ordered and len(xs) == len(ys):
            yield from _sequence(xs, ys, r)
        case (Add(xs), Add(ys)) | (Mul(xs), Mul(ys)) if len(xs) == len(ys):
            yield from _commuting(xs, ys, r)
        case Sum(ks, x), Sum(ls, y):
            for _ in _match(x, y, r):
                if {r.there.get(k) for k in ks} == set(ls):
                    yield
        case Lift(v, x), Lift(w, y):
            for _ in _names((v,), (w,), r):
                yield from _match(x, y, r)
        case Exists(x), Exists(y):
            yield from _match(x, y, r)
        case Top(ks, o, n, x), Top(ls, p, m, y) if n == m and len(o) == len(p):
            flags = [(i.descending, i.nulls_first) for i in o]
            if flags != [(i.descending, i.nulls_first) for i in p]:
                return
            for _ in _names(tuple(i.var for i in o), tuple(i.var for i in p), r):
                for _ in _match(x, y, r):
                    if {r.there.get(k) for k in ks} == set(ls):
                        yield
        case _:
            return


def _sequence(xs: tuple[Expr, ...], ys: tuple[Expr, ...], r: Renaming) -> Iterator[None]:
    if not xs:
        yield
        return
    for _ in _match(xs[0], ys[0], r):
        yield from _sequence(xs[1:], ys[1:], r)


def _commuting(xs: tuple[Expr, ...], ys: tuple[Expr, ...], r: Renaming) -> Iterator[None]:
    """Match commuting parts in any order, the rarest shape first to cut the search."""
    if not xs:
        yield
        return
    wanted = [shape(y) for y in ys]
    first = min(range(len(xs)), key=lambda i: wanted.count(shape(xs[i])))
    for j, y in enumerate(ys):
        if wanted[j] == shape(xs[first]):
            for _ in _match(xs[first], y, r):
                yield from _commuting(xs[:first] + xs[first + 1 :], ys[:j] + ys[j + 1 :], r)
