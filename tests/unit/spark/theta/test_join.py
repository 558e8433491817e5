"""What a theta join does with its partitions: versions, restarts, refusals, metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import freshview as fv
from freshview.durable import task
from freshview.durable.checkpoint import CheckpointProblem
from freshview.durable.commit_log import Interrupted
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.errors import BadRow, FreshviewError
from freshview.spark.theta.join import SparkThetaJoin
from freshview.temporal import Sliding
from freshview.theta import Comparison, Function, Source, Static, prometheus
from freshview.theta.controller import choose
from freshview.theta.grid import merge
from freshview.theta.terms import Groups, Placement, Sizes

LESS = Comparison("k", "<", "k")


def sources(**options: Any) -> tuple[Source, Source]:
    left, right = (Source(n, {"k": "int", "t": "int"}, **options) for n in ("left", "right"))
    return left, right


def a_join(folder: Path, on: Any = LESS, runner: Any = None, **options: Any) -> SparkThetaJoin:
    options = {"joiners": 4, "workers": 2, **options}
    kept = {
        "checkpoint": folder / "checkpoint",
        "settings": FlowSettings(snapshot_every=2, memory=str(folder / "memory")),
    }
    what = options.pop("what", sources())
    begin = SparkThetaJoin.restart if options.pop("again", False) else SparkThetaJoin
    return begin(*what, on, spark=runner or InlineRunner(), **kept, **options)


def dies(folder: Path) -> None:
    """The process of the driver and the workers is gone."""
    task.forget(str(folder / "checkpoint"))


def rows(*keys: int) -> list[tuple[int, int]]:
    return [(k, 0) for k in keys]


class Failing(InlineRunner):
    """Workers that cannot be reached for some jobs."""

    failures = 0

    def run(self, orders: Any) -> Any:
        """See `Runner`."""
        if self.failures:
            self.failures -= 1
            raise OSError("no worker answers")
        return super().run(orders)


def test_it_is_a_public_name() -> None:
    assert fv.SparkThetaJoin is SparkThetaJoin


def test_the_output_of_the_last_version_can_be_had_again(tmp_path: Path) -> None:
    join = a_join(tmp_path)
    assert join.output().rows() == []
    join.push({"left": rows(1, 2)})
    pairs = join.push({"right": rows(2, 3)}).net()
    dies(tmp_path)
    join = a_join(tmp_path, again=True)
    assert (join.version, join.output().net(), len(pairs)) == (2, pairs, 3)
    assert join.push({"right": rows(9)}).net() == {(1, 0, 9, 0): 1, (2, 0, 9, 0): 1}


def test_a_migration_goes_on_after_a_restart(tmp_path: Path) -> None:
    join = a_join(tmp_path, scheme="square", joiners=8, pace=16)
    join.push({"left": rows(*range(50)), "right": rows(*range(50))})
    assert isinstance(join.placement, Groups)
    target = choose(Sizes(1, 100), join.placement)
    join.migrate(target)
    join.push({"left": rows(0)})
    dies(tmp_path)
    join = a_join(tmp_path, again=True, scheme="square", joiners=8, pace=16)
    assert join.is_migrating
    assert join.placement == target
    moved = join.metrics.moved_bytes
    with pytest.raises(FreshviewError, match="still on its way"):
        join.migrate(target)
    while join.is_migrating:
        join.advance()
    assert join.metrics.moved_bytes > moved
    assert len(join.push({"left": rows(-1)})) == 50


def test_joiners_that_are_not_needed_any_more_are_gone(tmp_path: Path) -> None:
    join = a_join(tmp_path, scheme="square")
    join.push({"left": rows(1, 2), "right": rows(1, 2)})
    assert len(join.metrics.storage) == 4
    assert isinstance(join.placement, Groups)
    join.migrate(Groups(tuple(merge(g) for g in join.placement.grids)))
    while join.is_migrating:
        join.advance()
    join.advance()
    assert list(join.metrics.storage) == list(join.placement.hosts)
    assert len(join.metrics.storage) == 1


def test_pairs_of_an_interrupted_batch_come_with_the_next(tmp_path: Path) -> None:
    runner = Failing()
    late = sources(time="t", delay=0)
    join = a_join(tmp_path, runner=runner, what=late, window=Sliding(100))
    join.push({"left": [(1, 10), (2, 12)]})
    runner.failures = 1
    with pytest.raises(Interrupted):
        join.push({"right": [(5, 12)], "left": [(3, 1)]})
    output = join.push({"right": [(6, 13), (7, 1)]})
    assert sorted(row for row, _ in output.rows()) == [
        (1, 10, 5, 12),
        (1, 10, 6, 13),
        (2, 12, 5, 12),
        (2, 12, 6, 13),
    ]
    assert output.late == {"left": [(3, 1)], "right": [(7, 1)]}
    assert join.version == 3


def test_late_rows_are_given_again(tmp_path: Path) -> None:
    late = sources(time="t", delay=0)
    join = a_join(tmp_path, what=late, window=Sliding(5))
    join.push({"left": [(1, 10)]})
    assert join.push({"left": [(2, 3)]}).late == {"left": [(2, 3)]}
    dies(tmp_path)
    join = a_join(tmp_path, what=late, window=Sliding(5), again=True)
    assert join.output().late == {"left": [(2, 3)]}
    assert join.push({"left": [(2, 9)]}).late == {"left": [(2, 9)]}


def test_a_function_that_raises_refuses_its_batch_alone(tmp_path: Path) -> None:
    join = a_join(tmp_path, Function(lambda r, s: 6 // (r[0] - s[0]) > 1))
    join.push({"left": rows(3)})
    placement = join.placement
    with pytest.raises(BadRow, match="ZeroDivisionError"):
        join.push({"right": rows(1, 3)})
    assert join.placement == placement
    assert join.push({"right": rows(1)}).net() == {(3, 0, 1, 0): 1}
    assert join.version == 2


def test_a_bad_row_changes_nothing(tmp_path: Path) -> None:
    join = a_join(tmp_path)
    with pytest.raises(BadRow):
        join.push({"left": [("x", 0)]})
    assert join.version == 0
    assert join.push({"left": rows(1), "right": rows(2)}).net() == {(1, 0, 2, 0): 1}


def test_another_join_cannot_take_the_checkpoint(tmp_path: Path) -> None:
    a_join(tmp_path)
    with pytest.raises(CheckpointProblem, match="another join"):
        a_join(tmp_path, Comparison("k", "<=", "k"), again=True)
    with pytest.raises(CheckpointProblem, match="has 2 workers, not 3"):
        a_join(tmp_path, again=True, workers=3)
    with pytest.raises(CheckpointProblem, match="there is a checkpoint"):
        a_join(tmp_path)
    with pytest.raises(CheckpointProblem, match="no checkpoint"):
        a_join(tmp_path / "elsewhere", again=True)


def test_a_scheme_of_ones_own_is_refused(tmp_path: Path) -> None:
    class Mine:
        """No scheme of Freshview's."""

        name = "mine"

        def first(self) -> Placement:
            """A square."""
            return Static(4).first()

    scheme: Any = Mine()
    with pytest.raises(FreshviewError, match="'mine' cannot be written down"):
        a_join(tmp_path, scheme=scheme)


def test_a_join_without_workers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FreshviewError, match="0 workers"):
        a_join(tmp_path, workers=0)


def test_without_a_checkpoint_nothing_stays() -> None:
    with SparkThetaJoin(*sources(), LESS, spark=InlineRunner(), joiners=2) as join:
        scratch = Path(join._scratch)
        join.push({"left": rows(1), "right": rows(2)})
        assert (join.workers, scratch.exists()) == (2, True)
    assert not scratch.exists()


def test_metrics_are_those_of_all_partitions(tmp_path: Path) -> None:
    join = a_join(tmp_path, scheme="square")
    join.push({"left": rows(*range(40)), "right": rows(*range(10))})
    metrics = join.metrics
    assert sum(metrics.storage.values()) == metrics.received_bytes == 2 * 50 * 16
    assert metrics.tuples == {"left": 40, "right": 10}
    assert 'freshview_theta_storage_bytes{join="join",joiner="3"}' in prometheus(metrics, "join")
    assert join.stats[-1].jobs == 1
