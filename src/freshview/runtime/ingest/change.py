"""What a user gives as a change, made into one form that every engine takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from freshview.calculus.domain import is_int
from freshview.calculus.rows import Row, RowLike, bad_value, in_order, plain
from freshview.calculus.schema import Column, Relation
from freshview.codegen.library.load import Instance
from freshview.errors import BadRow, Place
from freshview.runtime.ingest.columns import COUNT, rows_in
from freshview.runtime.ingest.consolidate import consolidate

if TYPE_CHECKING:
    import pyarrow as pa
else:
    from freshview.runtime.ingest.lazy_imports import pa

Hook: TypeAlias = Callable[[Row, int], RowLike | list[RowLike] | None]


class Change:
    """Rows of one relation that come or go: Python rows or an Arrow table, with counts or a sign.

    It can be applied to any number of engines, and taken back from each.
    """

    __slots__ = ("_exported", "_net", "counts", "relation", "rows", "sign", "table")

    def __init__(
        self,
        relation: Relation,
        rows: Sequence[RowLike] | None,
        table: Any = None,
        counts: Any = None,
        sign: int = 1,
    ) -> None:
        self.relation = relation
        self.rows = rows
        self.table = table
        self.counts = counts
        self.sign = sign
        self._exported: object = None
        self._net: dict[Row, int] | None = None

    @property
    def size(self) -> int:
        """How many rows were given."""
        if self.rows is not None:
            return len(self.rows)
        size = getattr(self.table, "num_rows", None)
        return len(self.table) if size is None else int(size)

    @property
    def only_inserts(self) -> bool:
        """Whether the form alone tells that no row goes."""
        return self.sign > 0 and self.counts is None

    def apply(self, instance: Instance, index: int, back: bool = False) -> None:
        """Give the rows to a running kernel, or take them back."""
        sign = -self.sign if back else self.sign
        if self.rows is not None:
            instance.apply_rows(index, self.rows, self.counts, sign)  # type: ignore[arg-type]
        else:
            if self._exported is None:
                self._exported = _exported(self.table)
            instance.apply_arrow(index, self._exported, self.counts, sign)  # type: ignore[arg-type]

    def net(self) -> dict[Row, int]:
        """The net change a row: checked, added up, and without the rows that cancel out."""
        if self._net is None:
            rows = self.python_rows()
            self._net = consolidate(self.relation, zip(rows, self.each(len(rows)), strict=True))
        return self._net

    def python_rows(self) -> Sequence[RowLike]:
        """The rows as Python values, as they came."""
        if self.rows is not None:
            return self.rows
        return rows_in(self.relation, _as_table(self.relation, self.table))

    def each(self, size: int) -> list[int]:
        """How often each of so many rows comes; BadRow if counts came that are not as many."""
        if self.counts is None:
            return [self.sign] * size
        counts = _listed(self.counts)
        if len(counts) != size:
            raise BadRow(
                f"{size} rows of '{self.relation.name}' come with {len(counts)} counts",
                instead="give as many",
            )
        return counts if self.sign > 0 else [-c for c in counts]

    def reversed(self) -> Change:
        """The same rows, the last one first."""
        rows = self.python_rows()
        return Change(self.relation, rows[::-1], counts=self.each(len(rows))[::-1])

    def through(self, hooks: Sequence[Hook]) -> Change:
        """The change as the hooks make it, row by row: as it was, another row, several or none."""
        rows = self.python_rows()
        pairs: list[tuple[RowLike, int]] = list(zip(rows, self.each(len(rows)), strict=True))
        for hook in hooks:
            after: list[tuple[RowLike, int]] = []
            for row, count in pairs:
                replacement = hook(tuple(in_order(self.relation, row)), count)
                if isinstance(replacement, list):
                    after += [(one, count) for one in replacement]
                elif replacement is not None:
                    after.append((replacement, count))
            pairs = after
        return Change(self.relation, [r for r, _ in pairs], counts=[c for _, c in pairs])


class _Exported:
    """An Arrow table whose capsules are made once: kernels only look into them."""

    __slots__ = ("_capsules",)

    def __init__(self, table: pa.RecordBatch) -> None:
        self._capsules = table.__arrow_c_array__()

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self._capsules


def _exported(table: pa.Table) -> object:
    """The table for any number of kernels; one that lies in a single piece is exported once."""
    if isinstance(table, pa.Table):
        parts = table.to_batches()
        return _Exported(parts[0]) if len(parts) == 1 else table
    return _Exported(table)


def row_change(relation: Relation, rows: object, sign: int = 1) -> Change:
    """Rows to insert or delete, in any of the forms that the documentation names."""
    if isinstance(rows, list):
        return Change(relation, rows, sign=sign)
    if isinstance(rows, tuple):
        one = not rows or not isinstance(rows[0], tuple | list | Mapping)
        return Change(relation, [rows] if one and rows else list(rows), sign=sign)
    if _is_arrow(rows) or _is_pandas(rows):
        return Change(relation, None, _rereadable(relation, rows), sign=sign)
    if isinstance(rows, Mapping):
        if any(_is_column(v) for v in rows.values()):
            return Change(relation, None, _from_columns(relation, rows), sign=sign)
        return Change(relation, [rows], sign=sign)
    if isinstance(rows, str | bytes) or not isinstance(rows, Iterable):
        raise BadRow(
            f"'{relation.name}' cannot take {rows!r}",
            instead="give rows, a mapping of columns, or an Arrow, pandas or polars table",
        )
    return Change(relation, list(rows), sign=sign)


def counted_change(relation: Relation, changes: object) -> Change:
    """A change with multiplicities: pairs of row and count, or rows and their counts apart.

    An Arrow table may bring its counts as a column `__count`, as those of `view.changes` do.
    """
    if isinstance(changes, tuple) and len(changes) == 2 and not _is_pair(changes[1]):
        change = row_change(relation, changes[0])
        change.counts = _plain_counts(relation, changes[1])
        return change
    if _is_arrow(changes) or _is_pandas(changes):
        table = _as_table(relation, _rereadable(relation, changes))
        if COUNT not in table.column_names:
            return Change(relation, None, table)
        if table.column_names.count(COUNT) > 1:
            raise BadRow(
                f"the table of rows of '{relation.name}' has several columns '{COUNT}'",
                instead="give one",
            )
        counts = _plain_counts(relation, table.column(COUNT))
        return Change(relation, None, table.drop_columns([COUNT]), counts)
    if not isinstance(changes, Iterable):
        raise BadRow(
            f"a change of '{relation.name}' cannot be {changes!r}",
            instead="give pairs of a row and how often it comes, negative if it goes",
        )
    rows: list[RowLike] = []
    counts = []
    for pair in changes:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise BadRow(
                f"a change of '{relation.name}' cannot be {pair!r}",
                instead="give pairs of a row and how often it comes, negative if it goes",
            )
        rows.append(pair[0])
        counts.append(_count(relation, pair[1]))
    return Change(relation, rows, counts=counts)


def _count(relation: Relation, count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, int):
        raise BadRow(
            f"the multiplicity of a row of '{relation.name}' cannot be {count!r}",
            instead="give an integer, positive to insert and negative to delete",
        )
    if not is_int(count):
        raise BadRow(
            f"a row of '{relation.name}' cannot come {count} times",
            instead="give counts of 64 bits, from -9223372036854775807 to 9223372036854775807",
        )
    return count


def _plain_counts(relation: Relation, counts: object) -> Any:
    """Counts as a list of int or an array of 64-bit integers."""
    if isinstance(counts, list | tuple):
        return [_count(relation, c) for c in counts]
    import numpy as np

    if isinstance(counts, pa.ChunkedArray | pa.Array):
        counts = counts.to_numpy() if isinstance(counts, pa.ChunkedArray) else np.asarray(counts)
    out = np.asarray(counts)
    if out.dtype.kind not in "iu" or out.ndim != 1:
        raise BadRow(
            f"the counts of '{relation.name}' are not a list of integers",
            instead="give one integer a row, positive to insert and negative to delete",
        )
    for end in (out.max(), out.min()) if out.size else ():
        _count(relation, int(end))
    return np.ascontiguousarray(out, dtype=np.int64)


def _listed(counts: Iterable[int]) -> list[int]:
    return counts if isinstance(counts, list) else [int(c) for c in counts]


def _is_pair(value: object) -> bool:
    """Whether this is a row with its count, and not a list of counts."""
    return (
        isinstance(value, tuple | list)
        and len(value) == 2
        and isinstance(value[0], tuple | list | Mapping)
    )


def _is_column(value: object) -> bool:
    return isinstance(value, list | tuple) or getattr(value, "ndim", 0) == 1 or _is_arrow(value)


def _is_arrow(value: object) -> bool:
    return hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__")


def _is_pandas(value: object) -> bool:
    return type(value).__module__.split(".")[0] == "pandas"


def _rereadable(relation: Relation, table: object) -> pa.Table:
    """An Arrow table that can be read more than once."""
    if _is_pandas(table):
        return _normalized(relation, _from_pandas(relation, table))
    if hasattr(table, "__arrow_c_array__"):
        return _normalized(relation, table) if isinstance(table, pa.RecordBatch) else table
    return _normalized(relation, _as_table(relation, table))


def _from_pandas(relation: Relation, value: object) -> pa.Table:
    if not hasattr(value, "columns"):
        raise BadRow(
            f"'{relation.name}' cannot take a {type(value).__name__} of pandas",
            instead="give a DataFrame, which names its columns: series.to_frame()",
        )
    try:
        return pa.Table.from_pandas(value, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as e:
        raise BadRow(f"the table of rows of '{relation.name}' cannot be read: {e}") from e


def _as_table(relation: Relation, table: object) -> pa.Table:
    if isinstance(table, pa.Table):
        return table
    try:
        return pa.table(table)
    except (pa.ArrowException, TypeError, ValueError) as e:
        raise BadRow(f"the table of rows of '{relation.name}' cannot be read: {e}") from e


def _from_columns(relation: Relation, columns: Mapping[str, object]) -> pa.RecordBatch:
    moments = {c.name.lower(): c for c in relation.columns if c.type.kind == "timestamp"}
    arrays = {
        name: _moments(relation, moments[str(name).lower()], c)
        if isinstance(c, list | tuple) and str(name).lower() in moments
        else c
        for name, c in columns.items()
    }
    try:
        batch = pa.RecordBatch.from_pydict({name: pa.array(c) for name, c in arrays.items()})
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as e:
        raise BadRow(f"these are not columns of '{relation.name}': {e}") from e
    return _normalized(relation, batch)


def _moments(relation: Relation, column: Column, values: Sequence[object]) -> list[object]:
    """A column of moments of Python's own class: Arrow takes others by fields that may not hold."""
    out = []
    for number, value in enumerate(values, 1):
        try:
            out.append(plain(value) if isinstance(value, datetime) else value)
        except ValueError as e:
            at = Place(f"row {number} of '{relation.name}'")
            raise bad_value(relation, column, value, at) from e
    return out


def _normalized(relation: Relation, table: pa.Table) -> pa.Table:
    """A table of pyarrow in forms that every engine takes; other rows need none of it."""
    from freshview.runtime.ingest.normalize_types import normalize_types

    return normalize_types(relation, table)
