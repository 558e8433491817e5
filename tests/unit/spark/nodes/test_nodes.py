"""What both kinds of nodes make of the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from freshview.codegen.library.compiler import Flags
from freshview.distributed.batches.prepare import prepare
from freshview.distributed.compile import distribute
from freshview.distributed.options import DistributionOptions
from freshview.distributed.terms import Distributed, Transfer
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.pipelines.flow import Flow
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.program import program_of
from freshview.runtime.ingest.columns import rows_of
from freshview.spark.nodes.kernel_node import KernelNode, kernel_of
from freshview.spark.nodes.node import PAYLOAD, change_routine
from freshview.spark.nodes.reference_node import ReferenceNode
from freshview.sql.load import load

STREAMS = """
CREATE STREAM o (id INT NOT NULL, c INT NOT NULL);
CREATE STREAM i (id INT NOT NULL, p INT NOT NULL);
"""
JOIN = "CREATE VIEW n AS SELECT o.c, COUNT(*) AS n FROM o, i WHERE o.id = i.id GROUP BY o.c;"
NESTED = """CREATE VIEW big AS SELECT o.c, COUNT(*) AS n FROM o
  WHERE (SELECT SUM(i.p) FROM i WHERE i.id = o.id) > 3 GROUP BY o.c;"""
PAIRS = """CREATE VIEW pairs AS SELECT x.c, y.c AS d, COUNT(*) AS n FROM o x, o y, i
  WHERE x.id = y.c AND y.id = i.id GROUP BY x.c, y.c;"""


def spread(*views: str, workers: int = 2) -> Distributed:
    """The program that a pipeline makes of views."""
    catalog, queries = load(STREAMS + "".join(views))
    program = program_of(queries, catalog, PipelineOptions())
    return distribute(program, options=DistributionOptions(workers=workers, deliver=True))


@pytest.mark.parametrize(
    "views",
    [(JOIN, NESTED), pytest.param((PAIRS, NESTED), marks=pytest.mark.full)],
    ids=["join-nested", "pairs-nested"],
)
def test_views_share_what_is_sent_under_other_names(
    tmp_path: Path, native: bool, views: tuple[str, ...]
) -> None:
    """The second batch meets maps that are sent as another view calls their columns."""
    settings = FlowSettings(memory=str(tmp_path / "memory"), native=native)
    alone = [spread(v) for v in views]
    flows = [
        Flow.start(
            distributed, InlineRunner(), workers=2, checkpoint=tmp_path / str(k), settings=settings
        )
        for k, distributed in enumerate([spread(*views), *alone])
    ]
    for k in range(3):
        batch = {
            "o": pa.table({"id": [k, k + 1, k + 10], "c": [k + 1, k, 2]}),
            "i": pa.table({"id": [k, k + 10, k + 1], "p": [5, 1, k]}),
        }
        for flow in flows:
            flow.apply(batch)
        for flow, distributed in zip(flows[1:], alone, strict=True):
            [name] = [r.query.name for r in distributed.readouts]
            assert sorted(rows_of(flows[0].read(name))) == sorted(rows_of(flow.read(name)))
    for flow in flows:
        flow.close()


@pytest.mark.parametrize("names", [("x", "y"), ("{b}", "{a}"), ("{a}", "{a}")])
def test_rows_are_received_by_position(native: bool, names: tuple[str, str]) -> None:
    """Whatever the sender calls them, also as another column of the receiver is called."""
    distributed = prepare(spread(JOIN, NESTED, PAIRS))
    routine, transfer, placement = _sent_in_two_columns(distributed)
    node: Any = (
        KernelNode(*kernel_of(distributed, "worker", flags=Flags(optimize=0)))
        if native
        else ReferenceNode(distributed, "worker")
    )
    node.begin(routine)
    a, b = (c.name for c in placement.keys)
    columns = [n.format(a=a, b=b) for n in names]
    rows = pa.RecordBatch.from_arrays(
        [pa.array([1]), pa.array([2]), pa.array([3])], [*columns, PAYLOAD]
    )
    node.receive(routine, transfer.target, rows)
    sent = node.send(routine, transfer.target)
    assert rows_of(pa.Table.from_batches([sent])) == [(1, 2, 3)]
    node.close()


def _sent_in_two_columns(distributed: Distributed) -> tuple[str, Transfer, Any]:
    for number, routine in enumerate(distributed.routines):
        placement = {h.name: h for h in routine.maps}
        for step in (s for b in routine.blocks for s in b.steps if isinstance(s, Transfer)):
            if step.kind != "gather" and len(placement[step.target].keys) == 2:
                return change_routine(number), step, placement[step.target]
    raise AssertionError("nothing of two columns is sent to workers")
