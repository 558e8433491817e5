"""What the rows and columns of matrices are called: keys of any type, and their places.

A label belongs to a named size, so that matrices which share a size share its labels: L(n, n) has
the same ones for rows and columns, and X(m, n), Y(m, p) have those of m in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from freshview.errors import FreshviewError
from freshview.linear.kernels.semiring import Array

if TYPE_CHECKING:
    import pyarrow as pa


class BadCell(FreshviewError):
    """A row of a view that is not a cell of its matrix."""


@dataclass(frozen=True)
class Labels:
    """The labels of a size in the order of their places; `fixed` if nothing may join them."""

    size: str
    keys: tuple[object, ...]
    fixed: bool

    @cached_property
    def places(self) -> dict[object, int]:
        """Where each label stands."""
        return {key: i for i, key in enumerate(self.keys)}

    def find(self, column: pa.ChunkedArray, view: str, what: str) -> Array:
        """The places of a column's labels."""
        encoded = column.combine_chunks().dictionary_encode()
        known = encoded.dictionary.to_pylist()
        for key in known:
            if key not in self.places:
                raise BadCell(
                    f"'{view}' has the {what} {key!r}, which is not a label of {self.size}",
                    instead=f"its {len(self.keys):,} labels are given: {_few(self.keys)}",
                )
        places = np.array([self.places[key] for key in known], dtype=np.int64)
        at: Array = places[encoded.indices.to_numpy(zero_copy_only=False)]
        return at


def fixed_labels(size: str, keys: int | Sequence[object]) -> Labels:
    """Labels that are declared: a list of keys, or how many places there are, counted from 0."""
    labels = Labels(size, tuple(range(keys) if isinstance(keys, int) else keys), True)
    for i, key in enumerate(labels.keys):
        if labels.places[key] != i:
            raise FreshviewError(f"the label {key!r} of {size} is given twice")
    return labels


def collected(size: str, columns: Iterable[tuple[str, pa.ChunkedArray]]) -> Labels:
    """The labels that occur in columns of views, in their own order."""
    keys: set[Any] = set()
    views = []
    for view, column in columns:
        views.append(f"'{view}'")
        keys.update(column.unique().to_pylist())
    if not keys:
        raise FreshviewError(
            f"{size} has no labels, since {' and '.join(dict.fromkeys(views))} have no rows",
            instead=f"give them: labels={{{size!r}: [...]}}",
        )
    kinds = {type(k).__name__ for k in keys}
    try:
        return Labels(size, tuple(sorted(keys)), False)
    except TypeError:
        raise FreshviewError(
            f"the labels of {size} are of several types: {', '.join(sorted(kinds))}",
            instead="cast them in the views",
        ) from None


def _few(keys: tuple[object, ...]) -> str:
    return ", ".join(map(repr, keys[:3])) + (", ..." if len(keys) > 3 else "")
