"""A node: the maps of one worker, or of the driver, and what runs blocks of steps on them.

Whatever keeps the maps, a kernel or the reference engine, a node is given batches and rows that
others send, runs the statements of a block, and tells the rows of a map. It knows nothing of
versions, files or Spark.
"""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa  # type: ignore[import-untyped]

from freshview.durable.work import DurableNode

COUNT = "__count"
"""The column of a batch that says how often its row comes (negative: how often it goes)."""

PAYLOAD = "__payload"
"""The last column of the rows of a map: its number."""

READY = "ready"


def change_routine(number: int) -> str:
    """The name of a routine of `Distributed.routines`, by its place."""
    return f"change {number}"


def read_routine(query: str) -> str:
    """The name of a readout, by its query."""
    return f"read {query}"


class Node(DurableNode, Protocol):
    """The maps of one node.

    Routines go by name: `READY`, `change(i)`, `reading(query)`. Rows of a map are Arrow batches of
    its key columns, by their names in the program, and `PAYLOAD`.
    """

    def load(self, table: str, rows: pa.RecordBatch) -> None:
        """Rows of a static table, before anything else."""

    def begin(self, routine: str) -> None:
        """Empty the temporary maps of a routine, and the batches of its relations."""

    def add_batch(self, relation: str, rows: pa.RecordBatch) -> None:
        """Rows of a batch for this node: the columns of the relation, and maybe `COUNT`."""

    def receive(self, routine: str, target: str, rows: pa.RecordBatch) -> None:
        """Rows that another node sends to a temporary map; equal rows add up.

        Columns go by position: the sender's map may call them otherwise.
        """

    def run(self, routine: str, block: int) -> None:
        """The statements that this node has in a block of the routine, in order."""

    def send(self, routine: str, source: str) -> pa.RecordBatch:
        """The rows of a map of the routine, temporary or not."""
