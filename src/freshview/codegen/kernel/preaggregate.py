"""A block of rows added up by key before it goes to its table, as C++."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from freshview.calculus.terms import Var
from freshview.calculus.types import INT
from freshview.codegen.cpp.types import Cpp, convert
from freshview.codegen.kernel.rows import array_name, batch_fields, column_name, load_columns
from freshview.codegen.kernel.text import Lines, PrintBlock, indented
from freshview.codegen.kernel.values import CppScope
from freshview.codegen.loops.additions import Additions, additions
from freshview.codegen.loops.effects import (
    Gain,
)
from freshview.codegen.loops.facts import columns_read
from freshview.codegen.loops.terms import (
    At,
    Batch,
    Block,
    Stmt,
)
from freshview.codegen.loops.walk import map_blocks

LEAST = 32
"""Rows of a block that are worth being added up: fewer are as quickly added one by one."""

TOTAL = "total"
"""The row whose columns are the sums of a group."""


def add_up(s: Batch, scope: CppScope, print_block: PrintBlock) -> Lines:
    """The lines that add up the rows of a block, if they can, and go on to the next one.

    Rows that are not chosen count for a group that nobody asks for: there have to be few of them.
    """
    added = additions(s)
    assert added is not None
    columns = scope.relations[s.relation].columns
    coded = sorted(columns_read(added.keys, s.row))
    payloads = sorted({gain.payload for gain in added.gains})
    keys = "".join(f", {array_name(columns, j)} + from" for j in coded)
    pour = [
        f"const i64 {s.row} = from + groups.first(g, end - from);",
        f"if ({s.row} < from) continue;",
        *load_columns(_poured(s.body, []), s.row, columns),
        *print_block(_poured(s.body, payloads), _with_totals(added, scope)),
    ]
    return [
        f"if ({_is_worth_it(s)}) {{",
        f"  Groups<{len(payloads)}> groups;",
        f"  if (groups.find(end - from{keys}) && [&] {{",
        *indented(_bounds(s, added, scope), 3),
        "      }()) {",
        *(["    groups.choose(end - from, marks);"] if s.tests else []),
        *indented(_sums(s, added, scope, payloads), 2),
        "    for (u32 g = 1; g <= groups.size; g++) {",
        *indented(pour, 3),
        "    }",
        "    continue;",
        "  }",
        "}",
    ]


def _is_worth_it(s: Batch) -> str:
    """The condition that enough rows of a block are chosen."""
    if not s.tests:
        return f"end - from >= {LEAST}"
    return f"end - from >= {LEAST} && count_marks(marks, end - from) >= (end - from) / 2"


def _declared(s: Batch, added: Additions, scope: CppScope, load: str) -> tuple[Lines, CppScope]:
    """The columns that sums are computed from, in another arithmetic."""
    columns = scope.relations[s.relation].columns
    fields, count = batch_fields(s.row, columns), Cpp("count", INT, "i64")
    lines = [
        f"const i64 {column_name(s.row, columns, j)} = {load.format(array_name(columns, j))};"
        for j in sorted(columns_read(added.gains, s.row))
    ]
    lines.append(f"[[maybe_unused]] const i64 count = {load.format('b.count')};")
    for sign in added.signs:
        scope = scope.with_local(sign.name, count)
    return lines, scope.with_row(s.row, lambda c: count if c == "count" else fields(c))


def _bounds(s: Batch, added: Additions, scope: CppScope) -> Lines:
    """Whether no number on the way to the sums of a block can leave its range.

    The very expressions of the sums are evaluated, over bounds in the place of numbers.
    """
    lines, inside = _declared(s, added, scope, "magnitude({} + from, end - from)")
    most = max(Counter(gain.payload for gain in added.gains).values())
    return [
        "using i64 = Magnitude;",
        "using i128 [[maybe_unused]] = Magnitude;",
        "[[maybe_unused]] bool o = false;",
        *lines,
        "i64 top;",
        *(f"top.raise({_addend(gain, inside)});" for gain in added.gains),
        f"return top.fits({most} * (end - from));",
    ]


def _sums(s: Batch, added: Additions, scope: CppScope, payloads: list[int]) -> Lines:
    """The sums of all groups, eight rows at a time."""
    lines, inside = _declared(s, added, scope, "Lanes::load({} + i, end - i)")
    addends: dict[int, list[str]] = {}
    for gain in added.gains:
        addends.setdefault(gain.payload, []).append(_addend(gain, inside))
    whole = [f"{' + '.join(f'({x}).x' for x in addends[j])}" for j in payloads]
    values = ", ".join(f"i64(LaneVector({x}))" for x in whole)
    return [
        "for (i64 i = from; i < end; i += LANES) {",
        "  const auto row = i - from;",
        "  using i64 = Lanes;",
        "  using i128 [[maybe_unused]] = Lanes;",
        "  [[maybe_unused]] const Unchecked o{};",
        *indented(lines),
        f"  groups.add(row, {{{values}}});",
        "}",
    ]


def _addend(gain: Gain, scope: CppScope) -> str:
    """What a row adds to a payload."""
    payload = scope.tables[gain.table].payloads[gain.payload]
    return convert(scope.product(gain.weight), payload).text


def _poured(block: Block, payloads: Sequence[int]) -> Block:
    """What is done once for a group: to its record goes the sum of each payload."""

    def rule(s: Stmt) -> Stmt:
        if not isinstance(s, At):
            return map_blocks(s, partial(_poured, payloads=payloads))
        gains = (Gain(s.row, s.table, j, (Var(f"{TOTAL}.p{j}"),)) for j in payloads)
        return replace(s, body=tuple(gains))

    return tuple(map(rule, block))


def _with_totals(added: Additions, scope: CppScope) -> CppScope:
    """What is visible where the sums of a group are written."""
    types = scope.tables[added.record.table].payloads
    payloads = sorted({gain.payload for gain in added.gains})

    def look(field: str) -> Cpp:
        j = int(field[1:])
        return Cpp(f"groups.total(g, {payloads.index(j)})", types[j], "i64")

    return scope.with_row(TOTAL, look)
