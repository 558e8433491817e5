"""Every workload query on simulated workers: after every batch each map has the reference's rows.

The default run takes each query at one level and with one number of workers; the full run takes
all of them at every level, with 1, 2, 3 and 5 workers and by both placements.
"""

from __future__ import annotations

from zlib import crc32

import pytest

from freshview.distributed.compile import distribute
from freshview.distributed.options import LEVELS
from freshview.distributed.placement import by_key, choose_placement
from freshview.distributed.terms import Placement
from freshview.ivm.options import DeltaOptions
from freshview.program.terms import Program
from tests.differential.harness import case, cases, compiled, grouped
from tests.law.spark_programs import Pair

WORKERS = (1, 2, 3, 5)
CASES = cases()
SLOW = {"mddb2", "d46", "d68"}
"""Queries whose placement takes seconds to choose."""


def draw(workload: str, name: str, what: str) -> int:
    """A number that depends on the query alone."""
    return crc32(f"{workload}/{name}/{what}".encode())


QUICK = [
    # The full run has the papers' wording of TPC-H's queries.
    pytest.param(*c, marks=[pytest.mark.full] if c[0] == "tpch_papers" else [])
    for c in CASES
    if c[1] not in SLOW
]


def agree(
    workload: str, name: str, level: str, workers: int, placement: Placement, batches: int
) -> None:
    """Stream batches through both engines."""
    c = case(workload, name)
    program = compiled(c, DeltaOptions())
    distributed = distribute(program, placement, LEVELS[level], c.catalog.functions)
    pair = Pair(program, distributed, workers, c.catalog.functions, c.workload.tables(seed=6))
    pair.check("ready")
    stream = c.workload.stream(seed=6, batches=batches, max_size=60, live=100)
    for number, batch in enumerate(stream):
        pair.apply(dict(grouped(batch)))
        pair.check(f"{workload}/{name}, {level}, {workers} workers, batch {number}")


def program_of(workload: str, name: str) -> Program:
    return compiled(case(workload, name), DeltaOptions())


@pytest.mark.parametrize(("workload", "name"), QUICK)
def test_one_way(workload: str, name: str) -> None:
    level = list(LEVELS)[draw(workload, name, "level") % len(LEVELS)]
    workers = WORKERS[draw(workload, name, "workers") % len(WORKERS)]
    chosen = choose_placement(program_of(workload, name), LEVELS[level])
    agree(workload, name, level, workers, chosen, batches=6)


@pytest.mark.full
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("workload", "name"), CASES)
def test_all_ways(workload: str, name: str, level: str) -> None:
    program = program_of(workload, name)
    placements = (choose_placement(program, LEVELS[level]), by_key(program, LEVELS[level]))
    for workers in WORKERS:
        for placement in placements:
            agree(workload, name, level, workers, placement, batches=12)
