"""Categorical variables in the cofactor ring: one-hot, and only the ones are kept.

A categorical variable X stands for one 0/1 variable per value. The sum of X = x counts the rows
of that category, and its product with a continuous B is the sum of B grouped by X: the payload
of a group-by query inside the payload of another. No row ever holds the zeros.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple


class Category(NamedTuple):
    """The 0/1 variable "`name` is `value`"."""

    name: str
    value: Hashable
