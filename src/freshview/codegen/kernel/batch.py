"""The rows of a batch as C++: all of them, or those that pass the tests that everything needs."""

from __future__ import annotations

from freshview.calculus.types import INT
from freshview.codegen.cpp.types import Cpp, batch_type
from freshview.codegen.kernel.fetch import PREFETCH_DISTANCE, fetching
from freshview.codegen.kernel.host_columns import host_columns
from freshview.codegen.kernel.preaggregate import add_up
from freshview.codegen.kernel.rows import CHUNK, array_name, batch_fields, load_columns
from freshview.codegen.kernel.select import NUMBER_ROWS, mark_rows
from freshview.codegen.kernel.text import Lines, Opened, PrintBlock, indented
from freshview.codegen.kernel.values import CppScope
from freshview.codegen.loops.terms import Batch, Times
from freshview.program.signs import MOST

FEW_ROWS = 4
"""Rows of a batch from which on memory is fetched for the first of them, too."""


def open_batch(s: Batch, scope: CppScope, print_block: PrintBlock) -> Opened:
    """The loop over the rows of a batch."""
    columns = scope.relations[s.relation].columns
    computed, inside = host_columns(s, scope.with_row(s.row, batch_fields(s.row, columns)))
    ahead, fetches = _fetches(s, scope)
    if s.tests or s.preaggregated:
        before, first, after, depth = _by_blocks(s, inside, print_block, ahead)
    else:
        before, first, after, depth = _all(s, ahead)
    first += load_columns(s.body, s.row, columns)
    if s.in_turn:
        first.append(f"if ((b.count[{s.row}] < 0) != deletions) continue;")
    first += fetches
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
    if computed:
        before, after, depth = (
            ["{", *indented([*computed, *before])],
            [*indented(after), "}"],
            depth + 1,
        )
    return Opened(tuple(before), inside, tuple(after), tuple(first), depth=depth)


Loop = tuple[Lines, Lines, Lines, int]


def _all(s: Batch, ahead: Lines) -> Loop:
    i = s.row
    loop = f"for (i64 {i} = 0; {i} < b.size; {i}++) {{"
    if not ahead:
        return [loop], [], ["}"], 1
    return ["{", *indented([*ahead, loop])], [], ["  }", "}"], 2


def _by_blocks(s: Batch, inside: CppScope, print_block: PrintBlock, ahead: Lines) -> Loop:
    """Rows that pass are numbered first; a block of them may be added up before all else."""
    mark = mark_rows(s, inside) if s.tests else []
    added = add_up(s, inside, print_block) if s.preaggregated else []
    number = NUMBER_ROWS if s.tests else ("const i64 chosen = end - from;",)
    before = [
        f"for (i64 from = 0; from < b.size; from += {CHUNK}) {{",
        f"  const i64 end = b.size - from < {CHUNK} ? b.size : from + {CHUNK};",
        *indented([*mark, *added, *number, *ahead, "for (i64 j = 0; j < chosen; j++) {"]),
    ]
    at = f"const i64 {s.row} = from + {'rows[j]' if s.tests else 'j'};"
    return before, [at], ["  }", "}"], 2


def _fetches(s: Batch, scope: CppScope) -> tuple[Lines, Lines]:
    """What is fetched before the loop, for its first rows, and in it for a row to come.

    Of very few rows nothing is fetched: they are there before it would be.
    """
    if not s.fetches:
        return [], []
    columns = scope.relations[s.relation].columns

    def later(field: str) -> Cpp:
        j = int(field[1:])
        t = columns[j].type
        return Cpp(f"{array_name(columns, j)}[later]", t, batch_type(t))

    blocks = s.tests or s.preaggregated
    row, rows = ("j", "chosen") if blocks else (s.row, "b.size")
    at = "from + rows[{}]" if s.tests else "from + {}" if blocks else "{}"
    ahead = [
        "const auto fetch_row = [&](const i64 later) __attribute__((always_inline)) {",
        *indented(fetching(s.fetches, scope.with_row(s.row, later))),
        "};",
        f"for (i64 n = 0; {rows} >= {FEW_ROWS} && n < {PREFETCH_DISTANCE} && n < {rows}; n++)"
        f" fetch_row({at.format('n')});",
    ]
    head = f"if (const i64 next = {row} + {PREFETCH_DISTANCE}; next < {rows})"
    return ahead, [f"{head} fetch_row({at.format('next')});"]


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
