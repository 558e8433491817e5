"""The kernel that keeps the rows of a relation: one library serves relations of all columns."""

from __future__ import annotations

import hashlib
from copy import copy
from dataclasses import replace
from functools import cache

from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import INT, Kind
from freshview.codegen.library.load import Kernel
from freshview.codegen.library.tables import Table
from freshview.codegen.library.toolchain import NATIVE

ROWS, ROW_OF, KEY_OF = 0, 0, 1
"""The map of all rows; the queries that find a row, and the rows of a key."""

KIND_NUMBERS: dict[Kind, int] = {
    "int": 0,
    "decimal": 2,
    "double": 3,
    "date": 4,
    "timestamp": 5,
    "bool": 6,
    "string": 7,
}
"""As `enum Kind` of kernel.hpp counts them; decimals have the room for all digits."""


@cache
def row_store_source() -> str:
    """The C++ text of the library."""
    return (NATIVE / "row_store.cpp").read_text(encoding="utf-8")


def row_kernel(library: Kernel, relation: Relation) -> Kernel:
    """The kernel of the library that keeps the rows of a relation."""
    key = {name.lower() for name in relation.key}
    columns = tuple(
        (
            c.name,
            KIND_NUMBERS[c.type.kind],
            c.type.scale,
            int(c.type.nullable),
            int(c.name.lower() in key),
            c.size,
        )
        for c in relation.columns
    )
    out = copy(library)
    out.columns = columns
    out.program = hashlib.sha256(f"{library.program} {columns}".encode()).hexdigest()
    out.relations = (replace(relation, static=False, key=()),)
    key_columns = tuple(i for i, c in enumerate(columns) if c[4])
    everything = tuple(range(len(columns)))
    out.queries = (
        Table("rows", relation.columns, everything),
        *([Table("keys", relation.columns, key_columns)] if key_columns else []),
    )
    out.maps = (Table("rows", (*relation.columns, Column("", INT))),)
    return out
