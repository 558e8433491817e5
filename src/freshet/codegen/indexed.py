"""Sums over ranges as code: an ordered index is asked, and no row is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from freshet.calculus.scope import outs
from freshet.calculus.terms import Sum, View
from freshet.calculus.types import Type
from freshet.codegen.code import Spot, detached
from freshet.codegen.context import ONE, Bound, Next
from freshet.codegen.hold import Cpp, held
from freshet.codegen.ranges import Range, ranges
from freshet.codegen.scalar import times

if TYPE_CHECKING:
    from freshet.codegen.term import Terms


def range_sum(terms: Terms, e: Sum, spot: Spot, env: Bound, m: Cpp, k: Next, last: bool) -> bool:
    """A sum over a range, by an ordered index; whether it was one."""
    inner = terms.inside(e.keys, e.body, env)
    for r in ranges(e, inner.keys()):
        place = terms.places[r.atom.name]
        x = r.atom.vars.index(r.x)
        if not _sortable(place.key_type(x)) or place.storage.transient:
            continue
        guards = [_no_negative(terms, v) for v in r.conditions.positive]
        if not guards:
            _outside(terms, e, r, spot, inner, env, m, k)
            return True
        test = " && ".join(dict.fromkeys(guards))
        _, yes = spot.open(("if", test), "", f"if ({test}) {{")
        _outside(terms, e, r, yes, inner, env, m, k)
        _, no = spot.open(
            ("if not", test),
            "",
            f"if (!({test})) [&]() __attribute__((noinline, cold)) {{",
            "}();",
        )
        before, terms.rare = terms.rare, True
        terms.plain_sum(e, e.keys, e.body, no, env, m, k, last)
        terms.rare = before
        return True
    return False


def _no_negative(terms: Terms, v: View) -> str:
    place = terms.places[v.name]
    if not place.storage.orders:
        place.storage.order(tuple(range(len(place.storage.keys))))
    return f"s.{place.storage.name}_below{place.payload} == 0"


def _outside(
    terms: Terms, e: Sum, r: Range, spot: Spot, inner: Bound, env: Bound, m: Cpp, k: Next
) -> None:
    """First the factors that do not depend on x, then the range."""

    def leave(s: Spot, b: Bound, n: Cpp) -> None:
        k(s, {**env, **{v: b[v] for v in outs(e)}}, n)

    terms.product(
        list(r.outside), spot, inner, m, lambda s, b, n: _add_up(terms, r, s, b, n, leave), False
    )


def _add_up(terms: Terms, r: Range, spot: Spot, env: Bound, m: Cpp, k: Next) -> None:
    place = terms.places[r.atom.name]
    storage, names = place.storage, r.atom.vars
    column = dict(zip(names, place.columns, strict=True))
    fixed = [v for v in names if v in env]
    columns = tuple(column[v] for v in (*fixed, *r.groups, r.x))
    number = storage.order(columns)
    entry, tree = f"Ord{number}_{storage.name}", f"s.{storage.name}_o{number}"
    known: dict[int, str] = {}
    for v in fixed:
        known[column[v]], spot = terms.seek(env[v], place.key_type(names.index(v)), spot)
    turns: tuple[str, ...] = ()
    if r.groups:
        # Where a condition turns does not depend on the group: what one has found, all know.
        kind = held(place.key_type(names.index(r.x)))
        for side in ("up", "down"):
            terms.turns += 1
            turn, spot = spot.let(("turn", terms.turns, side), "u", f"Turn<{kind}> @;")
            turns += (turn,)
        before, upto = _prefix("k", "false", known), _prefix("k", "true", known)
        lead = [column[v] for v in (*fixed, *r.groups)]
        later = " ".join(f"if (!same(a.k{i}, b.k{i})) return sorts(a.k{i}, b.k{i});" for i in lead)
        opener = (
            f"each_group(e.arena, {tree}, [&](const {entry}& k) {{ {before} }}, "
            f"[&](const {entry}& k) {{ {upto} }}, "
            f"[&](const {entry}& a, const {entry}& b) {{ {later} return false; }}, "
            f"[&](const {entry}& @) {{"
        )
        g, spot = spot.open(("groups", tree, tuple(known.items())), "g", opener, "});")
        env = dict(env)
        for v in r.groups:
            t = place.key_type(names.index(v))
            env[v] = Cpp(f"{g}.k{column[v]}", t, held(t))
            known[column[v]] = env[v].text
    t = place.key_type(names.index(r.x))
    inside = detached(spot)
    key = inside.fresh("k")
    at = {**env, r.x: Cpp(f"{key}.k{column[r.x]}", t, held(t))}
    here = Spot(inside)
    for name, parts, holds, ends in (
        ("before", r.conditions.up, "false", "true"),
        ("upto", r.conditions.down, "true", "false"),
    ):
        opener = f"auto {name} = [&](const {entry}& {key}) -> bool {{"
        _, body = here.open(name, "", opener, "};")
        body.line("FR_VISIT(1);")
        body.line(_beyond(key, known))
        if parts and turns:
            turn, call = (turns[0], "!@.from") if name == "before" else (turns[1], "@.upto")
            x = at[r.x].text
            opener = f"return {call.replace('@', turn)}({x}, [&]() -> bool {{"
            _, inner = body.open("asked", "", opener, "});")
            terms.product(list(parts), inner, at, ONE, _return("true"), True)
            inner.line("return false;")
        elif parts:
            terms.product(list(parts), body, at, ONE, _return(holds), True)
            body.line(f"return {ends};")
        else:
            body.line(f"return {holds};")
    here.line(f"@ = {tree}.sum_between(e.arena, before, upto);")
    name, spot = spot.computed("q", f"Sum_{storage.name} @{{}};", inside)
    t = place.payload_type
    value = f"{name}.p{place.payload}"
    if t.kind != "double":
        value = f"narrow<{held(t)}>(o, {value})"
    n = Cpp(value, t, held(t))
    _, spot = spot.open(("if", value), "", f"if ({name}.p{place.payload} != 0) {{")
    k(spot, env, times(m, n))


def _sortable(t: Type) -> bool:
    """Whether the order of a type is that of its bits' value: not of text, nor with NULL."""
    return t.kind in ("int", "decimal", "double", "date", "timestamp") and not t.nullable


def _prefix(key: str, equal: str, known: Mapping[int, str]) -> str:
    """Whether an entry stands before the wanted values of its leading columns (or at them)."""
    return f"{_beyond(key, known)} return {equal};"


def _beyond(key: str, known: Mapping[int, str]) -> str:
    """Entries with other leading columns than the wanted ones stand before or behind them."""
    tests = [
        f"if (!same({key}.k{i}, {x})) return sorts({key}.k{i}, {x});" for i, x in known.items()
    ]
    return " ".join([f"(void){key};", *tests])


def _return(answer: str) -> Next:
    def say(spot: Spot, _: Bound, __: Cpp) -> None:
        spot.line(f"return {answer};")

    return say
