"""Nodes in kernels: a driver and workers that exchange Arrow batches, beside the simulation.

Steps are carried out as `spark.simulate` does, but every node is a kernel. So all of a node that
needs no Spark is tested here: its program, rows in and rows out, temporary maps, saved states.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from freshview.calculus.types import Value
from freshview.codegen.library.compiler import Flags, find_compiler
from freshview.distributed.compile import distribute
from freshview.distributed.partition import worker
from freshview.distributed.schedule_blocks import schedule_blocks
from freshview.distributed.terms import Block, Dist, Distributed, Local, Replicated, Transfer
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.reference.engine.run import Engine
from freshview.runtime.ingest.columns import COUNT, arrow_schema, rows_of
from freshview.spark.nodes.kernel_node import KernelNode, kernel_of
from freshview.spark.nodes.node import READY, ProgramNode, change_routine, read_routine
from freshview.spark.nodes.reference_node import ReferenceNode
from freshview.sql.load import load
from tests.differential import harness

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]

QUICK = [
    ("tpch_papers", "q03"),
    ("tpch", "q03"),
    ("tpch", "q04"),
    ("tpch", "q13"),
    ("finance", "vwap"),
]
FLAGS = Flags(optimize=0)


class Cluster:
    """A driver and workers; whatever one sends, the others receive at once."""

    driver: ProgramNode
    workers: list[ProgramNode]

    def __init__(self, d: Distributed, workers: int, functions: Any, native: bool = True) -> None:
        self.d = d
        self.relations = {r.name: r for r in d.program.relations}
        if native:
            self.driver = KernelNode(*kernel_of(d, "driver", functions, FLAGS))
            kernel = kernel_of(d, "worker", functions, FLAGS)
            self.workers = [KernelNode(*kernel) for _ in range(workers)]
        else:
            self.driver = ReferenceNode(d, "driver", functions)
            self.workers = [ReferenceNode(d, "worker", functions) for _ in range(workers)]

    def load(self, tables: dict[str, list[tuple[Value, ...]]]) -> None:
        for name, rows in tables.items():
            batch = self._batch(name, rows)
            for node in (self.driver, *self.workers):
                node.load(name, batch)
        self._run(READY, self.d.ready.blocks)

    def apply(self, relation: str, changes: list[tuple[tuple[Value, ...], int]]) -> None:
        routine = self.d.routine(relation)
        name = change_routine(self.d.routines.index(routine))
        shares = [changes[i :: len(self.workers)] for i in range(len(self.workers))]

        def give() -> None:
            for node, share in zip(self.workers, shares, strict=True):
                rows = self._batch(relation, [row for row, _ in share])
                counts = pa.array([n for _, n in share], pa.int64())
                node.add_batch(relation, rows.append_column(COUNT, counts))

        self._run(name, routine.blocks, give)

    def read(self, query: str) -> dict[tuple[Value, ...], int]:
        [readout] = [r for r in self.d.readouts if r.query.name == query]
        self._run(read_routine(query), readout.blocks)
        columns = list(dict.fromkeys(readout.query.vars))
        merged = {}
        for *row, n in self._rows(self.driver.send(read_routine(query), readout.result)):
            merged[tuple(row[columns.index(v)] for v in readout.query.vars)] = n
        return merged

    def restart(self, folder: Path) -> None:
        """Other nodes go on with what these have."""
        kernel = kernel_of(self.d, "worker", flags=FLAGS)
        for i, node in enumerate(self.workers):
            node.save(folder / str(i))
            node.close()
            self.workers[i] = KernelNode(*kernel)
            self.workers[i].restore(folder / str(i))

    def _batch(self, name: str, rows: list[tuple[Value, ...]]) -> pa.RecordBatch:
        schema = arrow_schema(self.relations[name].columns)
        columns = zip(*rows, strict=True) if rows else [[] for _ in schema]
        arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _rows(self, batch: pa.RecordBatch) -> list[tuple[Value, ...]]:
        return rows_of(pa.Table.from_batches([batch]))

    def _run(self, name: str, blocks: tuple[Block, ...], give: Any = lambda: None) -> None:
        for node in (self.driver, *self.workers):
            node.begin(name)
        give()
        for number, block in enumerate(blocks):
            for step in block.steps:
                if isinstance(step, Transfer):
                    self._transfer(name, step)
            for node in (self.driver, *self.workers):
                node.run(name, number)

    def _transfer(self, name: str, step: Transfer) -> None:
        senders = [self.driver] if step.kind == "scatter" else self.workers
        for sender in senders[:1] if step.copies else senders:
            rows = sender.send(name, step.source)
            if isinstance(step.to, Local):
                self.driver.receive(name, step.target, rows)
            elif isinstance(step.to, Replicated):
                for node in self.workers:
                    node.receive(name, step.target, rows)
            else:
                assert isinstance(step.to, Dist)
                homes = [
                    worker([row[i] for i in step.by], len(self.workers)) for row in self._rows(rows)
                ]
                for i, node in enumerate(self.workers):
                    node.receive(
                        name,
                        step.target,
                        rows.filter(pa.array([h == i for h in homes], pa.bool_())),
                    )


def agree(workload: str, name: str, workers: int, batches: int, folder: Path) -> None:
    c = harness.case(workload, name)
    program = harness.compiled(c, DeltaOptions(mode="batch"))
    cluster = Cluster(
        schedule_blocks(distribute(program, functions=c.catalog.functions)),
        workers,
        c.catalog.functions,
    )
    engine = Engine(program, c.catalog.functions)
    tables = c.workload.tables(seed=3)
    engine.load(tables)
    cluster.load({n: list(rows) for n, rows in tables.items()})
    stream = c.workload.stream(seed=3, batches=batches, max_size=40, live=80)
    for number, batch in enumerate(stream):
        for relation, changes in harness.grouped(batch):
            if any(relation in r.relations for r in cluster.d.routines):
                engine.apply(relation, changes)
                cluster.apply(relation, changes)
        assert harness.same(_plain(cluster.read(name)), _plain(engine.read(name))), (
            f"batch {number}"
        )
        if number == batches // 2:
            cluster.restart(folder)


def _plain(rows: dict[Any, int]) -> Any:
    return harness.Counter({tuple(harness.plain(v) for v in row): n for row, n in rows.items()})


@pytest.mark.parametrize(("workload", "name"), QUICK)
def test_some(workload: str, name: str, tmp_path: Path) -> None:
    agree(workload, name, 3, 8, tmp_path)


DOUBLES = """
CREATE STREAM a (k INT NOT NULL, x DOUBLE NOT NULL);
CREATE STREAM b (k INT NOT NULL, g INT NOT NULL, y DOUBLE NOT NULL);
SELECT b.g, COUNT(*) AS n, SUM(a.x * b.y) AS s, SUM(b.y) AS t FROM a, b WHERE a.k = b.k
GROUP BY b.g;
"""


@pytest.mark.parametrize("native", [True, False])
def test_sums_of_doubles_leave_nothing_on_any_node(native: bool) -> None:
    """Nodes send parts of sums; what one has added up of them, others take away one by one."""
    catalog, queries = load(DOUBLES, "nodes", default_name="q")
    program = compile_queries(queries, list(catalog.relations.values()), DeltaOptions(mode="batch"))
    d = schedule_blocks(distribute(program, functions=catalog.functions))
    cluster = Cluster(d, 3, catalog.functions, native)
    left = [((k, x), 1) for k in range(4) for x in (0.1, 0.2, 1e16, 0.7)]
    right = [((k, k % 2, y), 1) for k in range(4) for y in (0.3, -0.1, 1e-9)]
    cluster.apply("a", left)
    cluster.apply("b", right)
    actual = cluster.read("q")
    assert {row[:2] for row in actual} == {(0, 24), (1, 24)}
    for row, _ in left[::2]:
        cluster.apply("a", [(row, -1)])
    cluster.apply("a", [(row, -1) for row, _ in left[1::2]])
    assert cluster.read("q") == {}
    for row, _ in right:
        cluster.apply("b", [(row, -1)])
    cluster.apply("a", [((1, 3.0), 1), ((1, 1.7e308), 2)])
    cluster.apply("b", [((1, 5, 1.0), 1)])
    assert cluster.read("q") == {(5, 3, math.inf, 3.0): 1}
    cluster.apply("a", [((1, 1.7e308), -2)])
    assert cluster.read("q") == {(5, 1, 3.0, 1.0): 1}
    cluster.apply("a", [((1, 3.0), -1)])
    cluster.apply("b", [((1, 5, 1.0), -1)])
    for m in program.maps:
        for node in (cluster.driver, *cluster.workers):
            assert node.send(change_routine(0), m.name).num_rows == 0, m.name


@pytest.mark.full
@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize(("workload", "name"), harness.cases())
def test_all(workload: str, name: str, workers: int, tmp_path: Path) -> None:
    agree(workload, name, workers, 12, tmp_path)
