"""The number of Spark jobs and stages of a routine (Nikolic 2016, Table 5.1).

A stage is one block that all the workers run, or one that only sends maps. Consecutive stages
without the driver are one job; it ends where the driver needs a result of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from freshview.distributed.terms import Block, Transfer


@dataclass(frozen=True, slots=True)
class Jobs:
    """Jobs, and the stages of all of them together."""

    jobs: int
    stages: int


def count_jobs(blocks: tuple[Block, ...]) -> Jobs:
    """The jobs and stages of blocks."""
    jobs = stages = 0
    running = False  # whether a job is under way
    for block in blocks:
        if block.mode == "distributed":
            jobs += not running
            stages += 1
            running = True
            continue
        kinds = {s.kind for s in block.steps if isinstance(s, Transfer)}
        if kinds & {"repart", "gather"} and not running:
            jobs += 1
            stages += 1  # a stage that only sends maps
            running = True
        if "gather" in kinds:
            running = "repart" in kinds  # a repartition beside it begins the next job
            jobs += running
            stages += running
    return Jobs(jobs, stages)
