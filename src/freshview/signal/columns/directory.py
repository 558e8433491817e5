"""Groups by number: what their keys are, and which number a key has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from freshview.signal.arrays import Array
from freshview.signal.columns.rows import Ints

_DENSE = 1 << 20
"""Integers from zero up to this, or up to four for each that there is, are looked up in a table."""


class Numbering:
    """The values of one key column, numbered as they come."""

    def __init__(self, values: Array) -> None:
        self.values = values
        self._table = np.zeros(0, np.int64)
        self._order = np.zeros(0, np.int64)
        self._sorted = values
        if len(values):
            self._index()

    def encode(self, keys: Array) -> Ints:
        """The numbers of keys; new ones get the next numbers."""
        if not len(keys):
            return np.zeros(0, np.int64)
        codes = self._look_up(keys)
        if (new := codes < 0).any():
            fresh = _distinct(keys[new])
            self.values = np.concatenate([self.values, fresh]) if len(self.values) else fresh
            self._index()
            codes = self._look_up(keys)
        return codes

    def _look_up(self, keys: Array) -> Ints:
        if not len(self.values):
            return np.full(len(keys), -1)
        if keys.dtype.kind == "U":
            at = pc.index_in(pa.array(keys), pa.array(self.values))
            return np.asarray(at.fill_null(-1)).astype(np.int64)
        if len(self._table):
            inside = (keys >= 0) & (keys < len(self._table))
            at = np.where(inside, keys, 0).astype(np.int64)
            return np.where(inside, self._table[at], -1)
        at = np.minimum(np.searchsorted(self._sorted, keys), len(self._sorted) - 1)
        return np.where(self._sorted[at] == keys, self._order[at], -1)

    def _index(self) -> None:
        values = self.values
        if values.dtype.kind == "U":
            return
        low, high = int(values.min()), int(values.max())
        if low >= 0 and high < _DENSE + 4 * len(values):
            if len(self._table) <= high:
                self._table = np.full(2 * high + 1, -1)
            self._table[values.astype(np.int64)] = np.arange(len(values))
            return
        self._table = np.zeros(0, np.int64)
        self._order = np.argsort(values, kind="stable")
        self._sorted = values[self._order]


class Directory:
    """The groups of a query: tuples of key values, numbered as they come.

    Numbers are never given back, so a batch that is refused may leave some behind. No reader sees
    a number without events.
    """

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self._parts: list[Numbering] = []
        self._pairs: list[Numbering] = []

    def __len__(self) -> int:
        if not self._parts:
            return 1
        return len((self._pairs or self._parts)[-1].values)

    def encode(self, columns: Sequence[Array]) -> Ints:
        """The group of each row of key columns."""
        if not self._parts:
            self._parts = [Numbering(c[:0]) for c in columns]
            self._pairs = [Numbering(np.zeros(0, np.int64)) for _ in columns[1:]]
        codes = self._parts[0].encode(columns[0])
        for column, part, pairs in zip(columns[1:], self._parts[1:], self._pairs, strict=True):
            codes = pairs.encode((codes << 31) | part.encode(column))
        return codes

    def decode(self, codes: Ints) -> list[Array]:
        """The key columns of groups."""
        columns = []
        for part, pairs in zip(self._parts[:0:-1], self._pairs[::-1], strict=True):
            both = pairs.values[codes]
            columns.append(part.values[both & ((1 << 31) - 1)])
            codes = both >> 31
        return [*([self._parts[0].values[codes]] if self._parts else []), *columns[::-1]]

    def ranks(self) -> Ints:
        """The place of each group in the order of the keys."""
        columns = self.decode(np.arange(len(self)))
        ranks = np.empty(len(self), np.int64)
        order = np.lexsort(columns[::-1]) if columns else np.arange(len(self))
        ranks[order] = np.arange(len(self))
        return ranks

    def show(self, code: int) -> str:
        """A group as errors name it."""
        keys = [c[0].item() for c in self.decode(np.array([code]))]
        both = zip(self.names, keys, strict=True)
        return ", ".join(f"{name} {key!r}" for name, key in both) or "the only group"

    def arrays(self) -> list[Array]:
        """What a snapshot keeps: the values of the parts, then those of the pairs."""
        return [n.values for n in (*self._parts, *self._pairs)]

    def restore(self, arrays: Sequence[Array]) -> None:
        """Take over what `arrays` gave."""
        size = (len(arrays) + 1) // 2
        self._parts = [Numbering(a) for a in arrays[:size]]
        self._pairs = [Numbering(a) for a in arrays[size:]]


def _distinct(keys: Array) -> Array:
    """Each key once, in order; so the groups of a first batch are numbered by their keys."""
    if keys.dtype.kind == "U":
        unique = pc.unique(pa.array(keys)).to_numpy(zero_copy_only=False)
        return np.sort(np.asarray(unique).astype(str))
    return np.unique(keys)
