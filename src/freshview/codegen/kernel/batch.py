"""The rows of a batch as C++: all of them, or those that pass the tests that everything needs."""

from __future__ import annotations

from collections.abc import Callable

from freshview.calculus.types import INT
from freshview.codegen.cpp.types import Cpp, batch_type
from freshview.codegen.kernel.fetch import PREFETCH_DISTANCE, fetching
from freshview.codegen.kernel.rows import array_name, batch_fields, column_name
from freshview.codegen.kernel.text import Lines, Opened, indented
from freshview.codegen.kernel.values import CppScope
from freshview.codegen.loops.facts import columns_read
from freshview.codegen.loops.parts import Holds
from freshview.codegen.loops.terms import Batch, Block, If, Times
from freshview.program.signs import MOST

CHUNK = 1024
"""Rows that are chosen from at a time: their columns are still at hand when the rest is done."""


def open_batch(s: Batch, scope: CppScope) -> Opened:
    """The loop over the rows of a batch."""
    columns = scope.relations[s.relation].columns
    inside = scope.with_row(s.row, batch_fields(s.row, columns))

    def loads(block: Block) -> Lines:
        return [
            f"const {batch_type(columns[j].type)} {column_name(s.row, columns, j)} = "
            f"{array_name(columns, j)}[{s.row}];"
            for j in sorted(columns_read(block, s.row))
        ]

    before, first, after, depth = (_chosen if s.tests else _all)(s, inside, loads)
    first += loads(s.body)
    if s.in_turn:
        first.append(f"if ((b.count[{s.row}] < 0) != deletions) continue;")
    first += _fetches(s, scope)
    if s.in_turn:
        # A key gets its new row after the old one is gone, in whatever order they came.
        before = [
            "bool some = false;",
            "for (i64 i = 0; i < b.size; i++) some |= b.count[i] < 0;",
            "for (bool deletions = some;; deletions = false) {",
            *indented(before),
        ]
        after = [*indented(after), "  if (!deletions) break;", "}"]
        depth += 1
    return Opened(tuple(before), inside, tuple(after), tuple(first), depth=depth)


Loop = tuple[Lines, Lines, Lines, int]


def _all(s: Batch, _: CppScope, __: Callable[[Block], Lines]) -> Loop:
    i = s.row
    return [f"for (i64 {i} = 0; {i} < b.size; {i}++) {{"], [], ["}"], 1


def _chosen(s: Batch, inside: CppScope, loads: Callable[[Block], Lines]) -> Loop:
    """Rows that pass are numbered in a loop without branches; all else is done for them alone."""
    i = s.row
    tests = [t for t in s.tests if isinstance(t, Holds)]
    quick = [inside.condition(t) for t in tests if not inside.is_slow(t)]
    slow = [inside.condition(t) for t in tests if inside.is_slow(t)]
    passes = " && ".join([f"({' & '.join(quick)})", *slow] if quick else slow)
    choose = [
        *loads((If(s.tests, ()),)),
        f"rows[chosen] = u32({i} - from);",
        f"chosen += {passes};",
    ]
    before = [
        f"for (i64 from = 0; from < b.size; from += {CHUNK}) {{",
        f"  u32 rows[{CHUNK}];",
        "  i64 chosen = 0;",
        f"  const i64 end = b.size - from < {CHUNK} ? b.size : from + {CHUNK};",
        f"  for (i64 {i} = from; {i} < end; {i}++) {{",
        *indented(choose, 2),
        "  }",
        "  for (i64 j = 0; j < chosen; j++) {",
    ]
    return before, [f"const i64 {i} = from + rows[j];"], ["  }", "}"], 2


def _fetches(s: Batch, scope: CppScope) -> Lines:
    """What is fetched for a row some turns before its own."""
    if not s.fetches:
        return []
    columns = scope.relations[s.relation].columns

    def later(field: str) -> Cpp:
        j = int(field[1:])
        t = columns[j].type
        return Cpp(f"{array_name(columns, j)}[later]", t, batch_type(t))

    lines = indented(fetching(f, scope.with_row(s.row, later)) for f in s.fetches)
    if s.tests:
        head = f"if (const i64 next = j + {PREFETCH_DISTANCE}; next < chosen) {{"
        return [head, "  const i64 later = from + rows[next];", *lines, "}"]
    head = f"if (const i64 later = {s.row} + {PREFETCH_DISTANCE}; later < b.size) {{"
    return [head, *lines, "}"]


def open_times(s: Times, scope: CppScope) -> Opened:
    """As often as a row comes or goes; more often than a trigger can run is refused."""
    count = f"b.count[{s.row}]"
    refuse = f"if ({count} > {MOST} || {count} < -{MOST}) {{ e.many = true; continue; }}"
    if s.event == "either":
        sign = f"const i64 {s.sign} = {count} < 0 ? -1 : 1;"
        loop = f"for (i64 n = {count}; n; n -= {s.sign}) {{"
        inside = scope.with_local(s.sign, Cpp(s.sign, INT, "i64"))
        return Opened((refuse, sign, loop), inside)
    test, step = ("n > 0", "n--") if s.event == "insert" else ("n < 0", "n++")
    return Opened((refuse, f"for (i64 n = {count}; {test}; {step}) {{"), scope)
