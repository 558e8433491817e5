"""A delimited file on the driver's machine, read in batches from any record on."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
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
        bad: list[tuple[int, str]] = []  # may be ahead of the blocks

        def set_apart(row: Any) -> str:
            bad.append((row.number - 1, row.text))
            return "skip"

        reader = pv.open_csv(
            self.path,
            # Records have numbers only if one thread reads them.
            read_options=pv.ReadOptions(column_names=names, block_size=BLOCK, use_threads=False),
            parse_options=pv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=set_apart
            ),
            convert_options=pv.ConvertOptions(column_types={n: pa.string() for n in names}),
        )
        columns = list(names_of(self.relation))
        first = 0
        for batch in reader:
            table = pa.Table.from_batches([batch]).select(columns)
            block = _in_file_order(table, bad, first)
            first += block.num_rows
            yield block
        if bad:
            none = pa.schema([(n, pa.string()) for n in columns]).empty_table()
            yield _in_file_order(none, bad, first)


def _in_file_order(good: pa.Table, bad: list[tuple[int, str]], first: int) -> pa.Table:
    """A block with the malformed records at their places among the good ones.

    Their numbers are those in the file; `first` is that of the block's first record. A file that
    grew has the same records before as ever, so what was read of it is not read again.
    """
    count = 0
    while count < len(bad) and bad[count][0] - first - count <= good.num_rows:
        count += 1
    table = good.append_column(CORRUPT, pa.nulls(good.num_rows, pa.string()))
    if not count:
        return table
    lines = {n: pa.nulls(count, pa.string()) for n in good.column_names}
    lines[CORRUPT] = pa.array([text for _, text in bad[:count]], pa.string())
    is_bad = np.zeros(good.num_rows + count, dtype=bool)
    is_bad[[number - first for number, _ in bad[:count]]] = True
    del bad[:count]
    order = np.empty(len(is_bad), dtype=np.int64)
    order[~is_bad] = np.arange(good.num_rows)
    order[is_bad] = good.num_rows + np.arange(count)
    return pa.concat_tables([table, pa.table(lines)]).take(pa.array(order))
