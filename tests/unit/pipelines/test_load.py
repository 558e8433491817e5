"""Loads whose pieces are one job: workers do each as soon as it is logged."""

from __future__ import annotations

import errno
import shutil
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path
from threading import Event
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest

from freshview.distributed.compile import distribute
from freshview.distributed.options import DistributionOptions
from freshview.durable import commit_log, worker
from freshview.durable.checkpoint import CheckpointProblem
from freshview.durable.commit_log import Interrupted
from freshview.durable.epoch import DriverFenced
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.durable.task import StageOrder, WorkerReport, forget, run_stage
from freshview.errors import BadRow, Overflow, ProgramProblem
from freshview.ivm.compile import compile_queries
from freshview.pipelines.flow import Flow
from freshview.runtime.ingest.columns import rows_of
from freshview.sql.load import load

SQL = """
CREATE STREAM sales (shop BIGINT NOT NULL, price DECIMAL(38, 0) NOT NULL);
CREATE VIEW totals AS SELECT shop, SUM(price) AS total, COUNT(*) AS n FROM sales GROUP BY shop;
"""
HUGE = 9 * 10**37
PIECES = 4


class Counts(InlineRunner):
    """Counts what it is asked for."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.ended = False

    def run(self, orders: Any) -> list[WorkerReport]:
        self.asked[orders[0].kind] += 1
        reports = super().run(orders)
        self.ended = self.ended or orders[0].kind == "follow"
        return reports


class Sales:
    """A flow of the view."""

    def __init__(self, folder: Path, native: bool, runner: Any = None, every: int = 2) -> None:
        self.place = folder / "checkpoint"
        self.settings = FlowSettings(
            memory=str(folder / "memory"), native=native, snapshot_every=every
        )
        catalog, queries = load(SQL)
        program = compile_queries(queries, list(catalog.relations.values()))
        self.distributed = distribute(program, options=DistributionOptions(workers=2, deliver=True))
        self.runner = runner or Counts()
        options: dict[str, Any] = {
            "workers": 2,
            "checkpoint": self.place,
            "settings": self.settings,
        }
        self.flow = Flow.start(self.distributed, self.runner, **options)

    def restart(self) -> None:
        options: dict[str, Any] = {"checkpoint": self.place, "settings": self.settings}
        self.flow = Flow.restart(self.distributed, self.runner, **options)

    def load(
        self, rows: list[tuple[int, int]], note: dict[str, Any] | None = None, pieces: int = PIECES
    ) -> int:
        return self.flow.load({"sales": table(rows)}, note, rows=-(-len(rows) // pieces))

    def check(self, *parts: list[tuple[int, int]]) -> None:
        rows = [row for part in parts for row in part]
        totals, counts = Counter[int](), Counter(shop for shop, _ in rows)
        for shop, price in rows:
            totals[shop] += price
        totals_read = {
            shop: (int(total), n) for shop, total, n in rows_of(self.flow.read("totals"))
        }
        assert totals_read == {shop: (totals[shop], counts[shop]) for shop in counts}


def table(rows: list[tuple[int, int]]) -> pa.Table:
    prices = [None if price is None else Decimal(price) for _, price in rows]
    return pa.table(
        {"shop": [shop for shop, _ in rows], "price": pa.array(prices, pa.decimal128(38))}
    )


def some(count: int, since: int = 0) -> list[tuple[int, int]]:
    return [(i % 7, i) for i in range(since, since + count)]


def piece(rows: list[Any], i: int, pieces: int = PIECES) -> int:
    """Where a piece begins: the first one is a third of the others."""
    return len(rows) * (3 * i - 2) // (3 * pieces - 2) if i else 0


def test_a_load_is_one_job(tmp_path: Path, native: bool) -> None:
    s = Sales(tmp_path, native)
    before = some(20)
    s.flow.apply({"sales": table(before)})
    s.runner.asked.clear()
    assert s.load(some(100, 50), {"offset": 7}) == 1 + PIECES
    assert s.runner.asked == {"follow": 1}
    assert s.flow.note == {"offset": 7}
    assert (s.flow.stats[-1].rows, s.flow.stats[-1].version) == (100, 1 + PIECES)
    s.check(before, some(100, 50))
    s.flow.apply({"sales": table(some(5))})
    s.restart()
    assert s.flow.version == 2 + PIECES
    s.check(before, some(100, 50), some(5))
    s.flow.close()


def test_a_piece_with_a_bad_row_is_told_and_those_before_it_are_done(
    tmp_path: Path, native: bool
) -> None:
    s, rows = Sales(tmp_path, native), some(100)
    good = piece(rows, 2)
    bad: Any = [*rows[:good], (1, None), *rows[good + 1 :]]
    with pytest.raises(BadRow, match="NULL"):
        s.load(bad)
    assert s.flow.note == {}
    s.check(rows[:good])
    s.flow.apply({"sales": table(some(3))}, {"offset": 1})
    with pytest.raises(ProgramProblem, match="after 2 of 4 pieces"):
        s.load(some(99))
    s.restart()
    assert s.load(rows) == PIECES + 1  # goes on behind what was done
    s.check(rows, some(3))
    s.load(rows[:50])  # another one
    s.check(rows, some(3), rows[:50])
    s.flow.close()


def test_a_piece_that_cannot_be_is_given_up_and_so_are_those_after_it(
    tmp_path: Path, native: bool
) -> None:
    s, before, rows = Sales(tmp_path, native), some(40), some(400, 40)
    for i in range(0, 40, 8):  # so that there are snapshots, and no log before them
        s.flow.apply({"sales": table(before[i : i + 8])})
    at = piece(rows, 2, 20)
    much = [*rows[:at], *[(1, HUGE)] * 12, *rows[at + 12 :]]
    performs = worker.Worker._perform if native else _overflows(s)
    with mock.patch.object(worker.Worker, "_perform", performs), pytest.raises(Overflow):
        s.load(much if native else rows, pieces=20)
    assert s.flow.version == 5 + 2
    assert not [e for e in s.flow.work.folder.names("log") if int(e[:12]) > 7]
    s.check(before, rows[:at])
    s.flow.apply({"sales": table(some(3))})
    s.check(before, rows[:at], some(3))
    s.restart()
    s.check(before, rows[:at], some(3))
    s.flow.close()


def _overflows(s: Sales) -> Any:
    """One of the workers cannot do the third piece; Python's numbers have no end."""
    perform = worker.Worker._perform

    def performed(self: Any, state: Any, at: Any, *args: Any, **options: Any) -> Any:
        if at.version == 8 and self.part == 1:
            raise Overflow("a number outgrew its column")
        return perform(self, state, at, *args, **options)

    return performed


class Half(Counts):
    """One worker follows to the end; then the job is lost, and what the other one has in memory."""

    def run(self, orders: Any) -> list[WorkerReport]:
        if orders[0].kind == "follow" and not self.asked["follow"]:
            self.asked["follow"] += 1
            list(run_stage(orders[0], 0, []))
            raise ConnectionError("the cluster is gone")
        return super().run(orders)


def test_a_job_that_is_lost_half_way_is_made_up_for(tmp_path: Path, native: bool) -> None:
    s, before, rows = Sales(tmp_path, native, Half()), some(10), some(100)
    s.flow.apply({"sales": table(before)})
    with pytest.raises(Interrupted, match="the cluster is gone"):
        s.load(rows)
    s.check(before, rows)  # whatever is asked next goes on with it
    assert s.flow.version == 1 + PIECES
    assert s.load(rows) == 1 + PIECES  # the same call: nobody had heard that it is done
    s.check(before, rows)
    assert s.load(rows) == 1 + 2 * PIECES
    s.check(before, rows, rows)
    s.flow.close()


def test_after_a_commit_that_failed_whatever_is_asked_goes_on(tmp_path: Path, native: bool) -> None:
    s, rows = Sales(tmp_path, native), some(100)
    full = OSError(errno.ENOSPC, "No space left on device")
    with (
        mock.patch.object(commit_log, "write_commit", side_effect=full),
        pytest.raises(Interrupted),
    ):
        s.load(rows)
    s.check(rows)
    assert s.load(rows) == PIECES
    s.check(rows)
    s.flow.close()


def test_after_an_epoch_that_could_not_begin_whatever_is_asked_goes_on(
    tmp_path: Path, native: bool
) -> None:
    s, rows = Sales(tmp_path, native, Half()), some(100)
    full = OSError(errno.ENOSPC, "No space left on device")
    with mock.patch.object(commit_log, "succeed", side_effect=full), pytest.raises(Interrupted):
        s.load(rows)
    s.check(rows)
    s.flow.close()


def test_a_first_piece_that_is_bad_keeps_nobody_waiting(tmp_path: Path, native: bool) -> None:
    s = Sales(tmp_path, native)
    pack, follow = s.flow._packer.pack, s.flow._coordinator.follow
    logged_one = Event()

    def bad(changes: Any) -> Any:
        try:
            return pack(changes)
        finally:
            logged_one.set()

    def late(*args: Any) -> Any:
        logged_one.wait(10)
        time.sleep(0.01)  # the writer has begun another epoch
        return follow(*args)

    patches = (
        mock.patch.object(s.flow._packer, "pack", bad),
        mock.patch.object(s.flow._coordinator, "follow", late),
    )
    began = time.monotonic()
    with patches[0], patches[1], pytest.raises(BadRow):
        s.flow.load({"sales": table(some(100)).drop_columns(["price"])}, rows=25)
    assert time.monotonic() - began < worker.FOLLOW_TIMEOUT / 2
    s.flow.close()


def test_a_driver_that_was_taken_over_begins_no_other_epoch(tmp_path: Path, native: bool) -> None:
    s = Sales(tmp_path, native)
    old = s.flow._commit_log
    s.restart()
    with pytest.raises(DriverFenced):
        old.next_epoch()
    s.flow.apply({"sales": table(some(5))})
    s.restart()
    s.restart()
    with pytest.raises(DriverFenced):
        old.next_epoch()
    s.flow.apply({"sales": table(some(5))})
    s.check(some(5), some(5))
    s.flow.close()


def test_a_checkpoint_without_its_commit_is_refused(tmp_path: Path, native: bool) -> None:
    s = Sales(tmp_path, native, every=1)
    for i in range(6):
        s.flow.apply({"sales": table(some(5, i))})
    s.flow.checkpoint()
    s.flow.apply({"sales": table(some(5))})
    shutil.move(s.place / "commit", tmp_path / "commit")
    with pytest.raises(CheckpointProblem, match="'commit' or a part of its log is missing"):
        s.restart()
    assert s.flow.work.folder.names("log")
    shutil.copytree(tmp_path / "commit", s.place / "commit", dirs_exist_ok=True)
    s.restart()
    s.check(*(some(5, i) for i in range(6)), some(5))


def _no_room(at: int) -> Any:
    """The log is full at one of the pieces."""
    append_rows, calls = commit_log.CommitLog.append_rows, iter(range(at + 1))

    def append(*args: Any) -> Any:
        if next(calls, at + 1) == at:
            raise CheckpointProblem("no space left")
        return append_rows(*args)

    return mock.patch.object(commit_log.CommitLog, "append_rows", append)


def test_other_rows_do_not_continue_a_load(tmp_path: Path, native: bool) -> None:
    """They are as many, and the first and the last thousand are the same."""
    s, rows = Sales(tmp_path, native), some(8000)
    others = [(shop, price + (i == 2000)) for i, (shop, price) in enumerate(rows)]
    with _no_room(2), pytest.raises(CheckpointProblem, match="no space left"):
        s.load(rows)
    s.check(rows[: piece(rows, 2)])
    s.restart()
    with pytest.raises(ProgramProblem, match="after 2 of 4 pieces, which had other rows"):
        s.load(others)
    chunks = pa.concat_tables([table(rows[:33]), table(rows[33:])])
    assert s.flow.load({"sales": chunks}, rows=2000) == PIECES  # the same rows, in other chunks
    s.check(rows)
    s.flow.close()


def test_a_load_that_is_done_but_not_told_is_not_another_one(tmp_path: Path, native: bool) -> None:
    s, rows = Sales(tmp_path, native), some(8000)
    others = [(shop, price + (i == 4000)) for i, (shop, price) in enumerate(rows)]
    with (
        mock.patch.object(commit_log.CommitLog, "clear_loading", side_effect=Interrupted("died")),
        pytest.raises(Interrupted, match="died"),
    ):
        s.load(rows)
    s.restart()
    assert s.load(others) == 2 * PIECES
    s.check(rows, others)
    s.flow.close()


def test_the_end_of_a_load_that_cannot_be_written_is_told(tmp_path: Path, native: bool) -> None:
    s, rows = Sales(tmp_path, native), some(100)
    write = commit_log.write_commit

    def full(folder: Any, commit: Any) -> None:
        if commit.loading is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(folder, commit)

    with (
        mock.patch.object(commit_log, "write_commit", full),
        pytest.raises(Interrupted, match=r"the load is finished, but .* No space left"),
    ):
        s.load(rows)
    s.restart()
    assert s.load(rows) == PIECES  # this call tells it
    s.check(rows)
    assert s.load(rows) == 2 * PIECES
    s.check(rows, rows)
    s.flow.close()


class Twice(Counts):
    """Every task is attempted twice, by two processes."""

    def run(self, orders: list[StageOrder]) -> list[WorkerReport]:
        if orders[0].kind == "follow":
            for part in range(2):
                list(run_stage(orders[0], part, []))
            forget(orders[0].place)
        return super().run(orders)


def test_a_second_attempt_finds_that_all_is_done(tmp_path: Path, native: bool) -> None:
    s = Sales(tmp_path, native, Twice())
    s.load(some(100))
    s.check(some(100))
    s.flow.close()


def test_who_waits_too_long_goes(tmp_path: Path, native: bool) -> None:
    s = Sales(tmp_path, native)
    append_rows, logged = s.flow._commit_log.append_rows, []

    def slow(*args: Any) -> Any:
        while len(logged) == 2 and not s.runner.ended:  # until nobody waits
            time.sleep(0.001)
        logged.append(args)
        return append_rows(*args)

    patience = mock.patch.object(worker, "FOLLOW_TIMEOUT", 0.05)
    with patience, mock.patch.object(s.flow._commit_log, "append_rows", slow):
        assert s.load(some(100)) == PIECES
    s.check(some(100))
    s.flow.close()
