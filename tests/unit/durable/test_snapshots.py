"""Snapshots on their way while others work, and processes that take turns at the same maps."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from freshview.durable import task
from freshview.durable.snapshots import Snapshots, is_due
from freshview.durable.state import Position, State
from freshview.durable.storage import files
from tests.fault.dying import shared_nodes
from tests.unit.pipelines.shop import Shop


class Maps:
    """A node that can be saved."""

    def __init__(self, rows: bytes) -> None:
        self.rows = rows

    def save(self, path: Path) -> None:
        path.write_bytes(self.rows)


def mark(version: int) -> str:
    return f"{version:012}-token"


def test_a_snapshot_is_of_the_moment_it_was_asked_for(tmp_path: Path) -> None:
    snapshots = Snapshots(files.LocalFolder(tmp_path / "checkpoint"), 0)
    go, real = threading.Event(), files.LocalFolder.put

    def slow(self: files.LocalFolder, name: str, source: Path) -> None:
        assert go.wait(30)
        real(self, name, source)

    node: Any = Maps(b"old")
    with mock.patch.object(files.LocalFolder, "put", slow):
        assert snapshots.put_in_background(mark(3), node, tmp_path)
        node.rows = b"new"
        assert not snapshots.put_in_background(mark(4), node, tmp_path), "two at a time"
        assert snapshots.oldest() == -1
        go.set()
        snapshots.wait()
    assert snapshots.get(mark(3), tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == b"old"
    assert snapshots.put_in_background(mark(5), node, tmp_path)
    snapshots.wait()
    assert snapshots.put_in_background(mark(7), node, tmp_path)
    snapshots.wait()
    assert snapshots.oldest() == 5, "two are kept"


def test_a_snapshot_that_fails_leaves_room_for_the_next(tmp_path: Path) -> None:
    snapshots = Snapshots(files.LocalFolder(tmp_path / "checkpoint"), 0)
    node: Any = Maps(b"rows")
    with mock.patch.object(files.LocalFolder, "put", side_effect=OSError(28, "full")):
        assert snapshots.put_in_background(mark(1), node, tmp_path)
        snapshots.wait()
    assert snapshots.oldest() == -1
    assert snapshots.put_in_background(mark(2), node, tmp_path)
    snapshots.wait()
    assert snapshots.oldest() == 2


def test_a_batch_that_fails_leaves_no_snapshot(tmp_path: Path) -> None:
    s = Shop(tmp_path, 2, every=1)
    s.apply(3)
    s.rest()
    done = {entry.name[9:21] for entry in s.place.glob("p*/snapshot-*")}
    assert max(done) == "000000000002", "the last version may still be taken back"
    s.flow.close()


def test_large_state_waits_until_a_snapshot_is_worth_it() -> None:
    """Part 1 of snapshots at every second version: odd versions are its turn."""

    def due(version: int, state: int, logged: int) -> bool:
        return is_due(version + 1, 2, state, logged)

    large = 100 << 20
    assert [v for v in range(30) if due(v, 1000, 0)] == list(range(1, 30, 2))
    assert [v for v in range(30) if due(v, large, 1000)] == [19]
    assert [v for v in range(6) if due(v, large, large // 2)] == [1, 3, 5]


def test_logged_bytes_count_from_the_last_snapshot(tmp_path: Path) -> None:
    s = Shop(tmp_path, 1, every=3)
    logged = []
    for _ in range(7):
        s.apply()
        s.rest()
        [(_, worker)] = [w for key, w in task._WORKERS.items() if key[0] == str(s.place)]
        position = worker._state.position
        assert position is not None
        logged.append(position.logged)
    assert logged[0] < logged[1] < logged[2] > logged[3] < logged[5] > logged[6] > 0
    s.flow.close()


def _plain(position: Position | None) -> Position | None:
    return position and replace(position, seal="")


def test_maps_that_another_process_worked_on_are_kept(tmp_path: Path) -> None:
    with shared_nodes():
        pipeline = Shop(tmp_path).flow.work
        one, two = (State(pipeline, 0, tmp_path / "part") for _ in range(2))
        one.renew()
        assert _plain(two.refresh()) == Position()
        node, two.batch, two.reading = two.node, mark(1), ("reading", 0)
        assert _plain(two.refresh()) == Position()
        assert (two.batch, two.reading) == (mark(1), ("reading", 0)), "nobody was there"
        one.set_position(Position(mark(1), 0))
        assert _plain(two.refresh()) == Position(mark(1), 0)
        assert two.node is node
        assert (two.batch, two.reading) == ("", ("", -1))
        one.renew()
        two.refresh()
        assert two.node is not node


SET_ASIDE = """
import gc
from freshview.spark.freeze_modules import freeze_modules

freeze_modules("a")
first = gc.get_freeze_count()
assert first
kept = [[] for _ in range(1000)]
freeze_modules("a")
assert gc.get_freeze_count() <= first
freeze_modules("b")
assert gc.get_freeze_count() > first + len(kept) // 2
"""


def test_what_stays_is_set_aside_once() -> None:
    """In a process of its own: here it would take all that the other tests have left."""
    subprocess.run([sys.executable, "-c", SET_ASIDE], check=True)
