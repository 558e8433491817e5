"""The rows of a batch as C++: all of them, or those that pass the tests that everything needs."""

from __future__ import annotations

from freshview.calculus.types import INT
from freshview.codegen.cpp.types import Cpp, batch_type
from freshview.codegen.kernel.fetch import PREFETCH_DISTANCE, fetching
from freshview.codegen.kernel.preaggregate import add_up
from freshview.codegen.kernel.rows import CHUNK, array_name, batch_fields, load_columns
from freshview.codegen.kernel.select import NUMBER_ROWS, mark_rows
from freshview.codegen.kernel.text import Lines, Opened, PrintBlock, indented
from freshview.codegen.kernel.values import CppScope
from freshview.codegen.loops.terms import Batch, Times
from freshview.program.signs import MOST


def open_batch(s: Batch, scope: CppScope, print_block: PrintBlock) -> Opened:
    """The loop over the rows of a batch."""
    columns = scope.relations[s.relation].columns
    inside = scope.with_row(s.row, batch_fields(s.row, columns))
    if s.tests or s.preaggregated:
        before, first, after, depth = _by_blocks(s, inside, print_block)
    else:
        before, first, after, depth = _all(s)
    first += load_columns(s.body, s.row, columns)
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


def _all(s: Batch) -> Loop:
    i = s.row
    return [f"for (i64 {i} = 0; {i} < b.size; {i}++) {{"], [], ["}"], 1


def _by_blocks(s: Batch, inside: CppScope, print_block: PrintBlock) -> Loop:
    """Rows that pass are numbered first; a block of them may be added up before all else."""
    mark = mark_rows(s, inside) if s.tests else []
    added = add_up(s, inside, print_block) if s.preaggregated else []
    number = NUMBER_ROWS if s.tests else ("const i64 chosen = end - from;",)
    before = [
        f"for (i64 from = 0; from < b.size; from += {CHUNK}) {{",
        f"  const i64 end = b.size - from < {CHUNK} ? b.size : from + {CHUNK};",
        *indented([*mark, *added, *number, "for (i64 j = 0; j < chosen; j++) {"]),
    ]
    at = f"const i64 {s.row} = from + {'rows[j]' if s.tests else 'j'};"
    return before, [at], ["  }", "}"], 2


def _fetches(s: Batch, scope: CppScope) -> Lines:
    """What is fetched for a row some turns before its own."""
    if not s.fetches:
        return []
    columns = scope.relations[s.relation].columns

    def later(field: str) -> Cpp:
        j = int(field[1:])
        t = columns[j].type
        return Cpp(f"{array_name(columns, j)}[later]", t, batch_type(t))

    lines = indented(fetching(s.fetches, scope.with_row(s.row, later)))
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
