"""Views that queries read as relations: what is known of each while a program is compiled.

A view over a view is most often compiled with the definition in place of the name. Where that is
too large, the view is a relation of its own, a derived one. Its delta is a map: every trigger that
changes the view writes this map first, and what reads the view takes it as the batch of a stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from freshview.calculus.build import ZERO, mul, sum_
from freshview.calculus.schema import Query
from freshview.calculus.terms import Cmp, Delta, Exists, Expr, Lift, Mul, Rel, Sum, Var, View
from freshview.calculus.walk import Names, bottom_up, rename, variables
from freshview.simplify import simplify


@dataclass
class DerivedView:
    """A view that is read as a relation: its rows are those of `query.term` over `query.vars`."""

    query: Query
    streams: frozenset[str]
    """The streams behind it, also through other derived views."""
    changing: set[str] = field(default_factory=set)
    """The streams whose batches write the map of its change."""
    recomputed: dict[str, str] = field(default_factory=dict)
    """The streams with which its change is not known, and why: what reads it is recomputed."""
    change: View | None = None
    """The map of its change, over its variables."""
    rows: View | None = None
    """The map of its rows, over its variables, where there are rows before the first change."""
    start: Expr = ZERO
    """The rows before the first change: those that follow from static tables."""


def derived_queries(queries: Iterable[Query]) -> tuple[Query, ...]:
    """The views that queries read as relations, once each, behind what they read themselves."""
    return tuple({d.name: d for q in queries for d in q.over}.values())


def relational(query: Query) -> Query:
    """A view with distinct variables, which are all that its term binds."""
    names = Names({*query.vars, *variables(query.term)})
    distinct: list[str] = []
    copies: list[Expr] = []
    for v in query.vars:
        copy = names.fresh(v) if v in distinct else v
        copies += [Lift(copy, Var(v))] if copy != v else []
        distinct.append(copy)
    term = sum_(tuple(distinct), mul(query.term, *copies))
    return replace(query, vars=tuple(distinct), term=simplify(term), over=())


def instance(e: Expr, vars: tuple[str, ...], asked: tuple[str, ...]) -> Expr:
    """A term over `vars` as one over the variables that are asked for; equal ones are compared.

    >>> from freshview.calculus.text import read, show
    >>> show(instance(read("M[a, b]"), ("a", "b"), ("x", "y")))
    'M[x, y]'
    >>> show(instance(read("M[a, b]"), ("a", "b"), ("x", "x")))
    'Sum[x](M[x, x_1] * {x = x_1})'
    """
    names = Names({*asked, *variables(e)})
    new: dict[str, str] = {}
    tests: list[Expr] = []
    for v, x in zip(vars, asked, strict=True):
        if x in new.values():
            copy = names.fresh(x)
            tests.append(Cmp("=", Var(x), Var(copy)))
            x = copy
        new[v] = x
    new |= {v: names.fresh(v) for v in sorted(variables(e) - new.keys())}
    return sum_(tuple(dict.fromkeys(asked)), mul(rename(e, new), *tests))


def over_changes(e: Expr, derived: Mapping[str, DerivedView]) -> Expr:
    """A term that reads the maps of changes where it reads batches of derived views."""
    if not derived:
        return e

    def rule(t: Expr) -> Expr | None:
        if not isinstance(t, Delta) or t.name not in derived:
            return None
        d = derived[t.name]
        assert d.change is not None
        return instance(d.change, d.query.vars, t.vars)

    return bottom_up(e, rule)


def without(names: set[str], e: Expr) -> Expr:
    """A term over a database in which some relations are empty."""
    return at_start(e, names, {})


def at_start(e: Expr, streams: set[str], derived: Mapping[str, DerivedView]) -> Expr:
    """A term before the first change: streams are empty, derived views have what is known then."""
    if _needs_row(e, streams):
        return ZERO

    def rule(t: Expr) -> Expr | None:
        if not isinstance(t, Rel):
            return None
        if t.name in streams:
            return ZERO
        d = derived.get(t.name)
        if d is None:
            return None
        return ZERO if d.rows is None else instance(d.rows, d.query.vars, t.vars)

    return simplify(bottom_up(e, rule))


def _needs_row(e: Expr, streams: set[str]) -> bool:
    """Whether a term is zero without rows of some stream, as its shape tells; most terms are."""
    match e:
        case Rel(name, _):
            return name in streams
        case Mul(parts):
            return any(_needs_row(p, streams) for p in parts)
        case Sum(_, body) | Exists(body):
            return _needs_row(body, streams)
        case _:
            return False


def base_atom(definition: Expr, derived: Mapping[str, DerivedView]) -> Rel | None:
    """The derived view of a map that holds the rows of one, or some of its columns."""
    body = definition.body if isinstance(definition, Sum) else definition
    return body if isinstance(body, Rel) and body.name in derived else None
