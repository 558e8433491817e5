"""The rows of a block that pass the tests of its batch, as C++.

Comparisons of whole numbers, dates and moments are made a line of a column at a time, and so are
those of the sizes of texts that are to equal constants; the other tests for those rows alone that
pass them.
"""

from __future__ import annotations

from freshview.calculus.terms import Apply, Cmp, Const, Expr, Op, Var
from freshview.codegen.cpp.compare import aligned
from freshview.codegen.cpp.types import Cpp
from freshview.codegen.kernel.rows import CHUNK, array_name, load_columns
from freshview.codegen.kernel.text import Lines, indented
from freshview.codegen.kernel.values import CppScope
from freshview.codegen.loops.facts import columns_read
from freshview.codegen.loops.parts import Holds
from freshview.codegen.loops.terms import Batch, If

LINED = ("i64", "i32")
"""C++ types of the columns that are compared a line at a time."""

OPERATORS: dict[Op, str] = {"=": "==", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def mark_rows(s: Batch, inside: CppScope) -> Lines:
    """The lines that mark the rows of a block that pass: `marks` has a byte for each."""
    tests = [t for t in s.tests if isinstance(t, Holds)]
    lined: dict[tuple[str, str], list[str]] = {}  # those of the same columns are made together
    others = []
    for t in tests:
        if (marked := _mark(t, s, inside)) is not None:
            names, arrays, text = marked
            lined.setdefault((names, arrays), []).append(text)
        else:
            others.append(t)
    columns = inside.relations[s.relation].columns
    marking = [
        f"marks, end - from, []({names}) {{ return {' & '.join(texts)}; }}, {arrays});"
        for (names, arrays), texts in lined.items()
    ]
    sized = [
        f"marks, end - from, {array_name(columns, j)} + from, {', '.join(map(str, sizes))});"
        for j, sizes in filter(None, (_sizes(t, s) for t in others))
    ]
    calls = [*(("mark", x) for x in marking), *(("mark_sizes", x) for x in sized)]
    lines = [
        f"u8 marks[{CHUNK} + SPARE];",
        *(f"{name}<{str(not n).lower()}>({rest}" for n, (name, rest) in enumerate(calls)),
    ]
    if not others:
        return lines
    return [
        *lines,
        f"for (i64 {s.row} = from; {s.row} < end; {s.row}++) {{",
        *([f"  if (!marks[{s.row} - from]) continue;"] if calls else []),
        *indented(load_columns((If(tuple(others), ()),), s.row, columns)),
        f"  marks[{s.row} - from] = {_all_of(others, inside)};",
        "}",
    ]


NUMBER_ROWS = (
    f"u32 rows[{CHUNK} + SPARE];",
    "const i64 chosen = number_rows(marks, end - from, rows);",
)
"""The lines that number the rows that are marked."""


def _all_of(tests: list[Holds], inside: CppScope) -> str:
    """All the tests as one condition: those that cost little without branches."""
    quick = [inside.condition(t) for t in tests if not inside.is_slow(t)]
    slow = [inside.condition(t) for t in tests if inside.is_slow(t)]
    return " && ".join([f"({' & '.join(quick)})", *slow] if quick else slow)


def _mark(t: Holds, s: Batch, inside: CppScope) -> tuple[str, str, str] | None:
    """Columns, their arrays and a comparison of them, a line at a time; None of other tests."""
    if not isinstance(t.value, Cmp) or not all(map(_plain, (t.value.left, t.value.right))):
        return None
    columns = inside.relations[s.relation].columns
    read = sorted(columns_read((If((t,), ()),), s.row))
    sides = inside.value(t.value.left), inside.value(t.value.right)
    if not read or any(x.type.kind in ("string", "null", "double") for x in sides):
        return None
    a, b = aligned(*sides)
    kinds = {x.cpp_type for x in (a, b, *(inside.look(f"{s.row}.c{j}") for j in read))}
    if (
        len(kinds) > 1
        or not kinds <= set(LINED)
        or _is_computed(a, sides[0])
        or _is_computed(b, sides[1])
    ):
        return None
    text = f"({a.text} {OPERATORS[t.value.op]} {b.text})"
    if t.value.op not in ("=", "<>"):  # NULL, the smallest number, has no order
        [kind] = kinds
        text = " & ".join([*(f"({x.text} != null<{kind}>())" for x in (a, b) if x.nullable), text])
    names = ", ".join(f"auto {inside.look(f'{s.row}.c{j}').text}" for j in read)
    arrays = ", ".join(f"{array_name(columns, j)} + from" for j in read)
    return names, arrays, text


def _sizes(t: Holds, s: Batch) -> tuple[int, list[int]] | None:
    """A column of texts that is to equal one of some constants, and how many bytes these have."""
    match t.value:
        case Cmp("=", Var(name), Const() as other) | Cmp("=", Const() as other, Var(name)):
            wanted: tuple[Expr, ...] = (other,)
        case Apply("in", (Var(name), *others)):
            wanted = tuple(others)
        case _:
            return None
    texts = [x.value for x in wanted if isinstance(x, Const) and isinstance(x.value, str)]
    row, _, column = name.partition(".c")
    if len(texts) < len(wanted) or row != s.row or not column:
        return None
    return int(column), sorted({len(text.encode()) for text in texts})


def _plain(e: Expr) -> bool:
    return isinstance(e, Var | Const)


def _is_computed(x: Cpp, side: Cpp) -> bool:
    """Whether a value has to be converted row by row before it is compared."""
    return x.constant is None and x.text != side.text
