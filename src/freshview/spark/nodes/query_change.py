"""What changed in a query as an Arrow table, from what its versions have sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from freshview.calculus.functions import Functions
from freshview.calculus.schema import Column, Query
from freshview.calculus.terms import View
from freshview.calculus.types import INT
from freshview.distributed.changes.show import change_of
from freshview.distributed.terms import ChangePart
from freshview.durable.storage.blocks import pack, unpack
from freshview.program.engine import Multiset
from freshview.runtime.ingest.columns import COUNT, arrow_schema, rows_of, table_of
from freshview.runtime.ingest.counted_rows import net_of


def net_blocks(sent: Iterable[bytes]) -> bytes:
    """What several versions have sent, as if it were one."""
    batches: dict[str, list[pa.RecordBatch]] = {}
    for block in map(unpack, sent):
        for name, rows in block.items():
            batches.setdefault(name, []).extend(rows)
    tables = {name: net_of([pa.table(b) for b in rows]) for name, rows in batches.items()}
    return pack({name: t.combine_chunks().to_batches() for name, t in tables.items() if len(t)})


def query_change(
    query: Query, parts: Sequence[ChangePart], sent: Iterable[bytes], functions: Functions
) -> pa.Table:
    """The net change of a query over versions, in its columns, with how often each row counts."""
    columns = (*query.columns, Column(COUNT, INT))
    tables = [arrow_schema(columns).empty_table()]
    blocks = [unpack(data) for data in sent]
    for part in parts:
        batches = [rows for block in blocks for rows in block.get(part.map, ())]
        if not batches:
            continue
        rows = net_of([pa.table(b) for b in batches])
        if isinstance(part.term, View):
            at = [[k.name for k in part.keys].index(v) for v in part.vars]
            cells = [rows.column(i) for i in (*at, len(part.keys))]
            cast = [c.cast(f.type) for c, f in zip(cells, tables[0].schema, strict=True)]
            tables.append(pa.Table.from_arrays(cast, schema=tables[0].schema))
        else:
            tables.append(_shown(query, part, rows, columns, functions))
    return net_of(tables)


def _shown(
    query: Query,
    part: ChangePart,
    rows: pa.Table,
    columns: Sequence[Column],
    functions: Functions,
) -> pa.Table:
    """The change of a part whose values are computed now: they may have no answer."""
    *_, counts = rows.columns
    keys = rows_of(rows.select(range(rows.num_columns - 1)))
    stored: Multiset = dict(zip(keys, counts.to_pylist(), strict=True))
    change = change_of(query.name, [part], {part.map: stored}, functions)
    return table_of(columns, [(*row, m) for row, m in change.items()], query.name)
