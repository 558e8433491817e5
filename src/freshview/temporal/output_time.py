"""The time of a result."""

from __future__ import annotations

import numpy as np

from freshview.temporal.terms import OutputTime, Times


def output_time(which: OutputTime, r: Times, s: Times) -> Times:
    """The earlier or the later time of each pair.

    >>> output_time("min", np.array([1, 5]), np.array([2, 3])).tolist()
    [1, 3]
    """
    return np.minimum(r, s) if which == "min" else np.maximum(r, s)
