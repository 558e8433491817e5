"""Events as users hold them: results and changes, as arrays, Arrow tables and data frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from freshview.errors import UnknownName
from freshview.signal.arrays import Array
from freshview.signal.columns.directory import Directory
from freshview.signal.columns.rows import Rows
from freshview.signal.execute.intake import COUNT
from freshview.signal.execute.picture import html


@dataclass(frozen=True, slots=True)
class Events:
    """Events in the order of groups and times, with their keys, lifetimes and payloads.

    Those of a uniform signal have only a `time`; others have a `time` and an `end`.
    """

    rows: Rows
    directory: Directory
    is_uniform: bool
    is_change: bool = False
    is_grouped: bool = True

    def __len__(self) -> int:
        return len(self.rows)

    def to_numpy(self) -> dict[str, Array]:
        """Columns by name: keys, `time`, `end`, payload, and `__count` if these are changes."""
        rows, columns = self.rows, dict[str, Array]()
        if self.is_grouped:
            names = self.directory.names
            columns.update(zip(names, self.directory.decode(rows.group), strict=False))
        columns["time"] = rows.start
        if not self.is_uniform:
            columns["end"] = rows.end
        columns.update(rows.columns)
        if self.is_change:
            columns[COUNT] = rows.weight.astype(np.int64)
        return columns

    def to_arrow(self) -> pa.Table:
        """An Arrow table; complex numbers are structs of `re` and `im`, vectors are lists."""
        return pa.table({n: _arrow(c) for n, c in self.to_numpy().items()})

    def to_pandas(self) -> Any:
        """A data frame."""
        return self.to_arrow().to_pandas()

    def group(self, **key: object) -> Events:
        """The events of one group."""
        names = self.directory.names if self.is_grouped else ()
        mask = np.ones(len(self), np.bool_)
        columns = self.to_numpy()
        for name, value in key.items():
            if name not in names:
                raise UnknownName(
                    f"'{name}' is no key of these events",
                    instead=f"they are grouped by {', '.join(names) or 'nothing'}",
                )
            mask &= columns[name] == value
        rows = self.rows.take(mask)
        return Events(rows, self.directory, self.is_uniform, self.is_change, self.is_grouped)

    def _repr_html_(self) -> str:
        what = "changes" if self.is_change else "events"
        directory = self.directory if self.is_grouped else None
        return html(what, self.rows, directory, list(self.to_numpy()))


def _arrow(values: Array) -> pa.Array:
    if values.ndim == 2:
        flat = _arrow(np.ascontiguousarray(values).reshape(-1))
        return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])
    if values.dtype.kind == "c":
        parts = [pa.array(values.real.copy()), pa.array(values.imag.copy())]
        return pa.StructArray.from_arrays(parts, ["re", "im"])
    return pa.array(values)
