"""Queries as functions of a kernel: all their rows, or those of a key."""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.check import infer
from freshview.calculus.schema import Query
from freshview.calculus.scope import is_value, stored
from freshview.calculus.terms import Add, Exists, Expr, Lift, Sum, Top, Var, View
from freshview.calculus.types import Type
from freshview.calculus.walk import children, subterms
from freshview.codegen.cpp.code import identifier
from freshview.codegen.cpp.types import digits_lost
from freshview.codegen.loops.effects import (
    Call,
    Output,
)
from freshview.codegen.loops.terms import (
    Block,
    Find,
    Function,
    Intern,
    Stmt,
)
from freshview.codegen.lower.access import is_symbol
from freshview.codegen.lower.context import ONE, Bound, Count, Local, Names
from freshview.codegen.lower.nested import materialize, release
from freshview.codegen.lower.term import Terms
from freshview.program.query_keys import key_columns


def lower_query(terms: Terms, q: Query) -> list[Function]:
    """The functions that read a query, and that find its rows by key if they can be found."""
    put_off = any(isinstance(e, View) and e.name in terms.layout.deferred for e in subterms(q.term))
    behind = (terms.layout.listings.get(name) for name in sorted(stored(q.term)))
    calls = [Call("refresh")] if put_off else []
    calls += dict.fromkeys(Call(listing_name(x.table)) for x in behind if x is not None)
    refresh: Block = tuple(calls)
    name = identifier(q.name)
    read = (*refresh, *_answer(replace(terms, names=Names()), q, {}))
    functions = [Function(f"read_{name}", "read", q.name, read)]
    key = lookup_columns(terms, q)
    if key:
        env = {q.vars[j]: Local(f"key.c{j}", q.columns[j].type) for j in key}
        find = (*refresh, *_answer(replace(terms, names=Names()), q, env))
        functions.append(Function(f"find_{name}", "find", q.name, find, key))
    return functions


def listing_name(table: str) -> str:
    """The function that has maps follow the changed records of a table."""
    return f"list_{identifier(table)}"


def lookup_columns(terms: Terms, q: Query) -> tuple[int, ...]:
    """The columns by which rows of a query are found: keys of the map that it begins with.

    A map may have a simpler type than the column has: of x - x, which is zero, whole numbers.
    """
    own = infer(q.term, terms.schema)[1]
    return tuple(j for j in key_columns(q) if _looks(q.columns[j].type) == _looks(own[q.vars[j]]))


def _answer(terms: Terms, q: Query, env: Bound) -> list[Stmt]:
    """Loops that put the rows of a query out, those with the given values if there are any."""

    def out(b: Bound, n: Count) -> list[Stmt]:
        return _out(terms, q, b, n)

    if is_unique(q.term):
        return terms.emit(q.term, env, ONE, out)
    names = sorted(set(q.vars) - env.keys())
    collect, rows = materialize(terms, q.term, names, env)
    return [collect, *release(terms, rows, names, env, out)]


def _out(terms: Terms, q: Query, env: Bound, m: Count) -> list[Stmt]:
    """A row of the answer: text as symbols, numbers with the digits of their columns."""
    values: list[Expr] = []
    interned: list[Stmt] = []
    shortened: list[tuple[str, Local, Type]] = []
    for v, c in zip(q.vars, q.columns, strict=True):
        x = env[v]
        value = x.value
        if x.type.kind == "string" and not is_symbol(value):
            name = terms.names.fresh("text" if x.type.kind == "string" else "number")
            interned.append(Intern(name, value))
            value = Var(name)
        elif digits_lost(x.type, c.type):  # it equals a number of the column
            name = terms.names.fresh("text" if x.type.kind == "string" else "number")
            shortened.append((name, x, c.type))
            value = Var(name)
        values.append(value)
    types = tuple(env[v].type for v in q.vars)
    body: list[Stmt] = [*interned, Output(q.name, tuple(values), types, m.weight)]
    for name, x, t in reversed(shortened):
        body = [Find(name, x.value, t, tuple(body))]
    return body


def _looks(t: Type) -> tuple[str, int]:
    """What tells how values of a type are held, whether or not there is NULL among them."""
    return t.kind, t.scale


def is_unique(e: Expr) -> bool:
    """Whether every valuation comes at most once: no union, nothing added up over.

    >>> from freshview.calculus.text import read
    >>> is_unique(read("Exists(M[a]) * (n := M[a])")), is_unique(read("Sum[a](M[a, b])"))
    (True, False)
    """
    if isinstance(e, Lift | Exists | Top) or is_value(e):
        return True
    return not isinstance(e, Add | Sum) and all(is_unique(c) for c in children(e))
