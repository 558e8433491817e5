"""A node: the maps of one worker, or of the driver, and the blocks that run on them.

The maps are in a kernel or in the reference engine. A node receives batches and rows of other
nodes, runs the statements of a block, and returns the rows of a map. It is independent of versions,
files and Spark.
"""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from freshview.durable.work import DurableNode

PAYLOAD = "__payload"
"""The last column of the rows of a map: its payload."""

READY = "ready"


def change_routine(number: int) -> str:
    """The name of a routine of `Distributed.routines`, by its position."""
    return f"change {number}"


def read_routine(query: str) -> str:
    """The name of a readout, by its query."""
    return f"read {query}"


class ProgramNode(DurableNode, Protocol):
    """The maps of one node.

    Routines have names: `READY`, `change_routine(i)`, `read_routine(query)`. Rows of a map are
    Arrow batches of its key columns, by their names in the program, and `PAYLOAD`.
    """

    def load(self, table: str, rows: pa.RecordBatch) -> None:
        """Load rows of a static table, before anything else."""

    def begin(self, routine: str) -> None:
        """Empty the temporary maps of a routine, and the batches of its relations."""

    def add_batch(self, relation: str, rows: pa.RecordBatch) -> None:
        """Add rows of a batch: the columns of the relation, and maybe `COUNT`."""

    def receive(self, routine: str, target: str, rows: pa.RecordBatch) -> None:
        """Add rows from another node to a temporary map; equal rows add up.

        Columns are matched by position: the sender's map may have other names.
        """

    def run(self, routine: str, block: int) -> None:
        """Run this node's statements of a block of the routine, in order."""

    def send(self, routine: str, source: str) -> pa.RecordBatch:
        """The rows of a map of the routine, temporary or not."""
