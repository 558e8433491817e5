"""Rows of a source into columns: what is read, and what is refused in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from freshview.errors import BadRow
from freshview.signal.arrays import Array
from freshview.signal.columns.ranges import MAX_TIME
from freshview.signal.columns.rows import Ints, Rows, in_runs
from freshview.signal.columns.runs import Runs, runs_of_times
from freshview.signal.terms import Field, Source

COUNT = "__count"
"""The column of changes that says how often a row comes, or goes where it is negative."""


def read_rows(source: Source, data: object, *, copy: bool = True) -> Rows:
    """Events of a source: an Arrow table, a data frame, or a mapping from columns to arrays.

    With a column `__count`, events of a negative count go; without one, all of them come. Without a
    copy, events may lie in the arrays of the user, for as long as these do not change.
    """
    columns = _columns(source, data)
    if (runs := _runs(source, columns)) is not None:
        return in_runs(runs, {f.name: _field(source, f, columns, copy) for f in source.fields})
    time = _times(source, source.time, columns, copy)
    end = time + 1 if source.end is None else _times(source, source.end, columns, copy)
    if (wrong := end <= time).any():
        at = int(np.argmax(wrong))
        raise BadRow(
            f"{_place(source, columns, at)} ends at {int(end[at])}, and starts at {int(time[at])}",
            instead="let events end after they start",
        )
    payload = {f.name: _field(source, f, columns, copy) for f in source.fields}
    rows = Rows(np.zeros(len(time), np.int64), time, end, None, payload)
    return rows if COUNT not in columns else _weighted(source, rows, columns)


def _runs(source: Source, columns: Mapping[str, Array]) -> Runs | None:
    """The runs of points that come, where their times are whole numbers and few runs have them."""
    time = columns[source.time]
    if source.end is not None or COUNT in columns or time.dtype != np.int64 or time.ndim != 1:
        return None
    runs = runs_of_times(time)
    if runs is None or _are_far(runs.first) or _are_far(runs.last):
        return None
    return runs


def _are_far(time: Ints) -> bool:
    return bool((np.abs(time) >= MAX_TIME // 4).any())


def _columns(source: Source, data: object) -> dict[str, Array]:
    if isinstance(data, Mapping):
        columns = {str(n): _array(source, n, v) for n, v in data.items()}
    else:
        columns = {}
        for name, array in _table(source, data):
            columns[name] = array
    wanted = source.columns
    for name in wanted:
        if name not in columns:
            raise BadRow(
                f"the rows of '{source.name}' have no column '{name}'",
                instead=f"'{source.name}' needs {', '.join(wanted)}",
            )
    for name in columns:
        if name not in wanted and name != COUNT:
            raise BadRow(
                f"'{source.name}' has no column '{name}'",
                instead=f"its columns are {', '.join(wanted)}",
            )
    lengths = {len(c) for c in columns.values()}
    if len(lengths) > 1:
        raise BadRow(
            f"the columns of '{source.name}' have {sorted(lengths)} rows",
            instead="give columns of equal length",
        )
    return columns


def _array(source: Source, name: object, values: object) -> Array:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return _numpy(source, str(name), values)
    try:
        return np.asarray(values)
    except ValueError as e:
        raise BadRow(f"the column '{name}' of '{source.name}' is no array: {e}") from e


def _table(source: Source, data: object) -> list[tuple[str, Array]]:
    if isinstance(data, pa.RecordBatch):
        table = pa.Table.from_batches([data])
    elif isinstance(data, pa.Table):
        table = data
    else:
        if not hasattr(data, "__arrow_c_stream__"):
            raise BadRow(
                f"the rows of '{source.name}' cannot be of type {type(data).__name__}",
                instead="give an Arrow table, a data frame, or a dict of arrays",
            )
        table = pa.table(data)
    return [(n, _numpy(source, n, table.column(n))) for n in table.column_names]


def _numpy(source: Source, name: str, array: pa.Array | pa.ChunkedArray) -> Array:
    """An Arrow column as an array; a missing double is NaN, and no other value may be missing."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if array.null_count and not pa.types.is_floating(array.type):
        at = int(np.argmin(np.asarray(array.is_valid())))
        raise BadRow(
            f"the row {at} of '{source.name}' has no '{name}'",
            instead="leave such rows out, or fill them in",
        )
    kind = array.type
    if pa.types.is_timestamp(kind):
        return np.asarray(array.cast(pa.timestamp("us", kind.tz)).cast(pa.int64()))
    if pa.types.is_date32(kind):
        return np.asarray(array.cast(pa.int32())).astype(np.int64)
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind) or pa.types.is_large_list(kind):
        lists = array.to_pylist()
        if len({len(v) for v in lists}) > 1:
            raise BadRow(
                f"the vectors of '{name}' in '{source.name}' have different lengths",
                instead="give vectors of one length",
            )
        return np.array(lists, dtype=np.float64)
    if pa.types.is_struct(kind) and {f.name for f in kind} == {"re", "im"}:
        parts = [np.asarray(array.field(part)) for part in ("re", "im")]
        return np.asarray(parts[0] + 1j * parts[1])
    values: Array = array.to_numpy(zero_copy_only=False)
    return values.astype(str) if values.dtype.kind == "O" else values


def _times(source: Source, name: str, columns: Mapping[str, Array], copy: bool) -> Ints:
    values = columns[name]
    kind = values.dtype.kind
    if kind == "M":
        unit = "D" if np.datetime_data(values.dtype)[0] == "D" else "us"
        bad = np.isnat(values)
        times = values.astype(f"datetime64[{unit}]").astype(np.int64)
    elif kind == "f":
        with np.errstate(invalid="ignore"):
            bad = ~(values == np.round(values)) | (np.abs(values) >= 2.0**53)
        times = np.where(bad, 0, values).astype(np.int64)
    elif kind in "iu" and values.ndim == 1:
        times = values.astype(np.int64, copy=copy)
        bad = np.abs(times) >= MAX_TIME // 4
    else:
        raise BadRow(
            f"the times '{name}' of '{source.name}' are of type {values.dtype}",
            instead="give integers, dates or timestamps",
        )
    if bad.any():
        at = int(np.argmax(bad))
        raise BadRow(
            f"{_place(source, columns, at)} has the time {values[at]}",
            instead="times are integers below 2^60, such as microseconds",
        )
    return times


def _field(source: Source, declared: Field, columns: Mapping[str, Array], copy: bool) -> Array:
    values = columns[declared.name]
    allowed = {"double": "iuf", "complex": "iufc", "int": "iu", "bool": "b", "string": "UO"}
    if values.dtype.kind not in allowed[declared.kind] and len(values):
        raise BadRow(
            f"the column '{declared.name}' of '{source.name}' has the type {values.dtype}",
            instead=f"it is declared as {declared.kind}",
        )
    shape = (declared.size,) if declared.size else ()
    if len(values) and values.shape[1:] != shape:
        raise BadRow(
            f"the column '{declared.name}' of '{source.name}' has the shape {values.shape}",
            instead=f"give {declared.size or 'one'} value{'s' * bool(declared.size)} an event",
        )
    values = values.reshape((len(values), *shape))
    dtype = {"double": np.float64, "complex": np.complex128, "int": np.int64, "bool": np.bool_}
    if declared.kind == "string":
        return values.astype(str)
    return values.astype(dtype[declared.kind], copy=copy)


def _weighted(source: Source, rows: Rows, columns: Mapping[str, Array]) -> Rows:
    counts = np.asarray(columns[COUNT])
    if counts.dtype.kind not in "iu":
        raise BadRow(
            f"the counts of '{source.name}' are of type {counts.dtype}", instead="give integers"
        )
    repeated = rows.take(np.repeat(np.arange(len(rows)), np.abs(counts)))
    signs = np.repeat(np.sign(counts), np.abs(counts)).astype(np.int8)
    return Rows(repeated.group, repeated.start, repeated.end, signs, repeated.columns)


def _place(source: Source, columns: Mapping[str, Array], at: int) -> str:
    shown = ", ".join(f"{n} {c[at]}" for n, c in columns.items() if n != COUNT)
    return f"the row {at} of '{source.name}' ({shown})"
