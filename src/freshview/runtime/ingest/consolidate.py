"""Rows with multiplicities, added up to one net change."""

from __future__ import annotations

from collections.abc import Iterable

from freshview.calculus.domain import is_int
from freshview.calculus.rows import Row, RowLike, checked
from freshview.calculus.schema import Relation
from freshview.errors import BadRow, Overflow, Place


def consolidate(relation: Relation, changes: Iterable[tuple[RowLike, int]]) -> dict[Row, int]:
    """The net change a row: checked, added up, and without the rows that cancel out."""
    net: dict[Row, int] = {}
    for number, (values, multiplicity) in enumerate(changes, 1):
        try:
            row = checked(relation, values)
        except BadRow as e:
            raise e.located(Place(f"row {number} of '{relation.name}'")) from e.__cause__
        if isinstance(multiplicity, bool) or not isinstance(multiplicity, int):
            raise BadRow(
                f"the multiplicity of a row of '{relation.name}' cannot be {multiplicity!r}",
                instead="give an integer, positive to insert and negative to delete",
            )
        if not is_int(multiplicity):
            raise too_often(relation.name, row)
        net[row] = net.get(row, 0) + multiplicity
    return {row: m for row, m in net.items() if m}


def too_often(name: str, row: Row) -> Overflow:
    """The error about a multiplicity that nobody can count."""
    return Overflow(
        f"'{name}' would hold {show_row(row)} more often than 64 bits count",
        instead="nothing was changed",
    )


def show_row(row: Row) -> str:
    """A row as its values in parentheses."""
    return f"({', '.join(map(repr, row))})"
