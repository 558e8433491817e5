"""What is known of the data before a program is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Statistics:
    """What is known of the data: rows and values of relations, rates of change, rows in a batch.

    `rates` are relative; a batch has rows of all the streams, `batch` of one on average. A view is
    read after every batch, whether triggers take its rows one by one or together, unless `reads`
    says how often it is read while a stream of rate 1 has a batch.
    """

    rows: Mapping[str, float] = field(default_factory=dict)
    rates: Mapping[str, float] = field(default_factory=dict)
    batch: float = 100.0
    reads: float | None = None
    values: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """How many different values the columns of a relation have, by their names."""
