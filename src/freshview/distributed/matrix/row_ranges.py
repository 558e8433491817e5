"""The rows of a worker, and the cells of a request."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freshview.linear.kernels.semiring import Array

ALL = np.array([-1])
"""All the rows, or all the columns."""


def span(size: int, workers: int, part: int) -> slice:
    """The share of a worker: even, and in order.

    >>> [span(7, 3, p) for p in range(3)]
    [slice(0, 2, None), slice(2, 4, None), slice(4, 7, None)]
    """
    return slice(size * part // workers, size * (part + 1) // workers)


@dataclass(frozen=True)
class RowRanges:
    """Whole rows, whole columns, or cells by their rows and columns; the other one is `ALL`."""

    rows: Array
    cols: Array

    @classmethod
    def of(cls, index: object) -> RowRanges:
        """From an index of NumPy as `linear.changes` makes them."""
        if not isinstance(index, tuple):
            return cls(np.asarray(index), ALL)
        rows, cols = index
        return cls(ALL if isinstance(rows, slice) else np.asarray(rows), np.asarray(cols))

    @property
    def transposed(self) -> RowRanges:
        """The same places of the transposed matrix."""
        return RowRanges(self.cols, self.rows)

    def here(self, share: slice) -> Array:
        """The numbers of the rows in a share; all of the share's own for `ALL`."""
        if self._is_all(self.rows):
            return np.arange(share.stop - share.start)
        numbers: Array = np.flatnonzero((self.rows >= share.start) & (self.rows < share.stop))
        return numbers

    def read(self, block: Array, share: slice) -> Array:
        """The values in a share of the rows."""
        here = self.here(share)
        if self._is_all(self.rows):
            values: Array = block[:, self.cols]
            return values
        rows = self.rows[here] - share.start
        values = block[rows] if self._is_all(self.cols) else block[rows, self.cols[here]]
        return values

    def write(self, block: Array, values: Array, share: slice) -> None:
        """Put the values that fall into a share of the rows."""
        here = self.here(share)
        if self._is_all(self.rows):
            block[:, self.cols] = values[share]
        elif self._is_all(self.cols):
            block[self.rows[here] - share.start] = values[here]
        else:
            block[self.rows[here] - share.start, self.cols[here]] = values[here]

    @staticmethod
    def _is_all(places: Array) -> bool:
        return len(places) == 1 and places[0] == -1
