"""Rows that a user gives to a pipeline by hand, in any form, as an Arrow table with counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from freshview.calculus.domain import is_int
from freshview.calculus.rows import checked
from freshview.calculus.schema import Relation
from freshview.errors import BadRow, Place
from freshview.runtime.ingest.change import counted_change, row_change
from freshview.runtime.ingest.columns import table_of
from freshview.runtime.ingest.consolidate import too_often
from freshview.spark.io.rows import fitted
from freshview.spark.nodes.node import COUNT


def pushed(relation: Relation, given: Any) -> pa.Table:
    """Rows of a relation; the first one that does not fit is a BadRow.

    >>> from freshview.calculus.schema import Column
    >>> from freshview.calculus.types import INT
    >>> r = Relation("r", (Column("a", INT), Column("b", INT)))
    >>> pushed(r, [(1, 2)]).to_pylist() == pushed(r, [((1, 2), 1)]).to_pylist()
    True
    """
    given = _lasting(given)
    change = counted_change(relation, given) if _has_counts(given) else row_change(relation, given)
    if change.table is None:
        net = change.net()
        for row, count in net.items():
            if not is_int(count):
                raise too_often(relation.name, row)
        table = table_of(relation.columns, list(net), relation.name)
        return table.append_column(COUNT, pa.array(net.values(), pa.int64()))
    table = _table(change.table)
    if change.counts is None and COUNT in table.column_names:
        change = counted_change(relation, table)
        table = change.table
    made = _fitted(relation, table)
    if change.counts is None:
        counts = pa.repeat(pa.scalar(1, pa.int64()), made.num_rows)
    elif len(change.counts) == made.num_rows:
        counts = pa.array(change.counts, pa.int64())
    else:
        counts = change.each(made.num_rows)  # refuses
    return made.append_column(COUNT, counts)


def in_order(relation: Relation, given: Any) -> pa.Table:
    """All the rows of a relation as they were given, one after the other, without counts."""
    given = _lasting(given)
    change = row_change(relation, given)
    if change.table is None:
        rows = []
        for number, row in enumerate(change.python_rows(), 1):
            try:
                rows.append(checked(relation, row))
            except BadRow as e:
                raise e.located(Place(f"row {number} of '{relation.name}'")) from e.__cause__
        return table_of(relation.columns, rows, relation.name)
    return _fitted(relation, _table(change.table))


def truths(relation: Relation, given: Any, size: int) -> list[bool]:
    """Which of so many rows go: none if nothing is given."""
    if given is None:
        return [False] * size
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        given = [given]
    found = given.to_pylist() if hasattr(given, "to_pylist") else list(given)
    found = [value.item() if hasattr(value, "item") else value for value in found]
    if len(found) != size or not all(isinstance(value, bool) for value in found):
        raise BadRow(
            f"which of the {size} rows of '{relation.name}' are deleted is not told by {given!r}",
            instead="give a list with True or False for every row",
        )
    return found


def _fitted(relation: Relation, table: pa.Table) -> pa.Table:
    """A table in the columns and types of a relation: no column more, and no value left out."""
    names = [c.name for c in relation.columns]
    left = {name.lower() for name in names}
    for name in table.column_names:
        if name.lower() not in left:
            twice = name.lower() in {n.lower() for n in names}
            raise BadRow(
                f"the table of rows of '{relation.name}' has two columns '{name}'"
                if twice
                else f"'{relation.name}' has no column '{name}'",
                instead=f"its columns are {', '.join(names)}",
            )
        left.remove(name.lower())
    try:
        table.validate(full=True)
    except (pa.ArrowException, UnicodeDecodeError) as e:
        raise BadRow(f"a column of '{relation.name}' cannot be read: {e}") from e
    found = fitted(relation, table)
    if found.rejected:
        raise BadRow(found.rejected[0].reason)
    return found.table


def _lasting(given: Any) -> Any:
    """What was given in a form that can be looked at more than once."""
    if hasattr(given, "toArrow"):
        return given.toArrow()  # a DataFrame of Spark's
    return list(given) if isinstance(given, Iterator) else given


def _table(given: Any) -> pa.Table:
    if isinstance(given, pa.Table):
        return given
    if isinstance(given, pa.RecordBatch):
        return pa.Table.from_batches([given])
    return pa.table(given)


def _has_counts(given: Any) -> bool:
    """Whether rows come with how often they come: beside them, or in a column."""
    if isinstance(given, tuple):
        return len(given) == 2 and _is_many(given[0]) and not _is_many(given[1])
    if isinstance(given, list):
        return bool(given) and all(
            isinstance(r, tuple | list) and len(r) == 2 and isinstance(r[0], tuple | list | Mapping)
            for r in given
        )
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")


def _is_many(value: object) -> bool:
    return hasattr(value, "__arrow_c_stream__") or (
        isinstance(value, list) and bool(value) and isinstance(value[0], tuple | list | Mapping)
    )
