"""Equality of programs up to names and algebra: a paper's program against the compiler's.

Maps are paired by their definitions. Statements are then brought to one vocabulary, expanded to
sums of flat products, and matched addend by addend, so that neither the names of variables nor
the order, the factorization or the nesting of sums can tell two equal programs apart; the maps,
the loops and the events of every statement can.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from freshview.calculus.alpha_equivalence import alike
from freshview.calculus.build import ZERO, add, addends, mul, sum_
from freshview.calculus.terms import Expr, Sum, View
from freshview.calculus.text import show
from freshview.calculus.walk import bottom_up, rename
from freshview.program.terms import Map, Program, Statement, Trigger
from freshview.simplify import simplify


@dataclass(frozen=True)
class Pair:
    """A map of the compiler's, and the paper's map that it is: name, and where its keys go."""

    compiled: Map
    expected: Map
    places: tuple[int, ...]

    def access(self, view: View) -> View:
        """The access to the compiler's map as an access to the paper's."""
        return View(self.expected.name, tuple(view.vars[i] for i in self.places))


def pair_maps(compiled: Program, expected: Program) -> dict[str, Pair]:
    """The compiler's maps by name with the paper's maps of the same definition.

    Raises an AssertionError that names the maps which only one side has.
    """
    pairs: dict[str, Pair] = {}
    missing: list[str] = []
    for wanted in expected.maps:
        for m in compiled.maps:
            places = same_map(m, wanted)
            if places is not None and m.name not in pairs:
                pairs[m.name] = Pair(m, wanted, places)
                break
        else:
            missing.append(f"{wanted.name} := {show(wanted.definition)}")
    extra = [f"{m.name} := {show(m.definition)}" for m in compiled.maps if m.name not in pairs]
    assert not missing, f"the compiler has no map {missing}; it has {extra} instead"
    assert not extra, f"the paper has no map {extra}"
    return pairs


def same_map(compiled: Map, expected: Map) -> tuple[int, ...] | None:
    """For each key of the expected map, its place among the keys of the found one."""
    names = alike(_defined(expected), _defined(compiled))
    if names is None or len(compiled.keys) != len(expected.keys):
        return None
    keys = [k.name for k in compiled.keys]
    return tuple(keys.index(names[k.name]) for k in expected.keys)


def _defined(m: Map) -> Expr:
    return normal(m.definition, tuple(k.name for k in m.keys))


def normal(e: Expr, keys: tuple[str, ...], known: frozenset[str] = frozenset()) -> Expr:
    """A sum of flat products, each of them under one Sum."""
    plain = bottom_up(e, lambda t: sum_(t.keys, t.body) if isinstance(t, Sum) else None)
    # A factor to add up over: else a Sum over all its variables goes, and what is summed up
    # inside a factor (as `finish` leaves it) would stay there.
    return simplify(sum_(keys, mul(plain, View("any", ("thing",)))), known=known)


def same_sum(compiled: Expr, expected: Expr, fixed: frozenset[str] = frozenset()) -> str:
    """What tells two terms in normal form apart, in words; nothing if they are alike.

    Addend by addend: each has variables of its own, also where two addends share a name.
    """
    left = list(addends(compiled))
    for wanted in addends(expected):
        match = next((e for e in left if alike(wanted, e, fixed) is not None), None)
        if match is None:
            return f"there is no {show(wanted)} among {[show(e) for e in left]}"
        left.remove(match)
    return f"there is also {[show(e) for e in left]}" if left else ""


def in_words_of(compiled: Program, expected: Program, pairs: dict[str, Pair]) -> list[Trigger]:
    """The compiler's triggers with the paper's names of maps and of trigger variables."""
    params = {(t.event, t.relation): t.params for t in expected.triggers}
    triggers: list[Trigger] = []
    for t in compiled.triggers:
        names = dict(zip(t.params, params.get((t.event, t.relation), t.params), strict=True))
        statements = tuple(_translated(s, pairs, names) for s in t.statements)
        triggers.append(replace(t, params=tuple(names.values()), statements=statements))
    return triggers


def _translated(s: Statement, pairs: dict[str, Pair], names: dict[str, str]) -> Statement:
    # A prefix keeps the trigger variables apart from the loop variables of the other program.
    loops = {v: f"loop_{v}" for v in s.target.vars if v not in names}
    term = rename(_over_expected(s.term, pairs), {**names, **loops})
    target = pairs[s.target.name].access(s.target)
    renamed = View(target.name, tuple({**names, **loops}[v] for v in target.vars))
    return Statement(renamed, s.op, term)


def statements(triggers: Iterable[Trigger]) -> dict[str, Expr]:
    """What is added to (or assigned to) each map on each event, over the map's keys.

    Statements on one map that bind its keys in different ways add up to one term.
    """
    compiled: dict[str, Expr] = {}
    for t in triggers:
        for s in t.statements:
            place = f"{t.event} {t.relation}: {s.target.name} {s.op}"
            seen = tuple(dict.fromkeys((*s.target.vars, *t.params)))
            # The target as a factor, so that a key can only match the same key.
            term = mul(View("target", s.target.vars), s.term)
            flat = normal(term, seen, frozenset(t.params))
            compiled[place] = add(compiled.get(place, ZERO), flat)
    return compiled


def assert_same_triggers(compiled: list[Trigger], expected: tuple[Trigger, ...]) -> None:
    """Every statement of the paper is the compiler's, and none is left."""
    ours, theirs = statements(compiled), statements(expected)
    assert ours.keys() == theirs.keys()
    params = frozenset(p for t in expected for p in t.params)
    problems = {place: same_sum(ours[place], theirs[place], params) for place in theirs}
    assert not any(problems.values()), {k: v for k, v in problems.items() if v}


def with_missing(expected: Program, compiled: list[Trigger]) -> Program:
    """The paper's program, with the compiler's triggers for the events that it does not print."""
    printed = {(t.event, t.relation) for t in expected.triggers}
    others = tuple(t for t in compiled if (t.event, t.relation) not in printed)
    return replace(expected, triggers=expected.triggers + others)


def reading_maps(expected: Program, compiled: Program, pairs: dict[str, Pair]) -> Program:
    """The paper's program with a query that reads its maps: the compiler's, translated."""
    queries = tuple(replace(q, term=_over_expected(q.term, pairs)) for q in compiled.queries)
    return replace(expected, queries=queries)


def _over_expected(e: Expr, pairs: dict[str, Pair]) -> Expr:
    return bottom_up(e, lambda t: pairs[t.name].access(t) if isinstance(t, View) else None)
