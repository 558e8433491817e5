"""Changes by primary key, and Debezium envelopes, converted to inserted and deleted rows.

An event has the new row of a key, or deletes it. Of several events of a key in one batch the last
one counts: the others would cancel out anyway. The deleted row is looked up in the key store, or
taken from the event itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from freshview.calculus.schema import Relation
from freshview.runtime.ingest.columns import COUNT
from freshview.runtime.ingest.counted_rows import by_number, net, with_count
from freshview.spark.io.rows import names_of

DELETED = "__gone"
"""The column of a table of events that is true for deleted keys."""

_AT = "__at"

RESERVED = frozenset({COUNT, DELETED, _AT})
"""Names of columns that stand beside those of a stream, and are none of its own."""


def key_of(relation: Relation) -> list[str]:
    """The columns of the primary key, by their declared names, in the order of the columns."""
    key = {k.lower() for k in relation.key}
    return [c.name for c in relation.columns if c.name.lower() in key]


def last_events(relation: Relation, events: pa.Table) -> pa.Table:
    """The last event of every key.

    >>> from freshview.calculus.schema import Column
    >>> from freshview.calculus.types import INT
    >>> r = Relation("r", (Column("k", INT), Column("v", INT)), key=("k",))
    >>> events = pa.table({"k": [1, 2, 1], "v": [5, 6, 7], DELETED: [False, False, True]})
    >>> last_events(r, events).to_pylist()
    [{'k': 2, 'v': 6, '__gone': False}, {'k': 1, 'v': 7, '__gone': True}]
    """
    if events.num_rows < 2:
        return events
    keys, by = by_number(events.select(key_of(relation)))
    numbered = keys.append_column(_AT, pa.array(np.arange(events.num_rows)))
    ends = numbered.group_by(by).aggregate([(_AT, "max")]).column(f"{_AT}_max")
    return events.take(ends.combine_chunks().sort())


def change_of_events(relation: Relation, events: pa.Table, old: pa.Table) -> pa.Table:
    """The net change by the last events of keys, given the old rows of these keys.

    >>> from freshview.calculus.schema import Column
    >>> from freshview.calculus.types import INT
    >>> r = Relation("r", (Column("k", INT), Column("v", INT)), key=("k",))
    >>> events = pa.table({"k": [1, 2], "v": [7, 6], DELETED: [False, False]})
    >>> change_of_events(r, events, pa.table({"k": [1, 2], "v": [5, 6]})).to_pylist()
    [{'k': 1, 'v': 7, '__count': 1}, {'k': 1, 'v': 5, '__count': -1}]
    """
    new = events.filter(pc.invert(events.column(DELETED))).drop_columns([DELETED])
    return net_change(relation, [(new, 1), (old, -1)])


def as_events(relation: Relation, change: pa.Table) -> pa.Table:
    """Rows with counts as events, one per key.

    >>> from freshview.calculus.schema import Column
    >>> from freshview.calculus.types import INT
    >>> r = Relation("r", (Column("k", INT), Column("v", INT)), key=("k",))
    >>> change = pa.table({"k": [1, 1, 1, 2], "v": [7, 6, 6, 5], COUNT: [1, 1, -1, 0]})
    >>> as_events(r, change).to_pylist()
    [{'k': 1, 'v': 7, '__gone': False}]
    """
    change = _added_up(relation, change)
    order = pc.sort_indices(change, sort_keys=[(COUNT, "ascending")])  # deletions first
    sorted_ = change.take(order)
    deleted = pc.less(sorted_.column(COUNT), 0)
    return last_events(relation, sorted_.drop_columns([COUNT]).append_column(DELETED, deleted))


def net_change(relation: Relation, parts: Sequence[tuple[pa.Table, int]]) -> pa.Table:
    """The net change of inserted (1) and deleted (-1) rows: those that cancel out are omitted."""
    names = names_of(relation)
    both = pa.concat_tables(with_count(t.select(names), sign) for t, sign in parts)
    return _added_up(relation, both)


def _added_up(relation: Relation, change: pa.Table) -> pa.Table:
    """Each row once, with all its counts; those that cancel out are left out."""
    if change.num_rows == 0:
        return change
    return net(change.select([*names_of(relation), COUNT])).combine_chunks()


def envelope_events(
    relation: Relation, ops: pa.Array, before: pa.Table, after: pa.Table
) -> pa.Table:
    """Events from the rows before and after: `c`, `r` and `u` insert a row, `d` deletes one.

    `before` and `after` are parallel to `ops`. An update that moves a row to another key is two
    events: the old key is deleted.
    """
    names, keys = names_of(relation), key_of(relation)
    at = pa.array(np.arange(len(ops)))
    deleted = pc.equal(ops, "d")
    moved = pc.and_(pc.equal(ops, "u"), _differ(before.select(keys), after.select(keys)))
    deletes = pc.or_(deleted, pc.fill_null(moved, False))
    inserts = pc.invert(deleted)

    def events(table: pa.Table, chosen: pa.Array, is_deleted: bool) -> pa.Table:
        part = table.select(names).append_column(_AT, at).filter(chosen)
        return part.append_column(DELETED, pa.repeat(is_deleted, part.num_rows))

    both = pa.concat_tables([events(before, deletes, True), events(after, inserts, False)])
    # Stable: the old key of a moved row is deleted before its new one is inserted.
    order = pc.sort_indices(both, sort_keys=[(_AT, "ascending"), (DELETED, "descending")])
    return both.take(order).drop_columns([_AT])


def _differ(before: pa.Table, after: pa.Table) -> pa.Array:
    differs = pa.repeat(False, before.num_rows)
    for name in before.column_names:
        a, b = before.column(name).combine_chunks(), after.column(name).combine_chunks()
        differs = pc.or_(differs, pc.fill_null(pc.not_equal(a, b), False))
    return differs
