"""Records looked up, walked through and written, as C++."""

from __future__ import annotations

from freshview.codegen.kernel.fetch import PREFETCH_DISTANCE, fetching
from freshview.codegen.kernel.rows import record_fields
from freshview.codegen.kernel.tables import CppTable
from freshview.codegen.kernel.text import Opened
from freshview.codegen.kernel.values import CppScope
from freshview.codegen.loops.parts import SortKey
from freshview.codegen.loops.terms import (
    At,
    FirstOfGroups,
    Get,
    Scan,
    Slice,
)

VISIT = "FR_VISIT(1);"


def open_access(s: Get | Slice | Scan, scope: CppScope) -> Opened:
    """The record of a key, those of a slice, or all of them."""
    t = scope.tables[s.table]
    arrow = "->" if isinstance(s, Get) else "."
    inside = scope.with_row(s.row, record_fields(t, s.row, arrow))
    if isinstance(s, Get):
        record = s.probe or f"{t.path}.find({t.where}, {scope.lookup(t, s.keys)})"
        return Opened((f"if (const auto* {s.row} = {record}) {{",), inside, first=(VISIT,))
    if isinstance(s, Slice):
        j = t.index(s.columns)
        pairs = zip(s.columns, s.keys, strict=True)
        keys = ", ".join(scope.key(e, t.keys[i]) for i, e in pairs)
        opener = (
            f"{t.path}.template slice<{j}>({t.where}, Head{j}_{t.name}::Key{{{keys}}}, "
            f"[&](const {t.record}& {s.row}) {{"
        )
        return Opened((opener,), inside, ("});",), (VISIT,))
    if s.changed:
        log = f"{t.path}_U_log.{'before' if s.changed == 'was' else 'after'}"
        of = f"({t.where}, " + (f"{t.path}, " if s.changed == "is" else "")
        return Opened((f"{log}{of}[&](const {t.record}& {s.row}) {{",), inside, ("});",), (VISIT,))
    if not s.fetches:
        opener = f"{t.path}.each({t.where}, [&](const {t.record}& {s.row}) {{"
        return Opened((opener,), inside, ("});",), (VISIT,))
    soon = scope.with_row(s.row, record_fields(t, "soon", "."))
    lines = " ".join(fetching(s.fetches, soon))
    opener = (
        f"{t.path}.each({t.where}, {PREFETCH_DISTANCE}, "
        f"[&](const {t.record}& soon) {{ {lines} }}, [&](const {t.record}& {s.row}) {{"
    )
    return Opened((opener,), inside, ("});",), (VISIT,))


def open_at(s: At, scope: CppScope) -> Opened:
    """The record of a key, made or dropped; the ordered indexes follow its change."""
    t, w = scope.tables[s.table], s.row
    keys = ", ".join(scope.key(e, k) for e, k in zip(s.keys, t.keys, strict=True))
    if t.listing:
        return _open_entry(t, w, keys, scope)
    first = [f"auto* {w} = {t.path}.at({t.where}, {{{keys}}});", "FR_WRITE;"]
    last = [f"if ({w}->empty()) {t.path}.drop({t.where}, {w});"]
    if t.journal:
        log = f"{t.path}_U_log.note(e.arena, *{w}, {t.path}.size());"
        first.append(f"if (!{w}->noted) {log}")
    if t.orders:
        first.append(f"const auto {w}_old = *{w};")
        last.insert(0, f"follow_{t.name}(e, {w}_old, *{w});")
    return Opened(("{",), scope, first=tuple(first), last=tuple(last))


def _open_entry(t: CppTable, w: str, keys: str, scope: CppScope) -> Opened:
    """What is added to the entries of a key, where a table is nothing but its ordered indexes."""
    first = (
        f"{t.record} {w}_new{{}};",
        f"auto* {w} = &{w}_new;",
        f"{w}->set({{{keys}}});",
        "FR_WRITE;",
    )
    last = tuple(
        f"{t.name}_U_g{j}.add(e.scratch, Ord{j}_{t.name}::of(*{w}), "
        f"Sum_{t.name}::change({t.record}{{}}, *{w}));"
        for j in range(len(t.orders))
    )
    return Opened(("{",), scope, first=first, last=last)


def open_first_of_groups(s: FirstOfGroups, scope: CppScope) -> Opened:
    """The first rows of each group of a transient table."""
    t = scope.tables[s.table]
    order = [*(SortKey(i, nulls_first=True) for i in s.groups), *s.order]
    same = " && ".join(f"same(a.{t.key(i)}, b.{t.key(i)})" for i in s.groups) or "true"
    pair = f"[&](const {t.record}& a, const {t.record}& b)"
    opener = (
        f"top(e.scratch, {t.name}, {s.limit}, {pair} {{ {_less(order, t)} }}, "
        f"{pair} {{ (void)a, (void)b; return {same}; }}, "
        f"[&](const {t.record}& {s.row}, i64 n{s.row}) {{"
    )
    inside = scope.with_row(s.row, record_fields(t, s.row, "."))
    return Opened((opener,), inside, ("});",))


def _less(order: list[SortKey], table: CppTable) -> str:
    """The statements that tell whether a record stands before another one."""
    tests = []
    for o in order:
        key = table.key(o.column)
        t, a, b = table.keys[o.column], f"a.{key}", f"b.{key}"
        if t.nullable:
            here, there = (a, b) if o.nulls_first else (b, a)
            tests.append(
                f"if (is_null({a}) != is_null({b})) return is_null({here}); (void){there};"
            )
        sign = ">" if o.descending else "<"
        if t.kind == "string":
            both = f"text_compare(text(e, {a}), text(e, {b}))"
            guard = f"!is_null({a}) && " if t.nullable else ""
            tests.append(f"if ({guard}{a} != {b}) return {both} {sign} 0;")
        else:
            tests.append(f"if (!same({a}, {b})) return {a} {sign} {b};")
    return " ".join([*tests, "return false;"])
