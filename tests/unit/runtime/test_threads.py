"""Readers in other threads see whole versions only."""

from __future__ import annotations

import threading
from typing import Any

import pyarrow as pa
import pytest

import freshview
from freshview.runtime.database.database import Database
from tests.unit.databases import Connect

SCRIPT = """
CREATE STREAM a (k INT NOT NULL); CREATE STREAM b (k INT NOT NULL);
CREATE VIEW pairs AS SELECT COUNT(*) AS n FROM a, b WHERE a.k = b.k;
CREATE VIEW a_rows AS SELECT COUNT(*) AS n FROM a;
CREATE VIEW b_rows AS SELECT COUNT(*) AS n FROM b;
"""


def follow(db: Database, change: Any) -> list[tuple[int, int]]:
    """What a thread reads while another one changes."""
    seen: list[tuple[int, int]] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            version, table = db.view("pairs").read()
            seen.append((version, table.column(0)[0].as_py()))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        change()
    finally:
        done.set()
        reader.join()
    return seen


def test_a_reader_never_sees_half_a_batch(connect: Connect, engine: str) -> None:
    db = connect()
    db.execute(SCRIPT)
    size = 200 if engine == "reference" else 20_000
    keys = pa.table({"k": pa.array(range(size))})

    def change() -> None:
        for sign in (1, -1) * 5:
            counts = [sign] * size
            db.apply({"a": (keys, counts), "b": (keys, counts)})

    seen = follow(db, change)
    assert all(pairs == (size if version % 2 else 0) for version, pairs in seen)
    assert [version for version, _ in seen] == sorted(version for version, _ in seen)
    assert db.version == 10


@pytest.mark.native
def test_versions_count_the_rows_of_a_writer(native: None) -> None:
    db = freshview.connect(engine="native", keep_rows=False)
    db.execute(SCRIPT.split("CREATE VIEW a_rows")[0])
    db.insert("b", (1,))
    insert = db.writer("a").insert

    def change() -> None:
        for _ in range(20_000):
            insert(1)

    seen = follow(db, change)
    assert all(pairs == version - 1 for version, pairs in seen)
    assert db.version == 20_001


def test_many_threads_may_write(connect: Connect, engine: str) -> None:
    db = connect()
    db.execute(SCRIPT)
    rows = 100 if engine == "reference" else 2000

    def write(name: str) -> None:
        for i in range(10):
            db.insert(name, [(j,) for j in range(rows)])
            db.delete(name, [(i,)])

    threads = [threading.Thread(target=write, args=(name,)) for name in "abab"]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert db.version == 80
    for view in ("a_rows", "b_rows"):
        assert db.view(view).rows() == [(2 * 10 * (rows - 1),)]
