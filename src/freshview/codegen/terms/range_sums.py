"""Sums over ranges as code: an ordered index is asked, and no row is looked at."""

from __future__ import annotations

from freshview.calculus.scope import ins, outs
from freshview.calculus.terms import Cmp, Exists, Expr, Sum, View
from freshview.calculus.types import Type
from freshview.codegen.cpp.arithmetic import times
from freshview.codegen.cpp.code import Block, Spot, detached, render
from freshview.codegen.cpp.types import Cpp, cpp_payload_type, cpp_type, is_there
from freshview.codegen.layout.dependencies import is_determined
from freshview.codegen.layout.storage import MapPlace, Sort
from freshview.codegen.terms.context import ONE, Bound, Next
from freshview.codegen.terms.index_search import IndexSearch
from freshview.codegen.terms.monotonicity import Conditions, conditions
from freshview.codegen.terms.ranges import Range, ranges
from freshview.codegen.terms.writer import TermWriter


def emit_range_sum(
    terms: TermWriter, e: Sum, spot: Spot, env: Bound, m: Cpp, k: Next, last: bool
) -> bool:
    """A sum over a range, by an ordered index; whether it was one."""
    inner = terms.inside(e.keys, e.body, env)
    for r in ranges(e, inner.keys()):
        place = terms.places[r.atom.name]
        x = r.atom.vars.index(r.x)
        if not _sortable(place.key_type(x)) or place.storage.transient:
            continue
        if any(t.kind == "ring" for t in place.storage.payloads):
            continue  # an index adds up numbers only
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
        before, terms.fallback = terms.fallback, True
        terms.plain_sum(e, no, env, m, k, last)
        terms.fallback = before
        return True
    return False


def emit_band(
    terms: TermWriter, factors: list[Expr], at: int, spot: Spot, env: Bound, m: Cpp, k: Next
) -> bool:
    """A walk through the rows of a map between two ends, by an ordered index; whether it was one.

    Rows between one end and nothing are likely many: to walk through all of them is as quick.
    """
    factor, rest = factors[at], factors[:at] + factors[at + 1 :]
    atom = factor.body if isinstance(factor, Exists) else factor
    if not isinstance(atom, View) or atom.inputs or len(atom.vars) != 1 or atom.vars[0] in env:
        return False
    [x] = atom.vars
    place = terms.places[atom.name]
    if not _sortable(place.key_type(0)) or place.storage.transient:
        return False
    if any(t.kind == "ring" for t in place.storage.payloads):
        return False
    tests = [f for f in rest if isinstance(f, Cmp) and x in ins(f) and ins(f) <= {x, *env}]
    sides = [c for f in tests if (c := conditions(x, [f]))]
    ends = Conditions([e for c in sides for e in c.up], [e for c in sides for e in c.down])
    if not (ends.up and ends.down):
        return False
    left = [f for f in rest if f not in ends.up and f not in ends.down]
    r = Range(atom, x, (), [], ends)

    def leave(s: Spot, b: Bound, n: Cpp) -> None:
        terms.product(left, s, b, m if atom is not factor else n, k, False)

    _walk(terms, r, (), spot, env, m, leave)
    return True


def _no_negative(terms: TermWriter, v: View) -> str:
    place = terms.places[v.name]
    if not place.storage.orders:
        place.storage.order(tuple(Sort(i) for i in range(len(place.storage.keys))))
    return f"s.{place.storage.name}_U_below{place.payload} == 0"


def _outside(
    terms: TermWriter, e: Sum, r: Range, spot: Spot, inner: Bound, env: Bound, m: Cpp, k: Next
) -> None:
    """First the factors that do not depend on x, then the range."""

    def leave(s: Spot, b: Bound, n: Cpp) -> None:
        k(s, {**env, **{v: b[v] for v in outs(e)}}, n)

    terms.product(
        list(r.outside), spot, inner, m, lambda s, b, n: _add_up(terms, r, s, b, n, leave), False
    )


def _add_up(terms: TermWriter, r: Range, spot: Spot, env: Bound, m: Cpp, k: Next) -> None:
    """The sum over the range, for each group if there are groups."""
    place = terms.places[r.atom.name]
    fixed = tuple(v for v in r.atom.vars if v in env)
    if r.groups and _is_one_each(terms, r, fixed):
        _walk(terms, r, fixed, spot, env, m, k)
        return
    search = IndexSearch(place, r.atom, fixed, r.groups, (_sort(place, r, r.x),))
    spot = search.begin(terms, spot, env)
    turns: tuple[str, ...] = ()
    if r.groups:
        turns, spot = _turns(terms, cpp_type(search.type(r.x)), spot)
        spot, env = search.each_group(spot, env)
    inside = _ends(terms, r, search, turns, spot, env)
    inside.items.append(f"@ = {search.tree}.sum_between(e.arena, before, upto);")
    name, spot = spot.computed("q", f"Sum_{place.storage.name} @{{}};", inside)
    _leave(place, name, spot, env, m, k)


def _walk(
    terms: TermWriter, r: Range, fixed: tuple[str, ...], spot: Spot, env: Bound, m: Cpp, k: Next
) -> None:
    """The entries of the range one by one, where each of them is a group, or has to be seen."""
    place = terms.places[r.atom.name]
    sorts = tuple(_sort(place, r, v) for v in (r.x, *r.groups))
    search = IndexSearch(place, r.atom, fixed, (), sorts)
    spot = search.begin(terms, spot, env)
    if not terms.fallback and r.groups:
        terms.scans.append(place.storage.name)
    ends = _ends(terms, r, search, (), spot, env)
    _, spot = spot.open(("range", search.tree, "\n".join(render(ends))), "", "{")
    if not spot.block.items:
        spot.block.items.extend(ends.items)
    opener = (
        f"{search.tree}.each(e.arena, before, upto, "
        f"[&](const {search.entry}& @, const Sum_{place.storage.name}& v@) {{"
    )
    entry, spot = spot.open("walk", "r", opener, "return true; });")
    seen = {v: search.value(entry, v) for v in r.groups or (r.x,)}
    _leave(place, f"v{entry}", spot, {**env, **seen}, m, k)


def _leave(place: MapPlace, entry: str, spot: Spot, env: Bound, m: Cpp, k: Next) -> None:
    """Go on with a sum of the index, if it is not zero."""
    t, total = place.payload_type, f"{entry}.p{place.payload}"
    value = total if t.kind == "double" else f"narrow<{cpp_type(t)}>(o, {total})"
    there = is_there(Cpp(total, t, cpp_payload_type(t)))
    _, spot = spot.open(("there", value), "", f"if ({there}) {{")
    k(spot, env, times(m, Cpp(value, t, cpp_payload_type(t))))


def _is_one_each(terms: TermWriter, r: Range, fixed: tuple[str, ...]) -> bool:
    """Whether a group has one value of x: to search in every group would be a detour."""
    at = r.atom.vars.index
    return is_determined(terms.maps[r.atom.name], at(r.x), [at(v) for v in (*fixed, *r.groups)])


def _sort(place: MapPlace, r: Range, v: str) -> Sort:
    return Sort(place.columns[r.atom.vars.index(v)])


def _turns(terms: TermWriter, kind: str, spot: Spot) -> tuple[tuple[str, ...], Spot]:
    """Where a condition turns does not depend on the group: what one has found, all know."""
    out: tuple[str, ...] = ()
    for side in ("up", "down"):
        terms.turns += 1
        turn, spot = spot.let(("turn", terms.turns, side), "u", f"Turn<{kind}> @;")
        out += (turn,)
    return out, spot


def _ends(
    terms: TermWriter, r: Range, search: IndexSearch, turns: tuple[str, ...], spot: Spot, env: Bound
) -> Block:
    """What tells the entries `before` a range, and those `upto` its end."""
    inside = detached(spot)
    entry = inside.fresh("k")
    x = search.value(entry, r.x)
    at = {**env, r.x: x}
    here = Spot(inside)
    for name, parts, holds in (
        ("before", r.conditions.up, False),
        ("upto", r.conditions.down, True),
    ):
        _, body = here.open(
            name, "", f"auto {name} = [&](const {search.entry}& {entry}) -> bool {{", "};"
        )
        body.line("FR_VISIT(1);")
        body.line(search.beyond(entry))
        if parts and turns:
            call = f"{turns[1]}.upto" if holds else f"!{turns[0]}.from"
            opener = f"return {call}({x.text}, [&]() -> bool {{"
            _, inner = body.open("asked", "", opener, "});")
            terms.product(list(parts), inner, at, ONE, _return("true"), True)
            inner.line("return false;")
        else:
            answers = [str(holds).lower(), str(not holds).lower()]
            if parts:
                terms.product(list(parts), body, at, ONE, _return(answers.pop(0)), True)
            body.line(f"return {answers[0]};")
    return inside


def _sortable(t: Type) -> bool:
    """Whether the order of a type is that of its bits' value: not of text, nor with NULL."""
    return t.kind in ("int", "decimal", "double", "date", "timestamp") and not t.nullable


def _return(answer: str) -> Next:
    def say(spot: Spot, _: Bound, __: Cpp) -> None:
        spot.line(f"return {answer};")

    return say
