"""The result of a query as an Arrow table, from the driver's map of its rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from freshview.calculus.rows import MOST_LISTED, too_long
from freshview.distributed.terms import Readout
from freshview.runtime.ingest.columns import arranged
from freshview.spark.nodes.elements import schema_with_elements


def query_result(readout: Readout, rows: pa.RecordBatch) -> pa.Table:
    """The rows of the query in its columns and order, each as often as its multiplicity.

    Elements of rings stay encoded; `elements.rows_with_elements` decodes them.
    """
    query = readout.query
    columns = list(dict.fromkeys(query.vars))
    schema = schema_with_elements(query.columns)
    at = [columns.index(v) for v in query.vars]
    arrays = [rows.column(i).cast(f.type) for i, f in zip(at, schema, strict=True)]
    table = pa.Table.from_arrays(arrays, schema=schema)
    counts = np.asarray(rows.column(len(columns)).to_pylist(), np.int64)
    if table.num_rows and (counts != 1).any():
        total = sum(max(n, 0) for n in counts.tolist())
        if total > MOST_LISTED:
            raise too_long(query.name, total)
        table = table.take(pa.array(np.repeat(np.arange(len(counts)), np.maximum(counts, 0))))
    return arranged(table, query)
