"""Materialization decisions: which parts of a term become maps (DBToaster 2014, Fig. 1).

The rules work on a term in expanded form, product by product:

1. Decomposition: parts that share no variable but trigger variables become maps of their own.
2. Polynomial expansion comes first (simplify/expand.py); factorization last (finish).
3. Input variables: a value or comparison that reads an input variable stays outside, and the
   map keeps the variables that it needs as keys.
4. Nested aggregates: x := QN stays outside with QN materialized on its own, where QN reads the
   updated relation (its delta would not get simpler). When re-evaluating, it stays outside where
   a map with it would be recomputed as well, or where the map would only put maps side by side.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from freshview.calculus.alpha_equivalence import shape
from freshview.calculus.build import add, addends, factors, mul, same_choice, sum_
from freshview.calculus.scope import (
    ins,
    is_refusing,
    outs,
    reads_delta,
    relations,
    within,
)
from freshview.calculus.terms import Add, Exists, Expr, Lift, Mul, Rel, Sum, Top
from freshview.ivm.divide import Decision, divide, is_nested, is_readout
from freshview.simplify.arrange import arrange, is_delta_bound


class Store(Protocol):
    """Where materialized parts go: gives the access to a map for a definition."""

    def access(self, definition: Expr) -> Expr:
        """The term that reads the definition's map."""
        ...

    def cached(self, definition: Expr) -> Expr | None:
        """The access to a view cache, or None if caches are off."""
        ...

    def is_static(self, relation: str) -> bool:
        """Whether a relation never changes."""
        ...


def materialize(e: Expr, store: Store, decision: Decision) -> Expr:
    """The same term over maps: <Q', {Mi := Qi}>, the Qi handed to the store.

    The term must be in expanded form.
    """
    if isinstance(e, Add):
        return add(*(materialize(t, store, decision) for t in e.terms))
    if not relations(e):
        return e
    if isinstance(e, Sum):
        local = replace(decision, known=within(e.keys, e.body, decision.known))
        return _product(e.keys, factors(e.body), ins(e), store, local)
    return _product(tuple(sorted(outs(e))), factors(e), ins(e), store, decision)


def is_kept_whole(e: Expr, decision: Decision) -> bool:
    """Whether the rules would store a term as it is: no map of it can be computed from another."""
    if isinstance(e, Add):
        return False
    keys, body = (e.keys, e.body) if isinstance(e, Sum) else (tuple(sorted(outs(e))), e)
    local = replace(decision, known=within(keys, body, decision.known))
    return any(shape(m) == shape(e) for m in divide(keys, factors(body), ins(e), local).maps)


def _product(
    keys: tuple[str, ...],
    parts: tuple[Expr, ...],
    context: frozenset[str],
    store: Store,
    decision: Decision,
) -> Expr:
    division = divide(keys, parts, context, decision)
    kept = [_stored(definition, store) for definition in division.maps]
    # What leads the product cannot rely on what it binds itself.
    nested = [
        _nested(f, decision.known if is_delta_bound(f) else division.known, store, decision)
        for f in division.outer
    ]
    # Put in order at once: what a term needs from outside depends on who binds first.
    return sum_(keys, arrange(mul(*kept, *nested), decision.known | context))


def _stored(definition: Expr, store: Store) -> Expr:
    """The access to a map; static tables are read where they are."""
    body = definition.body if isinstance(definition, Sum) else definition
    if isinstance(body, Rel) and store.is_static(body.name):
        return definition
    return store.access(definition)


def _nested(f: Expr, known: frozenset[str], store: Store, decision: Decision) -> Expr:
    """A factor that stays outside, with what is inside it materialized."""
    if not relations(f):
        return f
    inside = replace(decision, known=known)
    match f:
        case Lift(var, body):
            return Lift(var, _inside(body, store, inside))
        case Exists(body):
            return Exists(_inside(body, store, inside))
        case Top(keys, _, _, body):
            # What it chooses among is not known, even where the batch has variables of that name.
            chosen_from = replace(decision, known=within(keys, body, known))
            return same_choice(f, _inside(body, store, chosen_from))
        case _:
            return materialize(f, store, inside)


def _inside(body: Expr, store: Store, decision: Decision) -> Expr:
    """The body of a nested query, addend by addend; a view cache where its inputs ask for one."""
    terms: list[Expr] = []
    for term in body.terms if isinstance(body, Add) else (body,):
        asks = ins(term) and not ins(term) & decision.known
        cacheable = asks and relations(term) and not reads_delta(term) and not _has_nested(term)
        cached = store.cached(term) if cacheable else None
        terms.append(materialize(term, store, decision) if cached is None else cached)
    return add(*terms)


def _has_nested(e: Expr) -> bool:
    body = e.body if isinstance(e, Sum) else e
    return any(is_nested(f) for f in (body.factors if isinstance(body, Mul) else (body,)))


def readout(e: Expr, store: Store, decision: Decision) -> Expr:
    """Generalized HO-IVM (Alg. 3): the top of a query stays a term over the maps of its pieces.

    A product of nested queries only (a group's existence, its aggregates, its extremes) is put
    together when the view is read; a query over relations is one map. `decision` is for queries
    that are not closed.
    """
    match e:
        case Mul() | Sum() if any(is_refusing(f) for f in _body(e)):
            return _piece(
                e, store, decision
            )  # a change that it refuses must not be in the maps below
        case Add(terms) if any(is_readout(_body(t)) for t in terms):
            return add(*(readout(t, store, decision) for t in terms))
        case Mul(parts) if is_readout(parts):
            return mul(*(readout(f, store, decision) for f in parts))
        case Sum(keys, body) if is_readout(_body(e)):
            return sum_(keys, readout(body, store, decision))
        case Lift(var, body):
            return Lift(var, _piece(body, store, decision))
        case Exists(body):
            return Exists(_piece(body, store, decision))
        case Top(_, _, _, body) if decision.ordered and not ins(body):
            return same_choice(e, _piece(body, store, decision))
        case Top(_, _, _, body):
            return same_choice(e, readout(body, store, decision))
        case _:
            return _piece(e, store, decision)


def _body(e: Expr) -> tuple[Expr, ...]:
    return factors(e.body if isinstance(e, Sum) else e)


def _piece(e: Expr, store: Store, decision: Decision) -> Expr:
    """A piece of the read-out as one map, beside what needs no data."""
    data = [t for t in addends(e) if relations(t)]
    rest = [t for t in addends(e) if not relations(t)]
    if not data:
        return e
    closed = [t for t in data if not ins(t)]
    whole = add(*closed)
    if ins(whole):
        accesses = [store.access(t) for t in closed]
    else:
        accesses = [store.access(whole)] if closed else []
    open_ = [materialize(t, store, decision) for t in data if ins(t)]
    return add(*accesses, *open_, *rest)
