"""Ordered indexes as C++: sums over ranges, walks through them, groups, first rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from freshview.codegen.kernel.rows import entry_fields, raw_fields
from freshview.codegen.kernel.tables import CppTable
from freshview.codegen.kernel.text import Lines, Opened, indented
from freshview.codegen.kernel.values import CppScope
from freshview.codegen.layout.terms import Columns
from freshview.codegen.loops.parts import Running, Search
from freshview.codegen.loops.terms import (
    Block,
    EachGroup,
    FirstRows,
    Range,
    RangeSum,
    Walk,
)
from freshview.codegen.loops.walk import all_names_read

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
    read = s.only or tuple(range(len(t.payloads)))
    inside = [
        *_ends(s.range, scope, emit),
        "struct {",
        *_totals(t, read),
        "} all{};",
        f"{tree}.sum_between(e.arena, before, upto, all);",
        *_results(t, read, "all", s.name),
    ]
    lines = [f"Sum_{t.name} {s.name}{{}};", "{", *indented(inside), "}"]
    return lines, _with_sums(t, s.name, scope)


def _with_sums(t: CppTable, name: str, scope: CppScope) -> CppScope:
    return scope.with_row(name, entry_fields(t, name, name), raw_fields(t, name))


def _totals(t: CppTable, read: Columns) -> Lines:
    """The members of what adds up payloads."""
    real = [t.payload(j) for j in read if t.payloads[j].kind == "double"]
    whole = [t.payload(j) for j in read if t.payloads[j].kind != "double"]
    fields = [*(f"Addition {p};" for p in real), *(f"i128 {p};" for p in whole)]
    counts = [f"{p} += x.{p};" for p in whole]
    adds = " ".join([*(f"{p}.add(x.{p});" for p in real), *counts])
    far = " ".join([*(f"{p}.add_far(x.{p});" for p in real), *counts])
    near = " && ".join(f"{p}.is_near()" for p in real) or "true"
    return [
        f"  {' '.join(fields)}",
        f"  void add(const Sum_{t.name}& x) {{ {adds} }}",
        f"  void add_far(const Sum_{t.name}& x) {{ {far} }}",
        f"  bool is_near() const {{ return {near}; }}",
    ]


def _results(t: CppTable, read: Columns, totals: str, sums: str) -> Lines:
    """What was added up, as payloads."""
    real = [t.payload(j) for j in read if t.payloads[j].kind == "double"]
    whole = [t.payload(j) for j in read if t.payloads[j].kind != "double"]
    return [
        *(f"{sums}.{p} = {totals}.{p}.sum();" for p in real),
        *(f"{sums}.{p} = {totals}.{p};" for p in whole),
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
    sides = (("before", r.up, False, r.running[0]), ("upto", r.down, True, r.running[1]))
    for name, block, holds, running in sides:
        if running:
            lines += _turn(name, r, running, block, holds, scope, emit)
            continue
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


def _turn(
    name: str, r: Range, s: Running, block: Block, holds: bool, scope: CppScope, emit: Emit
) -> Lines:
    """The end of a range that depends on running sums: first the entry where it lies is found."""
    t, tree, entry = _tree(r.search, scope)
    columns = (x.partition(".") for x in all_names_read(block))
    read = tuple(sorted(int(p[1:]) for row, _, p in columns if row == s.name))
    behind, own = s.side in ("after", "from"), s.side in ("from", "to")
    yes, no = str(holds).lower(), str(not holds).lower()
    inside = replace(_with_sums(t, s.name, scope), answer=yes)
    body = [
        "FR_VISIT(1);",
        f"Sum_{t.name} {s.name}{{}};",
        *_results(t, read, "all", s.name),
        *emit(block, inside),
        f"return {no};",
    ]
    kind, at = f"Total_{name}", f"{name}_at"
    ways = ", ".join([str(behind).lower(), str(own).lower(), kind])
    return [
        f"struct {kind} {{",
        *_totals(t, read),
        "};",
        f"{entry} {at};",
        f"const bool {name}_ends = {tree}.template turn<{ways}>("
        f"e.arena, [&](const {kind}& all) -> bool {{",
        *indented(body),
        f"}}, {at});",
        f"auto {name} = [&](const {entry}& {r.at}) -> bool {{",
        "  FR_VISIT(1);",
        f"  return !{name}_ends || {r.at}.less(e.arena, {at});",
        "};",
    ]


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


def _begun(s: FirstRows, scope: CppScope) -> str:
    """Whether an entry of the search stands before the rows that are walked through.

    A walk backward begins at the last entry that passes the tests, one forward at the first.
    """
    if not s.ends:
        return "return in;"
    t = scope.tables[s.search.table]
    holds = scope.with_row(s.row, entry_fields(t, "k", "k")).conditions(s.ends)
    return f"return in && ({holds});" if s.descending else f"return in || !({holds});"


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
        f"[&]({key}, bool in) {{ FR_VISIT(1); {_beyond(s.search, 'k', scope)} "
        f"{_begun(s, scope)} }}, "
        f"[&]({key}) {{ (void)k; return {absent}; }}, "
        f"[&]({key}, const Sum_{t.name}& v) {{ {count} }}, "
        f"[&](const {entry}& {s.row}, i64 n{s.row}) {{"
    )
    return Opened((opener,), scope.with_row(s.row, entry_fields(t, s.row, s.row)), ("});",))
