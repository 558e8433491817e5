"""Batches in parts: by worker for the log, and by number of rows for a load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from freshview.calculus.schema import Relation
from freshview.distributed.batches.predicate_pushdown import Test
from freshview.distributed.terms import Dist, Local, Location, Random, Replicated, Slice
from freshview.runtime.ingest.counted_rows import summed
from freshview.spark.batches.partition import partition_rows


def passing_rows(rows: pa.RecordBatch, tests: Sequence[Test]) -> pa.Array | None:
    """A mask of the rows that pass all the pushed predicates; None without predicates."""
    kept = None
    for test in tests:
        column = rows.column(test.column)
        passed = _COMPARE[test.op](column, pa.scalar(test.value, column.type))
        kept = passed if kept is None else pc.and_(kept, passed)
    return kept


_COMPARE = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def split_batch(
    relation: Relation,
    rows: pa.RecordBatch,
    at: Location,
    workers: int,
    tests: Sequence[Test] = (),
) -> list[pa.RecordBatch]:
    """The rows of every worker, then those of the driver, by the location of the batch.

    Rows that fail a test are dropped.
    """
    nothing = rows.slice(0, 0)
    kept = passing_rows(rows, tests)
    if kept is not None and not (isinstance(at, Dist) and at.keys):
        rows, kept = rows.filter(kept), None
    match at:
        case Local():
            return [nothing] * workers + [rows]
        case Dist(keys):
            names = [c.name for c in relation.columns]
            return [*partition_rows(rows, [names.index(k) for k in keys], workers, kept), nothing]
        case Replicated():
            return [rows] * workers + [nothing]
        case Slice(keys):
            names = [c.name for c in relation.columns]
            parts = partition_rows(rows, [names.index(k) for k in keys], at.lines)
            lines = [at.line(worker) for worker in range(workers)]
            return [*(nothing if line is None else parts[line] for line in lines), nothing]
        case Random(whole):
            if whole and workers > 1:
                rows = _added_up(rows)
            ends = [rows.num_rows * i // workers for i in range(workers + 1)]
            parts = [rows.slice(a, b - a) for a, b in pairwise(ends)]
            return [*parts, nothing]
        case _:
            raise AssertionError(f"no batch arrives at {at}")


def split_load(tables: Mapping[str, pa.Table], rows: int) -> list[dict[str, pa.Table]]:
    """Tables cut into pieces of about so many rows, with an equal share of each table.

    The first one is a third as large as the others, so that workers start sooner.

    >>> [p["t"].num_rows for p in split_load({"t": pa.table({"a": range(14)})}, 5)]
    [2, 6, 6]
    """
    count = -(-sum(t.num_rows for t in tables.values()) // rows)
    ends = [3 * i + 1 for i in range(count)]
    parts = []
    for before, end in pairwise([0, *ends]):
        piece = {}
        for name, table in tables.items():
            first, last = (table.num_rows * k // ends[-1] for k in (before, end))
            if first < last:
                piece[name] = table.slice(first, last - first)
        parts.append(piece)
    return parts


def _added_up(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Each row once, with the sum of its counts."""
    columns = [column.combine_chunks() for column in summed(pa.Table.from_batches([rows])).columns]
    return pa.RecordBatch.from_arrays(columns, schema=rows.schema)
