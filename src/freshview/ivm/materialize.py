"""Materialization decisions: which parts of a term become maps (seed 001, Fig. 1).

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

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

from freshview.calculus.alpha_equivalence import shape
from freshview.calculus.build import add, addends, factors, is_number, mul, same_choice, sum_
from freshview.calculus.scope import (
    free,
    has_data,
    ins,
    is_refusing,
    is_value,
    outs,
    reads_delta,
    relations,
    within,
)
from freshview.calculus.terms import Add, Delta, Exists, Expr, Lift, Mul, Rel, Sum, Top, View
from freshview.calculus.walk import variables
from freshview.ivm.cyclic import is_cyclic
from freshview.ivm.decide import blocker
from freshview.ivm.delta import Update
from freshview.simplify.arrange import arrange, is_delta_bound
from freshview.simplify.push_sums import components
from freshview.simplify.unnest import apart

NONE: frozenset[str] = frozenset()


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


@dataclass(frozen=True)
class Decision:
    """What the rules depend on besides the term.

    `given` are the trigger's variables; `updated` is the relation that changes (None when the
    whole query is asked for); `aggressive` applies rule 4 to every nested query, `updates` (where
    a map is re-evaluated) to those whose change by one of them cannot be bounded; `grain` says
    how large a map may be: connected parts, single atoms with the columns in use, or base
    relations.
    """

    given: frozenset[str] = NONE
    updated: str | None = None
    aggressive: bool = False
    updates: tuple[Update, ...] = ()
    grain: str = "connected"
    keep_base_of_cycles: bool = False


def materialize(e: Expr, store: Store, decision: Decision) -> Expr:
    """The same term over maps: <Q', {Mi := Qi}>, the Qi handed to the store.

    The term must be in expanded form.
    """
    if isinstance(e, Add):
        return add(*(materialize(t, store, decision) for t in e.terms))
    if not relations(e):
        return e
    if isinstance(e, Sum):
        local = replace(decision, given=within(e.keys, e.body, decision.given))
        return _product(e.keys, factors(e.body), ins(e), store, local)
    return _product(tuple(sorted(outs(e))), factors(e), ins(e), store, decision)


def is_kept_whole(e: Expr, decision: Decision) -> bool:
    """Whether the rules would store a term as it is: no map of it can be computed from another."""
    if isinstance(e, Add):
        return False
    keys, body = (e.keys, e.body) if isinstance(e, Sum) else (tuple(sorted(outs(e))), e)
    local = replace(decision, given=within(keys, body, decision.given))
    return any(shape(m) == shape(e) for m in _divided(keys, factors(body), ins(e), local).maps)


def _product(
    keys: tuple[str, ...],
    parts: tuple[Expr, ...],
    context: frozenset[str],
    store: Store,
    decision: Decision,
) -> Expr:
    made = _divided(keys, parts, context, decision)
    kept = [_stored(definition, store) for definition in made.maps]
    # What leads the product cannot rely on what it binds itself.
    nested = [
        _nested(f, decision.given if is_delta_bound(f) else made.given, store, decision)
        for f in made.outer
    ]
    # Put in order at once: what a term needs from outside depends on who binds first.
    return sum_(keys, arrange(mul(*kept, *nested), decision.given | context))


def _stored(definition: Expr, store: Store) -> Expr:
    """The access to a map; static tables are read where they are."""
    body = definition.body if isinstance(definition, Sum) else definition
    if isinstance(body, Rel) and store.is_static(body.name):
        return definition
    return store.access(definition)


@dataclass(frozen=True)
class _Division:
    """A product: the maps that parts of it become, what stays outside, and what that is given."""

    maps: tuple[Expr, ...]
    outer: tuple[Expr, ...]
    given: frozenset[str]


@lru_cache(maxsize=1 << 13)  # plans that are compared ask alike
def _divided(
    keys: tuple[str, ...],
    parts: tuple[Expr, ...],
    context: frozenset[str],
    decision: Decision,
) -> _Division:
    parts = _flat(keys, parts)
    given = _given(parts, decision.given)
    inner, outer = _split(keys, parts, given, context, decision)
    maps: list[Expr] = []
    for group in _grouped(inner, given, context, decision):
        body = mul(*group)
        others = frozenset().union(keys, given, *(free(f) for f in _without(parts, group)))
        if decision.updates and _is_readout(group) and outs(body) <= others:
            outer.extend(group)  # nothing is added up: as quickly put together when it is read
            continue
        maps.append(sum_(tuple(sorted(outs(body) & others)), arrange(body)))
    bound = outs(mul(*parts)) | context
    return _Division(tuple(maps), tuple(outer), given & bound)


def _without(parts: tuple[Expr, ...], group: tuple[Expr, ...]) -> list[Expr]:
    """The other factors; of R(a) * R(a), which are one object, the other one is R(a) as well."""
    rest = list(parts)
    for f in group:
        rest.remove(f)
    return rest


def _flat(keys: tuple[str, ...], parts: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Open sums that stand as factors, so that their parts can be judged one by one."""
    used = set(keys).union(*(free(f) for f in parts))
    used |= set().union(*(variables(f) for f in parts if not isinstance(f, Sum)))
    flat: list[Expr] = []
    for f in parts:
        if isinstance(f, Sum) and not isinstance(f.body, Add):
            opened = apart(f, used)
            used |= variables(opened)
            flat.extend(factors(opened.body))
        else:
            flat.append(f)
    return tuple(flat)


def _given(parts: tuple[Expr, ...], given: frozenset[str]) -> frozenset[str]:
    """Trigger variables, what the batch binds, and values computed from those."""
    known = set(given)
    for f in parts:
        if is_delta_bound(f) and not isinstance(f, Lift):
            known |= outs(f)
    changed = True
    while changed:
        changed = False
        for f in parts:
            if isinstance(f, Lift) and not has_data(f.body) and ins(f) <= known:
                changed |= f.var not in known
                known.add(f.var)
    return frozenset(known)


def _is_nested(f: Expr) -> bool:
    return isinstance(f, Lift | Exists | Top | Add | Sum) and bool(relations(f))


def _split(
    keys: tuple[str, ...],
    parts: tuple[Expr, ...],
    given: frozenset[str],
    context: frozenset[str],
    decision: Decision,
) -> tuple[list[Expr], list[Expr]]:
    """Factors that may go into maps, and those that stay outside (rules 3 and 4)."""
    inner: list[Expr] = []
    outer: list[Expr] = []
    for f in parts:
        (outer if _stays_out(f, given | context, decision) else inner).append(f)
    asked = frozenset(keys) | given | context
    asked = asked.union(*(free(f) for f in outer))
    bridges = _bridges(inner, asked, given, context)
    inner = [f for f in inner if f not in bridges]
    outer.extend(f for f in parts if f in bridges)
    while True:
        linking = frozenset().union(*(free(f) for f in inner)) - given - context
        moved: list[Expr] = []
        for group in components(tuple(inner), linking):
            moved.extend(_unbound(group))
        if not moved:
            return inner, outer
        inner = [f for f in inner if not any(f is m for m in moved)]
        outer.extend(moved)


def _stays_out(f: Expr, given: frozenset[str], decision: Decision) -> bool:
    if isinstance(f, Rel):
        return False
    if reads_delta(f) or isinstance(f, View | Delta) or is_number(f):
        return True
    if decision.grain != "connected":
        return True
    if _is_nested(f):
        if decision.aggressive or isinstance(f, Add):
            return True
        if any(blocker(f, u) is not None for u in decision.updates):
            return True  # a map with it would be recomputed as well
        return decision.updated is not None and decision.updated in relations(f)
    return bool(free(f) & given) or not free(f)


def _unbound(group: tuple[Expr, ...]) -> list[Expr]:
    """Factors of a group that it cannot feed: they read what none of its relations bind."""
    bound: frozenset[str] = NONE
    waiting = list(group)
    driven = False
    while ready := [f for f in waiting if ins(f) <= bound]:
        waiting = [f for f in waiting if not any(f is r for r in ready)]
        bound = bound.union(*(outs(f) for f in ready))
        driven |= any(relations(f) and not isinstance(f, Lift) and outs(f) for f in ready)
    return waiting if driven else list(group)


def _grouped(
    inner: list[Expr],
    given: frozenset[str],
    context: frozenset[str],
    decision: Decision,
) -> list[tuple[Expr, ...]]:
    """Rule 1: connected components; trigger variables do not connect."""
    if decision.grain != "connected":
        return [(f,) for f in inner]
    linking = frozenset().union(*(free(f) for f in inner)) - given - context
    groups = components(tuple(inner), linking)
    if decision.keep_base_of_cycles:
        return [g for group in groups for g in _atoms_of_cycle(group)]
    return groups


def _bridges(
    inner: list[Expr], keys: frozenset[str], given: frozenset[str], context: frozenset[str]
) -> list[Expr]:
    """Tests that alone hold two parts together, both of which the outside has keys in.

    A map over both would be as large as their product; apart, the test is made when they meet.
    """
    tests = [f for f in inner if is_value(f)]
    rest = tuple(f for f in inner if not is_value(f))
    linking = frozenset().union(*(free(f) for f in inner)) - given - context
    parts = components(rest, linking)
    found: list[Expr] = []
    for test in tests:
        met = [p for p in parts if any(free(test) & outs(f) for f in p)]
        with_keys = [p for p in met if keys & outs(mul(*p))]
        if len(met) > 1 and with_keys:
            found.append(test)
    return found


def _atoms_of_cycle(group: tuple[Expr, ...]) -> list[tuple[Expr, ...]]:
    """Part of a cyclic join: whole if it is cyclic itself, else atom by atom."""
    atoms = [f for f in group if isinstance(f, Rel)]
    if len(atoms) < 2 or is_cyclic(atoms):
        return [group]
    rest = [f for f in group if not isinstance(f, Rel)]
    made: list[tuple[Expr, ...]] = []
    for atom in atoms:
        mine = [f for f in rest if is_value(f) and free(f) <= outs(atom)]
        rest = [f for f in rest if not any(f is m for m in mine)]
        made.append((atom, *mine))
    return made if not rest else [group]


def _nested(f: Expr, given: frozenset[str], store: Store, decision: Decision) -> Expr:
    """A factor that stays outside, with what is inside it materialized."""
    if not relations(f):
        return f
    inside = replace(decision, given=given)
    match f:
        case Lift(var, body):
            return Lift(var, _inside(body, store, inside))
        case Exists(body):
            return Exists(_inside(body, store, inside))
        case Top(keys, _, _, body):
            # What it chooses among is not given, even where the batch has variables of that name.
            chosen_from = replace(decision, given=within(keys, body, given))
            return same_choice(f, _inside(body, store, chosen_from))
        case _:
            return materialize(f, store, inside)


def _inside(body: Expr, store: Store, decision: Decision) -> Expr:
    """The body of a nested query, addend by addend; a view cache where its inputs ask for one."""
    made: list[Expr] = []
    for term in body.terms if isinstance(body, Add) else (body,):
        asks = ins(term) and not ins(term) & decision.given
        cacheable = asks and relations(term) and not reads_delta(term) and not _has_nested(term)
        cached = store.cached(term) if cacheable else None
        made.append(materialize(term, store, decision) if cached is None else cached)
    return add(*made)


def _has_nested(e: Expr) -> bool:
    body = e.body if isinstance(e, Sum) else e
    return any(_is_nested(f) for f in (body.factors if isinstance(body, Mul) else (body,)))


def readout(e: Expr, store: Store) -> Expr:
    """Generalized HO-IVM (Alg. 3): the top of a query stays a term over the maps of its pieces.

    A product of nested queries only (a group's existence, its aggregates, its extremes) is put
    together when the view is read; a query over relations is one map.
    """
    match e:
        case Mul() | Sum() if any(is_refusing(f) for f in _body(e)):
            return _piece(e, store)  # a change that it refuses must not be in the maps below
        case Add(terms) if any(_is_readout(_body(t)) for t in terms):
            return add(*(readout(t, store) for t in terms))
        case Mul(parts) if _is_readout(parts):
            return mul(*(readout(f, store) for f in parts))
        case Sum(keys, body) if _is_readout(_body(e)):
            return sum_(keys, readout(body, store))
        case Lift(var, body):
            return Lift(var, _piece(body, store))
        case Exists(body):
            return Exists(_piece(body, store))
        case Top(_, _, _, body):
            return same_choice(e, readout(body, store))
        case _:
            return _piece(e, store)


def _body(e: Expr) -> tuple[Expr, ...]:
    return factors(e.body if isinstance(e, Sum) else e)


def _piece(e: Expr, store: Store) -> Expr:
    """A piece of the read-out as one map, beside what needs no data."""
    data = [t for t in addends(e) if relations(t)]
    rest = [t for t in addends(e) if not relations(t)]
    if not data:
        return e
    closed = [t for t in data if not ins(t)]
    whole = add(*closed)
    if ins(whole):
        made = [store.access(t) for t in closed]
    else:
        made = [store.access(whole)] if closed else []
    open_ = [materialize(t, store, Decision(aggressive=True)) for t in data if ins(t)]
    return add(*made, *open_, *rest)


def _is_readout(parts: tuple[Expr, ...]) -> bool:
    """Whether all that reads data in a product is nested."""
    data = [f for f in parts if relations(f)]
    return all(isinstance(f, Lift | Exists | Top) or _is_readout_sum(f) for f in data)


def _is_readout_sum(f: Expr) -> bool:
    if isinstance(f, Add):
        return all(_is_readout(factors(t)) for t in f.terms)
    return isinstance(f, Sum) and _is_readout(factors(f.body))
