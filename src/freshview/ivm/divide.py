"""How a product is divided into maps and what stays outside (rules 1, 3 and 4 of `materialize`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from freshview.calculus.build import factors, is_number, mul, sum_
from freshview.calculus.scope import (
    free,
    has_data,
    ins,
    is_value,
    outs,
    reads_delta,
    relations,
    tests_before,
)
from freshview.calculus.terms import Add, Delta, Exists, Expr, Lift, Rel, Sum, Top, View
from freshview.calculus.walk import variables
from freshview.ivm.blocker import blocker
from freshview.ivm.cyclic import is_cyclic
from freshview.program.updates import Update
from freshview.simplify.arrange import arrange, is_delta_bound
from freshview.simplify.push_sums import components
from freshview.simplify.unnest import apart

NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Decision:
    """What the rules depend on besides the term.

    `known` are the trigger's variables; `updated` are the relations that change (none when the
    whole query is asked for); `aggressive` applies rule 4 to every nested query, `updates` (where
    a map is re-evaluated) to those whose change by one of them cannot be bounded, also not by the
    `small` relations; `grain` says how large a map may be: connected parts, single atoms with the
    columns in use, or base relations; without `decompose`, the parts need not be connected; with
    `ordered`, what a LIMIT chooses from is one map.
    """

    known: frozenset[str] = NONE
    updated: frozenset[str] = NONE
    aggressive: bool = False
    updates: tuple[Update, ...] = ()
    grain: str = "connected"
    keep_base_of_cycles: bool = False
    decompose: bool = True
    small: frozenset[str] = NONE
    ordered: bool = False


@dataclass(frozen=True)
class Division:
    """The maps that parts of a product become, what stays outside, and what is known to that."""

    maps: tuple[Expr, ...]
    outer: tuple[Expr, ...]
    known: frozenset[str]


@lru_cache(maxsize=1 << 13)  # plans that are compared ask alike
def divide(
    keys: tuple[str, ...],
    parts: tuple[Expr, ...],
    context: frozenset[str],
    decision: Decision,
) -> Division:
    """The maps that a product becomes part by part, and the factors that stay outside."""
    parts = _flat(keys, parts)
    known = _known(parts, decision.known, context)
    inner, outer = _split(keys, parts, known, context, decision)
    maps: list[Expr] = []
    for group in _grouped(inner, known, context, decision):
        body = mul(*group)
        others = frozenset().union(keys, known, *(free(f) for f in _without(parts, group)))
        if decision.updates and is_readout(group) and outs(body) <= others:
            outer.extend(group)  # nothing is added up: as quickly put together when it is read
            continue
        body = mul(*group, *tests_before(body, outer))
        maps.append(sum_(tuple(sorted(outs(body) & others)), arrange(body)))
    bound = outs(mul(*parts)) | context
    return Division(tuple(maps), tuple(outer), known & bound)


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


def _known(
    parts: tuple[Expr, ...], known: frozenset[str], context: frozenset[str]
) -> frozenset[str]:
    """Trigger variables, what the batch binds, and values computed from those.

    What the batch bounds binds nothing before the others if it reads what they bind.
    """
    reached = known
    changed = True
    while changed:
        changed = False
        for f in parts:
            leads = not has_data(f.body) if isinstance(f, Lift) else is_delta_bound(f)
            if leads and ins(f) <= reached | context and not outs(f) <= reached:
                reached |= outs(f)
                changed = True
    return reached


def is_nested(f: Expr) -> bool:
    """Whether a factor holds a query of its own."""
    return isinstance(f, Lift | Exists | Top | Add | Sum) and bool(relations(f))


def _split(
    keys: tuple[str, ...],
    parts: tuple[Expr, ...],
    known: frozenset[str],
    context: frozenset[str],
    decision: Decision,
) -> tuple[list[Expr], list[Expr]]:
    """Factors that may go into maps, and those that stay outside (rules 3 and 4)."""
    inner: list[Expr] = []
    outer: list[Expr] = []
    for f in parts:
        (outer if _stays_out(f, known | context, decision) else inner).append(f)
    asked = frozenset(keys) | known | context
    asked = asked.union(*(free(f) for f in outer))
    bridges = _bridges(inner, asked, known, context) if decision.decompose else []
    inner = [f for f in inner if f not in bridges]
    outer.extend(f for f in parts if f in bridges)
    while True:
        linking = frozenset().union(*(free(f) for f in inner)) - known - context
        moved: list[Expr] = []
        for group in components(tuple(inner), linking):
            moved.extend(_unbound(group))
        if not moved:
            return inner, outer
        inner = [f for f in inner if not any(f is m for m in moved)]
        outer.extend(moved)


def _stays_out(f: Expr, known: frozenset[str], decision: Decision) -> bool:
    if isinstance(f, Rel):
        return False
    if reads_delta(f) or isinstance(f, View | Delta) or is_number(f):
        return True
    if decision.grain != "connected":
        return True
    if is_nested(f):
        if decision.aggressive or isinstance(f, Add):
            return True
        if any(blocker(f, u, decision.small) is not None for u in decision.updates):
            return True  # a map with it would be recomputed as well
        return bool(decision.updated & relations(f))
    # x := value, where x is known, is looked up as a key of the map: the value need not be one.
    read = free(f.body) if isinstance(f, Lift) else free(f)
    return bool(read & known) or not read


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
    known: frozenset[str],
    context: frozenset[str],
    decision: Decision,
) -> list[tuple[Expr, ...]]:
    """Rule 1: connected components; trigger variables do not connect."""
    if decision.grain != "connected" or not inner:
        return [(f,) for f in inner]
    linking = frozenset().union(*(free(f) for f in inner)) - known - context
    groups = components(tuple(inner), linking) if decision.decompose else [tuple(inner)]
    if decision.keep_base_of_cycles:
        return [g for group in groups for g in _atoms_of_cycle(group)]
    return groups


def _bridges(
    inner: list[Expr], keys: frozenset[str], known: frozenset[str], context: frozenset[str]
) -> list[Expr]:
    """Tests that alone hold two parts together, both of which the outside has keys in.

    A map over both would be as large as their product; apart, the test is made when they meet.
    """
    tests = [f for f in inner if is_value(f)]
    rest = tuple(f for f in inner if not is_value(f))
    linking = frozenset().union(*(free(f) for f in inner)) - known - context
    parts = components(rest, linking)
    bridges: list[Expr] = []
    for test in tests:
        met = [p for p in parts if any(free(test) & outs(f) for f in p)]
        with_keys = [p for p in met if keys & outs(mul(*p))]
        if len(met) > 1 and with_keys:
            bridges.append(test)
    return bridges


def _atoms_of_cycle(group: tuple[Expr, ...]) -> list[tuple[Expr, ...]]:
    """Part of a cyclic join: whole if it is cyclic itself, else atom by atom."""
    atoms = [f for f in group if isinstance(f, Rel)]
    if len(atoms) < 2 or is_cyclic(atoms):
        return [group]
    rest = [f for f in group if not isinstance(f, Rel)]
    groups: list[tuple[Expr, ...]] = []
    for atom in atoms:
        mine = [f for f in rest if is_value(f) and free(f) <= outs(atom)]
        rest = [f for f in rest if not any(f is m for m in mine)]
        groups.append((atom, *mine))
    return groups if not rest else [group]


def is_readout(parts: tuple[Expr, ...]) -> bool:
    """Whether all that reads data in a product is nested."""
    data = [f for f in parts if relations(f)]
    return all(isinstance(f, Lift | Exists | Top) or _is_readout_sum(f) for f in data)


def _is_readout_sum(f: Expr) -> bool:
    if isinstance(f, Add):
        return all(is_readout(factors(t)) for t in f.terms)
    return isinstance(f, Sum) and is_readout(factors(f.body))
