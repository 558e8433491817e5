"""The column types of SQL, by their names."""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.casts import MOST_DIGITS
from freshview.calculus.types import BOOL, DATE, DOUBLE, INT, STRING, TIMESTAMP, Type, decimal
from freshview.errors import TypeProblem

TYPES: dict[str, Type] = {
    **dict.fromkeys(("INT", "INTEGER", "BIGINT", "SMALLINT", "TINYINT", "LONG"), INT),
    **dict.fromkeys(("DOUBLE", "FLOAT", "REAL"), DOUBLE),
    **dict.fromkeys(("STRING", "VARCHAR", "CHAR", "TEXT", "NCHAR", "NVARCHAR"), STRING),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPNTZ", "DATETIME"), TIMESTAMP),
    **dict.fromkeys(("BOOLEAN", "BOOL"), BOOL),
    **dict.fromkeys(("DECIMAL", "NUMERIC", "DEC"), decimal(0)),
    "DATE": DATE,
}

NARROW = 18
"""Decimals that are declared with no more digits have 64 bits in a kernel, until more come."""


def read_type(name: str, sizes: list[int]) -> Type:
    """A column type by its SQL name; DECIMAL(p, s) keeps s digits after the point."""
    if name.upper() not in TYPES:
        raise TypeProblem(
            f"the type {name} is not known",
            instead="use INT, DOUBLE, DECIMAL(p, s), STRING, DATE, TIMESTAMP or BOOLEAN",
        )
    t = TYPES[name.upper()]
    if t.kind != "decimal":
        return t
    digits, scale = (*sizes, *(10, 0)[len(sizes) :])[:2]
    if not 0 < digits <= MOST_DIGITS or scale > digits or len(sizes) > 2:
        raise TypeProblem(
            f"there is no DECIMAL({', '.join(map(str, sizes))})",
            instead=f"give at most {MOST_DIGITS} digits, and not more after the point",
        )
    return replace(decimal(scale), wide=digits > NARROW)
