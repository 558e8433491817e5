"""The column types of SQL, by their names."""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.casts import MOST_DIGITS
from freshview.calculus.types import BOOL, DATE, DOUBLE, INT, STRING, TIMESTAMP, Type, decimal
from freshview.errors import TypeProblem

BITS = {
    **dict.fromkeys(("TINYINT", "BYTE"), 8),
    **dict.fromkeys(("SMALLINT", "SHORT"), 16),
    **dict.fromkeys(("INT", "INTEGER"), 32),
    **dict.fromkeys(("BIGINT", "LONG"), 64),
}
"""The names of integers, and how many bits those of a name have."""

SIZED = ("VARCHAR", "CHAR", "CHARACTER", "NCHAR", "NVARCHAR")
"""Texts of at most so many characters."""

TYPES: dict[str, Type] = {
    **dict.fromkeys(BITS, INT),
    **dict.fromkeys(("DOUBLE", "FLOAT", "REAL"), DOUBLE),
    **dict.fromkeys(("STRING", "TEXT", *SIZED), STRING),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPNTZ", "DATETIME"), TIMESTAMP),
    **dict.fromkeys(("TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "TIMESTAMPLTZ"), TIMESTAMP),
    **dict.fromkeys(("BOOLEAN", "BOOL"), BOOL),
    **dict.fromkeys(("DECIMAL", "NUMERIC", "DEC"), decimal(0)),
    "DATE": DATE,
}

INSTEAD = {
    "INTERVAL": "keep two timestamps, or a number; their difference is an interval",
    "BINARY": "use STRING, with HEX or BASE64 of the bytes",
    **dict.fromkeys(("ARRAY", "MAP", "STRUCT", "VARIANT"), "use columns, or rows, of their own"),
}
"""Types of Spark that no column has, and what to declare."""

NARROW = 18
"""Decimals that are declared with no more digits have 64 bits in a kernel, until more come."""


def size_of(name: str, sizes: list[int]) -> int:
    """How large a value of a type may be, as `Column` has it.

    >>> size_of("TINYINT", []), size_of("BIGINT", []), size_of("CHAR", [3]), size_of("STRING", [])
    (8, 0, 3, 0)
    """
    name = name.upper()
    if name in BITS:
        return BITS[name] % 64
    if name in SIZED:
        return sizes[0] if sizes else 0
    if TYPES[name].kind == "decimal":
        return (sizes or [10])[0] % MOST_DIGITS
    return 0


def read_type(name: str, sizes: list[int]) -> Type:
    """A column type by its SQL name; DECIMAL(p, s) keeps s digits after the point."""
    if name.upper() in INSTEAD:
        raise TypeProblem(f"{name.upper()} is not supported", instead=INSTEAD[name.upper()])
    if name.upper() not in TYPES:
        raise TypeProblem(
            f"the type {name} is not known",
            instead="use INT, DOUBLE, DECIMAL(p, s), STRING, DATE, TIMESTAMP or BOOLEAN",
        )
    t = TYPES[name.upper()]
    if t.kind == "string" and sizes and not 0 < sizes[0] < 1 << 31:
        raise TypeProblem(f"there is no {name.upper()}({sizes[0]})", instead="write STRING")
    if t.kind != "decimal":
        return t
    digits, scale = (*sizes, *(10, 0)[len(sizes) :])[:2]
    if not 0 < digits <= MOST_DIGITS or scale > digits or len(sizes) > 2:
        raise TypeProblem(
            f"there is no DECIMAL({', '.join(map(str, sizes))})",
            instead=f"give at most {MOST_DIGITS} digits, and not more after the point",
        )
    return replace(decimal(scale), wide=digits > NARROW)
