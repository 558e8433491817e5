"""Products of Boolean matrices: whether there is a way from row to column.

A row of the product is the union of those rows of the right matrix that the left row names. With
eight cells a byte a union of rows is a few words; where the left matrix is full, BLAS counts ways.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[Any]

WORD = 64
FULL = 80.0
"""How many words a union of rows may touch for one multiplication and addition of BLAS."""
NAMED = 8
"""How many times as many cells as are there a narrow matrix has whose columns are united."""
EXACT = 1 << 23
"""Up to which length a count of ones is exact in single precision."""


def some(a: Bits, b: Bits) -> Bits:
    """The product of two Boolean matrices.

    Both lie by rows or by columns (A' * B' of matrices that lie by rows): so does the product, and
    nothing is turned for it.
    """
    if _by_columns(a) and _by_columns(b):
        return some(b.T, a.T).T
    n, m, p = a.shape[0], a.shape[1], b.shape[1]
    if p <= n and p <= WORD:
        return _narrow(a, b)
    if n <= WORD:
        return _narrow(b.T, a.T).T
    ones = int(np.count_nonzero(a))
    if ones * (p / WORD) * FULL <= n * m * p / 8:
        return _unions(a, b)
    return counted(a, b)


def _by_columns(a: Bits) -> bool:
    return bool(a.flags.f_contiguous and not a.flags.c_contiguous)


def _narrow(a: Bits, b: Bits) -> Bits:
    """A few columns: each is the union of columns of the left matrix, if it names few."""
    if NAMED * np.count_nonzero(b) > b.size:
        return counted(a, b)
    out = np.empty((a.shape[0], b.shape[1]), dtype=np.bool_)
    for j in range(b.shape[1]):
        np.bitwise_or.reduce(a.T[np.flatnonzero(b[:, j])], axis=0, out=out[:, j])
    return out


def _unions(a: Bits, b: Bits) -> Bits:
    """The union of packed rows, for each row of a sparse left matrix."""
    width = b.shape[1]
    packed = np.packbits(b, axis=1)
    padded = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    packed = np.ascontiguousarray(padded).view(np.uint64)
    out = np.zeros((a.shape[0], packed.shape[1]), dtype=np.uint64)
    rows, cols = np.nonzero(a)
    if len(rows):
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        step = max(1, (1 << 22) // max(1, packed.shape[1]))  # rows gathered at a time
        for first in range(0, len(starts), step):
            group = starts[first : first + step]
            end = starts[first + step] if first + step < len(starts) else len(rows)
            gathered = packed[cols[group[0] : end]]
            out[rows[group]] = np.bitwise_or.reduceat(gathered, group - group[0], axis=0)
    cells: Bits = np.unpackbits(out.view(np.uint8), axis=1, count=width).view(np.bool_)
    return cells


def counted(a: Bits, b: Bits) -> Bits:
    """Ways counted by BLAS, in single precision and in pieces that are exact."""
    out = np.zeros((a.shape[0], b.shape[1]), dtype=np.bool_)
    for i in range(0, a.shape[1], EXACT):
        part = a[:, i : i + EXACT].astype(np.float32) @ b[i : i + EXACT].astype(np.float32)
        out |= part > 0.5
    return out
