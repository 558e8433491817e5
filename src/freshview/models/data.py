"""Rows to predict: whatever table they come in, as the columns that a model multiplies."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from freshview.algebra import Category
from freshview.algebra.cofactor import Slot
from freshview.errors import BadRow
from freshview.models.moments import Feature, Matrix, Vector


def design(
    rows: object,
    features: Sequence[Feature],
    slots: Sequence[Slot],
    known: Mapping[str, Sequence[object]],
) -> Matrix:
    """The values of `slots` in rows that have these features.

    Rows are an array with a column for each feature, in order; or columns by name: a mapping, a
    pandas, polars or Arrow table; or a list of mappings. `known` are the categories.

    >>> city = Feature("city", True)
    >>> slots = ["size", Category("city", "Rome")]
    >>> rows = [{"size": 3, "city": "Rome"}, {"size": 4, "city": "Oslo"}]
    >>> design(rows, [Feature("size"), city], slots, {"city": ["Oslo", "Rome"]})
    array([[3., 1.],
           [4., 0.]])
    """
    columns = _columns(rows, [f.name for f in features])
    for f in features:
        if f.categorical:
            for x in columns[f.name]:
                if x not in known[f.name]:
                    raise BadRow(
                        f"the data has no {x!r} in '{f.name}'",
                        instead=f"its categories are {', '.join(map(repr, known[f.name]))}",
                    )
    matrix_columns = [_values(slot, columns) for slot in slots]
    count = len(columns[features[0].name]) if features else 0
    return np.column_stack(matrix_columns) if matrix_columns else np.zeros((count, 0))


def _values(slot: Slot, columns: Mapping[str, Sequence[object]]) -> Vector:
    if isinstance(slot, Category):
        return np.array([x == slot.value for x in columns[slot.name]], dtype=np.float64)
    return numbers(columns[slot], slot)


def numbers(values: object, name: str) -> Vector:
    """A column of numbers."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as e:
        raise BadRow(f"a value of '{name}' is not a number: {e}", instead="give numbers") from e
    return array.reshape(-1)


def _columns(rows: Any, names: Sequence[str]) -> dict[str, Any]:
    if isinstance(rows, Sequence) and rows and all(isinstance(r, Mapping) for r in rows):
        _need(set.intersection(*(set(r) for r in rows)), names)
        return {n: [r[n] for r in rows] for n in names}
    if isinstance(rows, Mapping):
        _need(rows, names)
        return {n: list(rows[n]) for n in names}
    if hasattr(rows, "column_names"):
        _need(rows.column_names, names)
        return {n: rows.column(n).to_pylist() for n in names}
    if hasattr(rows, "columns"):
        _need(rows.columns, names)
        return {n: rows[n].to_list() for n in names}
    array = rows if isinstance(rows, np.ndarray) else np.array(rows, dtype=object)
    if array.ndim != 2 or array.shape[1] != len(names):
        raise BadRow(
            f"rows to predict have {len(names)} columns, not the shape {array.shape}",
            instead=f"give {', '.join(names)} for each row",
        )
    return {n: array[:, i] for i, n in enumerate(names)}


def _need(columns: Container[str], names: Sequence[str]) -> None:
    for n in names:
        if n not in columns:
            raise BadRow(
                f"the rows to predict have no column '{n}'",
                instead=f"the model needs {', '.join(names)}",
            )
