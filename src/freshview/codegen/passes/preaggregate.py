"""Pre-aggregation: rows that only add to a table are added up by key, a block at a time.

Where a block has few keys, a sum in a local record costs less than one in the table: no hash table
is searched, and one bound for the block takes the place of a test for overflow at every step. The
kernel decides block by block, by a sample of its keys and the largest of its numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from freshview.calculus.types import Type
from freshview.codegen.layout.terms import Layout
from freshview.codegen.loops.additions import additions, can_be_added_up
from freshview.codegen.loops.terms import Batch, Block, Stmt


def preaggregate(block: Block, layout: Layout, columns: Mapping[str, tuple[Type, ...]]) -> Block:
    """Every loop over a batch that only adds numbers of its rows to one table, block by block.

    `columns` are those of streams: rows of a static table come once. A table whose records are
    found by a part of their keys, or that lasts no longer than the batch, is left as it is.

    >>> from freshview.calculus.types import INT
    >>> from freshview.codegen.layout.terms import Table
    >>> from freshview.codegen.loops.read import read
    >>> from freshview.codegen.loops.text import show
    >>> text = "batch i of r { at w in m[i.c0] { gain w.p0 += i.count * i.c1 } }"
    >>> [f] = read(f"relation on_r of r {{ {text} }}").functions
    >>> layout = Layout({"m": Table("m", (INT,), (INT,))}, {})
    >>> [batch] = preaggregate(f.body, layout, {"r": (INT, INT)})
    >>> batch.preaggregated
    True
    """

    def rule(s: Stmt) -> Stmt:
        if not isinstance(s, Batch) or s.in_turn or s.relation not in columns:
            return s
        added = additions(s)
        if added is None:
            return s
        table = layout.tables[added.record.table]
        types = {f"c{j}": t for j, t in enumerate(columns[s.relation])}
        if table.transient or table.determining is not None:
            return s
        return replace(s, preaggregated=can_be_added_up(added, s, types, table))

    return tuple(map(rule, block))
