"""A block of rows added up by key before it goes to its table, as C++."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from freshview.calculus.terms import Var
from freshview.calculus.types import INT
from freshview.codegen.cpp.types import SUM, Cpp, convert, summand
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
    sums = _Sums(added, scope)
    keys = "".join(f", {array_name(columns, j)} + from" for j in coded)
    pour = [
        f"const i64 {s.row} = from + groups.first(g, end - from);",
        f"if ({s.row} < from) continue;",
        *load_columns(_gaining_totals(s.body, []), s.row, columns),
        *print_block(_gaining_totals(s.body, payloads), _with_totals(sums, scope)),
    ]
    return [
        f"if ({_is_worth_it(s)}) {{",
        f"  Groups<{sums.words}{'' if coded else ', 1'}> groups;",
        *(f"  Scale scale_{j};" for j in sums.doubles),
        f"  if (groups.find(end - from{keys}) && [&] {{",
        *indented(_bounds(s, added, scope, sums), 3),
        "      }()) {",
        *(["    groups.choose(end - from, marks);"] if s.tests else []),
        *indented(_sums(s, added, scope, sums), 2),
        "    for (u32 g = 1; g <= groups.size; g++) {",
        *indented(pour, 3),
        "    }",
        "    continue;",
        "  }",
        "}",
    ]


class _Sums:
    """Where the sums of a block stand: a word for a whole number, three for doubles."""

    def __init__(self, added: Additions, scope: CppScope) -> None:
        self.types = scope.tables[added.record.table].payloads
        self.gains: dict[int, list[Gain]] = {}
        for gain in added.gains:
            self.gains.setdefault(gain.payload, []).append(gain)
        self.doubles = [j for j in sorted(self.gains) if self.types[j].kind == "double"]
        self.place: dict[int, int] = {}
        self.words = 0
        for j in sorted(self.gains):
            self.place[j] = self.words
            self.words += 3 if j in self.doubles else 1


def _is_worth_it(s: Batch) -> str:
    """The condition that enough rows of a block are chosen."""
    if not s.tests:
        return f"end - from >= {LEAST}"
    return f"end - from >= {LEAST} && count_marks(marks, end - from) >= (end - from) / 2"


def _declared(
    s: Batch, added: Additions, scope: CppScope, whole: str, real: str
) -> tuple[Lines, CppScope]:
    """The columns that sums are computed from, in another arithmetic."""
    columns = scope.relations[s.relation].columns
    fields, count = batch_fields(s.row, columns), Cpp("count", INT, "i64")
    lines = []
    for j in sorted(columns_read(added.gains, s.row)):
        kind, load = ("f64", real) if columns[j].type.kind == "double" else ("i64", whole)
        array = load.format(array_name(columns, j))
        lines.append(f"const {kind} {column_name(s.row, columns, j)} = {array};")
    lines.append(f"[[maybe_unused]] const i64 count = {whole.format('b.count')};")
    for sign in added.signs:
        scope = scope.with_local(sign.name, count)
    return lines, scope.with_row(s.row, lambda c: count if c == "count" else fields(c))


def _bounds(s: Batch, added: Additions, scope: CppScope, sums: _Sums) -> Lines:
    """Whether no number on the way to the sums of a block can leave its range.

    The very expressions of the sums are evaluated, over bounds in the place of numbers.
    """
    load = "{name}({{}} + from, end - from)"
    lines, inside = _declared(
        s, added, scope, load.format(name="magnitude"), load.format(name="span")
    )
    whole = {j: gains for j, gains in sums.gains.items() if j not in sums.doubles}
    most = max(map(len, whole.values()), default=1)
    fits = [f"top.fits({most} * (end - from))", *(f"scale_{j}.set(span_{j})" for j in sums.doubles)]
    return [
        "using i64 = Magnitude;",
        "using i128 [[maybe_unused]] = Magnitude;",
        *(["using f64 = Span;"] if sums.doubles else []),
        "[[maybe_unused]] bool o = false;",
        *lines,
        "i64 top;",
        *(f"top.raise({_addend(g, inside)});" for gains in whole.values() for g in gains),
        *(f"f64 span_{j};" for j in sums.doubles),
        *(f"span_{j}.raise({_addend(g, inside)});" for j in sums.doubles for g in sums.gains[j]),
        f"return {' && '.join(fits)};",
    ]


def _sums(s: Batch, added: Additions, scope: CppScope, sums: _Sums) -> Lines:
    """The sums of all groups, eight rows at a time."""
    load = "{name}::load({{}} + i, end - i)"
    lines, inside = _declared(
        s, added, scope, load.format(name="Lanes"), load.format(name="RealLanes")
    )
    values = []
    for j in sorted(sums.gains):
        addends = [_addend(gain, inside) for gain in sums.gains[j]]
        if j in sums.doubles:
            words = " + ".join(f"in_words(scale_{j}, {x})" for x in addends)
            lines.append(f"const Words words_{j} = {words};")
            values += [f"words_{j}.{part}" for part in ("whole", "rest", "print")]
        else:
            values.append(f"i64(LaneVector({' + '.join(f'({x}).x' for x in addends)}))")
    return [
        "groups.sum(end - from, [&](const i64 row) __attribute__((always_inline)) {",
        "  const auto i = from + row;",
        "  using i64 = Lanes;",
        "  using i128 [[maybe_unused]] = Lanes;",
        *(["  using f64 = RealLanes;"] if sums.doubles else []),
        "  [[maybe_unused]] const Unchecked o{};",
        *indented(lines),
        f"  return Addends<{sums.words}>{{{{{', '.join(values)}}}}};",
        "});",
    ]


def _addend(gain: Gain, scope: CppScope) -> str:
    """What a row adds to a payload."""
    payload = scope.tables[gain.table].payloads[gain.payload]
    product = scope.product(gain.weight)
    return summand(product).text if payload.kind == "double" else convert(product, payload).text


def _gaining_totals(block: Block, payloads: Sequence[int]) -> Block:
    """What is done once for a group: to its record goes the sum of each payload."""

    def rule(s: Stmt) -> Stmt:
        if not isinstance(s, At):
            return map_blocks(s, partial(_gaining_totals, payloads=payloads))
        gains = (Gain(s.row, s.table, j, (Var(f"{TOTAL}.p{j}"),)) for j in payloads)
        return replace(s, body=tuple(gains))

    return tuple(map(rule, block))


def _with_totals(sums: _Sums, scope: CppScope) -> CppScope:
    """What is visible where the sums of a group are written."""

    def look(field: str) -> Cpp:
        j = int(field[1:])
        if j in sums.doubles:
            return Cpp(f"groups.real(g, {sums.place[j]}, scale_{j})", sums.types[j], SUM)
        return Cpp(f"groups.total(g, {sums.place[j]})", sums.types[j], "i64")

    return scope.with_row(TOTAL, look)
