"""First rows read off an ordered index: MIN, MAX and LIMIT without a look at the other rows.

`Top[g; x; 1](A[g, x])` is the first entry of g in an index of A by (g, x). Where the term is more
than a map, as in `Top[g; x; 1](A[g, x] + D)`, only the rows of D are looked at besides.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from freshview.calculus.build import add, addends, factors, is_zero
from freshview.calculus.scope import ins, outs
from freshview.calculus.terms import Cmp, Exists, Expr, Order, Top, View
from freshview.calculus.types import INT
from freshview.codegen.cpp.arithmetic import times
from freshview.codegen.cpp.code import Spot, detached
from freshview.codegen.cpp.compare import compare
from freshview.codegen.cpp.types import Cpp, cpp_type
from freshview.codegen.layout.storage import MapPlace, Sort, Storage
from freshview.codegen.terms.context import Bound, Next
from freshview.codegen.terms.index_search import IndexSearch
from freshview.codegen.terms.nested import emit_first_of_groups, materialize, total_order
from freshview.codegen.terms.writer import TermWriter


@dataclass(frozen=True)
class FirstRows:
    """What a choice of first rows consists of."""

    atom: View
    once: bool
    """Whether a row of the atom counts once, however often it is there."""
    tests: tuple[Cmp, ...]
    """Without which the atom has no rows."""
    rest: Expr
    """What else the rows are chosen from."""
    groups: tuple[str, ...]
    order: tuple[Order, ...]
    """Of all the variables of the atom that are neither bound nor groups."""


def first_rows_of(e: Top, bound: Set[str]) -> FirstRows | None:
    """A choice of first rows as one among the entries of a map, given the variables bound inside.

    >>> from freshview.calculus.text import read
    >>> f = first_rows_of(read("Top[g; x; 1](M[g, x] + (x := y))"), {"g", "y"})
    >>> f.atom.name, f.rest == read("(x := y)"), [o.var for o in f.order]
    ('M', True, ['x'])
    """
    wanted = outs(e.body) - bound
    groups = tuple(v for v in e.keys if v in wanted)
    order = total_order(e.order, wanted - set(groups))
    parts = addends(e.body)
    for i, part in enumerate(parts):
        tests = tuple(f for f in factors(part) if isinstance(f, Cmp) and ins(f) <= bound)
        others = [f for f in factors(part) if f not in tests]
        head = others[0] if len(others) == 1 else None
        atom = head.body if isinstance(head, Exists) else head
        rest = add(*parts[:i], *parts[i + 1 :])
        if not isinstance(atom, View) or atom.inputs or len(set(atom.vars)) < len(atom.vars):
            continue
        if set(atom.vars) - bound == wanted and order and (is_zero(rest) or not groups):
            return FirstRows(atom, atom is not head, tests, rest, groups, order)
    return None


def emit_first_rows(terms: TermWriter, e: Top, spot: Spot, env: Bound, m: Cpp, k: Next) -> bool:
    """The first rows by an ordered index; whether there is one."""
    inner = terms.inside(e.keys, e.body, env)
    f = first_rows_of(e, inner.keys())
    if f is None or terms.payload(e.body, inner).kind != "int":
        return False
    place = terms.places[f.atom.name]
    sorts = _sorts(f, place)
    if sorts is None or place.storage.transient:
        return False
    if not is_zero(f.rest) and place.storage.determining is not None:
        return False  # rows are then not found by all of their keys
    fixed = tuple(v for v in f.atom.vars if v in inner)
    search = IndexSearch(place, f.atom, fixed, f.groups, sorts)
    if is_zero(f.rest):
        _walk(terms, e, f, search, spot, inner, env, m, k)
    else:
        _choose_among(terms, e, f, search, spot, inner, env, m, k)
    return True


def _sorts(f: FirstRows, place: MapPlace) -> tuple[Sort, ...] | None:
    """How an index must sort; its end is then read in the order of the first variable."""
    back = f.order[0].descending
    out = []
    for o in f.order:
        at = f.atom.vars.index(o.var)
        t = place.key_type(at)
        if t.nullable and o.nulls_first == o.descending and o is not f.order[0]:
            return None
        out.append(Sort(place.columns[at], o.descending != back, t.kind == "string"))
    return tuple(out)


def _walk(
    terms: TermWriter,
    e: Top,
    f: FirstRows,
    search: IndexSearch,
    spot: Spot,
    inner: Bound,
    env: Bound,
    m: Cpp,
    k: Next,
) -> None:
    """The first rows of the atom, for each group if there are groups."""
    for t in f.tests:
        test = _test(terms, t, inner)
        _, spot = spot.open(("if", test), "", f"if ({test}) {{")
    spot = search.begin(terms, spot, inner)
    if f.groups:
        if not terms.fallback:
            terms.scans.append(search.place.storage.name)
        spot, _ = search.each_group(spot, inner)
    count = f"return {_count(f, search.place)};"
    key = ("first", search.tree, e.limit, f.order[0], count, tuple(search.known.items()))
    r, spot = spot.open(key, "r", _opener(e, f, search, f"(void)k; {count}"), "});")
    names = sorted(outs(e.body) - inner.keys())
    # A variable that is bound outside, but is no key, is tested after the choice.
    columns = [search.value(r, v) for v in names]
    terms.bind(tuple(names), columns, spot, env, times(m, Cpp(f"n{r}", INT, "i64")), k)


def _choose_among(
    terms: TermWriter,
    e: Top,
    f: FirstRows,
    search: IndexSearch,
    spot: Spot,
    inner: Bound,
    env: Bound,
    m: Cpp,
    k: Next,
) -> None:
    """The choice among the first rows of the atom and all the other rows.

    A row that is in both is met in the index, where it counts as often as in both together.
    """
    names = sorted(outs(e.body) - inner.keys())
    others, spot = materialize(terms, f.rest, names, inner, spot)
    rows = Storage(f"tmp{len(terms.transients)}", others.keys, [INT], transient=True)
    terms.transients.append(rows)
    place = MapPlace(rows, 0, tuple(range(len(names))))
    inside = detached(spot)
    at = search.begin(terms, Spot(inside), inner, among=True)
    held_by_atom = " && ".join([*search.tests, *(_test(terms, t, inner) for t in f.tests)])

    wanted = ", ".join(search.value("k", v).text for v in names)
    both = (
        f"i128 n = {_count(f, search.place)}; "
        f"if (const auto* r = {others.name}.find(e.scratch, {others.record}::Key{{{wanted}}})) "
        f"n += r->p0; return n;"
    )
    _, walked = at.open("tests", "", f"if ({held_by_atom or 'true'}) {{")
    r, walked = walked.open("walk", "r", _opener(e, f, search, both), "});")
    keys = [search.value(r, v) for v in names]
    terms.write(place, keys, walked, Cpp(f"n{r}", INT, "i64"))

    opener = f"{others.name}.each(e.scratch, [&](const {others.record}& @) {{"
    r, alone = at.open("others", "r", opener, "});")
    columns = [Cpp(f"{r}.k{i}", t, cpp_type(t)) for i, t in enumerate(others.keys)]
    by_column = {search.column(v): columns[i].text for i, v in enumerate(names)} | search.known
    s = search.place.storage
    whole = ", ".join(by_column[i] for i in range(len(s.keys)))
    there = f"s.{s.name}.find(e.arena, {s.record}::Key{{{whole}}})"
    there = f"({held_by_atom}) && {there}" if held_by_atom else there
    alone.line("FR_VISIT(1);")
    _, alone = alone.open("alone", "", f"if ({r}.p0 > 0 && !({there})) {{")
    terms.write(place, columns, alone, Cpp(f"{r}.p0", INT, "i64"))
    _, spot = spot.computed("", f"{rows.table} {rows.name}{{}};", inside)
    emit_first_of_groups(terms, e, rows, names, spot, env, m, k)


def _opener(e: Top, f: FirstRows, search: IndexSearch, count: str) -> str:
    """The call that runs what follows for the first rows."""
    first, entry = f.order[0], f"const {search.entry}& k"
    nulls, is_absent = "as_sorted", "false"
    if search.type(first.var).nullable and first.nulls_first == first.descending:
        nulls = "first" if first.nulls_first else "last"
        is_absent = f"is_null({search.value('k', first.var).text})"
    return (
        f"first_rows<{str(first.descending).lower()}, {nulls}>(e.arena, {search.tree}, {e.limit}, "
        f"[&]({entry}, bool in) {{ FR_VISIT(1); {search.beyond('k')} return in; }}, "
        f"[&]({entry}) {{ (void)k; return {is_absent}; }}, "
        f"[&]({entry}, const Sum_{search.place.storage.name}& v) {{ {count} }}, "
        f"[&](const {search.entry}& @, i64 n@) {{"
    )


def _count(f: FirstRows, place: MapPlace) -> str:
    """How many rows an entry with the value `v` is."""
    n = f"v.p{place.payload}"
    return f"i128({n} != 0)" if f.once else n


def _test(terms: TermWriter, t: Cmp, env: Bound) -> str:
    return compare(t.op, terms.value(t.left, env), terms.value(t.right, env))
