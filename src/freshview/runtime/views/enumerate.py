"""The rows of a factorized result, by their numbers: counted, found and listed without expansion.

Every view of the result is held as arrays: its values, those under the same values above it side by
side, and how many rows of the result come before each. The k-th row is found from the root down: by
a search among the values for the one that holds it, whose remainder is parted among the views
below. A run of rows is found by the same steps on arrays, so listing takes the same time per row
from the first to the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from freshview.calculus.rows import Row
from freshview.calculus.schema import Column
from freshview.codegen.library.engine import KernelEngine
from freshview.errors import BadRow
from freshview.program.terms import Map
from freshview.runtime.ingest.columns import rows_of, table_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from freshview.factorized.conjunctive import Factorized, Union
    from freshview.reference.engine.engine import ReferenceEngine

    Numbers: TypeAlias = npt.NDArray[np.int64]
else:
    from freshview.runtime.ingest.lazy_imports import pa


Runs: TypeAlias = "ReferenceEngine | KernelEngine"
"""What keeps the views."""

BATCH = 65_536
"""Rows of a batch that is streamed."""


@dataclass(frozen=True)
class _Values:
    """The values of a union, grouped by what is given; arrays of one entry a value."""

    columns: dict[str, pa.Array]
    before: Numbers
    """Rows of the result under all the values before, in whatever group; and under all."""
    first: Numbers
    """Where each group begins, and where the last one ends."""
    below: tuple[tuple[_Values, Numbers], ...]
    """The unions under the values, and the group of each that a value has."""

    def totals(self, group: Numbers) -> Numbers:
        """How many rows groups stand for."""
        ends: Numbers = self.before[self.first[group + 1]] - self.before[self.first[group]]
        return ends

    def take(self, group: Numbers, number: Numbers, out: dict[str, pa.Array]) -> None:
        """The values of rows, each by its number within a group."""
        import numpy as np

        wanted = self.before[self.first[group]] + number
        at = np.searchsorted(self.before, wanted, side="right") - 1
        left = wanted - self.before[at]
        for name, column in self.columns.items():
            out[name] = column.take(pa.array(at))
        for values, groups in self.below:
            inner = groups[at]
            total = values.totals(inner)
            values.take(inner, left % total, out)
            left = left // total

    @property
    def bytes(self) -> int:
        """What the arrays take."""
        columns = sum(int(c.nbytes) for c in self.columns.values())
        own: int = self.before.nbytes + self.first.nbytes + columns
        return own + sum(v.bytes + g.nbytes for v, g in self.below)


class Rows:
    """The rows of a factorized result as of now, each as often as it counts, in a fixed order.

    >>> from freshview.calculus.schema import Relation
    >>> from freshview.calculus.text import read
    >>> from freshview.calculus.types import INT
    >>> from freshview.factorized.conjunctive import factorize
    >>> from freshview.reference.engine.engine import ReferenceEngine
    >>> declared = [Relation(n, (Column("x", INT), Column("y", INT))) for n in "RS"]
    >>> views = factorize("q", "abc", [read("R(a, b)"), read("S(a, c)")], declared)
    >>> engine = ReferenceEngine(views.program)
    >>> engine.apply({"R": [((1, b), 1) for b in range(1000)]})
    >>> engine.apply({"S": [((1, c), 1) for c in range(1000)]})
    >>> rows = Rows(views, engine)
    >>> len(rows), rows[0], rows[999_999]
    (1000000, (1, 0, 0), (1, 999, 999))
    >>> [batch.num_rows for batch in rows.stream(600_000)]
    [600000, 400000]
    """

    def __init__(self, factorized: Factorized, engine: Runs | Contents) -> None:
        held = engine if isinstance(engine, Contents) else contents(factorized, engine)
        self.columns = factorized.head
        self._size = held.size
        self._roots = [_values(u, held.views.__getitem__)[0] for u in factorized.roots]

    def __len__(self) -> int:
        """How many rows there are, each as often as it counts."""
        return self._size

    def __getitem__(self, number: int) -> Row:
        """The row of a number, counted from the end if it is negative."""
        size = len(self)
        at = number + size if number < 0 else number
        if not 0 <= at < size:
            raise IndexError(f"there is no row {number} among {size}")
        return rows_of(pa.table(self.take([at])))[0]

    def take(self, numbers: Sequence[int] | Numbers) -> pa.RecordBatch:
        """The rows of some numbers, in their order."""
        import numpy as np

        left = np.asarray(numbers, dtype=np.int64)
        if len(left) and not (left.min() >= 0 and left.max() < len(self)):
            raise BadRow(f"rows are numbered from 0 to {len(self) - 1}")
        out: dict[str, pa.Array] = {}
        for values in self._roots:
            total = int(values.before[-1]) or 1
            values.take(np.zeros(len(left), np.int64), left % total, out)
            left = left // total  # what is left counts rows of relations that show no column
        return pa.record_batch([out[name] for name in self.columns], list(self.columns))

    def stream(self, rows: int = BATCH) -> Iterator[pa.RecordBatch]:
        """All the rows, in batches of so many."""
        import numpy as np

        size = len(self)
        for first in range(0, size, rows):
            yield self.take(np.arange(first, min(first + rows, size)))

    @property
    def bytes(self) -> int:
        """What the arrays take."""
        return sum(v.bytes for v in self._roots)


@dataclass(frozen=True)
class Contents:
    """What an engine held at one moment: how many rows the result has, and its views."""

    size: int
    views: Mapping[str, pa.Table]


def contents(factorized: Factorized, engine: Runs) -> Contents:
    """Read all that the rows are found from; what the engine does later changes nothing of it."""
    maps = {m.name: m for m in factorized.program.maps}
    count, *views = [q.name for q in factorized.program.queries]
    return Contents(size_of(count, engine), {name: _contents(maps[name], engine) for name in views})


def size_of(name: str, engine: Runs) -> int:
    """How many rows the result has: what its query counts."""
    [(size,)] = engine.read(name)
    assert isinstance(size, int)
    return size


def _contents(m: Map, engine: Runs) -> pa.Table:
    """The keys of a map, and how many rows each has, as the last column."""
    if isinstance(engine, KernelEngine):
        table = pa.table(engine.read_arrow(m.name))
        return table.rename_columns([str(i) for i in range(table.num_columns)])
    columns = [*(Column(str(i), c.type) for i, c in enumerate(m.keys))]
    columns.append(Column(str(len(m.keys)), m.payload))
    rows: list[Row] = [(*key, int(n)) for key, n in engine.contents(m.name).items()]
    return table_of(columns, rows, m.name)


def _values(
    union: Union, read: Callable[[str], pa.Table], above: dict[str, pa.Array] | None = None
) -> tuple[_Values, Numbers]:
    """A union in arrays, and the group that each of the values above has there."""
    import numpy as np

    table = read(union.view.name)
    columns = {v: table.column(i).combine_chunks() for i, v in enumerate(union.view.vars)}
    counts = table.column(table.num_columns - 1).to_numpy()
    if above is not None and union.outer_keys:
        codes, wanted = _codes(*([some[v] for v in union.outer_keys] for some in (columns, above)))
    else:
        codes, wanted = np.zeros(len(counts), np.int64), np.zeros(_length(above), np.int64)
    order = np.argsort(codes, kind="stable")
    columns = {v: c.take(pa.array(order)) for v, c in columns.items()}
    groups, first = np.unique(codes[order], return_index=True)
    below = tuple(_values(u, read, columns) for u in union.below)
    values = _Values(
        {v: columns[v] for v in union.vars},
        np.concatenate([[0], np.cumsum(counts[order])]).astype(np.int64),
        np.append(first, len(counts)).astype(np.int64),
        below,
    )
    return values, np.searchsorted(groups, wanted).astype(np.int64)


def _length(columns: dict[str, pa.Array] | None) -> int:
    return 1 if columns is None else len(next(iter(columns.values())))


def _codes(mine: Sequence[pa.Array], others: Sequence[pa.Array]) -> tuple[Numbers, Numbers]:
    """Rows of the same columns in two tables as numbers: equal where the rows are."""
    import numpy as np

    size = len(mine[0])
    codes = np.zeros(size + len(others[0]), np.int64)
    for a, b in zip(mine, others, strict=True):
        column = pa.chunked_array([a, b.cast(a.type)]).combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks)
        encoded = column.dictionary_encode(null_encoding="encode").indices.to_numpy()
        # Numbered anew column by column, so that they stay small.
        _, codes = np.unique(codes * (len(codes) + 1) + encoded, return_inverse=True)
    return codes[:size], codes[size:]
