"""The meaning of terms: the simplest code that is obviously right, and slow.

A term denotes a map from valuations of its output variables to numbers, given a database and a
valuation of its input variables. `solve` lists that map in pieces: a valuation may come several
times, and its multiplicities add up. Everything else in Freshview is tested against this file.
"""

from __future__ import annotations

import decimal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from freshview.algebra import EXACT, Number
from freshview.calculus.check import check_bound
from freshview.calculus.compare import compare
from freshview.calculus.functions import BUILTINS, Functions, call
from freshview.calculus.rows import Row
from freshview.calculus.scope import ins, is_value, outs
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
from freshview.calculus.types import Value
from freshview.errors import UnknownName
from freshview.reference.top import first_rows
from freshview.reference.values import (
    multiply_values,
    nearest_double,
    plus,
    sum_values,
    times,
    weight,
)

Rows: TypeAlias = Mapping[Row, Number]
Env: TypeAlias = Mapping[str, Value]


@dataclass(frozen=True)
class Database:
    """What terms are evaluated over: rows of relations, of batches and of maps.

    A map with inputs (a view cache) has them in front of its keys, in one row.
    """

    relations: Mapping[str, Rows] = field(default_factory=dict)
    deltas: Mapping[str, Rows] = field(default_factory=dict)
    maps: Mapping[str, Rows] = field(default_factory=dict)


def evaluate(
    e: Expr,
    db: Database,
    env: Env | None = None,
    functions: Functions = BUILTINS,
    keys: tuple[str, ...] | None = None,
) -> dict[Row, Number]:
    """The rows of a term with their multiplicities, zeros left out.

    Rows are over `keys`; by default those are the output variables in the order of their names.

    >>> from freshview.calculus.text import read
    >>> db = Database({"R": {(1, 10): 2, (1, 20): 1, (2, 30): -1}})
    >>> evaluate(read("Sum[a](R(a, b) * b)"), db)
    {(1,): 40, (2,): -30}
    """
    env = env or {}
    check_bound(e, frozenset(env))
    names = tuple(sorted(outs(e))) if keys is None else keys
    with decimal.localcontext(EXACT):
        rows = _gather(e, db, env, functions, names)
    return {row: nearest_double(m) for row, m in rows.items()}


def solve(
    e: Expr, db: Database, env: Env, functions: Functions = BUILTINS
) -> Iterator[tuple[Env, Number]]:
    """Valuations that extend `env` by the term's output variables, with multiplicities."""
    match e:
        case Const() | Var() | Apply() | Cmp():
            yield env, weight(value(e, env, functions))
        case Rel(name, names):
            yield from _match(_named(db.relations, name, "relation"), names, env)
        case Delta(name, names):
            yield from _match(db.deltas.get(name, {}), names, env)
        case View(name, names, inputs):
            yield from _match(_named(db.maps, name, "map"), inputs + names, env)
        case Add(terms):
            for term in terms:
                yield from solve(term, db, env, functions)
        case Mul(factors):
            yield from _join(factors, db, env, functions)
        case Sum(keys, body):
            for inner, m in solve(body, db, _seen(env, keys, body), functions):
                yield {**{k: inner[k] for k in outs(e)}, **env}, m
        case Lift(var, body):
            x = (
                value(body, env, functions)
                if is_value(body)
                else nearest_double(_total(body, db, env, functions))
            )
            if var not in env:
                yield {**env, var: x}, 1
            elif compare("=", env[var], x):
                yield env, 1
        case Exists(body):
            names = tuple(sorted(outs(body)))
            for row in _gather(body, db, env, functions, names):
                yield {**dict(zip(names, row, strict=True)), **env}, 1
        case Top(keys, _, _, body):
            # Which rows come first must not depend on what the context already knows of them.
            names = tuple(sorted(outs(body)))
            rows = _gather(body, db, _seen(env, keys, body), functions, names)
            yield from _match(dict(first_rows(rows, names, e)), names, env)
        case _:
            assert_never(e)


def value(e: Expr, env: Env, functions: Functions = BUILTINS) -> Value:
    """The value of a scalar term: a number, a string, a date ... or NULL."""
    match e:
        case Const(constant, _):
            return constant
        case Var(name):
            return env[name]
        case Apply("coalesce", args):  # as engines do: no more arguments than it needs
            values = (value(a, env, functions) for a in args)
            return next((x for x in values if x is not None), None)
        case Apply("or" | "and" as fn, args):
            truths = (bool(value(a, env, functions)) for a in args)
            return any(truths) if fn == "or" else all(truths)
        case Apply(fn, args):
            return call(functions[fn], tuple(value(a, env, functions) for a in args))
        case Cmp(op, left, right):
            return int(compare(op, value(left, env, functions), value(right, env, functions)))
        case Add(parts):
            return sum_values(value(p, env, functions) for p in parts)
        case Mul(parts):
            return multiply_values(value(p, env, functions) for p in parts)
        case Rel() | Delta() | View() | Sum() | Lift() | Exists() | Top():
            raise TypeError("a relation has no value")
        case _:
            assert_never(e)


def _join(
    factors: tuple[Expr, ...], db: Database, env: Env, functions: Functions
) -> Iterator[tuple[Env, Number]]:
    if not factors:
        yield env, 1
        return
    for inner, m in solve(factors[0], db, env, functions):
        for valuation, n in _join(factors[1:], db, inner, functions):
            yield valuation, times(m, n)


def _named(stored: Mapping[str, Rows], name: str, what: str) -> Rows:
    if name not in stored:
        raise UnknownName(f"there is no {what} '{name}' in the database")
    return stored[name]


def _seen(env: Env, keys: tuple[str, ...], body: Expr) -> Env:
    """What a grouping lets through: the body's other variables are local, whatever their names."""
    return {v: x for v, x in env.items() if v in keys or v in ins(body)}


def _match(rows: Rows, names: tuple[str, ...], env: Env) -> Iterator[tuple[Env, Number]]:
    for row, m in rows.items():
        valuation = dict(env)
        if all(valuation.setdefault(v, x) == x for v, x in zip(names, row, strict=True)):
            yield valuation, m


def _gather(
    e: Expr, db: Database, env: Env, functions: Functions, names: tuple[str, ...]
) -> dict[Row, Number]:
    rows: dict[Row, Number] = {}
    for valuation, m in solve(e, db, env, functions):
        row = tuple(valuation[v] for v in names)
        rows[row] = plus(rows.get(row, 0), m)
    return {row: m for row, m in rows.items() if m}


def _total(e: Expr, db: Database, env: Env, functions: Functions) -> Number:
    total: Number = 0
    for _, m in solve(e, db, env, functions):
        total = plus(total, m)
    return total
