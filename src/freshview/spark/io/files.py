"""A delimited file on the driver's machine, read in batches from any record on."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pv

from freshview.calculus.schema import Relation
from freshview.errors import BadRow
from freshview.spark.io.rows import CORRUPT, names_of

BLOCK = 1 << 22
_REST = "__rest"


class CsvFile:
    """The records of a file as texts; those with too few or too many fields are lines in `CORRUPT`.

    `position` counts the records read. A reader that starts there continues with the next one: the
    order is always the same.
    """

    def __init__(self, path: Path, relation: Relation, delimiter: str, position: int = 0) -> None:
        self.path, self.relation, self.delimiter = path, relation, delimiter
        self.position = 0
        self._blocks = self._read()
        self._ahead: pa.Table | None = None
        while self.position < position:
            if self.read_rows(position - self.position) is None:
                raise BadRow(
                    f"'{path}' for '{relation.name}' is shorter than what was read from it",
                    instead="put the file back, or start over with another checkpoint",
                )

    def read_rows(self, count: int) -> pa.Table | None:
        """At most `count` records; None at the end."""
        parts: list[pa.Table] = []
        while count > 0:
            if self._ahead is None or self._ahead.num_rows == 0:
                self._ahead = next(self._blocks, None)
                if self._ahead is None:
                    break
            part = self._ahead.slice(0, count)
            self._ahead = self._ahead.slice(part.num_rows)
            self.position += part.num_rows
            count -= part.num_rows
            parts.append(part)
        return pa.concat_tables(parts) if parts else None

    def _read(self) -> Iterator[pa.Table]:
        try:
            if self.path.stat().st_size == 0:
                return
            yield from self._parse(self._names())
        except OSError as e:
            raise BadRow(
                f"cannot read '{self.path}' for '{self.relation.name}': {e.strerror or e}",
                instead="check the path in its FROM clause",
            ) from e
        except (pa.ArrowException, UnicodeDecodeError, csv.Error) as e:
            raise BadRow(
                f"'{self.path}' for '{self.relation.name}' cannot be read: {e}",
                instead='expected UTF-8 text, and quotes in fields as ""',
            ) from e

    def _names(self) -> list[str]:
        """The columns; one more for the delimiter at the end of every line of a `.tbl` file."""
        names = list(names_of(self.relation))
        with self.path.open(encoding="utf-8", newline="") as file:
            first = next(csv.reader(file, delimiter=self.delimiter), [])
        return [*names, _REST] if len(first) == len(names) + 1 and not first[-1] else names

    def _parse(self, names: list[str]) -> Iterator[pa.Table]:
        bad: list[str] = []

        def set_apart(row: Any) -> str:
            bad.append(row.text)
            return "skip"

        reader = pv.open_csv(
            self.path,
            read_options=pv.ReadOptions(column_names=names, block_size=BLOCK, use_threads=False),
            parse_options=pv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=set_apart
            ),
            convert_options=pv.ConvertOptions(column_types={n: pa.string() for n in names}),
        )
        schema = pa.schema([(n, pa.string()) for n in [*names_of(self.relation), CORRUPT]])
        for batch in reader:
            yield self._block(batch, schema, bad)
        if bad:
            yield self._block(None, schema, bad)

    def _block(self, batch: pa.RecordBatch | None, schema: pa.Schema, bad: list[str]) -> pa.Table:
        parts = []
        if batch is not None and batch.num_rows:
            table = pa.Table.from_batches([batch]).select(schema.names[:-1])
            none = pa.nulls(table.num_rows, pa.string())
            parts.append(table.append_column(CORRUPT, none))
        if bad:
            columns = [pa.nulls(len(bad), pa.string())] * (len(schema) - 1)
            parts.append(
                pa.Table.from_arrays([*columns, pa.array(bad, pa.string())], schema=schema)
            )
            bad.clear()
        return pa.concat_tables([p.cast(schema) for p in parts]) if parts else schema.empty_table()
