"""Seeded fault runs of whole pipelines: kills in sources, in the key store and in sinks.

The workers are in this process, so no Spark is needed. The source is a file that is read in
batches, or rows by key that are upserted. As version v is made of the first v batches, each can be
computed from the rows alone.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from freshview.durable import task
from freshview.durable.commit_log import CommitLog
from freshview.durable.outbox import Outboxes
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.pipeline import Pipeline
from freshview.spark.io.emitter import Emitter
from freshview.spark.io.files import CsvFile
from freshview.spark.io.keys import KeyStore
from tests.fault.dying import dies, in_child

STREAM = "CREATE STREAM sales (id INT NOT NULL, item STRING NOT NULL, n INT NOT NULL{key})"
VIEW = "SELECT item, COUNT(*) AS c, SUM(n) AS n FROM sales GROUP BY item"
VERSIONS, LIVES = 7, 12

Row = tuple[int, str, int]


class Written:
    """A sink that writes every version it receives to the end of a file."""

    view = "totals"

    def __init__(self, path: Path, changes: bool = False) -> None:
        self.path, self.changes = path, changes

    def emit(self, version: int, table: pa.Table) -> None:
        rows = sorted(tuple(r.values()) for r in table.to_pylist())
        line = json.dumps([version, rows]).encode() + b"\n"
        fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(fd, line)
        os.close(fd)


class Piped:
    """A pipeline of a seed, and its lives."""

    def __init__(self, seed: int, folder: Path, sinks: bool) -> None:
        self.folder, self.sinks = folder, sinks
        self.rng = rng = random.Random(f"pipeline {seed}")
        self.keyed = rng.random() < 0.5
        self.size, self.workers = rng.randint(1, 4), rng.choice((1, 2))
        self.batches = [self.batch(v) for v in range(VERSIONS)]
        self.emitted, self.changed = folder / "told", folder / "changed"
        rows = [row for batch in self.batches for row, _ in batch]
        lines = [f"{i},{item},{n}" for i, item, n in rows]
        (folder / "s.csv").write_text("\n".join(lines) + "\n")

    def batch(self, version: int) -> list[tuple[Row, bool]]:
        """Rows, and whether their key has none any more; one is always new."""
        rng = self.rng
        actual = [((100 + version, rng.choice("abc"), version), False)]
        if self.keyed:
            for key in rng.sample(range(5), self.size):
                actual.append(((key, rng.choice("abc"), rng.randrange(9)), rng.random() < 0.3))
        else:
            for _ in range(self.size - 1):
                actual.append(((rng.randrange(9), rng.choice("abc"), rng.randrange(9)), False))
        return actual

    def wanted(self, version: int) -> list[Any]:
        """The view at a version, by DuckDB."""
        by_key: dict[int, Row] = {}
        every: list[Row] = []
        for batch in self.batches[:version]:
            for row, gone in batch:
                every.append(row)
                by_key[row[0]] = row
                if gone:
                    del by_key[row[0]]
        rows = list(by_key.values()) if self.keyed else every
        with duckdb.connect() as db:
            db.execute("CREATE TABLE sales (id BIGINT, item VARCHAR, n BIGINT)")
            if rows:
                db.executemany("INSERT INTO sales VALUES (?, ?, ?)", rows)
            return sorted(map(list, db.execute(VIEW).fetchall()))

    def pipeline(self) -> Pipeline:
        task.forget(str(self.folder / "checkpoint" / "state"))
        key = ", PRIMARY KEY (id)" if self.keyed else ""
        source = "" if self.keyed else " FROM FILE 's.csv' LINE DELIMITED CSV"
        memory = str(self.folder / "memory")
        choices = PipelineOptions(
            checkpoint=self.folder / "checkpoint",
            workers=self.workers,
            batch=self.size,
            settings=FlowSettings(memory=memory, native=False, snapshot_every=2),
            upserts=("sales",) if self.keyed else (),
        )
        pipeline = Pipeline(choices, InlineRunner(), self.folder)  # type: ignore[arg-type]
        pipeline.declare(f"{STREAM.format(key=key)}{source};CREATE VIEW totals AS {VIEW};")
        if self.sinks:
            pipeline.add_sink(Written(self.emitted))
            pipeline.add_sink(Written(self.changed, changes=True))
        return pipeline

    def go(self) -> None:
        """A driver: it goes on where the last one ended, to the end."""
        with self.pipeline() as flow:
            if self.keyed:
                while (at := flow.version) < VERSIONS:
                    rows = [row for row, _ in self.batches[at]]
                    gone = [g for _, g in self.batches[at]]
                    assert flow.upsert("sales", rows, gone) == at + 1, "lost or doubled"
            else:
                assert flow.await_done(60)
            actual = sorted(map(list, flow.view("totals").rows()))
            assert flow.version == VERSIONS, "a version was lost or doubled"
            assert actual == self.wanted(VERSIONS), f"{actual} {self.wanted(VERSIONS)}"

    def live(self) -> None:
        """Lives that are killed, then one that is not."""
        places: list[tuple[Any, str]] = [(CsvFile, "read_rows")]
        places += [(KeyStore, name) for name in ("find", "expect", "resume", "commit")]
        if self.sinks:
            places += [(Written, "emit"), (Emitter, "emit"), (Outboxes, "write")]
            places.append((CommitLog, "mark_done"))
        for _ in range(LIVES):
            # Half of the moments are in sources, key store and sinks alone.
            files = self.rng.random() < 0.5
            last = self.rng.randint(1, 60 if files else 12)

            def work(last: int = last, files: bool = files) -> None:
                with dies(last, places, files=files):
                    self.go()

            in_child(work)
        assert in_child(self.go)
        if self.sinks:
            self.check_sink()

    def check_sink(self) -> None:
        """Every version was emitted at least once, in order, and as it was."""
        lines = [json.loads(line) for line in self.emitted.read_text().splitlines()]
        first = list(dict.fromkeys(version for version, _ in lines))
        assert first == list(range(1, VERSIONS + 1)), f"told {Counter(v for v, _ in lines)}"
        for version, rows in lines:
            assert rows == self.wanted(version), f"version {version} was emitted as {rows}"
        self.check_changes()

    def check_changes(self) -> None:
        """So were the changes, each time the same, and they add up to every version."""
        lines = [json.loads(line) for line in self.changed.read_text().splitlines()]
        by_version: dict[int, Any] = {}
        for version, rows in lines:
            assert by_version.setdefault(version, rows) == rows, f"version {version} again: {rows}"
        assert list(by_version) == list(range(1, VERSIONS + 1)), "in order"
        total: Counter[tuple[Any, ...]] = Counter()
        for version, rows in by_version.items():
            for *row, count in rows:
                total[tuple(row)] += count
            now = sorted([*row] for row, n in total.items() if n)
            assert now == self.wanted(version), f"changes up to version {version} are {now}"
            assert set(total.values()) <= {0, 1}, "lost or doubled"
