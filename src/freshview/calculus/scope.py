"""Input and output variables, degree, and the relations of a term (DBToaster 2014, 3.3 and 4)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import assert_never

from freshview.calculus.builtin.table import REFUSING
from freshview.calculus.schema import Query
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

Names = frozenset[str]
NONE: Names = frozenset()


@lru_cache(maxsize=1 << 16)
def outs(e: Expr) -> Names:
    """The variables that a term binds: the schema of its result."""
    return _scope(e)[1]


@lru_cache(maxsize=1 << 16)
def ins(e: Expr) -> Names:
    """The variables that the context must bind before a term can be evaluated."""
    return _scope(e)[0]


@lru_cache(maxsize=1 << 16)
def free(e: Expr) -> Names:
    """All the variables that a term shares with its context."""
    i, o = _scope(e)
    return i | o


@lru_cache(maxsize=1 << 16)
def _scope(e: Expr) -> tuple[Names, Names]:
    match e:
        case Const():
            return NONE, NONE
        case Var(name):
            return frozenset((name,)), NONE
        case Apply(_, args):
            return frozenset().union(*(_scope(a)[0] for a in args)), NONE
        case Cmp(_, left, right):
            return _scope(left)[0] | _scope(right)[0], NONE
        case Rel(_, names) | Delta(_, names):
            return NONE, frozenset(names)
        case View(_, names, inputs):
            return frozenset(inputs), frozenset(names)
        case Mul(factors):
            needed: set[str] = set()
            bound: set[str] = set()
            for factor in factors:
                i, o = _scope(factor)
                needed |= i - bound
                bound |= o
            return frozenset(needed), frozenset(bound)
        case Add(terms):
            # A variable that only some of the terms bind must come from outside.
            scopes = [_scope(t) for t in terms]
            every = frozenset.intersection(*(o for _, o in scopes))
            some = frozenset().union(*(o for _, o in scopes))
            return frozenset().union(*(i for i, _ in scopes)) | (some - every), every
        case Sum(keys, body):
            i, o = _scope(body)
            return i, o & frozenset(keys)
        case Lift(var, body):
            i, o = _scope(body)
            return i | o, frozenset((var,))
        case Exists(body):
            return _scope(body)
        case Top(_, _, _, body):
            return _scope(body)
        case _:
            assert_never(e)


def within(keys: tuple[str, ...], body: Expr, bound: Names) -> Names:
    """What of a context is bound inside a Sum or a Top: its keys, and what its body asks for.

    All the other variables of the body are its own, whatever their names: a Top chooses among all
    their values, and a context that binds one of them is compared with the rows that it chose.
    """
    return bound & (ins(body) | frozenset(keys))


def is_value(e: Expr) -> bool:
    """Whether a term is a scalar: no relation, no binding, no grouping."""
    match e:
        case Const() | Var() | Apply() | Cmp():
            return True
        case Add(parts) | Mul(parts):
            return all(is_value(p) for p in parts)
        case _:
            return False


def base_relations(query: Query) -> Names:
    """The streams and tables that a query reads, also those behind the views that it reads."""
    read = NONE.union(*(relations(e) for e in query.terms))
    return read - {v.name for v in query.over}


@lru_cache(maxsize=1 << 16)
def relations(e: Expr) -> Names:
    """The names of the base relations that a term reads (not those of its update batches)."""
    match e:
        case Const() | Var() | Apply() | Cmp() | Delta() | View():
            return NONE
        case Rel(name, _):
            return frozenset((name,))
        case Add(parts) | Mul(parts):
            return frozenset().union(*(relations(p) for p in parts))
        case Sum(_, body) | Lift(_, body) | Exists(body) | Top(_, _, _, body):
            return relations(body)
        case _:
            assert_never(e)


@lru_cache(maxsize=1 << 16)
def stored(e: Expr) -> Names:
    """The names of the maps that a term reads."""
    match e:
        case Const() | Var() | Apply() | Cmp() | Delta() | Rel():
            return NONE
        case View(name, _, _):
            return frozenset((name,))
        case Add(parts) | Mul(parts):
            return frozenset().union(*(stored(p) for p in parts))
        case Sum(_, body) | Lift(_, body) | Exists(body) | Top(_, _, _, body):
            return stored(body)
        case _:
            assert_never(e)


@lru_cache(maxsize=1 << 16)
def reads_delta(e: Expr) -> bool:
    """Whether a term reads an update batch."""
    match e:
        case Const() | Var() | Apply() | Cmp() | View() | Rel():
            return False
        case Delta():
            return True
        case Add(parts) | Mul(parts):
            return any(reads_delta(p) for p in parts)
        case Sum(_, body) | Lift(_, body) | Exists(body) | Top(_, _, _, body):
            return reads_delta(body)
        case _:
            assert_never(e)


@lru_cache(maxsize=1 << 16)
def may_refuse(e: Expr) -> bool:
    """Whether a term casts values that may have no answer: it must not see rows in vain."""
    match e:
        case Const() | Var() | View() | Rel() | Delta():
            return False
        case Apply(fn, args):
            return fn in REFUSING or any(may_refuse(a) for a in args)
        case Cmp(_, left, right):
            return may_refuse(left) or may_refuse(right)
        case Add(parts) | Mul(parts):
            return any(may_refuse(p) for p in parts)
        case Sum(_, body) | Lift(_, body) | Exists(body) | Top(_, _, _, body):
            return may_refuse(body)
        case _:
            assert_never(e)


def tests_before(body: Expr, others: Iterable[Expr]) -> list[Expr]:
    """The tests beside a part that may refuse rows: it must not see those that fail them.

    They are made outside as well, where what they read may come from elsewhere.
    """
    if not may_refuse(body):
        return []
    return [f for f in others if isinstance(f, Cmp) and free(f) <= outs(body) and not may_refuse(f)]


def is_refusing(factor: Expr) -> bool:
    """Whether a factor computes a value, without data, that may have no answer."""
    body = factor.body if isinstance(factor, Lift) else factor
    return is_value(body) and may_refuse(body)


def has_data(e: Expr) -> bool:
    """Whether the value of a term depends on the database at all."""
    return bool(relations(e)) or bool(stored(e)) or reads_delta(e)


def degree(e: Expr) -> int:
    """How many relations are joined: the degree of the query as a polynomial (Theorem 1).

    >>> degree(Mul((Rel("R", ("x",)), Add((Rel("S", ("x",)), Const(1, None))))))
    2
    """
    match e:
        case Const() | Var() | Apply() | Cmp() | Delta() | View():
            return 0
        case Rel():
            return 1
        case Mul(factors):
            return sum(degree(f) for f in factors)
        case Add(terms):
            return max((degree(t) for t in terms), default=0)
        case Sum(_, body) | Lift(_, body) | Exists(body) | Top(_, _, _, body):
            return degree(body)
        case _:
            assert_never(e)
