"""A factorized view as its user sees it: rows by their numbers, as of one version.

`CREATE FACTORIZED VIEW` keeps the rows of a join as values of one column under those of another.
The engines keep those views as they keep all maps; here they are read, and rows found in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, NoReturn

from freshview.calculus.rows import Row
from freshview.calculus.terms import Const, Var
from freshview.calculus.types import Value
from freshview.errors import FreshviewError
from freshview.runtime.ingest.columns import arrow_schema, rows_of
from freshview.runtime.views.enumerate import BATCH, Contents, Rows, Runs, contents, size_of
from freshview.runtime.views.history import MOST_VERSIONS
from freshview.runtime.views.maintained import Callback, MaintainedView
from freshview.runtime.views.view import ViewHandle, ViewHost, matching

if TYPE_CHECKING:
    import pyarrow as pa

    from freshview.factorized.result import Result
    from freshview.runtime.views.enumerate import Numbers
else:
    from freshview.runtime.ingest.lazy_imports import pa


@dataclass(frozen=True)
class Listing:
    """The rows of a factorized view as of one version, each as often as it counts.

    Their order is fixed: the k-th row stays the k-th, whatever changes in the database.
    """

    version: int
    result: Result
    rows: Rows

    @property
    def schema(self) -> pa.Schema:
        """The Arrow columns."""
        return arrow_schema(self.result.query.columns)

    def __len__(self) -> int:
        """How many rows there are; none of them is listed for it."""
        return len(self.rows)

    def __getitem__(self, number: int) -> Row:
        """The row of a number, counted from the end if it is negative."""
        size = len(self)
        number = index(number)
        at = number + size if number < 0 else number
        if not 0 <= at < size:
            raise IndexError(f"there is no row {number} among {size}")
        [row] = rows_of(pa.table(self.take([at])))
        return row

    def take(self, numbers: Sequence[int] | Numbers) -> pa.RecordBatch:
        """The rows of some numbers, in their order."""
        schema = self.schema
        numbers = _whole(numbers)
        columns_by_name = self.rows.take(numbers)
        columns: list[object] = []
        for source, field in zip(self.result.sources, schema, strict=True):
            if isinstance(source, Var):
                columns.append(columns_by_name.column(source.name).cast(field.type))
            else:
                columns.append(_repeated(source, field.type, len(numbers)))
        return pa.record_batch(columns, schema=schema)

    def stream(self, rows: int = BATCH) -> Iterator[pa.RecordBatch]:
        """All the rows, in Arrow batches of so many."""
        import numpy as np

        if rows < 1:
            raise FreshviewError(
                f"a batch cannot have {rows} rows", instead="ask for one row at least"
            )
        for first in range(0, len(self), rows):
            yield self.take(np.arange(first, min(first + rows, len(self))))

    def to_arrow(self) -> pa.Table:
        """All the rows, listed."""
        return pa.Table.from_batches(self.stream(), self.schema)

    @property
    def bytes(self) -> int:
        """What is held for all the rows."""
        return self.rows.bytes

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as a stream of Arrow's C interface, batch by batch as they are asked for."""
        reader = pa.RecordBatchReader.from_batches(self.schema, self.stream())
        return reader.__arrow_c_stream__(requested_schema)


def _whole(numbers: Sequence[int] | Numbers) -> Numbers:
    """Numbers of rows as an array."""
    import numpy as np

    try:
        array = np.asarray(numbers)
        if array.ndim == 1 and (array.dtype.kind in "iu" or not array.size):
            return array.astype(np.int64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise FreshviewError(
        f"rows cannot be taken by {numbers!r}", instead="give their numbers, counted from 0"
    )


def _repeated(value: Const, t: pa.DataType, size: int) -> pa.Array:
    return pa.nulls(size, t) if value.value is None else pa.repeat(pa.scalar(value.value, t), size)


class FactorizedView(ViewHandle):
    """A view whose rows are never listed, unless its user lists them.

    `listing` gives the rows as of now, which later changes leave alone. Everything else here reads
    the listing of the present version; it is made once a version, in time that follows the sizes
    of the views and not the number of rows.

    >>> import freshview
    >>> db = freshview.connect(engine="reference")
    >>> _ = db.execute("CREATE STREAM r (a INT, b INT); CREATE STREAM s (a INT, c INT);"
    ...                "CREATE FACTORIZED VIEW pairs AS SELECT a, b, c FROM r JOIN s USING (a)")
    >>> db.insert("r", [(1, b) for b in range(1000)])
    >>> db.insert("s", [(1, c) for c in range(1000)])
    >>> pairs = db.factorized("pairs")
    >>> len(pairs), pairs[123_456]
    (1000000, (1, 456, 123))
    """

    def __init__(self, db: ViewHost, maintained: MaintainedView) -> None:
        super().__init__(db, maintained)
        self._last: Listing | None = None

    def listing(self) -> Listing:
        """The rows as of now, found by number; no later change is seen in them."""
        result = self._maintained.result()
        with self._db.still() as version:
            last = self._last
            if last is not None and last.version == version:
                return last
            held: Contents = contents(result.factorized, self._runs())
        self._last = Listing(version, result, Rows(result.factorized, held))
        return self._last

    def _runs(self) -> Runs:
        return self._maintained.engine.engine

    def __len__(self) -> int:
        """How many rows there are, each as often as it counts: one number that is kept."""
        with self._db.quiet():
            return size_of(self.name, self._runs())

    def __bool__(self) -> bool:
        """Always, also without rows: this is a view and no list."""
        return True

    def __getitem__(self, number: int) -> Row:
        """The row of a number, counted from the end if it is negative."""
        return self.listing()[number]

    def __iter__(self) -> Iterator[Row]:
        """All the rows as of now, batch by batch."""
        for batch in self.stream():
            yield from rows_of(pa.table(batch))

    def take(self, numbers: Sequence[int] | Numbers) -> pa.RecordBatch:
        """The rows of some numbers, in their order."""
        return self.listing().take(numbers)

    def stream(self, rows: int = BATCH) -> Iterator[pa.RecordBatch]:
        """All the rows as of now, in Arrow batches of so many."""
        return self.listing().stream(rows)

    def rows(self) -> list[Row]:
        """All the rows, listed."""
        return rows_of(self.to_arrow())

    def to_arrow(self) -> pa.Table:
        """All the rows, listed."""
        return self.listing().to_arrow()

    def read(self) -> tuple[int, pa.Table]:
        """A version of the database and the rows as they are at it, listed."""
        listing = self.listing()
        return listing.version, listing.to_arrow()

    def lookup(self, **key: Value) -> list[Row]:
        """The rows whose columns have the given values: a look at each row, none listed for it."""
        values = self._values_by_column(key)
        tables = (matching(pa.table(b), values, self._maintained.query) for b in self.stream())
        return [row for table in tables for row in rows_of(table)]

    def track(self, versions: int = MOST_VERSIONS) -> NoReturn:
        """Changes of rows would have to be listed: refused."""
        raise self._not_recorded()

    def changes(self, since: int) -> NoReturn:
        """Changes of rows would have to be listed: refused."""
        raise self._not_recorded()

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Changes of rows would have to be listed: refused."""
        raise self._not_recorded()

    def _not_recorded(self) -> FreshviewError:
        return FreshviewError(
            f"'{self.name}' is factorized, and the changes of its rows are not recorded",
            instead="declare it with CREATE VIEW",
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as of now as a stream of Arrow's C interface, batch by batch."""
        return self.listing().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return f"<p>{self!r}: {len(self)} rows, factorized</p>"
