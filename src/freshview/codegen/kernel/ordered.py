"""Ordered indexes as C++: sums over ranges, walks through them, groups, first rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from freshview.codegen.kernel.rows import entry_fields, raw_fields
from freshview.codegen.kernel.tables import CppTable
from freshview.codegen.kernel.text import Lines, Opened, indented
from freshview.codegen.kernel.values import CppScope
from freshview.codegen.loops.parts import Search
from freshview.codegen.loops.terms import (
    Block,
    EachGroup,
    FirstRows,
    Range,
    RangeSum,
    Walk,
)

Emit = Callable[[Block, CppScope], Lines]


def _tree(search: Search, scope: CppScope) -> tuple[CppTable, str, str]:
    """The table, the index of a search, and the type of its entries."""
    t = scope.tables[search.table]
    number = t.orders.index(search.sorts)
    return t, f"s.{t.name}_U_o{number}", f"Ord{number}_{t.name}"


def _beyond(search: Search, entry: str, scope: CppScope) -> str:
    """Entries with other leading columns than the wanted ones stand before or behind them."""
    t = scope.tables[search.table]
    wanted = [(i, scope.key(e, t.keys[i])) for i, e in search.known]
    own = [(f"{entry}.{t.key(i)}", x) for i, x in wanted]
    tests = [f"if (!same({key}, {x})) return sorts({key}, {x});" for key, x in own]
    return " ".join([f"(void){entry};", *tests])


def range_sum(s: RangeSum, scope: CppScope, emit: Emit) -> tuple[Lines, CppScope]:
    """The sums of payloads over a range, in a local."""
    t, tree, _ = _tree(s.range.search, scope)
    inside = [*_ends(s.range, scope, emit), *_add_up(s, t, tree)]
    lines = [f"Sum_{t.name} {s.name}{{}};", "{", *indented(inside), "}"]
    fields, raw = entry_fields(t, s.name, s.name), raw_fields(t, s.name)
    return lines, scope.with_row(s.name, fields, raw)


def _add_up(s: RangeSum, t: CppTable, tree: str) -> Lines:
    """The range is gone through with what adds up the payloads that are read."""
    read = s.only or range(len(t.payloads))
    real = [t.payload(j) for j in read if t.payloads[j].kind == "double"]
    whole = [t.payload(j) for j in read if t.payloads[j].kind != "double"]
    fields = [*(f"Addition {p};" for p in real), *(f"i128 {p};" for p in whole)]
    counts = [f"{p} += x.{p};" for p in whole]
    adds = " ".join([*(f"{p}.add(x.{p});" for p in real), *counts])
    far = " ".join([*(f"{p}.add_far(x.{p});" for p in real), *counts])
    near = " && ".join(f"{p}.is_near()" for p in real) or "true"
    return [
        "struct {",
        f"  {' '.join(fields)}",
        f"  void add(const Sum_{t.name}& x) {{ {adds} }}",
        f"  void add_far(const Sum_{t.name}& x) {{ {far} }}",
        f"  bool is_near() const {{ return {near}; }}",
        "} all{};",
        f"{tree}.sum_between(e.arena, before, upto, all);",
        *(f"{s.name}.{p} = all.{p}.sum();" for p in real),
        *(f"{s.name}.{p} = all.{p};" for p in whole),
    ]


def open_walk(s: Walk, scope: CppScope, emit: Emit) -> Opened:
    """The entries of a range one by one."""
    t, tree, entry = _tree(s.range.search, scope)
    opener = (
        f"{tree}.each(e.arena, before, upto, "
        f"[&](const {entry}& {s.row}, const Sum_{t.name}& v{s.row}) {{"
    )
    before = ("{", *indented([*_ends(s.range, scope, emit), opener]))
    sums = f"v{s.row}"
    inside = scope.with_row(s.row, entry_fields(t, s.row, sums), raw_fields(t, sums))
    return Opened(before, inside, ("  });", "}"), last=("return true;",), depth=2)


def _ends(r: Range, scope: CppScope, emit: Emit) -> Lines:
    """What tells the entries `before` a range, and those `upto` its end."""
    t, _, entry = _tree(r.search, scope)
    inside = scope.with_row(r.at, entry_fields(t, r.at, r.at))
    lines: Lines = []
    sides = (("before", r.up, False), ("upto", r.down, True))
    for name, block, holds in sides:
        lines.append(f"auto {name} = [&](const {entry}& {r.at}) -> bool {{")
        body = ["FR_VISIT(1);", _beyond(r.search, r.at, scope)]
        yes, no = str(holds).lower(), str(not holds).lower()
        if not block:
            body.append(f"return {yes};")
        elif r.turns:
            x = next(sort.column for sort in r.search.sorts if sort.column not in _known(r))
            call = f"{r.turns[1]}.upto" if holds else f"!{r.turns[0]}.from"
            body.append(f"return {call}({r.at}.{t.key(x)}, [&]() -> bool {{")
            body += indented(emit(block, replace(inside, answer="true")))
            body += ["  return false;", "});"]
        else:
            body += [*emit(block, replace(inside, answer=yes)), f"return {no};"]
        lines += [*indented(body), "};"]
    return lines


def _known(r: Range) -> set[int]:
    return {i for i, _ in r.search.known}


def open_each_group(s: EachGroup, scope: CppScope) -> Opened:
    """A loop over the groups of an index, found one after the other by search."""
    t, tree, entry = _tree(s.search, scope)
    pairs = [(f"a.{t.key(i)}", f"b.{t.key(i)}") for i in s.columns]
    later = " ".join(f"if (!same({a}, {b})) return sorts({a}, {b});" for a, b in pairs)
    beyond = _beyond(s.search, "k", scope)
    opener = (
        f"each_group(e.arena, {tree}, "
        f"[&](const {entry}& k) {{ {beyond} return false; }}, "
        f"[&](const {entry}& k) {{ {beyond} return true; }}, "
        f"[&](const {entry}& a, const {entry}& b) {{ {later} return false; }}, "
        f"[&](const {entry}& {s.row}) {{"
    )
    return Opened((opener,), scope.with_row(s.row, entry_fields(t, s.row, s.row)), ("});",))


def open_first_rows(s: FirstRows, scope: CppScope) -> Opened:
    """The first rows of a search, until enough of them are counted."""
    t, tree, entry = _tree(s.search, scope)
    first = next(sort.column for sort in s.search.sorts if sort.column not in dict(s.search.known))
    absent = "false" if s.nulls == "as_sorted" else f"is_null(k.{t.key(first)})"
    number = f"v.{t.payload(s.payload)}"
    number = f"i128({number} != 0)" if s.once else number
    count = f"(void)k; return {number};"
    if s.others:
        others = scope.tables[s.others]
        wanted = ", ".join(f"k.{t.key(i)}" for i in s.wanted)
        count = (
            f"i128 n = {number}; "
            f"if (const auto* r = {others.name}.find(e.scratch, {others.record}::Key{{{wanted}}})) "
            f"n += r->{others.payload(0)}; return n;"
        )
    key = f"const {entry}& k"
    opener = (
        f"first_rows<{str(s.descending).lower()}, {s.nulls}>(e.arena, {tree}, {s.limit}, "
        f"[&]({key}, bool in) {{ FR_VISIT(1); {_beyond(s.search, 'k', scope)} return in; }}, "
        f"[&]({key}) {{ (void)k; return {absent}; }}, "
        f"[&]({key}, const Sum_{t.name}& v) {{ {count} }}, "
        f"[&](const {entry}& {s.row}, i64 n{s.row}) {{"
    )
    return Opened((opener,), scope.with_row(s.row, entry_fields(t, s.row, s.row)), ("});",))
