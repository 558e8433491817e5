"""Events as rows of SQL: columns with types, and changes as tables with counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from freshview.signal.columns.rows import Array
from freshview.signal.execute.events import Events
from freshview.signal.execute.intake import COUNT
from freshview.signal.execute.query import Query
from freshview.signal.terms import BadSignal

POSITION = "position"
"""Where a row was in its vector, counted from 0."""

_SQL = {"i": "BIGINT", "f": "DOUBLE", "b": "BOOLEAN", "U": "STRING"}
_ARROW = {"i": pa.int64(), "f": pa.float64(), "b": pa.bool_(), "U": pa.string()}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a result in SQL. Doubles may be NULL: they are where they are not finite."""

    name: str
    sql: str
    arrow: pa.DataType

    def __str__(self) -> str:
        """As it is declared."""
        return f"`{self.name}` {self.sql}" + (" NOT NULL" if self.sql != "DOUBLE" else "")


def columns_of(query: Query, time: pa.DataType | None) -> tuple[Column, ...]:
    """The columns of the result of a query: keys, times, payload.

    A complex number is two columns, `_re` and `_im`; a vector is as many rows as it has components,
    with their `position`. Times have the type that they have in the inputs.
    """
    moment = {"TIMESTAMP": pa.timestamp("us"), "DATE": pa.date32()}
    word = next((w for w, t in moment.items() if time is not None and t == time), "BIGINT")
    keys = query.keys.items() if query.is_grouped else ()
    answer = [Column(name, _SQL[kind], _ARROW[kind]) for name, kind in keys]
    times = ("time",) if query.is_uniform else ("time", "end")
    answer += [Column(name, word, moment.get(word, pa.int64())) for name in times]
    if any(values.ndim == 2 for values in query.schema.columns.values()):
        answer.append(Column(POSITION, "BIGINT", pa.int64()))
    for name, values in query.schema.columns.items():
        if values.dtype.kind == "c":
            answer += [Column(f"{name}_{part}", "DOUBLE", pa.float64()) for part in ("re", "im")]
        else:
            answer.append(Column(name, _SQL[values.dtype.kind], _ARROW[values.dtype.kind]))
    return tuple(answer)


def check_sizes(query: Query) -> None:
    """Refuse vectors of several sizes: they do not lie beside each other in rows."""
    sizes = {c.shape[1] for c in query.schema.columns.values() if c.ndim == 2}
    if len(sizes) > 1:
        raise BadSignal(
            f"the result has vectors of {', '.join(map(str, sorted(sizes)))} components",
            instead="make one view of each",
        )


def to_rows(events: Events, columns: Sequence[Column]) -> pa.Table:
    """Changes of a result as rows with counts."""
    values = events.to_numpy()
    sizes = [c.shape[1] for c in values.values() if c.ndim == 2]
    size = sizes[0] if sizes else 1
    arrays = {name: _repeated(array, size) for name, array in _parts(values)}
    if sizes:
        arrays[POSITION] = np.tile(np.arange(size), len(events))
    count = arrays.get(COUNT, np.ones(len(events) * size, np.int64))
    table = {c.name: _cast(arrays[c.name], c) for c in columns}
    return pa.table({**table, COUNT: pa.array(count)})


def _parts(values: Mapping[str, Array]) -> list[tuple[str, Array]]:
    parts: list[tuple[str, Array]] = []
    for name, array in values.items():
        if array.dtype.kind == "c":
            parts += [(f"{name}_re", array.real), (f"{name}_im", array.imag)]
        else:
            parts.append((name, array))
    return parts


def _repeated(array: Array, size: int) -> Array:
    if array.ndim == 2:
        return np.ascontiguousarray(array).reshape(-1)
    return np.repeat(array, size) if size != 1 else array


def _cast(array: Array, column: Column) -> pa.Array:
    if array.dtype.kind == "f":
        return pa.array(array, mask=~np.isfinite(array))
    if column.arrow == pa.date32():
        return pa.array(array.astype(np.int32)).cast(column.arrow)
    return pa.array(array).cast(column.arrow)


def rows_of_source(table: pa.Table, names: Sequence[str], source: str, view: str) -> pa.Table:
    """The columns of a view that a source has; decimals become doubles."""
    for name in names:
        if name not in table.column_names:
            raise BadSignal(
                f"'{view}' has no column '{name}', which '{source}' needs",
                instead=f"it has {', '.join(c for c in table.column_names if c != COUNT)}",
            )
    wanted = [n for n in dict.fromkeys((*names, COUNT)) if n in table.column_names]
    chosen = table.select(wanted)
    for at, field in enumerate(chosen.schema):
        if pa.types.is_decimal(field.type):
            doubles = chosen.column(at).cast(pa.float64())
            chosen = chosen.set_column(at, field.name, doubles)
    return chosen


def net(parts: Sequence[pa.Table]) -> pa.Table:
    """Changes one after the other, with a count for each row that comes or goes on balance."""
    table = pa.concat_tables(parts)
    keys = [n for n in table.column_names if n != COUNT]
    summed = table.group_by(keys).aggregate([(COUNT, "sum")]).rename_columns([*keys, COUNT])
    return summed.filter(pa.array(np.asarray(summed.column(COUNT)) != 0))
