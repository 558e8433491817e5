"""Jobs and stages of a batch of TPC-H Q1 to Q22, beside Table 5.1 of Nikolic 2016."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from freshview.distributed.compile import DistributedCompiler
from freshview.distributed.jobs import Jobs, count_jobs
from freshview.distributed.options import DistributionOptions
from freshview.distributed.placement import by_key, choose_placement
from freshview.ivm.options import DeltaOptions
from freshview.program.statistics import Statistics
from tests.differential.harness import case, compiled

THESIS = dict(
    zip(
        [f"q{n:02}" for n in range(1, 23)],
        [
            *((1, 1), (1, 3), (1, 3), (1, 2), (2, 5), (1, 1), (3, 6), (2, 6), (3, 7), (1, 3)),
            *((2, 4), (1, 2), (2, 4), (1, 2), (1, 3), (3, 5), (1, 2), (1, 3), (1, 2), (1, 3)),
            *((2, 4), (2, 3)),
        ],
        strict=True,
    )
)
"""Query to jobs and stages."""

SIZES = Statistics(
    rows={
        "Lineitem": 60e6,
        "Orders": 15e6,
        "Partsupp": 8e6,
        "Part": 2e6,
        "Customer": 1.5e6,
        "Supplier": 1e5,
    },
    batch=1e5,
)
"""TPC-H at scale 10, batches of 100,000 rows."""


@dataclass(frozen=True)
class Line:
    """A query: what the thesis needs, and we do with its rule of thumb, and with ours."""

    name: str
    thesis: Jobs
    by_key: Jobs
    by_cost: Jobs


def lines() -> Iterator[Line]:
    """The table, line by line."""
    options = replace(DistributionOptions(), statistics=SIZES)
    for name, (jobs, stages) in THESIS.items():
        c = case("tpch_papers", name)
        program = compiled(c, DeltaOptions())
        jobs_by_placement = []
        for placement in (by_key(program, options), choose_placement(program, options)):
            compiler = DistributedCompiler(program, placement, options, c.catalog.functions)
            jobs_by_placement.append(count_jobs(compiler.routine(compiler.streams()).blocks))
        yield Line(name, Jobs(jobs, stages), *jobs_by_placement)


def show(table: list[Line]) -> str:
    """The table as text."""
    head = (
        "query  thesis       by key       by cost\n       jobs stages  jobs stages  jobs stages\n"
    )
    rows = [
        f"{t.name}    {t.thesis.jobs:4} {t.thesis.stages:6}  {t.by_key.jobs:4} "
        f"{t.by_key.stages:6}  {t.by_cost.jobs:4} {t.by_cost.stages:6}\n"
        for t in table
    ]
    return head + "".join(rows)
