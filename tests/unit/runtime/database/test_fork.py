"""Processes that are forked while a database is changed in another thread."""

from __future__ import annotations

import os
import signal
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import freshview
from freshview.errors import FreshviewError
from freshview.runtime.compile import kernels
from freshview.runtime.database import fork
from tests.unit.databases import Connect

SCRIPT = """
CREATE STREAM a (k INT NOT NULL);
CREATE VIEW n AS SELECT COUNT(*) AS n FROM a;
"""


def in_child(work: Callable[[], None]) -> None:
    """Do something in a forked process, which must end in time."""
    child = os.fork()
    if child == 0:
        signal.alarm(100)
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0, "the child failed, or waited for ever"


class Slow:
    """A change of another thread, which is under way until it is told to end."""

    def __init__(self, db: Any) -> None:
        self.begun, self.end = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self.run, args=(db,))

    def run(self, db: Any) -> None:
        with db.lock:
            self.begun.set()
            self.end.wait()
            db.insert("a", [(1,), (2,)])


def test_a_fork_waits_for_the_change_to_end(connect: Connect) -> None:
    db = connect()
    db.execute(SCRIPT)
    slow = Slow(db)
    slow.thread.start()
    slow.begun.wait()
    threading.Timer(0.2, slow.end.set).start()

    def use() -> None:
        assert db.view("n").rows() == [(2,)]
        db.insert("a", [(3,)])
        db.writer("a").insert(4)
        assert db.view("n").rows() == [(4,)]

    in_child(use)
    slow.thread.join()
    assert db.view("n").rows() == [(2,)]


def test_a_change_that_does_not_end(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork, "WAIT_SECONDS", 0.1)
    db, other = connect(), connect()
    db.execute(SCRIPT)
    other.execute(SCRIPT)
    writer = db.writer("a")
    slow = Slow(db)
    slow.thread.start()
    slow.begun.wait()

    def use() -> None:
        for call in (
            lambda: db.insert("a", [(3,)]),
            lambda: db.view("n").rows(),
            lambda: db.version,
            lambda: writer.insert(4),
        ):
            with pytest.raises(FreshviewError, match="forked in the middle of a change"):
                call()
        other.insert("a", [(1,)])
        assert other.view("n").rows() == [(1,)]
        in_child(lambda: None)

    in_child(use)
    slow.end.set()
    slow.thread.join()
    assert db.view("n").rows() == [(2,)]


def test_a_fork_inside_a_change_of_its_own_thread(connect: Connect) -> None:
    db = connect()
    db.execute(SCRIPT)
    with db.quiet():
        in_child(lambda: db.insert("a", [(1,)]))
        db.insert("a", [(2,), (3,)])
    assert db.view("n").rows() == [(2,)]


@pytest.mark.native
@pytest.mark.usefixtures("native")
def test_kernels_that_were_being_built_are_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    db = freshview.connect()
    db.execute(SCRIPT)
    for _ in range(2):
        assert kernels._BUILD_SLOTS.acquire(timeout=5)
    try:
        db.insert("a", [(i,) for i in range(3000)])
        assert db._tiering.is_building

        def use() -> None:
            for job in db._tiering.jobs:
                assert job.wait(90)
            assert db.view("n").rows() == [(3000,)]

        in_child(use)
    finally:
        for _ in range(2):
            kernels._BUILD_SLOTS.release()
