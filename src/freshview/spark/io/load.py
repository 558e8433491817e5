"""Static tables, loaded in bulk before the first batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from freshview.errors import UnsupportedSql
from freshview.runtime.ingest.columns import arrow_schema
from freshview.spark.io import sources
from freshview.spark.io.files import CsvFile
from freshview.spark.io.records import rows_of_lines
from freshview.spark.io.rows import RejectedRow, TypedRows, fit_rows
from freshview.spark.io.sources import Input

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ALL_ROWS = 1 << 62


def load_tables(
    spark: SparkSession, tables: Sequence[Input]
) -> tuple[dict[str, pa.Table], list[RejectedRow]]:
    """The rows of static tables, and the rejected ones."""
    rows: dict[str, pa.Table] = {}
    rejected: list[RejectedRow] = []
    for i in tables:
        checked = _load(spark, i)
        rows[i.relation.name] = checked.table
        rejected += checked.rejected
    return rows, rejected


def _load(spark: SparkSession, i: Input) -> TypedRows:
    delimiter = str(i.options.get("delimiter", ","))
    if i.source.kind == "file":
        whole = file_of(i).read_rows(ALL_ROWS)
        if whole is None:
            empty = arrow_schema(i.relation.columns).empty_table()
            return TypedRows(empty, pa.array([], pa.int64()))
        return fit_rows(i.relation, whole, delimiter=delimiter)
    if i.source.kind not in _TABLES:
        raise UnsupportedSql(
            f"the static table '{i.relation.name}' cannot come from {i.source.kind.upper()}",
            instead="write CREATE STREAM",
        )
    table = _TABLES[i.source.kind](spark, i).toArrow()
    if i.source.kind == "json":
        return rows_of_lines(i.relation, table.column("value").combine_chunks())
    return fit_rows(i.relation, table, delimiter=delimiter if i.source.kind == "csv" else "")


def file_of(i: Input, position: int = 0) -> CsvFile:
    """The file of a FROM FILE clause, from a record on."""
    options = dict(i.options)
    delimiter = str(options.pop("delimiter", ","))
    if i.source.format != "csv" or i.source.framing not in ("", "line") or options:
        raise UnsupportedSql(
            f"the file of '{i.relation.name}' cannot be read this way",
            instead="use FROM FILE '...' LINE DELIMITED CSV (delimiter := ',')",
        )
    from pathlib import Path

    return CsvFile(Path(i.path), i.relation, delimiter, position)


_TABLES: Mapping[str, Callable[[SparkSession, Input], DataFrame]] = {
    "csv": sources.csv_table,
    "json": sources.json_table,
    "parquet": sources.parquet_table,
    "delta": sources.delta_table,
}
