"""Stable keys: one random number a tuple, the same on every replica and in every replay."""

from __future__ import annotations

import numpy as np

from freshview.theta.terms import Hashes, Keys, Numbers

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def keys_by_number(seed: int, numbers: Numbers) -> Keys:
    """A key for each tuple by its number in the stream: splitmix64, which is equidistributed.

    >>> keys_by_number(1, np.arange(3)).tolist() == keys_by_number(1, np.arange(3)).tolist()
    True
    """
    with np.errstate(over="ignore"):
        start = np.uint64(seed % (1 << 64)) * _GOLDEN
        return mix(start + (numbers.astype(np.uint64) + np.uint64(1)) * _GOLDEN)


def keys_by_content(seed: int, hashes: Hashes) -> Keys:
    """A key for each tuple by a hash of its values: its deletion finds the same joiners."""
    with np.errstate(over="ignore"):
        return mix(hashes ^ mix(np.array([seed % (1 << 64)], np.uint64) + _GOLDEN))


def mix(values: Keys) -> Keys:
    """The finalizer of splitmix64: a permutation of 64-bit numbers that scatters them."""
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(30))) * _FIRST
        values = (values ^ (values >> np.uint64(27))) * _SECOND
        return values ^ (values >> np.uint64(31))
