"""The columns of rows as C++ expressions: of records, of a batch, of entries of an index."""

from __future__ import annotations

from collections.abc import Sequence

from freshview.calculus.types import INT, Type
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


def record_fields(table: CppTable, row: str, arrow: str) -> Fields:
    """The columns of a record, behind a pointer or not; of a choice, how often it counts (`n`)."""

    def look(field: str) -> Cpp:
        if field == "n":
            return Cpp(f"n{row}", INT, "i64")
        at = int(field[1:])
        if field[0] == "p":
            return read_payload(f"{row}{arrow}{field}", table.payloads[at], table.where)
        return Cpp(f"{row}{arrow}{field}", table.keys[at], cpp_type(table.keys[at]))

    return look


def read_payload(text: str, t: Type, where: str) -> Cpp:
    """The payload of a record in an arena."""
    if is_mixed(t):
        return Cpp(f"see({where}, {text})", t, SEEN)
    return Cpp(text, t, cpp_payload_type(t))


def batch_fields(row: str, types: Sequence[Type], prefix: str = "") -> Fields:
    """The columns of a row of a batch, and how often it comes (`count`)."""

    def look(field: str) -> Cpp:
        if field == "count":
            return Cpp(f"b.count[{row}]", INT, "i64")
        t = types[int(field[1:])]
        return Cpp(f"{field}_{row}" if row else field, t, batch_type(t))

    return look


def entry_fields(table: CppTable, row: str, sums: str) -> Fields:
    """The columns of an entry of an ordered index: keys, and sums as payloads have them."""

    def look(field: str) -> Cpp:
        if field == "n":
            return Cpp(f"n{row}", INT, "i64")
        at = int(field[1:])
        if field[0] == "k":
            return Cpp(f"{row}.{field}", table.keys[at], cpp_type(table.keys[at]))
        t, total = table.payloads[at], f"{sums}.{field}"
        text = total if t.kind == "double" else f"narrow<{cpp_type(t)}>(o, {total})"
        return Cpp(text, t, cpp_payload_type(t))

    return look


def raw_fields(table: CppTable, sums: str) -> Fields:
    """The sums of an ordered index with all their bits."""

    def look(field: str) -> Cpp:
        t = table.payloads[int(field[1:])]
        return Cpp(f"{sums}.{field}", t, cpp_payload_type(t))

    return look
