"""View trees of cofactors as flows: after every batch each has the reference engine's elements.

With the workers in this process, each on the reference engine, and in the full run on Spark; with
deletes, snapshots, and a driver that is replaced on the way.
"""

from __future__ import annotations

from math import isclose
from pathlib import Path
from typing import Any

import pytest

from freshview.algebra import Cofactor
from freshview.calculus.build import const
from freshview.calculus.terms import Apply, Var
from freshview.distributed.compile import distribute
from freshview.distributed.options import LEVELS
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.factorized.compile import compile_joins
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.terms import natural_join
from freshview.pipelines.flow import Flow
from freshview.program.terms import Program
from freshview.reference.engine.run import Engine
from freshview.spark.nodes.elements import rows_with_elements
from tests.differential.flows import table
from tests.differential.harness import grouped, schema_of
from workloads import WORKLOADS

SIZES = {"housing": (40, 60), "retailer": (200, 150)}
"""Rows of a batch, and rows that live: so many that the joins have rows soon."""


def cofactors(workload: str, keys: tuple[str, ...] = ()) -> Program:
    """All the variables of a workload, lifted; by `keys`, if any."""
    relations = tuple(schema_of(workload).relations.values())
    names = [v for v in natural_join(relations).variables if v not in keys]
    lifts = tuple(Apply("cofactor", (const(v), Var(v)), "Cofactor") for v in names)
    join = natural_join(relations, keys, lifts)
    return compile_joins({"Q": join}, relations, ViewTreeOptions())


def close(a: Any, b: Any) -> bool:
    """Equal but for the rounding of another order of additions; counts are exact."""
    a, b = (x if isinstance(x, Cofactor) else Cofactor(x) for x in (a, b))
    if a.count != b.count:
        return False
    parts = ((a.sums, b.sums), (a.products, b.products))
    pairs = ((float(x.get(k, 0)), float(y.get(k, 0))) for x, y in parts for k in {**x, **y})
    return all(isclose(x, y, rel_tol=1e-9, abs_tol=1e-9) for x, y in pairs)


def agree(
    folder: Path, runner: Any, workload: str, workers: int, keys: tuple[str, ...], batches: int
) -> int:
    """Compare after every batch; tells how many rows the join had in all."""
    program, met = cofactors(workload, keys), 0
    level = LEVELS[list(LEVELS)[-1]]
    distributed = distribute(program, None, level)
    settings = FlowSettings(snapshot_every=2, memory=str(folder / "memory"), native=False)
    where: dict[str, Any] = {"checkpoint": folder / "checkpoint", "settings": settings}
    flow = Flow.start(distributed, runner, workers=workers, **where)
    engine, declared = Engine(program), {r.name: r for r in program.relations}
    size, live = SIZES[workload]
    stream = WORKLOADS[workload].stream(seed=7, batches=batches, sizes=lambda _: size, live=live)
    for number, batch in enumerate(stream):
        changes = dict(grouped(batch))
        for name, part in changes.items():
            engine.apply(name, part)
        flow.apply({name: table(declared[name], part) for name, part in changes.items()})
        if number == 1:
            flow.close(forget=False)
            flow = Flow.restart(distributed, runner, **where)
        rows = rows_with_elements(program.queries[0].columns, flow.read("Q"))
        actual = {row[:-1]: row[-1] for row in rows}
        wanted = {row[:-1]: row[-1] for row in engine.rows("Q")}
        where_failed = f"{workload}, {workers} workers, batch {number}"
        assert actual.keys() == wanted.keys(), where_failed
        assert all(close(x, wanted[key]) for key, x in actual.items()), where_failed
        met += sum(getattr(x, "count", x) for x in actual.values())
    flow.close()
    return met


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize(("workload", "keys"), [("housing", ()), ("retailer", ("ksn",))])
def test_in_this_process(
    tmp_path: Path, workload: str, keys: tuple[str, ...], workers: int
) -> None:
    assert agree(tmp_path, InlineRunner(), workload, workers, keys, 5), "the joins had no rows"


@pytest.mark.full
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize(
    ("workload", "keys"), [("housing", ("postcode",)), ("retailer", ()), ("retailer", ("zip",))]
)
def test_more_in_this_process(
    tmp_path: Path, workload: str, keys: tuple[str, ...], workers: int
) -> None:
    assert agree(tmp_path, InlineRunner(), workload, workers, keys, 12), "the joins had no rows"


@pytest.mark.full
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("workload", ["housing", "retailer"])
def test_on_spark(tmp_path: Path, spark: Any, workload: str) -> None:
    assert agree(tmp_path, spark, workload, 2, (), 6), "the joins had no rows"
