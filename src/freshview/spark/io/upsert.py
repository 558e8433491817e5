"""Changes by primary key, and Debezium envelopes, made into rows that go and rows that come.

An event says what the row of a key is from now on, or that there is none any more. Of several
events of a key in one batch the last one counts: what came between would cancel out anyway. The
row that goes is looked up in a store of the rows by key, or taken from the event itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from freshview.calculus.schema import Relation
from freshview.spark.io.rows import names_of
from freshview.spark.nodes.node import COUNT

DELETED = "__gone"
"""The column of a table of events that is true where a key has no row any more."""

_AT = "__at"


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
    numbered = events.append_column(_AT, pa.array(np.arange(events.num_rows)))
    ends = numbered.group_by(key_of(relation)).aggregate([(_AT, "max")]).column(f"{_AT}_max")
    return events.take(ends.combine_chunks().sort())


def change_of_events(relation: Relation, events: pa.Table, old: pa.Table) -> pa.Table:
    """What the last events of keys change, given the rows that these keys had: net, with counts.

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
    """The events of keys that rows with counts amount to, one a key."""
    order = pc.sort_indices(change, sort_keys=[(COUNT, "ascending")])  # who goes, goes first
    sorted_ = change.take(order)
    gone = pc.less(sorted_.column(COUNT), 0)
    return last_events(relation, sorted_.drop_columns([COUNT]).append_column(DELETED, gone))


def net_change(relation: Relation, parts: Sequence[tuple[pa.Table, int]]) -> pa.Table:
    """Rows that come (1) and go (-1), added up: those that cancel out are left out."""
    names = names_of(relation)
    both = pa.concat_tables(
        t.select(names).append_column(COUNT, pa.repeat(pa.scalar(sign, pa.int64()), t.num_rows))
        for t, sign in parts
    )
    if both.num_rows == 0:
        return both
    added = both.group_by(names, use_threads=False).aggregate([(COUNT, "sum")])
    added = added.rename_columns([*names, COUNT])
    return added.filter(pc.not_equal(added.column(COUNT), 0)).combine_chunks()


def envelope_events(
    relation: Relation, ops: pa.Array, before: pa.Table, after: pa.Table
) -> pa.Table:
    """Events from the rows before and after: `c`, `r` and `u` bring a row, `d` takes one.

    `before` and `after` stand side by side with `ops`. An update that moves a row to another key
    is two events: the old key has no row any more.
    """
    names, keys = names_of(relation), key_of(relation)
    at = pa.array(np.arange(len(ops)))
    gone = pc.equal(ops, "d")
    moved = pc.and_(pc.equal(ops, "u"), _differ(before.select(keys), after.select(keys)))
    goes = pc.or_(gone, pc.fill_null(moved, False))
    comes = pc.invert(gone)

    def events(table: pa.Table, chosen: pa.Array, is_gone: bool) -> pa.Table:
        part = table.select(names).append_column(_AT, at).filter(chosen)
        return part.append_column(DELETED, pa.repeat(is_gone, part.num_rows))

    both = pa.concat_tables([events(before, goes, True), events(after, comes, False)])
    # Stable: the old key of a moved row goes before its new one comes.
    order = pc.sort_indices(both, sort_keys=[(_AT, "ascending"), (DELETED, "descending")])
    return both.take(order).drop_columns([_AT])


def _differ(before: pa.Table, after: pa.Table) -> pa.Array:
    differs = pa.repeat(False, before.num_rows)
    for name in before.column_names:
        a, b = before.column(name).combine_chunks(), after.column(name).combine_chunks()
        differs = pc.or_(differs, pc.fill_null(pc.not_equal(a, b), False))
    return differs
