"""DEFAULT in INSERT, UPDATE and MERGE: the value that a column is declared with, else NULL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from freshview.calculus.schema import Relation
from freshview.calculus.types import type_of
from freshview.sql.terms import Literal, Name, Scalar, Select, Values

DEFAULT = "default"
"""The word that stands for it, in the place of a value."""


def with_default(e: Scalar, relation: Relation, place: int) -> Scalar:
    """A value for a column; DEFAULT by itself is that of the column."""
    if isinstance(e, Name) and e.table is None and e.name.lower() == DEFAULT:
        value = dict(relation.defaults).get(relation.columns[place].name)
        return Literal(value, type_of(value), e.at)
    return e


def with_defaults(
    values: Sequence[Scalar], relation: Relation, places: Sequence[int]
) -> tuple[Scalar, ...]:
    """Values for columns, DEFAULT written out."""
    if len(values) != len(places):
        return tuple(values)
    pairs = zip(values, places, strict=True)
    return tuple(with_default(e, relation, place) for e, place in pairs)


def filled(query: Select, relation: Relation, places: Sequence[int]) -> Select:
    """The rows of an INSERT with DEFAULT written out, where they are VALUES."""
    values = query.sources[0] if len(query.sources) == 1 else None
    if not isinstance(values, Values):
        return query
    rows = tuple(with_defaults(row, relation, places) for row in values.rows)
    return replace(query, sources=(replace(values, rows=rows),))
