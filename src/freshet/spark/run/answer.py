"""The rows of a query as an Arrow table, from the driver's map of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from freshet.calculus.functions import Functions
from freshet.program.terms import Program
from freshet.runtime.columns import arranged, arrow_schema
from freshet.spark.run.elements import is_element, payloads_of, values_of
from freshet.spark.terms import Readout


def answer(
    readout: Readout, found: pa.RecordBatch, program: Program, functions: Functions
) -> pa.Table:
    """The rows in the columns of the query, each as often as it counts, in the query's order."""
    query = readout.query
    columns = list(dict.fromkeys(query.vars))
    if any(is_element(c.type) for c in query.columns):
        return arranged(_of_elements(readout, found, program, functions), query)
    schema = arrow_schema(query.columns)
    at = [columns.index(v) for v in query.vars]
    arrays = [found.column(i).cast(f.type) for i, f in zip(at, schema, strict=True)]
    table = pa.Table.from_arrays(arrays, schema=schema)
    counts = np.asarray(found.column(len(columns)).to_pylist(), np.int64)
    if table.num_rows and (counts != 1).any():
        table = table.take(pa.array(np.repeat(np.arange(len(counts)), np.maximum(counts, 0))))
    return arranged(table, query)


def _of_elements(
    readout: Readout, found: pa.RecordBatch, program: Program, functions: Functions
) -> pa.Table:
    """Rows with elements of a ring, as the numbers that these are made of; each comes once."""
    query = readout.query
    columns = list(dict.fromkeys(query.vars))
    at = [columns.index(v) for v in query.vars]
    cells = [
        values_of(found.column(i), c.type) for i, c in zip(at, query.columns, strict=True)
    ]
    payloads = payloads_of(query, program, functions)
    return payloads.table(payloads.elements(zip(*cells, strict=True)))
