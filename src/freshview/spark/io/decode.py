"""The decoder of micro-batches: records of a source as a change, or as events of keys."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from freshview.errors import BadRow
from freshview.runtime.ingest.columns import COUNT
from freshview.runtime.ingest.counted_rows import with_count
from freshview.spark.io.records import events_of_lines, rows_of_lines
from freshview.spark.io.rows import CORRUPT, RejectedRow, TypedRows, fit_rows, one_array
from freshview.spark.io.sources import Input
from freshview.spark.io.upsert import DELETED

CHANGE = "__change"
"""The column of a Delta change feed with the kind of change."""

_SIGNS = {"insert": 1, "update_postimage": 1, "delete": -1, "update_preimage": -1}


@dataclass
class DecodedBatch:
    """Decoded rows of a relation, with counts or as events of keys (`keyed`); and rejected rows."""

    table: pa.Table
    keyed: bool = False
    rejected: list[RejectedRow] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """The number of rows or events."""
        return int(self.table.num_rows)


def decode(i: Input, part: pa.Table) -> DecodedBatch:
    """Decode the records of a source.

    `changes` in the FROM clause is the meaning of a record: an inserted row, the new row of its
    key, or an envelope.
    """
    changes = str(i.options.get("changes", "append"))
    deleted = str(i.options.get("deleted", ""))
    match i.source.kind:
        case "kafka":
            part = part.sort_by([("partition", "ascending"), ("offset", "ascending")])
            keys = part.column("key").combine_chunks() if changes == "debezium" else None
            return _lines(i, part, changes, deleted, keys)
        case "json":
            return _lines(i, part, changes, deleted)
        case "socket":
            lines = part.column("value").combine_chunks()
            return _appended(_text(i, lines))
        case "delta":
            return _feed(i, part)
        case _:
            return _columns(i, part, changes, deleted)


def _lines(
    i: Input, part: pa.Table, changes: str, deleted: str, keys: pa.Array | None = None
) -> DecodedBatch:
    lines = one_array(part.column("value"))
    if changes == "debezium":
        full = i.options.get("old") == "envelope"
        rows = events_of_lines(i.relation, lines, keys, full=full)
        return DecodedBatch(rows.table, not full, rows.rejected)
    rows = rows_of_lines(i.relation, lines, deleted)
    return _events(rows) if changes == "upsert" else _appended(rows)


def _columns(i: Input, part: pa.Table, changes: str, deleted: str) -> DecodedBatch:
    if changes == "debezium":
        raise BadRow(
            f"the source of '{i.relation.name}' has no envelopes",
            instead="envelopes come as JSON: from KAFKA, or from JSON files",
        )
    delimiter = str(i.options.get("delimiter", ",")) if i.source.kind in ("csv", "file") else ""
    rows = fit_rows(i.relation, part, delimiter=delimiter)
    if changes != "upsert":
        return _appended(rows)
    if deleted:
        if deleted not in part.column_names:
            raise BadRow(
                f"the source of '{i.relation.name}' has no column '{deleted}'",
                instead="correct the option 'deleted'",
            )
        deletions = pc.fill_null(one_array(part.column(deleted)).cast(pa.bool_()), False)
        rows.table = rows.table.append_column(DELETED, deletions.take(rows.at))
    return _events(rows)


def _text(i: Input, lines: pa.Array) -> TypedRows:
    """Lines that are not split into fields yet."""
    columns = {c.name: pa.nulls(len(lines), pa.string()) for c in i.relation.columns}
    delimiter = str(i.options.get("delimiter", ","))
    return fit_rows(i.relation, pa.table({**columns, CORRUPT: lines}), delimiter=delimiter)


def _feed(i: Input, part: pa.Table) -> DecodedBatch:
    rows = fit_rows(i.relation, part.drop_columns([CHANGE]))
    kinds = one_array(part.column(CHANGE)).take(rows.at).to_pylist()
    counts = pa.array([_SIGNS[k] for k in kinds], pa.int64())
    return DecodedBatch(rows.table.append_column(COUNT, counts), False, rows.rejected)


def _appended(rows: TypedRows) -> DecodedBatch:
    return DecodedBatch(with_count(rows.table, 1), False, rows.rejected)


def _events(rows: TypedRows) -> DecodedBatch:
    table = rows.table
    if DELETED not in table.column_names:
        table = table.append_column(DELETED, pa.repeat(False, table.num_rows))
    return DecodedBatch(table, True, rows.rejected)
