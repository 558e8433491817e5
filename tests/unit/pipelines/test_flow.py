from __future__ import annotations

import errno
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest

from freshview.durable import commit_log, task
from freshview.durable.commit_log import CommitLog
from freshview.durable.runner import InlineRunner
from freshview.durable.step import StaleStep
from freshview.durable.storage import files
from freshview.errors import (
    BadRow,
    FreshviewError,
    FreshviewWarning,
    OutOfMemory,
    Overflow,
    UnknownName,
)
from freshview.pipelines import flow
from freshview.pipelines.flow import CheckpointProblem, DriverFenced, Flow, Interrupted
from freshview.runtime.ingest.columns import rows_of
from freshview.spark.nodes.reference_node import ReferenceNode
from freshview.spark.nodes.view_work import ViewWork
from tests.unit.pipelines.shop import SQL, Shop, items, orders, shop


@pytest.fixture(params=[1, 2, 5])
def a_shop(tmp_path: Path, request: pytest.FixtureRequest) -> Shop:
    return Shop(tmp_path, request.param)


def test_views_follow_batches(a_shop: Shop) -> None:
    a_shop.check()
    for version in range(1, 9):
        a_shop.apply()
        assert a_shop.flow.version == version
        a_shop.check()
    stats = a_shop.flow.stats[-1]
    assert stats.rows == 12
    assert stats.state > 0
    assert stats.jobs == 1
    a_shop.flow.close()
    assert not list(a_shop.memory.glob("*/p*"))


def test_a_process_keeps_few_workers(tmp_path: Path) -> None:
    with mock.patch.object(task, "MOST_WORKERS", 3), mock.patch.object(task, "_WORKERS", {}):
        s = Shop(tmp_path, 5)
        for _ in range(4):
            s.apply()
            s.check()
        assert len(task._WORKERS) == 3
        s.flow.close()


def test_rows_may_go(tmp_path: Path) -> None:
    s = Shop(tmp_path)
    s.flow.apply({"orders": orders((1, "a"), (2, None)), "items": items((1, 1, 5), (2, 1, 6))})
    s.flow.apply({"items": items((1, 1, 5), count=-1)})
    assert rows_of(s.flow.read("revenue")) == [(None, Decimal(6))]


def test_a_restart_goes_on(a_shop: Shop) -> None:
    a_shop.apply(4)
    for _ in range(3):
        task.forget(a_shop.flow.work.place)
        a_shop.restart()
        a_shop.check()
        a_shop.apply(2)
    a_shop.check()


def test_a_restart_without_memory(a_shop: Shop) -> None:
    a_shop.apply(5)
    task.forget(a_shop.flow.work.place)
    shutil.rmtree(a_shop.memory)
    a_shop.restart()
    a_shop.check()
    a_shop.apply(1)
    a_shop.check()


def test_memory_that_goes_while_it_runs(a_shop: Shop) -> None:
    a_shop.apply(2)
    shutil.rmtree(a_shop.memory)
    a_shop.apply(2)
    shutil.rmtree(a_shop.memory)
    a_shop.check()


def test_a_note_is_kept_with_its_batch(tmp_path: Path) -> None:
    s = Shop(tmp_path)
    s.flow.apply({}, {"offset": 7})
    assert (s.flow.version, s.flow.note) == (1, {"offset": 7})
    s.restart()
    assert s.flow.note == {"offset": 7}


def test_a_load_is_a_few_large_versions(a_shop: Shop) -> None:
    much = a_shop.batch(size=30)
    a_shop.count(much)
    assert a_shop.flow.load(much, {"offset": 3}, rows=20) == 5
    assert a_shop.flow.note == {"offset": 3}
    assert dict(rows_of(a_shop.flow.read("revenue"))) == dict(a_shop.wanted)
    assert a_shop.flow.load({"items": items()}) == 5  # nothing to load


def test_a_load_that_was_cut_short_goes_on(tmp_path: Path) -> None:
    s = Shop(tmp_path)
    much = s.batch(size=30)
    s.count(much)
    run_batch, batches = s.flow._run_batch, []

    def die(*args: Any, **kwargs: Any) -> None:
        if len(batches) == 3:
            raise KeyboardInterrupt
        batches.append(args)
        run_batch(*args, **kwargs)

    with mock.patch.object(s.flow, "_run_batch", die), pytest.raises(KeyboardInterrupt):
        s.flow.load(much, rows=20)
    s.restart()
    assert s.flow.version == 3
    assert s.flow.load(much, rows=20) == 5
    assert dict(rows_of(s.flow.read("revenue"))) == dict(s.wanted)


def test_columns_that_no_view_reads_are_checked_all_the_same(tmp_path: Path) -> None:
    s = Shop(tmp_path)
    s.flow.apply({"items": items((1, 1, 5))})
    lines = items((1, 1, 5), (1, 2, 6))
    for bad in (pa.array([1, None]), pa.array(["x", "y"])):
        with pytest.raises(BadRow, match="column 'line' of 'items'"):
            s.flow.apply({"items": lines.set_column(1, "line", bad)})
    s.flow.apply({"items": lines.set_column(1, "line", pa.array(["1", "2"]))})
    assert s.flow.version == 2


class TestRefusals:
    def test_a_second_start(self, tmp_path: Path) -> None:
        s = Shop(tmp_path)
        with pytest.raises(CheckpointProblem, match="already; restart from it"):
            Flow.start(s.distributed, s.runner, workers=3, checkpoint=s.place)

    def test_no_checkpoint(self, tmp_path: Path) -> None:
        with pytest.raises(CheckpointProblem, match="no checkpoint"):
            Flow.restart(shop(), InlineRunner(), checkpoint=tmp_path)
        assert not Flow.exists(tmp_path)

    def test_other_workers(self, tmp_path: Path) -> None:
        s = Shop(tmp_path, 2)
        with pytest.raises(CheckpointProblem, match="has 2 workers, not 3; restart with 2"):
            s.restart(workers=3)

    def test_another_program(self, tmp_path: Path) -> None:
        s = Shop(tmp_path)
        s.distributed = shop(SQL.replace("SUM(i.price)", "SUM(2 * i.price)"))
        with pytest.raises(CheckpointProblem, match="another program"):
            s.restart()

    def test_rows_that_do_not_fit(self, tmp_path: Path) -> None:
        s = Shop(tmp_path)
        s.apply()
        bad: list[tuple[Any, type[FreshviewError]]] = [
            ({"orders": pa.table({"id": [1]})}, BadRow),
            ({"orders": pa.table({"id": [None], "customer": ["a"]})}, BadRow),
            ({"orders": pa.table({"id": ["x"], "customer": ["a"]})}, BadRow),
            ({"nobody": pa.table({"id": [1]})}, UnknownName),
            ({"nation": pa.table({"code": [1], "name": ["a"]})}, FreshviewError),
        ]
        for changes, error in bad:
            with pytest.raises(error):
                s.flow.apply(changes)
        assert s.flow.version == 1
        s.apply()
        s.check()

    def test_a_closed_flow(self, tmp_path: Path) -> None:
        s = Shop(tmp_path)
        s.flow.close()
        with pytest.raises(FreshviewError, match="closed"):
            s.flow.read("revenue")


def test_a_batch_that_cannot_be_changes_nothing(a_shop: Shop) -> None:
    a_shop.apply(2)
    calls = 0
    real = ReferenceNode.run

    def overflow(self: ReferenceNode, routine: str, block: int) -> None:
        nonlocal calls
        calls += 1
        real(self, routine, block)
        if calls >= 2:
            raise Overflow("a number leaves its range")

    with mock.patch.object(ReferenceNode, "run", overflow), pytest.raises(Overflow):
        a_shop.flow.apply(a_shop.batch())
    a_shop.number -= 1
    assert a_shop.flow.version == 2
    a_shop.check()
    a_shop.apply(2)
    a_shop.check()
    task.forget(a_shop.flow.work.place)
    a_shop.restart()
    a_shop.check()


class TestDamage:
    @pytest.mark.parametrize("damage", ["torn", "gone"])
    def test_redo_files_are_made_again(self, tmp_path: Path, damage: str) -> None:
        s = Shop(tmp_path, 2, every=100)
        s.apply(3)
        for path in s.redo()[1::2]:
            if damage == "gone":
                path.unlink()
            else:
                path.write_bytes(path.read_bytes()[:-5])
        task.forget(s.flow.work.place)
        shutil.rmtree(s.memory)
        s.restart()
        s.check()
        s.apply()
        s.check()

    def test_all_redo_files_are_made_again(self, tmp_path: Path) -> None:
        s = Shop(tmp_path, 3, every=100)
        s.apply(3)
        assert s.redo()
        for path in s.redo():
            path.unlink()
        shutil.rmtree(s.memory)
        task.forget(s.flow.work.place)
        s.restart()
        s.check()

    def test_an_older_snapshot_does(self, tmp_path: Path) -> None:
        s = Shop(tmp_path, 2, every=2)
        s.apply(7)
        s.rest()
        for folder in s.place.glob("p*"):
            newest = max(folder.glob("snapshot-*"), default=None)
            if newest is not None:
                newest.write_bytes(b"rubbish")
        task.forget(s.flow.work.place)
        shutil.rmtree(s.memory)
        s.restart()
        s.check()

    def test_a_lost_log_is_told(self, tmp_path: Path) -> None:
        s = Shop(tmp_path, 2, every=100)
        s.apply(3)
        for path in (s.place / "log").glob("000000000002-*"):
            path.unlink()
        task.forget(s.flow.work.place)
        shutil.rmtree(s.memory)
        s.restart()
        with pytest.raises(CheckpointProblem, match="cannot be rebuilt"):
            s.flow.read("many")

    def test_a_torn_entry_is_told_and_may_be_given_up(self, tmp_path: Path) -> None:
        """It is written in one step, so its batch was logged, and may have been acknowledged."""
        s = Shop(tmp_path)
        s.apply(1)
        entry = s.place / "log" / "000000000002-entry"
        entry.write_bytes(b"half")
        with pytest.raises(CheckpointProblem, match="'log/000000000002-entry' is damaged; restore"):
            s.restart()
        entry.unlink()
        s.restart()
        s.apply(1)
        s.check()


class Lost(InlineRunner):
    """Jobs can be lost."""

    lost = False

    def run(self, orders: Any) -> Any:
        if self.lost:
            raise ConnectionError("the cluster is gone")
        return super().run(orders)


def _failing(e: Exception) -> Any:
    return mock.patch.object(ViewWork, "perform", side_effect=e)


@pytest.mark.parametrize("again", [False, True])
class TestAnInterruptedBatch:
    """What fails later is a matter of the batch that was logged, not of the call that finds it."""

    def interrupted(self, tmp_path: Path) -> Shop:
        runner = Lost()
        s = Shop(tmp_path, runner=runner)
        s.apply(1)
        batch, runner.lost = s.batch(), True
        with pytest.raises(Interrupted, match="version 2 is logged"):
            s.flow.apply(batch)
        runner.lost = False
        s.count(batch)
        return s

    def test_stays_until_there_is_memory(self, tmp_path: Path, again: bool) -> None:
        s = self.interrupted(tmp_path)
        with _failing(OutOfMemory("no memory")), pytest.raises(Interrupted, match="version 2 is"):
            s.restart() if again else s.apply()
        s.number = 2
        if again:
            s.restart()
        s.check()
        assert s.flow.version == 2

    def test_is_given_up_with_a_warning_if_it_is_refused(self, tmp_path: Path, again: bool) -> None:
        s = self.interrupted(tmp_path)
        refused = _failing(Overflow("too large"))
        with (
            refused,
            pytest.warns(FreshviewWarning, match="in no view, since it is refused: too"),
        ):
            s.restart() if again else s.flow.catch_up()
        assert s.flow.version == 1
        assert s.flow.read("many").num_rows == 4

    def test_is_not_mixed_up_with_that_of_the_call(self, tmp_path: Path, again: bool) -> None:
        s = self.interrupted(tmp_path)
        if again:
            s.restart()
        with _failing(OutOfMemory("no memory")), pytest.raises((Interrupted, OutOfMemory)):
            s.flow.apply(s.batch())
        s.number = 2
        s.check()


def full_disk(every: int) -> Any:
    """Writes of which every n-th finds no room."""
    real = files.LocalFolder._fill
    count = 0

    def fill(self: files.LocalFolder, path: Path, *parts: bytes) -> None:
        nonlocal count
        count += 1
        if count % every == 0:
            path.write_bytes(parts[-1][: len(parts[-1]) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        real(self, path, *parts)

    return mock.patch.object(files.LocalFolder, "_fill", fill)


@pytest.mark.parametrize("every", [2, 3, 5, 7, 11])
def test_a_full_disk(tmp_path: Path, every: int) -> None:
    s = Shop(tmp_path, 2)
    refused = interrupted = 0
    for _ in range(12):
        batch = s.batch()
        with full_disk(every):
            try:
                s.flow.apply(batch)
            except CheckpointProblem:
                refused += 1
                s.number -= 1
                continue
            except Interrupted:
                interrupted += 1
        s.count(batch)
        s.check()
    assert refused + interrupted
    s.check()


def test_a_full_disk_at_a_snapshot_does_no_harm(tmp_path: Path) -> None:
    s = Shop(tmp_path, 2, every=2)

    def put(self: files.LocalFolder, name: str, source: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with mock.patch.object(files.LocalFolder, "put", put):
        s.apply(6)
    s.check()
    s.apply(3)
    s.check()


class TestTwoDrivers:
    def test_the_older_one_is_refused(self, tmp_path: Path) -> None:
        s = Shop(tmp_path)
        s.apply(1)
        old = s.flow
        s.restart()
        s.apply(1)
        with pytest.raises(DriverFenced):
            old.apply(s.batch())
        s.number -= 1
        with pytest.raises(DriverFenced):
            old.read("revenue")
        s.check()

    def test_a_late_commit_of_the_older_one_changes_nothing(self, tmp_path: Path) -> None:
        s = Shop(tmp_path)
        s.apply(1)
        old, write, held = s.flow, commit_log.write_commit, [True]

        def late(*args: Any) -> None:
            if held.pop() if held else False:
                s.restart()
                s.apply(3)
                s.flow.checkpoint()
            write(*args)

        batch = s.batch()
        s.count(batch)
        with mock.patch.object(commit_log, "write_commit", late):
            old.apply(batch)
        for _ in range(2):
            assert s.flow.version == 5
            s.check()
            s.restart()

    def test_one_that_starts_deletes_nothing_of_the_newer_one(self, tmp_path: Path) -> None:
        s = Shop(tmp_path)
        s.apply(1)
        late, refuse = CommitLog._refuse_a_gap, [True]

        def held(self: CommitLog, last: int) -> None:
            late(self, last)
            if refuse.pop() if refuse else False:
                s.restart()
                s.apply(2)

        with mock.patch.object(CommitLog, "_refuse_a_gap", held), pytest.raises(DriverFenced):
            Flow.restart(s.distributed, s.runner, checkpoint=s.place, settings=s.settings)
        task.forget(s.flow.work.place)
        shutil.rmtree(s.memory)
        s.restart()
        s.check()

    def test_two_that_start_at_once_do_not_share_tables(self, tmp_path: Path) -> None:
        s = Shop(tmp_path)
        with (
            mock.patch.object(flow, "check_new"),  # neither has seen the other one
            pytest.raises(CheckpointProblem, match="another pipeline has started in"),
        ):
            Shop(tmp_path)
        s.apply(1)
        shutil.rmtree(s.memory)
        s.restart()
        s.check()

    def test_an_old_task_is_refused(self, tmp_path: Path) -> None:
        s = Shop(tmp_path)
        orders_seen: list[Any] = []
        real = s.runner.run
        with mock.patch.object(s.runner, "run", lambda o: orders_seen.append(o) or real(o)):
            s.apply(1)
        s.restart()
        [report, *_] = s.runner.run(orders_seen[0])
        assert isinstance(report.failure, DriverFenced)

    def test_an_old_attempt_of_this_driver(self, tmp_path: Path) -> None:
        s = Shop(tmp_path)
        seen: list[Any] = []
        real = s.runner.run
        with mock.patch.object(s.runner, "run", lambda o: seen.append(o) or real(o)):
            s.apply(1)
        s.apply(1)
        [report, *_] = real(seen[0])
        assert isinstance(report.failure, StaleStep)
        s.check()


class Twice(InlineRunner):
    """Every task is attempted twice, the second time after the whole job."""

    def run(self, orders: Any) -> Any:
        super().run(orders)
        return super().run(orders)


def test_duplicated_attempts(tmp_path: Path) -> None:
    s = Shop(tmp_path, runner=Twice())
    s.apply(5)
    s.check()
    assert s.flow.stats[-1].repeated > 0


def test_old_files_go(tmp_path: Path) -> None:
    s = Shop(tmp_path, 2, every=2)
    sizes = []
    for _ in range(20):
        s.apply()
        s.rest()
        sizes.append(len([p for p in s.place.rglob("*") if p.is_file()]))
    # Whether a snapshot is seen by this version or the next is left to threads.
    assert max(sizes[10:]) <= max(sizes[:10]) + 6
    outputs = list(s.memory.glob("*/p*/out-*"))
    assert len(outputs) < 12
    s.check()


def test_a_checkpoint_shortens_the_log(tmp_path: Path) -> None:
    s = Shop(tmp_path, 2, every=100)
    s.apply(9)
    before = len(list((s.place / "log").iterdir()))
    assert s.flow.checkpoint() == 9
    assert len(list((s.place / "log").iterdir())) < before / 3
    assert not s.redo()
    shutil.rmtree(s.memory)
    task.forget(s.flow.work.place)
    s.restart()
    s.check()
    s.apply(2)
    s.check()
