"""A table of rows as its user sees it: the answer of a query, or a view as it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from freshview.calculus.rows import Row
from freshview.calculus.schema import Column
from freshview.calculus.types import Value
from freshview.runtime.ingest.columns import html, rows_of, table_of

if TYPE_CHECKING:
    import pyarrow as pa


class Rows:
    """What can be read as rows or as an Arrow table."""

    @property
    def name(self) -> str:
        """What it is called where it is shown."""
        raise NotImplementedError

    @property
    def schema(self) -> tuple[Column, ...]:
        """The columns with their types."""
        raise NotImplementedError

    def rows(self) -> list[Row]:
        """The rows, each as often as it counts; in the order of an ORDER BY."""
        raise NotImplementedError

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table, in the order of an ORDER BY, else in none."""
        raise NotImplementedError

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(c.name for c in self.schema)

    def to_pylist(self) -> list[dict[str, Value]]:
        """The rows as dictionaries from column names to values."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows()]

    def to_pandas(self, **options: object) -> Any:
        """The rows as a pandas DataFrame; options go to pyarrow's `Table.to_pandas`."""
        return self.to_arrow().to_pandas(**options)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as a stream of Arrow's C interface: polars, DuckDB and others read them."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return html(self.to_arrow(), self.name)


class Result(Rows):
    """What a statement answers: rows that were computed once, and do not change any more.

    >>> import freshview
    >>> db = freshview.connect()
    >>> _ = db.execute("CREATE STREAM r (k INT, v INT)")
    >>> db.sql("INSERT INTO r VALUES (1, 10), (1, 20), (2, 5)").rows()
    [(3,)]
    >>> db.sql("SELECT k, SUM(v) AS total FROM r GROUP BY k ORDER BY k").to_pylist()
    [{'k': 1, 'total': 30}, {'k': 2, 'total': 5}]
    """

    def __init__(self, columns: Sequence[Column], table: pa.Table) -> None:
        self._columns = tuple(columns)
        self._table = table

    @staticmethod
    def of(columns: Sequence[Column], rows: Sequence[Row]) -> Result:
        """A result of these rows."""
        return Result(columns, table_of(columns, rows, "the result"))

    @property
    def name(self) -> str:
        """A result has no name of its own."""
        return "result"

    @property
    def schema(self) -> tuple[Column, ...]:
        """The columns with their types."""
        return self._columns

    def rows(self) -> list[Row]:
        """The rows, each as often as it counts; in the order of an ORDER BY."""
        return rows_of(self._table)

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        return self._table

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows())

    def __bool__(self) -> bool:
        """A result is one, also without rows."""
        return True

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __repr__(self) -> str:
        return f"<result ({', '.join(self.columns)}): {len(self)} rows>"
