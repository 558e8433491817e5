from __future__ import annotations

import pytest

from freshview.calculus.schema import Column
from freshview.calculus.terms import View
from freshview.calculus.types import INT
from freshview.distributed.compile import distribute
from freshview.distributed.jobs import count_jobs
from freshview.distributed.options import LEVELS
from freshview.distributed.schedule_blocks import cut_blocks, schedule_blocks
from freshview.distributed.stages import Schedule, schedule
from freshview.distributed.terms import (
    Block,
    Compute,
    Dist,
    Distributed,
    Local,
    Location,
    Replicated,
    Transfer,
)
from freshview.ivm.options import DeltaOptions
from freshview.program.terms import Statement
from tests.differential.harness import case, cases, compiled
from tests.thin import thin

SLOW = {"mddb2", "d46", "d68"}
QUICK = [c for i, c in enumerate(c for c in cases() if c[1] not in SLOW) if i % 4 == 0]
KEY = Column("a", INT)
AT_DRIVER, AT_WORKERS = Local(), Dist(("a",))


def run(target: str, source: str, at: Location) -> Compute:
    return Compute(Statement(View(target, ("a",)), ":=", View(source, ("a",))), at)


def scatter(source: str, target: str) -> Transfer:
    return Transfer("scatter", source, target, Replicated())


def repart(source: str, target: str) -> Transfer:
    return Transfer("repart", source, target, AT_WORKERS, (0,))


def gather(source: str, target: str) -> Transfer:
    return Transfer("gather", source, target, Local())


def keep(source: str, target: str) -> Transfer:
    return Transfer("keep", source, target, AT_WORKERS, (0,))


def local(*steps: Compute | Transfer) -> Block:
    return Block("local", steps)


def distributed(*steps: Compute | Transfer) -> Block:
    return Block("distributed", steps)


class TestSettle:
    def test_what_is_moved_comes_first(self) -> None:
        block = local(run("x", "y", AT_DRIVER), gather("s", "t"))
        assert cut_blocks([block]) == (local(gather("s", "t"), run("x", "y", AT_DRIVER)),)

    def test_a_map_is_sent_before_it_changes(self) -> None:
        steps = (scatter("m", "t"), run("m", "y", AT_DRIVER))
        assert cut_blocks([local(*steps)]) == (local(*steps),)

    def test_what_was_computed_is_sent_after(self) -> None:
        block = local(run("m", "y", AT_DRIVER), scatter("m", "t"), run("m", "z", AT_DRIVER))
        assert [len(b.steps) for b in cut_blocks([block])] == [1, 2]

    def test_what_was_moved_is_moved_on(self) -> None:
        assert len(cut_blocks([local(repart("a", "b"), repart("b", "c"))])) == 2

    def test_a_copy_is_kept_when_it_is_made(self) -> None:
        block = distributed(run("m", "y", AT_WORKERS), keep("m", "t"), run("n", "t", AT_WORKERS))
        assert [len(b.steps) for b in cut_blocks([block])] == [1, 2]


def shape(s: Schedule) -> tuple[list[list[tuple[int, ...]]], list[tuple[int, ...]]]:
    """The blocks of every stage of every job, and of every turn."""
    return [[stage.blocks for stage in job] for job in s.jobs], [t.blocks for t in s.turns]


class TestSchedule:
    def test_nothing(self) -> None:
        assert shape(schedule(())) == ([], [()])

    def test_a_shuffle_between_two_stages(self) -> None:
        jobs_of_blocks = schedule(
            (
                distributed(run("s", "y", AT_WORKERS)),
                local(repart("s", "t")),
                distributed(run("m", "t", AT_WORKERS)),
            )
        )
        assert shape(jobs_of_blocks) == ([[(0,), (2,)]], [(), ()])
        first, second = jobs_of_blocks.jobs[0]
        assert [t.target for t in first.sends] == [t.target for t in second.receives] == ["t"]

    def test_the_driver_scatters_before_the_job(self) -> None:
        jobs_of_blocks = schedule(
            (
                distributed(run("s", "y", AT_WORKERS)),
                local(scatter("d", "t"), run("d", "z", AT_DRIVER)),
                distributed(run("m", "t", AT_WORKERS)),
            )
        )
        assert shape(jobs_of_blocks) == ([[(0, 2)]], [(1,), ()])
        assert [t.target for t in jobs_of_blocks.stages[0].receives] == ["t"]

    def test_a_gather_ends_a_job(self) -> None:
        jobs_of_blocks = schedule(
            (
                distributed(run("s", "y", AT_WORKERS)),
                local(gather("s", "g"), run("d", "g", AT_DRIVER)),
                local(scatter("d", "t")),
                distributed(run("m", "t", AT_WORKERS)),
            )
        )
        assert shape(jobs_of_blocks) == ([[(0,)], [(3,)]], [(), (1, 2), ()])
        assert [t.target for t in jobs_of_blocks.turns[1].receives] == ["g"]

    def test_what_is_sent_beside_a_gather_is_sent_by_the_next_job(self) -> None:
        jobs_of_blocks = schedule(
            (
                distributed(run("s", "y", AT_WORKERS)),
                local(gather("s", "g"), repart("s", "t")),
                distributed(run("m", "t", AT_WORKERS)),
            )
        )
        assert shape(jobs_of_blocks) == ([[(0,)], [(), (2,)]], [(), (), ()])
        assert not jobs_of_blocks.jobs[0][0].sends

    def test_gathers_that_follow_each_other_are_one_job(self) -> None:
        jobs_of_blocks = schedule(
            (
                distributed(run("s", "y", AT_WORKERS)),
                local(gather("s", "g")),
                local(gather("r", "h")),
            )
        )
        assert len(jobs_of_blocks.jobs) == 1
        assert [t.target for t in jobs_of_blocks.turns[1].receives] == ["g", "h"]

    def test_rows_are_received_to_be_sent_on(self) -> None:
        jobs_of_blocks = schedule(
            (local(repart("a", "b")), local(repart("b", "c")), local(gather("c", "d")))
        )
        assert shape(jobs_of_blocks) == ([[(), (), ()]], [(), ()])


def compiled_flow(workload: str, name: str, level: str = "shared") -> Distributed:
    c = case(workload, name)
    program = compiled(c, DeltaOptions())
    return schedule_blocks(distribute(program, None, LEVELS[level], c.catalog.functions))


@pytest.mark.parametrize(("workload", "name"), thin(QUICK, 2))
def test_as_many_jobs_as_counted(workload: str, name: str) -> None:
    program = compiled_flow(workload, name)
    for routine in (program.ready, *program.routines, *program.readouts):
        scheduled, counted = schedule(routine.blocks), count_jobs(routine.blocks)
        assert len(scheduled.jobs) <= counted.jobs
        assert len(scheduled.stages) <= counted.stages
        assert len(scheduled.turns) == len(scheduled.jobs) + 1
        in_order(scheduled)


def in_order(s: Schedule) -> None:
    """Every block is run by whom it concerns, and whatever is sent is received once."""
    run = [b for stage in s.stages for b in stage.blocks]
    assert run == [i for i, b in enumerate(s.blocks) if b.mode == "distributed"]
    sent = [t for stage in s.stages for t in stage.sends]
    received = [t for stage in s.stages for t in stage.receives]
    moves = [t for i in range(len(s.blocks)) for t in s.moves(i)]
    scattered = [t for t in moves if t.kind == "scatter"]
    assert sorted(received, key=repr) == sorted([*sent, *scattered], key=repr)
    gathered = [t for stage in s.stages for t in stage.gathers]
    assert gathered == [t for t in moves if t.kind == "gather"]
    targets = [t.target for t in moves]
    assert len(targets) == len(set(targets)), "a map is filled by one transfer"
