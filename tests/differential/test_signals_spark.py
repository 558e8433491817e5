"""Signal queries on partitions equal those in one process, bit by bit, after every batch.

Partitions change processes, lose their memory, and drivers restart, between batches at random.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import freshview as fv
from freshview import signal as sg
from freshview.durable import task
from freshview.durable.checkpoint import CheckpointProblem
from freshview.durable.commit_log import Interrupted
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.spark.signal.query import SparkSignalQuery
from tests.differential.test_theta_spark import Processes, Spread
from tests.law import signals as law
from tests.law.test_signals import CASES
from tests.law.test_signals_forget import DELAY, batches, long_signal
from tests.law.test_signals_of_two import CASES as PAIRS
from tests.thin import thin


def options(folder: Path, every: int = 2) -> dict[str, Any]:
    settings = FlowSettings(snapshot_every=every, memory=str(folder / "memory"))
    return {"checkpoint": folder / "checkpoint", "settings": settings}


class Lives:
    """A query whose driver and workers die now and then."""

    def __init__(self, plan: Any, folder: Path, seed: int) -> None:
        self.plan, self.folder = plan, folder
        self.rng = random.Random(seed)
        self.processes = Processes(self.rng.choice((1, 2)))
        self.kept = options(folder, self.rng.choice((1, 3, 100)))
        workers = self.rng.choice((1, 2, 5))
        runner = Spread(self.processes)
        self.query = SparkSignalQuery(plan, spark=runner, workers=workers, **self.kept)

    def between(self) -> None:
        """What happens between batches."""
        what = self.rng.random()
        if what < 0.1:
            self.query.checkpoint()
        elif what < 0.2:
            self.processes.workers = [{} for _ in self.processes.workers]
            task.forget(str(self.folder / "checkpoint"))
            shutil.rmtree(self.folder / "memory", ignore_errors=True)
        elif what < 0.3:
            changes = self.query.output().to_numpy()
            self.query.close(forget=self.rng.random() < 0.5)
            runner = Spread(self.processes)
            self.query = SparkSignalQuery.restart(self.plan, spark=runner, **self.kept)
            again = self.query.output().to_numpy()
            assert all(changes[n].tobytes() == again[n].tobytes() for n in changes)


@pytest.mark.parametrize("case", thin(CASES, 7), ids=lambda c: c.name)
def test_groups_on_partitions_are_those_of_one_process(case: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(23)
    history = law.history(rng, law.signal_events(rng, 6, 20))
    plan = case.query(law.readings())
    one, here = Lives(plan, tmp_path, 23), plan.query()
    for number, batch in enumerate(history):
        table = law.table(batch)
        law.assert_identical(one.query.push(table), here.push(table))
        if number % 3 == 0:
            law.assert_identical(one.query.result(), here.result())
        one.between()
    law.assert_identical(one.query.result(), here.result())
    assert one.query.version == len(history)
    one.query.close()


@pytest.mark.parametrize("case", thin(PAIRS, 5), ids=lambda c: c.name)
def test_two_sources_meet_on_partitions(case: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(29)
    sides = [law.history(rng, law.signal_events(rng, 5, 20)) for _ in range(2)]
    plan = case.query(law.readings("left"), law.readings("right"))
    one, here = Lives(plan, tmp_path, 29), plan.query()
    for left, right in zip(*sides, strict=False):
        tables = {"left": law.table(left), "right": law.table(right)}
        law.assert_identical(one.query.push(tables), here.push(tables))
        one.between()
    law.assert_identical(one.query.result(), here.result())
    one.query.close()


@pytest.mark.parametrize("case", thin(CASES, 12), ids=lambda c: c.name)
def test_late_events_are_late_on_partitions_too(case: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(31)
    plan = case.query(law.readings(delay=DELAY))
    one, here = Lives(plan, tmp_path, 31), plan.query()
    known: set[Any] = set()
    for number, batch in enumerate(batches(rng, long_signal(rng))):
        batch = [(e, n) for e, n in batch if n > 0 or e in known]
        at = here.watermark()
        known |= {e for e, _ in batch if at is None or e[1] >= at}
        law.assert_identical(one.query.push(law.table(batch)), here.push(law.table(batch)))
        if number % 10 == 9:
            one.query.advance(readings=here.watermark() + 5)
            here.advance(readings=here.watermark() + 5)
        one.between()
    assert one.query.late_count() == here.late_count() > 0
    assert one.query.watermark() == here.watermark()
    law.assert_identical(one.query.late(), here.late())
    law.assert_identical(one.query.result(), here.result())
    one.query.close()


def curve() -> sg.Signal:
    return law.readings().to_signal().sample(2)


def test_a_refused_batch_leaves_nothing_behind(tmp_path: Path) -> None:
    with SparkSignalQuery(curve(), spark=InlineRunner(), workers=3, **options(tmp_path)) as query:
        events = [(k, 0, 4, 1.0) for k in range(8)]
        query.push(law.all_of(events))
        with pytest.raises(fv.FreshviewError, match="two events of sensor 5 overlap"):
            query.push(law.all_of([(k, 8, 9, 1.0) for k in range(8)] + [(5, 3, 6, 1.0)]))
        assert query.version == 1
        law.assert_identical(query.result(), curve().over(law.all_of(events)))
        more = [(k, 10, 11, 1.0) for k in range(8)]
        query.push(law.all_of(more))
        law.assert_identical(query.result(), curve().over(law.all_of(events + more)))


class Failing(InlineRunner):
    """Workers that cannot be reached for one job."""

    fails = False

    def run(self, orders: Any) -> Any:
        """See `Runner`."""
        if self.fails:
            self.fails = False
            raise OSError("no worker answers")
        return super().run(orders)


def test_an_interrupted_batch_is_finished_by_the_next_call(tmp_path: Path) -> None:
    runner = Failing()
    one, two = ([(k, t, t + 1, 1.0) for k in range(5)] for t in (4, 6))
    with SparkSignalQuery(curve(), spark=runner, workers=2, **options(tmp_path)) as query:
        runner.fails = True
        with pytest.raises(Interrupted):
            query.push(law.all_of(one))
        changes = query.push(law.all_of(two))
        assert (query.version, len(changes)) == (2, 10)
        law.assert_identical(query.result(), curve().over(law.all_of(one + two)))


def test_what_partitions_cannot_know_is_refused(tmp_path: Path) -> None:
    bare = sg.stream("readings", {"sensor": "int", "value": "double"})
    late_key = bare.select(lambda e: {"sensor": e.sensor % 2, "v": e.value}).map(key="sensor")
    for plan in (bare.to_signal().sample(1), late_key.to_signal().sample(1)):
        with pytest.raises(sg.BadSignal, match="name the key with the source"):
            SparkSignalQuery(plan, spark=InlineRunner())
    with SparkSignalQuery(curve(), spark=InlineRunner(), **options(tmp_path)):
        pass
    with pytest.raises(CheckpointProblem, match="another query"):
        SparkSignalQuery.restart(
            curve().sample(4), spark=InlineRunner(), checkpoint=tmp_path / "checkpoint"
        )


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_spark_itself(tmp_path: Path, spark: Any) -> None:
    taps = [0.5, 0.25]
    plan = law.readings().where(lambda e: e.value < 9).to_signal().sample(2).fir(taps)
    rng = np.random.default_rng(3)
    history, here = law.history(rng, law.signal_events(rng, 6, 15)), plan.query()
    with SparkSignalQuery(plan, spark=spark, workers=2, **options(tmp_path)) as query:
        for batch in history:
            law.assert_identical(query.push(law.table(batch)), here.push(law.table(batch)))
        assert all(version.jobs == 1 for version in query.stats[1:])
        query.close(forget=False)
    with SparkSignalQuery.restart(plan, spark=spark, **options(tmp_path)) as query:
        law.assert_identical(query.result(), here.result())
