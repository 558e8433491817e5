"""C += A * B' without a temporary as large as C: by BLAS itself, if SciPy makes that reachable.

NumPy's product always makes a new matrix. Without SciPy it is made and added a panel of rows at a
time, which stays in the cache but starts BLAS for every panel: two to four times as slow.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

try:
    from scipy.linalg.blas import dgemm
except ImportError:
    dgemm = None

Doubles: TypeAlias = NDArray[np.float64]

PANEL = 1 << 15
"""How many cells of an update are computed at a time: few enough to stay in the cache."""


def add_product(into: Doubles, left: Doubles, right: Doubles) -> None:
    """Into += left * right', all of doubles; `into` lies row by row.

    >>> c = np.zeros((2, 2))
    >>> add_product(c, np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]]))
    >>> c
    array([[3., 4.],
           [6., 8.]])
    """
    if dgemm is not None and into.flags.c_contiguous and into.size and left.shape[1]:
        # BLAS counts by columns: what it sees of rows is the transpose, C' += B * A'
        dgemm(1.0, right.T, left.T, beta=1.0, c=into.T, trans_a=1, overwrite_c=1)
    else:
        by_panels(into, left, right)


def by_panels(into: Doubles, left: Doubles, right: Doubles) -> None:
    """The same with NumPy alone."""
    turned = np.ascontiguousarray(right.T)
    height = max(1, PANEL // max(1, into.shape[1]))
    room = np.empty((height, into.shape[1]))
    for i in range(0, into.shape[0], height):
        panel = into[i : i + height]
        part = room[: len(panel)]
        np.matmul(left[i : i + height], turned, out=part)
        np.add(panel, part, out=panel)
