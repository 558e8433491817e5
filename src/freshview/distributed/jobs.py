"""How many jobs and stages of Spark a routine takes (thesis, Table 5.1).

A stage is one block that all the workers run, or a pass over what is there to send it off. Stages
that follow each other without the driver are one job; it ends where the driver must see a result
of it before it can go on.
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
            stages += 1  # somebody has to send what lies there
            running = True
        if "gather" in kinds:
            running = "repart" in kinds  # what is sent beside it begins the next job
            jobs += running
            stages += running
    return Jobs(jobs, stages)
