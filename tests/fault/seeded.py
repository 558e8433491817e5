"""One generator of fault runs: a seed names a flow, a stream, the faults and their moments.

A run is a row of lives: each restarts the flow and applies what is missing, and ends by a fault.
Between lives files are harmed. What every version must look like is computed by DuckDB from the
rows alone, before anything runs.

- No version that was answered for is lost, none counts twice, and each that is seen is right.
- Harm to shared memory is repaired silently. Harm to the checkpoint is repaired, or refused in a
  sentence, by a driver whose memory is gone in half of the cases; then the file is brought back, as
  the sentence says, and all goes on.
"""

from __future__ import annotations

import random
import shutil
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from freshview.distributed.compile import distribute
from freshview.distributed.options import LEVELS
from freshview.distributed.terms import Distributed
from freshview.durable import task
from freshview.durable.epoch import DriverFenced
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.errors import FreshviewError
from freshview.ivm.compile import compile_queries
from freshview.pipelines.flow import Flow
from freshview.runtime.ingest.columns import COUNT, rows_of
from freshview.sql.load import load
from tests.fault.dying import dies, in_child, shared_nodes
from tests.fault.harm import HARMS, full, harm, there

STREAMS = """
CREATE STREAM r (k INT NOT NULL, g STRING, v INT);
CREATE STREAM s (k INT NOT NULL, w INT NOT NULL);
"""

VIEWS = {
    "groups": "SELECT g, COUNT(*) AS n, SUM(v) AS t FROM r GROUP BY g",
    "join": "SELECT r.g, SUM(r.v * s.w) AS t, COUNT(*) AS n FROM r, s WHERE r.k = s.k GROUP BY r.g",
    "most": "SELECT k, MAX(w) AS m, MIN(w) AS l FROM s GROUP BY k",
    "nested": "SELECT r.k, r.g FROM r WHERE r.v < (SELECT SUM(s.w) FROM s WHERE s.k = r.k)",
    "without": "SELECT r.k, r.v FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.k = r.k)",
    "total": "SELECT COUNT(*) AS n, SUM(w) AS t FROM s",
}

Row = tuple[Any, ...]
Batch = dict[str, list[tuple[Row, int]]]
Answer = dict[str, Counter[Row]]

VERSIONS = 8
LIVES = 6

FAULTS = ("kill", "kill", "kill", "full", "full", "two drivers", "nothing")


@dataclass(frozen=True)
class Case:
    """All that a seed says."""

    seed: int
    nodes: str
    workers: int
    level: str
    views: tuple[str, ...]
    snapshot_every: int
    batches: tuple[Batch, ...] = field(repr=False)

    @property
    def sql(self) -> str:
        """The script."""
        return STREAMS + "".join(f"CREATE VIEW {v} AS {VIEWS[v]};\n" for v in self.views)


def case(seed: int, nodes: str | None = None) -> Case:
    """The case of a seed."""
    rng = random.Random(f"fault run {seed}")
    kind = rng.choice(("process", "shared", "kernel"))
    return Case(
        seed,
        nodes or kind,
        rng.choice((1, 2, 3)),
        rng.choice(("naive", "shared", "delivered")),
        (rng.choice(sorted(VIEWS)),),
        rng.choice((1, 2, 3, 100)),
        tuple(stream(rng)),
    )


def stream(rng: random.Random) -> list[Batch]:
    """Batches of rows that come and go; groups die and come back."""
    alive: dict[str, list[Row]] = {"r": [], "s": []}
    actual = []
    for _ in range(VERSIONS):
        batch: Batch = {}
        for name, rows in alive.items():
            if rng.random() < 0.15:
                continue
            changes: list[tuple[Row, int]] = []
            leaving = rng.choice((0.1, 0.3, 1.0))
            for row in list(rows):
                if rng.random() < leaving:
                    rows.remove(row)
                    changes.append((row, -1))
            for _ in range(rng.randint(0, 12)):
                row = _row(rng, name)
                rows.append(row)
                changes.append((row, 1))
            batch[name] = changes
        actual.append(batch or {"s": [((1, 1), 1), ((1, 1), -1)]})
    return actual


def _row(rng: random.Random, name: str) -> Row:
    if name == "s":
        return rng.randrange(6), rng.randrange(-5, 20)
    group = rng.choice((None, "a", "b", "c", "ä" * 30))
    return rng.randrange(6), group, rng.choice((None, rng.randrange(-9, 50)))


def answers(c: Case) -> list[Answer]:
    """What DuckDB makes of every version."""
    rows: dict[str, Counter[Row]] = {"r": Counter(), "s": Counter()}
    actual = []
    with duckdb.connect() as db:
        db.execute("CREATE TABLE r (k BIGINT, g VARCHAR, v BIGINT)")
        db.execute("CREATE TABLE s (k BIGINT, w BIGINT)")
        for batch in ({}, *c.batches):
            for name, changes in batch.items():
                for row, n in changes:
                    rows[name][row] += n
            for name, multiplicities in rows.items():
                db.execute(f"DELETE FROM {name}")
                rows_listed = [row for row, n in multiplicities.items() for _ in range(n)]
                if rows_listed:
                    marks = ", ".join("?" * len(rows_listed[0]))
                    db.executemany(f"INSERT INTO {name} VALUES ({marks})", rows_listed)
            actual.append({v: Counter(db.execute(VIEWS[v]).fetchall()) for v in c.views})
    return actual


def tables(batch: Batch) -> dict[str, pa.Table]:
    """A batch as Arrow tables with counts."""
    names = {"r": ("k", "g", "v"), "s": ("k", "w")}
    kinds = {"k": pa.int64(), "g": pa.string(), "v": pa.int64(), "w": pa.int64()}
    actual = {}
    for name, changes in batch.items():
        columns = {
            c: pa.array([row[i] for row, _ in changes], kinds[c]) for i, c in enumerate(names[name])
        }
        actual[name] = pa.table({**columns, COUNT: pa.array([n for _, n in changes], pa.int64())})
    return actual


def distributed(c: Case) -> Distributed:
    """The program of a case."""
    catalog, queries = load(c.sql)
    program = compile_queries(queries, list(catalog.relations.values()))
    return distribute(program, None, LEVELS[c.level])


class Run:
    """The lives of a case in a folder."""

    def __init__(self, c: Case, folder: Path, runner: Any = None) -> None:
        self.case, self.folder = c, folder
        self.place, self.memory = folder / "checkpoint", folder / "memory"
        self.runner = runner or InlineRunner()
        self.rng = random.Random(f"lives of {c.seed}")
        self.distributed = distributed(c)
        self.wanted = answers(c)
        self.batches = [tables(b) for b in c.batches]
        self.settings = FlowSettings(
            snapshot_every=c.snapshot_every, memory=str(self.memory), native=c.nodes == "kernel"
        )
        self.answered = folder / "answered"
        self.story: list[str] = []

    # ---------------------------------------------------------------- a life

    def open(self) -> Flow:
        """A new driver: its process knows nothing of the one before."""
        task.forget(str(self.place))
        options: dict[str, Any] = {"checkpoint": self.place, "settings": self.settings}
        if Flow.exists(self.place):
            return Flow.restart(self.distributed, self.runner, **options)
        return Flow.start(self.distributed, self.runner, workers=self.case.workers, **options)

    def check(self, flow: Flow) -> None:
        """Every view is what DuckDB says of this version."""
        for name, wanted in self.wanted[flow.version].items():
            actual = Counter(rows_of(flow.read(name)))
            assert actual == wanted, (
                f"{name} at {flow.version}: {actual - wanted} {wanted - actual}"
            )

    def apply(self, flow: Flow) -> None:
        """The next batch: a source that is asked from its offset on."""
        at = flow.version
        assert flow.note.get("offset", 0) == at, "the offset is not that of the version"
        version = flow.apply(self.batches[at], {"offset": at + 1})
        assert version == at + 1, "a version was lost or doubled"
        with self.answered.open("a") as out:
            out.write(f"{version}\n")
        self.check(flow)

    def go(self, versions: int) -> None:
        """Open the flow and do some versions; what was answered for must be there."""
        flow = self.open()
        self.check(flow)
        answered = self.answered.read_text().split() if self.answered.exists() else []
        assert flow.version >= max(map(int, answered), default=0), "an answered version is lost"
        for _ in range(versions):
            if flow.version < VERSIONS:
                self.apply(flow)
        if self.rng.random() < 0.2:
            flow.checkpoint()
        for worker in [flow._coordinator.driver, *(w for _, w in task._WORKERS.values())]:
            worker.snapshots.wait()

    def until_it_is_done(self, versions: int) -> None:
        """A disk is full for a while: errors are sentences, and trying again helps."""
        for _ in range(60):
            try:
                return self.go(versions)
            except FreshviewError:
                continue
        return self.go(versions)

    def two_drivers(self, versions: int) -> None:
        """A second driver takes over: the first one is refused, and changes nothing."""
        first = self.open()
        second = self.open()
        if second.version < VERSIONS:
            self.apply(second)
            try:
                first.apply(self.batches[min(first.version, VERSIONS - 1)])
                raise AssertionError("the first driver was not refused")
            except DriverFenced:
                pass
        self.check(second)

    # ---------------------------------------------------------------- all of them

    def live(self) -> None:
        """All the lives, with harm between them; then to the end without any."""
        with shared_nodes() if self.case.nodes == "shared" else nullcontext():
            for _ in range(LIVES):
                self.one_life()
                self.harm_files()
            self.log("the end")
            self.in_child(lambda: self.go(VERSIONS))

    def one_life(self) -> None:
        rng, what = self.rng, self.rng.choice(FAULTS)
        versions, first = rng.randint(1, 3), rng.randint(1, 60)
        self.log(f"{what} at {first}, {versions} versions")
        match what:
            case "kill":

                def work() -> None:
                    with dies(first):
                        self.go(versions)

                in_child(work)
            case "full":
                writes = rng.randint(1, 6)

                def work() -> None:
                    with full(first, writes):
                        self.until_it_is_done(versions)

                self.in_child(work)
            case "two drivers":
                self.in_child(lambda: self.two_drivers(versions))
            case _:
                self.in_child(lambda: self.go(versions))

    def in_child(self, work: Callable[[], None]) -> None:
        """A life that must come to its end."""
        seed = self.rng.random()

        def seeded() -> None:
            self.rng.seed(seed)
            work()

        assert in_child(seeded), "nobody killed it"

    def harm_files(self) -> None:
        """Harm some files, and see that the next driver repairs it, or says what is wrong."""
        rng, before, kept = self.rng, self.folder / "before", self.folder / "kept"
        roots = (self.memory, self.place)
        where = rng.choice((self.memory, self.memory, self.place, None))
        _copied(roots, kept)
        harmed: dict[Path, bytes | None] = {}
        files = there(where) if where else []
        for path in rng.sample(files, min(len(files), rng.choice((1, 1, 2)))):
            name, how = path.relative_to(self.folder), rng.choice(HARMS)
            self.log(f"{how} {name}")
            harm(path, how, rng, before / name)
            harmed[path] = _bytes(path)
        if where == self.place:
            self.in_child(self.is_refused_or_right)
            refused = self.folder / "refused"
            if refused.exists():
                self.log(refused.read_text())
            if refused.exists() or any(_bytes(path) == data for path, data in harmed.items()):
                # It is refused, or nobody has needed it so far: all is as it was.
                _copied([kept / root.name for root in roots], self.folder)
            refused.unlink(missing_ok=True)
        shutil.rmtree(before, ignore_errors=True)
        shutil.copytree(kept, before)

    def is_refused_or_right(self) -> None:
        """A driver on a harmed checkpoint."""
        if self.rng.random() < 0.5:
            shutil.rmtree(self.memory, ignore_errors=True)
        try:
            flow = self.open()
            self.check(flow)
        except FreshviewError as e:
            (self.folder / "refused").write_text(f"{type(e).__name__}: {e}")

    def log(self, what: str) -> None:
        self.story.append(what)


def _copied(roots: Iterable[Path], to: Path) -> None:
    to.mkdir(exist_ok=True)
    for root in roots:
        shutil.rmtree(to / root.name, ignore_errors=True)
        if root.exists():
            shutil.copytree(root, to / root.name)


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def run(seed: int, folder: Path, nodes: str | None = None, runner: Any = None) -> None:
    """A whole case; what fails tells its story."""
    c = case(seed, nodes)
    one = Run(c, folder, runner)
    try:
        one.live()
    except BaseException:
        traceback.print_exc()
        print(c, *one.story, sep="\n", file=sys.stderr)
        raise
