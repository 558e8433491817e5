"""SQL queries as joins: which terms a view tree can keep, and what is put together when read.

A query's result reads nested aggregates: Exists(Q1) * (x := Q2) * {x > 3} ... Each of those, a
sum of products of relations and of functions of their columns, is one `Join`; what is around
them is done when the view is read. Anything else is refused, naming the node.
"""

from __future__ import annotations

from collections.abc import Callable

from freshview.calculus.build import add, addends, factors, is_number, mul, same_choice, sum_
from freshview.calculus.schema import Query
from freshview.calculus.scope import ins, is_refusing, is_value, outs, relations
from freshview.calculus.terms import Add, Exists, Expr, Lift, Mul, Rel, Sum, Top
from freshview.calculus.text import show
from freshview.calculus.walk import variables
from freshview.errors import FreshviewError
from freshview.factorized.terms import Join
from freshview.simplify.unnest import apart


class NotFactorized(FreshviewError):
    """A query that no view tree keeps; the message names the node."""


def refuse_derived(query: Query) -> None:
    """View trees are over relations; the rows of a view are no leaves of theirs."""
    if query.over:
        names = ", ".join(f"'{v.name}'" for v in query.over)
        raise NotFactorized(
            f"'{query.name}' reads the changes of {names}, and view trees are over relations only",
            instead="choose another strategy, or write the query over the streams",
        )


def readout(e: Expr, access: Callable[[Join], Expr]) -> Expr:
    """The query over the views of its joins; `access` makes a join's views and reads the root."""
    if not relations(e):
        return e
    _check_answers(e)
    match e:
        case Lift(var, body):
            return Lift(var, _piece(body, access))
        case Exists(body):
            return Exists(_piece(body, access))
        case Top(_, _, _, body):
            return same_choice(e, readout(body, access))
        case Mul(parts) if _is_readout(parts):
            return mul(*(readout(f, access) for f in parts))
        case Sum(keys, body) if _is_readout(factors(body)):
            return sum_(keys, readout(body, access))
        case Add(terms) if any(_is_readout(factors(t)) for t in terms):
            return add(*(readout(t, access) for t in terms))
        case _:
            return _piece(e, access)


def _check_answers(e: Expr) -> None:
    """What is computed when a view is read must have an answer: the change is long since in."""
    parts = factors(e.body if isinstance(e, Sum) else e)
    if any(relations(f) for f in parts) and _is_readout(parts):
        for f in parts:
            if is_refusing(f):
                raise refused(f, "a cast of an aggregate may refuse a change, not a reader")


def _is_readout(parts: tuple[Expr, ...]) -> bool:
    """Whether all that reads data in a product is nested."""
    return all(
        isinstance(f, Lift | Exists | Top) or (isinstance(f, Sum) and _is_readout(factors(f.body)))
        for f in parts
        if relations(f)
    )


def _piece(e: Expr, access: Callable[[Join], Expr]) -> Expr:
    """A sum of aggregates, one join each, with their coefficients and what needs no data."""
    terms: list[Expr] = []
    for term in addends(e):
        if not relations(term):
            terms.append(term)
            continue
        outside, join = as_join(term)
        terms.append(mul(*outside, access(join)))
    return add(*terms)


def as_join(e: Expr) -> tuple[list[Expr], Join]:
    """A term as a join, and what multiplies it from outside.

    >>> from freshview.calculus.text import read
    >>> outside, join = as_join(read("Sum[a](2 * R(a, b) * S(b, c) * {c > 0})"))
    >>> [show(f) for f in (*outside, *join.atoms, *join.factors)], join.keys
    (['2', 'R(a, b)', 'S(b, c)', '{c > 0}'], ('a',))
    """
    listed = e.keys if isinstance(e, Sum) else sorted(outs(e))
    keys = tuple(k for k in listed if k in outs(e))
    parts = _flat(factors(e.body if isinstance(e, Sum) else e), set(keys))
    atoms: list[Rel] = []
    inside: list[Expr] = []
    outside: list[Expr] = []
    for f in parts:
        match f:
            case Rel():
                atoms.append(f)
            case Lift(_, body) if is_value(body):
                inside.append(f)
            case _ if is_number(f):
                outside.append(f)
            case _ if is_value(f):
                (inside if ins(f) else outside).append(f)
            case _:
                raise refused(f, "a view tree joins relations and functions of their columns")
    for name in sorted(ins(e)):
        raise refused(e, f"it reads '{name}' from the query around it")
    return outside, Join(keys, tuple(atoms), tuple(inside))


def _flat(parts: tuple[Expr, ...], used: set[str]) -> list[Expr]:
    """Sums that stand as factors are opened: a product of sums is a sum of products."""
    used_names = used.union(*(variables(f) for f in parts))
    flat: list[Expr] = []
    for f in parts:
        if isinstance(f, Sum) and not isinstance(f.body, Add):
            opened = apart(f, used_names)
            used_names |= variables(opened)
            flat.extend(_flat(factors(opened.body), used_names))
        else:
            flat.append(f)
    return flat


def refused(node: Expr, why: str) -> NotFactorized:
    """The error about a node, in one sentence."""
    text = show(node)
    short = text if len(text) <= 100 else text[:97] + "..."
    return NotFactorized(
        f"the factorized strategy does not keep {short}: {why}",
        instead="use the strategy 'higher-order' or 'auto'",
    )
