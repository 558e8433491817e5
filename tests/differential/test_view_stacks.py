"""Views over views that read the changes of those below: DuckDB's rows, on every engine.

`python -m tests.differential.test_view_stacks reference 0 500` runs many seeds.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import freshview
from freshview.codegen.library.compiler import find_compiler
from freshview.durable.runner import InlineRunner
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.program import program_of
from freshview.plan.compile import compile_queries
from freshview.plan.options import PlanOptions
from freshview.program.check import check_program
from freshview.program.merge import merge
from freshview.program.text import read_program, show_program
from freshview.runtime.database.database import Database
from freshview.sql.load import load
from freshview.sql.lower import view
from tests.differential.test_together import _settings
from tests.differential.test_worlds import early_kernels
from tests.differential.view_stacks import Stack, follow, stack
from tests.law.loops import PASSES, Case, agree
from tests.thin import thin

COMPILED = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]
WAYS = (("auto", "batch"), ("higher-order", "tuple"), ("first-order", "batch"), ("reeval", "batch"))

STAGED = """
    CREATE STREAM t (k INT, x INT);
    CREATE STREAM u (k INT, x INT);
    CREATE VIEW v AS SELECT k, SUM(x) AS x FROM t GROUP BY k;
    CREATE VIEW q AS SELECT COALESCE(a.k, b.k) AS k, a.x AS x FROM v a FULL JOIN u b ON a.k = b.k;
"""
"""Part of what follows a change of `v` has no variable in common with what stands beside it: a
kernel computes it once, and did so before the change was known."""


@pytest.fixture(autouse=True)
def _by_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every view that is read is read by its changes, also where it is small."""
    monkeypatch.setattr(view, "LARGEST", 0)


@pytest.mark.parametrize("seed", thin(range(24), 3))
def test_reference(seed: int) -> None:
    follow(stack(seed), lambda: freshview.connect(engine="reference"))


@pytest.mark.parametrize("seed", thin(range(100, 106), 3))
class TestKernels:
    pytestmark = COMPILED

    def test_from_the_start(self, seed: int) -> None:
        follow(stack(seed, (2, 4)), lambda: freshview.connect(engine="native"))

    def test_that_take_over(self, seed: int) -> None:
        def wait(db: Database, number: int) -> None:
            if number == 3:
                for job in db._tiering.jobs:
                    job.wait()

        with early_kernels():
            follow(stack(seed, (2, 4)), freshview.connect, wait)


@pytest.mark.parametrize("seed", thin(range(200, 208), 4))
def test_restarts(seed: int, tmp_path: Path) -> None:
    follow(stack(seed), lambda: freshview.connect(engine="reference"), restarting(tmp_path))


def restarting(folder: Path) -> Callable[[Database, int], Database | None]:
    """A database that goes on from its snapshot, twice."""

    def restart(db: Database, number: int) -> Database | None:
        if number not in (2, 4):
            return None
        db.snapshot(folder / "snapshot")
        return freshview.restore(folder / "snapshot")

    return restart


@pytest.mark.parametrize("seed", thin(range(300, 320), 4))
def test_loops_by_every_pass(seed: int) -> None:
    """What kernels do, beside the reference engine: rows, and changes that add up to them."""
    case = stack(seed, (2, 4))
    strategy, mode = WAYS[seed % len(WAYS)]
    catalog, queries = load(case.script())
    options = PlanOptions(strategy=strategy, mode=mode, caches=False)  # type: ignore[arg-type]
    relations = list(catalog.relations.values())
    program = merge(compile_queries([q], relations, options) for q in queries)
    check_program(program)
    assert read_program(show_program(program)) == program
    known = {r.name for r in program.relations}
    batches = [[(n, c) for n, c in b.items() if n in known] for b in case.batches]
    agree(Case(program, batches, {"w": case.static} if "w" in known else {}), list(PASSES)[:6])


def test_what_is_computed_once_for_a_batch_follows_the_change_of_the_view() -> None:
    catalog, queries = load(STAGED)
    program = program_of(queries, catalog, PipelineOptions())
    assert [q.name for q in program.derived] == ["v"]
    batches: list[list[tuple[str, list[tuple[tuple[int, int], int]]]]] = [
        [("t", [((1, 2), 1)]), ("u", [((1, 3), 1)])],
        [("t", [((1, 2), -1)])],
    ]
    assert agree(Case(program, batches)) > 0


@pytest.mark.parametrize("seed", thin(range(400, 408), 4))
@pytest.mark.parametrize("native", [False, pytest.param(True, marks=COMPILED)])
def test_pipelines(seed: int, native: bool, tmp_path: Path) -> None:
    follow_pipeline(stack(seed, (2, 3)), native, tmp_path)


def follow_pipeline(case: Stack, native: bool, tmp_path: Path) -> None:
    """Workers in this process, a restart from the checkpoint on the way."""
    (tmp_path / "w.csv").write_text("".join(map(_line, case.static)))
    script = case.script().replace(
        "CREATE TABLE w (k INT, x INT)",
        "CREATE TABLE w (k INT, x INT) FROM FILE 'w.csv' LINE DELIMITED CSV",
    )
    (tmp_path / "views.sql").write_text(script)

    def started() -> freshview.Pipeline:
        flow = freshview.pipeline(
            tmp_path / "views.sql",
            InlineRunner(),
            checkpoint=tmp_path / "checkpoint",
            settings=_settings(tmp_path, native=native),
            workers=2,
        )
        flow.start()
        return flow

    flow = started()
    beside = freshview.connect(engine="reference")
    beside.execute(case.script())
    beside.load("w", list(case.static))
    try:
        read = {r.name for v in flow.views for r in v.relations}
        for number, batch in enumerate(case.batches[:4]):
            if number == 2:
                flow.stop()
                flow = started()
            changes = {n: c for n, c in batch.items() if n in read}
            beside.apply(changes)
            flow.push(changes)
            for name, _ in case.views:
                assert _rows(flow, name) == _rows(beside, name), (script, name, number)
    finally:
        flow.stop()


def _rows(home: freshview.Pipeline | Database, name: str) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row.values()) for row in home.view(name).to_arrow().to_pylist())


def _line(row: tuple[int | None, int | None]) -> str:
    return ",".join("" if x is None else str(x) for x in row) + "\n"


def test_a_stack_is_read_by_changes() -> None:
    """What this file is about."""
    cases: list[Stack] = [stack(seed) for seed in range(10)]
    queries = [q for case in cases for q in load(case.script())[1]]
    assert sum(len(q.over) for q in queries) > 20


def main(engine: str, first: str, end: str) -> None:
    """Run seeds and print what differs."""
    view.LARGEST = 0
    for seed in range(int(first), int(end)):
        try:
            follow(stack(seed), lambda: freshview.connect(engine=engine))  # type: ignore[arg-type]
        except Exception as e:
            print(f"seed {seed}: {type(e).__name__}: {e}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
