"""What a batch gives: pairs with their weights and times, and rows that came too late."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from freshview.calculus.rows import Row
from freshview.calculus.schema import Column as Declared
from freshview.errors import Overflow
from freshview.temporal import output_time
from freshview.temporal.terms import OutputTime, Times
from freshview.theta.local.columns import Column, Tuples, concat, python_rows
from freshview.theta.operator.arrow import to_arrow
from freshview.theta.terms import Numbers

_MOST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Pairs:
    """Row i of `r` with row i of `s`."""

    r: Tuples
    s: Tuples


@dataclass(frozen=True, slots=True)
class Output:
    """The new pairs of one batch, in no order.

    `weight` is negative where a deletion takes a pair back. `late` are rows behind the watermark of
    their source, by its name: they were not joined.
    """

    declared: tuple[Declared, ...]
    columns: tuple[Column, ...]
    weight: Numbers
    time: Times
    late: dict[str, list[Row]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.weight)

    def rows(self) -> list[tuple[Row, int]]:
        """Each pair as one row, columns of the left source first, with its weight."""
        if not len(self):
            return []
        return list(zip(python_rows(self.columns), self.weight.tolist(), strict=True))

    def net(self) -> Counter[Row]:
        """The rows with the sums of their weights; those that cancel out are left out."""
        total: Counter[Row] = Counter()
        for row, weight in self.rows():
            total[row] += weight
        return Counter({row: n for row, n in total.items() if n})

    def to_arrow(self) -> pa.Table:
        """A table of both rows' columns, the weight and the time."""
        both = zip(self.columns, self.declared, strict=True)
        arrays = [to_arrow(column, declared.type) for column, declared in both]
        names = [*(c.name for c in self.declared), "weight", "time"]
        return pa.table([*arrays, pa.array(self.weight), pa.array(self.time)], names=names)


def check_weights(pairs: Sequence[Pairs]) -> None:
    """Refuse pairs that come more often than 64 bits can count."""
    for p in pairs:
        if int(np.abs(p.r.weight).max()) * int(np.abs(p.s.weight).max()) > _MOST:
            raise too_often()


def too_often() -> Overflow:
    """What a pair is refused with."""
    return Overflow("a pair comes more than 2^63 times", instead="insert its rows less often")


def collect(
    declared: tuple[Declared, ...],
    pairs: Sequence[Pairs],
    empty: Pairs,
    times: tuple[bool, bool],
    which: OutputTime,
    late: dict[str, list[Row]],
) -> Output:
    """One output of the pairs of all joiners; `times` says which of the sides have some."""
    some = [p for p in pairs if len(p.r)] or [empty]
    r, s = concat([p.r for p in some]), concat([p.s for p in some])
    weight = r.weight * s.weight
    if all(times):
        time = output_time(which, r.stamps.time, s.stamps.time)
    else:
        time = s.stamps.time if times[1] else r.stamps.time
    return Output(declared, (*r.columns, *s.columns), np.asarray(weight), time, late)
