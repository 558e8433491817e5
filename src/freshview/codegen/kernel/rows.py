"""The columns of rows as C++ expressions: of records, of a batch, of entries of an index."""

from __future__ import annotations

from collections.abc import Sequence

from freshview.calculus.schema import Column
from freshview.calculus.types import INT, Type
from freshview.codegen.cpp.code import identifier
from freshview.codegen.cpp.ring_elements import SEEN
from freshview.codegen.cpp.types import (
    Cpp,
    batch_type,
    cpp_payload_type,
    cpp_type,
    is_mixed,
)
from freshview.codegen.kernel.tables import CppTable
from freshview.codegen.kernel.values import Fields
from freshview.codegen.loops.facts import columns_read
from freshview.codegen.loops.terms import Block

CHUNK = 1024
"""Rows of a batch that are looked at together: their columns stay at hand until all is done."""


def record_fields(table: CppTable, row: str, arrow: str) -> Fields:
    """The columns of a record, behind a pointer or not; of a choice, how often it counts (`n`)."""

    def look(field: str) -> Cpp:
        if field == "n":
            return Cpp(f"n{row}", INT, "i64")
        at = int(field[1:])
        if field[0] == "p":
            text = f"{row}{arrow}{table.payload(at)}"
            return read_payload(text, table.payloads[at], table.where)
        text = f"{row}{arrow}{table.key(at)}"
        return Cpp(text, table.keys[at], cpp_type(table.keys[at]), stays=True)

    return look


def read_payload(text: str, t: Type, where: str) -> Cpp:
    """The payload of a record in an arena."""
    if is_mixed(t):
        return Cpp(f"see({where}, {text})", t, SEEN)
    return Cpp(text, t, cpp_payload_type(t))


def batch_fields(row: str, columns: Sequence[Column]) -> Fields:
    """The columns of a row of a batch, and how often it comes (`count`)."""

    def look(field: str) -> Cpp:
        if field == "count":
            return Cpp(f"b.count[{row}]", INT, "i64")
        j = int(field[1:])
        return Cpp(column_name(row, columns, j), columns[j].type, batch_type(columns[j].type))

    return look


def column_name(row: str, columns: Sequence[Column], j: int) -> str:
    """A column of a row, as a local of C++: after the column, with the number of the row."""
    name = f"{_plain(columns, j)}_{row.rpartition('_')[2]}"
    return f"c{j}_{name}" if name == row else name


def load_columns(block: Block, row: str, columns: Sequence[Column]) -> list[str]:
    """The columns of a row of a batch that a block reads, as locals."""
    return [
        f"const {batch_type(columns[j].type)} {column_name(row, columns, j)} = "
        f"{array_name(columns, j)}[{row}];"
        for j in sorted(columns_read(block, row))
    ]


def array_name(columns: Sequence[Column], j: int) -> str:
    """A column of a batch, as an array of C++."""
    return f"all_{_plain(columns, j)}"


def _plain(columns: Sequence[Column], j: int) -> str:
    name = identifier(columns[j].name)
    alone = [c.name for c in columns].count(columns[j].name) == 1 and name[:1].isalpha()
    return name if alone else f"c{j}_{name}"


def entry_fields(table: CppTable, row: str, sums: str) -> Fields:
    """The columns of an entry of an ordered index: keys, and sums as payloads have them."""

    def look(field: str) -> Cpp:
        if field == "n":
            return Cpp(f"n{row}", INT, "i64")
        at = int(field[1:])
        if field[0] == "k":
            text = f"{row}.{table.key(at)}"
            return Cpp(text, table.keys[at], cpp_type(table.keys[at]), stays=True)
        t, total = table.payloads[at], f"{sums}.{table.payload(at)}"
        text = total if t.kind == "double" else f"narrow<{cpp_type(t)}>(o, {total})"
        return Cpp(text, t, cpp_payload_type(t))

    return look


def raw_fields(table: CppTable, sums: str) -> Fields:
    """The sums of an ordered index with all their bits."""

    def look(field: str) -> Cpp:
        at = int(field[1:])
        t = table.payloads[at]
        return Cpp(f"{sums}.{table.payload(at)}", t, cpp_payload_type(t))

    return look
