"""Sums over ranges as code: an ordered index is asked, and no row is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from freshet.calculus.scope import outs
from freshet.calculus.terms import Sum, View
from freshet.calculus.types import Type
from freshet.codegen.code import Block, Spot, detached
from freshet.codegen.context import ONE, Bound, Next
from freshet.codegen.hold import Cpp, held
from freshet.codegen.ranges import Range, ranges
from freshet.codegen.scalar import times
from freshet.codegen.storage import Place

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
        terms.plain_sum(e, no, env, m, k, last)
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


@dataclass
class _Asked:
    """An ordered index that is asked for a range: which one, and what is known of its entries."""

    r: Range
    place: Place
    fixed: list[str]
    entry: str = ""
    tree: str = ""
    known: dict[int, str] = field(default_factory=dict)
    """Wanted values of leading columns."""
    turns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        storage = self.place.storage
        leading = (*self.fixed, *self.r.groups, self.r.x)
        number = storage.order(tuple(self.column(v) for v in leading))
        self.entry, self.tree = f"Ord{number}_{storage.name}", f"s.{storage.name}_o{number}"

    def column(self, v: str) -> int:
        """The column of the record that a variable of the atom stands for."""
        return self.place.columns[self.r.atom.vars.index(v)]

    def value(self, entry: str, v: str) -> Cpp:
        """A variable of the atom, as an entry of the index has it."""
        t = self.type(v)
        return Cpp(f"{entry}.k{self.column(v)}", t, held(t))

    def type(self, v: str) -> Type:
        """The type of a variable of the atom."""
        return self.place.key_type(self.r.atom.vars.index(v))


def _add_up(terms: Terms, r: Range, spot: Spot, env: Bound, m: Cpp, k: Next) -> None:
    """The sum over the range, for each group if there are groups."""
    asked = _Asked(r, terms.places[r.atom.name], [v for v in r.atom.vars if v in env])
    for v in asked.fixed:
        asked.known[asked.column(v)], spot = terms.seek(env[v], asked.type(v), spot)
    if r.groups:
        spot, env = _each_group(terms, asked, spot, env)
    place = asked.place
    inside = _question(terms, asked, spot, env)
    name, spot = spot.computed("q", f"Sum_{place.storage.name} @{{}};", inside)
    t, total = place.payload_type, f"{name}.p{place.payload}"
    value = total if t.kind == "double" else f"narrow<{held(t)}>(o, {total})"
    _, spot = spot.open(("there", value), "", f"if ({total} != 0) {{")
    k(spot, env, times(m, Cpp(value, t, held(t))))


def _each_group(terms: Terms, asked: _Asked, spot: Spot, env: Bound) -> tuple[Spot, Bound]:
    """A loop over the groups of the index, found one after the other by search."""
    # Where a condition turns does not depend on the group: what one has found, all know.
    for side in ("up", "down"):
        terms.turns += 1
        kind = held(asked.type(asked.r.x))
        turn, spot = spot.let(("turn", terms.turns, side), "u", f"Turn<{kind}> @;")
        asked.turns += (turn,)
    lead = [asked.column(v) for v in (*asked.fixed, *asked.r.groups)]
    later = " ".join(f"if (!same(a.k{i}, b.k{i})) return sorts(a.k{i}, b.k{i});" for i in lead)
    opener = (
        f"each_group(e.arena, {asked.tree}, "
        f"[&](const {asked.entry}& k) {{ {_beyond('k', asked.known)} return false; }}, "
        f"[&](const {asked.entry}& k) {{ {_beyond('k', asked.known)} return true; }}, "
        f"[&](const {asked.entry}& a, const {asked.entry}& b) {{ {later} return false; }}, "
        f"[&](const {asked.entry}& @) {{"
    )
    key = ("groups", asked.tree, tuple(asked.known.items()))
    g, spot = spot.open(key, "g", opener, "});")
    bound = dict(env)
    for v in asked.r.groups:
        bound[v] = asked.value(g, v)
        asked.known[asked.column(v)] = bound[v].text
    return spot, bound


def _question(terms: Terms, asked: _Asked, spot: Spot, env: Bound) -> Block:
    """What sums up the entries that are not `before` the range and still in it, `upto` its end."""
    inside = detached(spot)
    entry = inside.fresh("k")
    at = {**env, asked.r.x: asked.value(entry, asked.r.x)}
    here = Spot(inside)
    for name, parts, holds in (
        ("before", asked.r.conditions.up, False),
        ("upto", asked.r.conditions.down, True),
    ):
        _, body = here.open(
            name, "", f"auto {name} = [&](const {asked.entry}& {entry}) -> bool {{", "};"
        )
        body.line("FR_VISIT(1);")
        body.line(_beyond(entry, asked.known))
        if parts and asked.turns:
            call = f"{asked.turns[1]}.upto" if holds else f"!{asked.turns[0]}.from"
            opener = f"return {call}({at[asked.r.x].text}, [&]() -> bool {{"
            _, inner = body.open("asked", "", opener, "});")
            terms.product(list(parts), inner, at, ONE, _return("true"), True)
            inner.line("return false;")
        else:
            answers = [str(holds).lower(), str(not holds).lower()]
            if parts:
                terms.product(list(parts), body, at, ONE, _return(answers.pop(0)), True)
            body.line(f"return {answers[0]};")
    here.line(f"@ = {asked.tree}.sum_between(e.arena, before, upto);")
    return inside


def _sortable(t: Type) -> bool:
    """Whether the order of a type is that of its bits' value: not of text, nor with NULL."""
    return t.kind in ("int", "decimal", "double", "date", "timestamp") and not t.nullable


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
