"""Jobs and stages of a batch of TPC-H: never more jobs than in Table 5.1 of Nikolic 2016."""

from __future__ import annotations

from pathlib import Path

from tests.golden.conftest import Golden
from tests.golden.spark_jobs import lines, show


def test_jobs(golden: Golden) -> None:
    table = list(lines())
    golden(Path(__file__).parent / "spark_jobs.txt", show(table))
    for line in table:
        assert line.by_cost.jobs <= line.thesis.jobs, line.name
