"""One walker for all passes: children, rebuilding, renaming, substitution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import assert_never

from freshview.calculus.build import add, exists, mul, same_choice, sum_, top
from freshview.calculus.scope import free, ins, outs
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
    Order,
    Rel,
    Sum,
    Top,
    Var,
    View,
)
from freshview.errors import TooDeep


class Names:
    """A supply of fresh variable names; deterministic, one per compilation.

    >>> names = Names({"x"})
    >>> names.fresh("x"), names.fresh("y"), names.fresh("x_1")
    ('x_1', 'y', 'x_2')
    """

    def __init__(self, used: set[str] | None = None, most: int | None = None) -> None:
        self.used: set[str] = set(used or ())
        self.most = most
        self._next: dict[str, int] = {}

    def fresh(self, hint: str) -> str:
        """A name like `hint` that was not given out before."""
        if self.most is not None and len(self.used) >= self.most:
            raise TooDeep(
                f"the query needs more than {self.most:,} variables",
                instead="nest fewer conditions and subqueries inside one another",
            )
        if hint not in self.used:
            self.used.add(hint)
            return hint
        stem, _, tail = hint.rpartition("_")
        stem = stem if stem and tail.isdigit() else hint
        n = self._next.get(stem, 1)
        while f"{stem}_{n}" in self.used:
            n += 1
        self._next[stem] = n + 1
        self.used.add(f"{stem}_{n}")
        return f"{stem}_{n}"


LEAVES = frozenset((Const, Var, Rel, Delta, View))
"""Terms without subterms: most of a term are these, so walkers ask for them first."""


def children(e: Expr) -> tuple[Expr, ...]:
    """The direct subterms, left to right."""
    if type(e) in LEAVES:
        return ()
    match e:
        case Mul(parts) | Add(parts):
            return parts
        case Sum(_, body) | Lift(_, body) | Exists(body) | Top(_, _, _, body):
            return (body,)
        case Cmp(_, left, right):
            return (left, right)
        case Apply(_, args):
            return args
        case Const() | Var() | Rel() | Delta() | View():
            return ()
        case _:
            assert_never(e)


def rebuild(e: Expr, parts: tuple[Expr, ...]) -> Expr:
    """The same node over other subterms, through the constructors."""
    match e:
        case Const() | Var() | Rel() | Delta() | View():
            return e
        case Apply():
            return Apply(e.fn, parts, e.ring)
        case Cmp():
            return Cmp(e.op, *parts)
        case Add():
            return add(*parts)
        case Mul():
            return mul(*parts)
        case Sum(keys, body):
            return sum_(keys + turned_visible(body, parts[0]), parts[0])
        case Lift():
            return Lift(e.var, parts[0])
        case Exists():
            return exists(parts[0])
        case Top(_, _, _, body):
            return same_choice(e, parts[0], turned_visible(body, parts[0]))
        case _:
            assert_never(e)


def turned_visible(old: Expr, new: Expr) -> tuple[str, ...]:
    """The variables that a term needed from outside and now binds itself: they stay visible.

    Unification does this: Sum[](S(b) * {b = y}) becomes Sum[y](S(y)).
    """
    newly_bound = (outs(new) - outs(old)) & ins(old)
    no_longer_read = (ins(old) - ins(new)) & outs(new)
    return tuple(sorted(newly_bound | no_longer_read))


def map_children(e: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """Apply `f` to the direct subterms; the very same term if nothing changes."""
    if type(e) in LEAVES:
        return e
    old = children(e)
    new = tuple([f(c) for c in old])
    return e if new == old else rebuild(e, new)


def bottom_up(e: Expr, rule: Callable[[Expr], Expr | None]) -> Expr:
    """Apply a rule at every node, children first; a rule answers or declines (None)."""
    known: dict[Expr, Expr] = {}

    def go(t: Expr) -> Expr:
        new = known.get(t)
        if new is None:
            new = map_children(t, go)
            answer = rule(new)
            new = new if answer is None else answer
            known[t] = new
        return new

    return go(e)


def subterms(e: Expr) -> Iterator[Expr]:
    """The term and all the terms inside it, as often as they stand there."""
    pending = [e]
    while pending:
        here = pending.pop()
        yield here
        pending.extend(reversed(children(here)))


def distinct_subterms(e: Expr) -> Iterator[Expr]:
    """The term and all the terms inside it, each of them once."""
    seen: set[Expr] = set()
    pending = [e]
    while pending:
        here = pending.pop()
        if here not in seen:
            seen.add(here)
            yield here
            pending.extend(reversed(children(here)))


@lru_cache(maxsize=1 << 14)  # plans that are compared have the same definitions
def atoms(e: Expr) -> tuple[Rel, ...]:
    """The base relations of a term with their variables, each once."""
    return tuple(x for x in distinct_subterms(e) if isinstance(x, Rel))


@lru_cache(maxsize=1 << 16)
def size(e: Expr) -> int:
    """How many nodes a term has when it is written out: parts that stand twice count twice."""
    return 1 + sum(size(c) for c in children(e))


@lru_cache(maxsize=1 << 16)
def variables(e: Expr) -> frozenset[str]:
    """Every variable that occurs, local or not."""
    inside = frozenset().union(*(variables(c) for c in children(e)))
    match e:
        case Var(name):
            return frozenset((name,))
        case Rel(_, names) | Delta(_, names):
            return frozenset(names)
        case View(_, names, inputs):
            return frozenset(names + inputs)
        case Lift(var, _):
            return inside | {var}
        case _:
            return inside


@lru_cache(maxsize=1 << 16)
def tops(e: Expr) -> tuple[Top, ...]:
    """The Tops inside a term: what they choose among must not be bound from outside."""
    inside = tuple(dict.fromkeys(t for c in children(e) for t in tops(c)))
    return (e, *inside) if isinstance(e, Top) else inside


def rename(e: Expr, names: Mapping[str, str]) -> Expr:
    """Rename variables everywhere, keys and binders included."""
    return e if variables(e).isdisjoint(names) else _Renaming(names).of(e)


class _Renaming:
    """One renaming: parts that stand several times in a term are renamed once."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names
        self.known: dict[Expr, Expr] = {}

    def of(self, e: Expr) -> Expr:
        if variables(e).isdisjoint(self.names):
            return e
        new = self.known.get(e)
        if new is None:
            new = self.known[e] = self._new(e)
        return new

    def _name(self, name: str) -> str:
        return self.names.get(name, name)

    def _all(self, group: tuple[str, ...]) -> tuple[str, ...]:
        return tuple([self.names.get(n, n) for n in group])

    def _new(self, e: Expr) -> Expr:
        match e:
            case Const():
                return e
            case Var(name):
                return Var(self._name(name))
            case Rel(name, vars_):
                return Rel(name, self._all(vars_))
            case Delta(name, vars_):
                return Delta(name, self._all(vars_))
            case View(name, vars_, inputs):
                return View(name, self._all(vars_), self._all(inputs))
            case Sum(keys, body):
                return sum_(self._all(keys), self.of(body))
            case Lift(var, body):
                return Lift(self._name(var), self.of(body))
            case Top(keys, order, limit, body):
                by = tuple(Order(self._name(o.var), o.descending, o.nulls_first) for o in order)
                return top(self._all(keys), by, limit, self.of(body))
            case Apply() | Cmp() | Add() | Mul() | Exists():
                return map_children(e, self.of)
            case _:
                assert_never(e)


def substitute(e: Expr, var: str, value: Expr) -> Expr:
    """Replace the value of a variable by a scalar term; binders and atoms keep the name."""
    known: dict[Expr, Expr] = {}

    def go(t: Expr) -> Expr:
        if var not in variables(t):
            return t
        if isinstance(t, Var):
            return value
        new = known.get(t)
        if new is None:
            new = known[t] = map_children(t, go)
        return new

    return go(e)


def freshen(e: Expr, names: Names, keep: frozenset[str] | None = None) -> Expr:
    """Rename all local variables apart, so that a second copy of a term can stand beside it."""
    kept = free(e) if keep is None else keep
    local = sorted(variables(e) - kept)
    return rename(e, {v: names.fresh(v) for v in local})
