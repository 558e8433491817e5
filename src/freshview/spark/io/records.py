"""JSON lines as rows of a relation, and Debezium envelopes as events.

Arrow reads all the lines at once. If it fails, each line is read by itself, to find the malformed
one; decimals are exact both ways. Field names are the column names, in the same case; other fields
are ignored, and a missing field is NULL.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pj

from freshview.calculus.rows import bad_value
from freshview.calculus.schema import Relation
from freshview.calculus.types import Value
from freshview.runtime.ingest.columns import arrow_schema, arrow_type
from freshview.spark.io.rows import RejectedRow, TypedRows, fit_rows, value_of
from freshview.spark.io.upsert import DELETED, envelope_events, key_of, net_change

ARROW_KINDS = ("int", "decimal", "double", "bool", "string")
"""Kinds that Arrow reads from JSON itself; dates and timestamps come as texts."""


def rows_of_lines(relation: Relation, lines: pa.Array, deleted: str = "") -> TypedRows:
    """The rows of JSON lines.

    `deleted` names a field that is true for deleted rows; the result then has the column `DELETED`.

    >>> from freshview.calculus.schema import Column
    >>> from freshview.calculus.types import INT
    >>> r = Relation("r", (Column("a", INT),))
    >>> got = rows_of_lines(r, pa.array(['{"a": 1}', '{"a": "x"}', "oops"]))
    >>> got.table.to_pylist(), [one.row for one in got.rejected]
    ([{'a': 1}], ['{"a": "x"}', 'oops'])
    """
    table = _read_together(relation, lines, deleted)
    if table is not None:
        fit = fit_rows(relation, table.drop_columns([deleted]) if deleted else table)
        if fit.rejected:  # in the order of the lines
            others = sorted(set(range(len(lines))) - set(fit.at.to_pylist()))
            fit.rejected = [
                replace(r, row=lines[i].as_py()) for r, i in zip(fit.rejected, others, strict=True)
            ]
        if deleted:
            deleted_column = table.column(deleted).fill_null(False).take(fit.at)
            fit.table = fit.table.append_column(DELETED, deleted_column)
        return fit
    rows: list[list[Value]] = []
    deleted_flags: list[bool] = []

    def take(record: Mapping[str, Any]) -> None:
        is_deleted = record.get(deleted) if deleted else False
        if is_deleted not in (True, False, None):
            raise ValueError(
                f"{relation.name}: '{deleted}' is {is_deleted!r}; expected true or false"
            )
        rows.append(_row(relation, record))
        deleted_flags.append(bool(is_deleted))

    at, rejected = _read_each(relation, lines, take)
    typed = _table(relation, rows)
    if deleted:
        typed = typed.append_column(DELETED, pa.array(deleted_flags, pa.bool_()))
    return TypedRows(typed, at, rejected)


def events_of_lines(
    relation: Relation, lines: pa.Array, keys: pa.Array | None = None, *, full: bool = False
) -> TypedRows:
    """The events of Debezium envelopes; `keys` are those of the messages, if there are any.

    An envelope may be under `payload`, as with schemas in the messages. A message without a value
    is the tombstone after a deletion, and is skipped. A deleted row needs only its key; with `full`
    the whole row is there, and the result is the net change instead of events.
    """
    key_names = key_of(relation)
    ops: list[str] = []
    sides: tuple[list[list[Value]], list[list[Value]]] = ([], [])
    nothing: list[Value] = [None] * len(relation.columns)
    messages = keys.to_pylist() if keys is not None else [None] * len(lines)
    number = iter(messages)

    def take(record: Mapping[str, Any]) -> None:
        key = _key(next(number))
        envelope = _payload(record)
        op = envelope.get("op")
        if op not in ("c", "r", "u", "d"):
            raise ValueError(f"an envelope of '{relation.name}' has the op {op!r}; not c, r, u, d")
        before, after = envelope.get("before"), envelope.get("after")
        old = {**key, **(before or {})} if op == "d" or before else None
        if op != "d" and not isinstance(after, dict):
            raise ValueError(f"an envelope of '{relation.name}' with op '{op}' has no 'after'")
        if op == "u" and full and not before:
            raise ValueError(f"an envelope of '{relation.name}' with op 'u' has no 'before'")
        only = None if full else key_names
        old_row = nothing if old is None else _row(relation, old, only)
        new_row = nothing if op == "d" else _row(relation, after or {})
        ops.append(op)
        sides[0].append(old_row)
        sides[1].append(new_row)

    def skip() -> None:
        next(number)

    at, rejected = _read_each(relation, lines, take, skip)
    before, after = (_table(relation, side) for side in sides)
    if full:
        deletes = pa.array([op in ("u", "d") for op in ops], pa.bool_())
        inserts = pa.array([op != "d" for op in ops], pa.bool_())
        change = net_change(relation, [(after.filter(inserts), 1), (before.filter(deletes), -1)])
        return TypedRows(change, at, rejected)
    events = envelope_events(relation, pa.array(ops, pa.string()), before, after)
    return TypedRows(events, at, rejected)


def _key(text: str | None) -> Mapping[str, object]:
    """The columns in the key of a message; none if the key is any other text."""
    try:
        return _payload(json.loads(text, parse_float=Decimal)) if text else {}
    except ValueError:
        return {}


def _payload(record: object) -> Mapping[str, Any]:
    if not isinstance(record, dict):
        raise ValueError("an envelope is not a JSON object")
    inner = record.get("payload")
    return inner if isinstance(inner, dict) else record


def _read_together(relation: Relation, lines: pa.Array, deleted: str) -> pa.Table | None:
    if len(lines) == 0 or lines.null_count:
        return None
    fields = [
        pa.field(c.name, arrow_type(c.type) if c.type.kind in ARROW_KINDS else pa.string())
        for c in relation.columns
    ]
    if deleted:
        fields.append(pa.field(deleted, pa.bool_()))
    text = "\n".join(lines.to_pylist()).encode()
    try:
        table = pj.read_json(
            io.BytesIO(text),
            read_options=pj.ReadOptions(block_size=max(1 << 20, len(text) + 1)),
            parse_options=pj.ParseOptions(
                explicit_schema=pa.schema(fields), unexpected_field_behavior="ignore"
            ),
        )
    except pa.ArrowException:
        return None
    # Empty lines and lines with two objects change the count: then each line is read by itself.
    return table if table.num_rows == len(lines) else None


def _read_each(
    relation: Relation,
    lines: pa.Array,
    take: Callable[[Mapping[str, object]], None],
    skip: Callable[[], None] = lambda: None,
) -> tuple[pa.Array, list[RejectedRow]]:
    """Pass every record to `take`; the positions of the accepted ones, and the rejected rows."""
    at: list[int] = []
    rejected: list[RejectedRow] = []
    for i, line in enumerate(lines.to_pylist()):
        if line is None or not line.strip():
            skip()
            continue
        try:
            record = json.loads(line, parse_float=Decimal)
        except ValueError as e:
            skip()
            reason = f"a record of '{relation.name}' is not JSON: {e}"
            rejected.append(RejectedRow(relation.name, reason, line))
            continue
        try:
            if not isinstance(record, dict):
                skip()
                raise ValueError(f"a record of '{relation.name}' is not a JSON object")
            take(record)
            at.append(i)
        except ValueError as e:
            rejected.append(RejectedRow(relation.name, str(e), line))
    return pa.array(np.array(at, dtype=np.int64)), rejected


def _row(
    relation: Relation, record: Mapping[str, object], only: Sequence[str] | None = None
) -> list[Value]:
    """The values of a record; with `only`, other columns may be missing or NULL."""
    row = []
    for c in relation.columns:
        value = record.get(c.name)
        needed = only is None or c.name in only
        try:
            if isinstance(value, Decimal) and c.type.kind == "double":
                value = float(value)
            typed = value_of(c, value)
        except (ValueError, TypeError, OverflowError):
            raise ValueError(str(bad_value(relation, c, value))) from None
        if typed is None and needed and not c.type.nullable:
            raise ValueError(str(bad_value(relation, c, None)))
        row.append(typed)
    return row


def _table(relation: Relation, rows: Sequence[Sequence[Value]]) -> pa.Table:
    schema = arrow_schema(relation.columns)
    columns = zip(*rows, strict=True) if rows else ([] for _ in relation.columns)
    arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
