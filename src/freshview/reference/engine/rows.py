"""Rows that come in are checked against their relation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from freshview.algebra import Number
from freshview.calculus.rows import Row, checked
from freshview.calculus.schema import Relation
from freshview.calculus.types import Value
from freshview.errors import BadRow, Place
from freshview.program.engine import Changes


def check_row(relation: Relation, row: Sequence[Value], number: int) -> Row:
    """The row as it is stored: numbers in the type of their column; `number` counts from 1.

    >>> from freshview.calculus.schema import Column
    >>> from freshview.calculus.types import DOUBLE, INT
    >>> r = Relation("R", (Column("a", INT), Column("b", DOUBLE)))
    >>> check_row(r, (1, 2), 1)
    (1, 2.0)
    >>> check_row(r, (1, "two"), 7)
    Traceback (most recent call last):
      ...
    freshview.errors.BadRow: row 7 of 'R': ...
    """
    return checked(relation, row, Place(f"row {number} of '{relation.name}'"))


def check_changes(relation: Relation, changes: Changes) -> dict[Row, Number]:
    """A batch as one map from rows to multiplicities; rows that cancel out are gone.

    >>> from freshview.calculus.schema import Column
    >>> from freshview.calculus.types import INT
    >>> r = Relation("R", (Column("a", INT),))
    >>> check_changes(r, [((1,), 2), ((2,), 1), ((2,), -1)])
    {(1,): 2}
    """
    batch: dict[Row, Number] = {}
    pairs = changes.items() if isinstance(changes, Mapping) else changes
    for number, (row, m) in enumerate(pairs, 1):
        if not isinstance(m, int):
            raise BadRow(
                f"the count of row {number} of '{relation.name}' is {m!r}",
                instead="give an integer",
            )
        stored = check_row(relation, row, number)
        batch[stored] = batch.get(stored, 0) + m
    return {row: m for row, m in batch.items() if m}
