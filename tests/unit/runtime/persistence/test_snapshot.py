"""A database goes on from a snapshot; one that cannot be written or read is an error."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

import freshview
from freshview.errors import BadRow, SnapshotProblem
from freshview.runtime.database.database import Database
from freshview.runtime.database.tiering import TIER_UP_ROWS
from tests.unit.databases import Connect

SCRIPT = """
CREATE STREAM r (k INT NOT NULL, t STRING, p DECIMAL(8, 2));
CREATE TABLE names (k INT PRIMARY KEY, name STRING NOT NULL);
CREATE VIEW s AS SELECT k, SUM(p) AS total, COUNT(*) AS n FROM r GROUP BY k;
CREATE VIEW named AS SELECT r.t, n.name FROM r, names n WHERE r.k = n.k;
"""
ROWS = [(1, "a", 5), (2, None, None), (1, "a", 5), (3, "c", 7)]


@pytest.fixture
def db(connect: Connect) -> Database:
    db = connect()
    db.execute(SCRIPT)
    db.load("names", [(1, "one"), (2, "two")])
    db.insert("r", ROWS)
    return db


def state(db: Database) -> object:
    return db.version, [(v.name, v.engine, v.rows()) for v in db.views]


def test_a_database_goes_on_from_its_snapshot(db: Database, tmp_path: Path) -> None:
    db.snapshot(tmp_path / "deep" / "snap")
    again = freshview.restore(tmp_path / "deep" / "snap")
    assert state(again) == state(db)
    for one in (db, again):
        one.apply({"r": [(ROWS[0], -2), ((2, "z", 1), 1)]})
        one.execute("CREATE VIEW late AS SELECT MAX(t) AS t FROM r")
    assert state(again) == state(db)
    with pytest.raises(BadRow, match="does not hold"):
        again.delete("r", ROWS[0])
    with pytest.raises(BadRow, match="changes have arrived"):
        again.load("names", [(4, "four")])


def test_a_snapshot_replaces_the_one_before(db: Database, tmp_path: Path) -> None:
    db.snapshot(tmp_path)
    db.insert("r", ROWS)
    db.snapshot(tmp_path)
    assert len(list(tmp_path.glob("state-*"))) == 1
    assert state(freshview.restore(tmp_path)) == state(db)


def test_a_full_disk_leaves_the_snapshot_before(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.snapshot(tmp_path)
    before = state(db)
    db.insert("r", ROWS)

    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SnapshotProblem, match="No space left on device; what was there before"):
        db.snapshot(tmp_path)
    monkeypatch.undo()
    assert state(freshview.restore(tmp_path)) == before
    assert len(list(tmp_path.glob("state-*"))) == 1
    db.insert("r", ROWS)  # the database itself goes on


def test_a_folder_that_cannot_be_made_is_an_error(db: Database, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SnapshotProblem, match="cannot be written"):
        db.snapshot(tmp_path / "file")


def test_damage_is_noticed(db: Database, tmp_path: Path) -> None:
    db.snapshot(tmp_path)
    for path in sorted(p for p in tmp_path.rglob("*") if p.is_file()):
        good = path.read_bytes()
        for bad in (good[: len(good) // 2], good[:-3] + b"###", b""):
            path.write_bytes(bad)
            with pytest.raises(SnapshotProblem):
                freshview.restore(tmp_path)
        path.unlink()
        with pytest.raises(SnapshotProblem):
            freshview.restore(tmp_path)
        path.write_bytes(good)
    assert state(freshview.restore(tmp_path)) == state(db)


def test_no_snapshot_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SnapshotProblem, match="there is no snapshot in"):
        freshview.restore(tmp_path)


def test_python_functions_are_given_again(tmp_path: Path) -> None:
    def half(x: int) -> float:
        return x / 2

    db = freshview.connect(engine="reference")
    db.register_function("half", half, "double")
    db.execute("CREATE STREAM r (a INT NOT NULL); CREATE VIEW v AS SELECT half(a) AS h FROM r")
    db.insert("r", [(3,)])
    db.snapshot(tmp_path)
    with pytest.raises(SnapshotProblem, match="call the Python function 'half'; give it again"):
        freshview.restore(tmp_path)
    again = freshview.restore(tmp_path, functions={"HALF": (half, "double")})
    assert again.view("v").rows() == [(1.5,)]


@pytest.mark.native
def test_unkept_rows_need_no_keeping(native: None, tmp_path: Path) -> None:
    db = freshview.connect(engine="native", keep_rows=False)
    db.execute(SCRIPT)
    db.load("names", [(1, "one"), (2, "two")])
    db.writer("r").insert(*ROWS[0])
    db.snapshot(tmp_path)
    again = freshview.restore(tmp_path)
    assert state(again) == state(db)
    again.writer("r").insert(*ROWS[0])
    assert again.version == 2
    assert again.view("s").lookup(k=1)[0][2] == 2


def test_what_is_kept_nowhere_is_refused(tmp_path: Path) -> None:
    db = freshview.connect(engine="reference", keep_rows=False)
    db.execute(SCRIPT)
    with pytest.raises(SnapshotProblem, match="its rows are not kept; connect with keep_rows=True"):
        db.snapshot(tmp_path)


@pytest.mark.native
def test_a_view_that_a_kernel_took_over(native: None, tmp_path: Path) -> None:
    db = freshview.connect()
    db.execute(SCRIPT)
    db.insert("r", ROWS * TIER_UP_ROWS)
    for job in db._tiering.jobs:
        assert job.wait(120)
    assert db.view("s").engine == "native"
    db.snapshot(tmp_path)
    assert state(freshview.restore(tmp_path)) == state(db)
