"""What a matrix program does with its workers: rules, versions, losses, refusals."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from freshview import linear
from freshview.distributed.matrix.communication_cost import pays
from freshview.durable import task
from freshview.durable.checkpoint import CheckpointProblem
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.errors import FreshviewError, UnknownName
from freshview.linear.compile.options import MatrixOptions
from freshview.linear.compile.trigger_compiler import candidates, compile_source
from freshview.linear.language.text import read_source
from freshview.spark.matrix.node import MatrixNode
from freshview.spark.matrix.program import SparkProgram

N = 12
SQUARE = "dynamic A(n, n); output B := A * A;"


def spread(folder: Path, what: Any = SQUARE, **options: Any) -> SparkProgram:
    start = np.random.default_rng(0).standard_normal((N, N))
    defaults: dict[str, Any] = {
        "A": start,
        "workers": 2,
        "driver_cells": 20,
        "settings": FlowSettings(snapshot_every=2, memory=str(folder / "memory")),
    }
    checkpoint = folder / "checkpoint"
    return SparkProgram(
        what, spark=InlineRunner(), checkpoint=checkpoint, **{**defaults, **options}
    )


def change(p: SparkProgram, row: int) -> None:
    p.update("A", rows=[row], v=np.full((1, N), 0.5))


def check(p: SparkProgram) -> None:
    a = p["A"]
    np.testing.assert_allclose(p["B"], a @ a, rtol=1e-9, atol=1e-12)


def test_explain_tells_where_steps_run_and_what_moves(tmp_path: Path) -> None:
    p = spread(tmp_path, strategy="incremental", copies=False)
    assert p.explain("A") == (
        "A: incremental, since it was asked for\n"
        "cost: 2*k^2*n + 5*k*n^2 + 5*k*n\n"
        "moves: 15*k*n cells between 2 workers and the driver, in 2 jobs of 2 stages\n"
        "spread by rows: A, B (2,304 bytes)\n"
        "by columns too: none\n"
        "with the driver: none\n"
        "  move     u_A to all the workers    -- k*n cells each\n"
        "  workers  #1 := A * u_A    -- rows: A by rows, u_A broadcast\n"
        "  move     #1 to the driver    -- k*n cells\n"
        "  driver   U_B := [u_A, #1 + u_A * v_A' * u_A]\n"
        "  move     v_A to all the workers    -- k*n cells each\n"
        "  workers  #2 := A' * v_A    -- summands: A by rows, v_A broadcast, own rows\n"
        "  move     #2 to the driver    -- summands of k*n cells each\n"
        "  driver   V_B := [#2, v_A]\n"
        "  workers  A += u_A * v_A'    -- own blocks, both sides broadcast\n"
        "  move     U_B to all the workers    -- 2*k*n cells each\n"
        "  move     V_B to all the workers    -- 2*k*n cells each\n"
        "  workers  B += U_B * V_B'    -- own blocks, both sides broadcast\n"
    )


def test_a_copy_by_columns_spares_the_sum(tmp_path: Path) -> None:
    p = spread(tmp_path, strategy="incremental", copies=True)
    text = p.explain("A")
    assert "by columns too: A\n" in text
    assert "#2 := A' * v_A    -- rows: A by columns, v_A broadcast" in text
    assert "moves: 14*k*n cells" in text
    change(p, 3)
    check(p)


def test_computing_anew_brings_everybody_all_the_rows(tmp_path: Path) -> None:
    p = spread(tmp_path, strategy="reevaluate")
    assert "A: rows to every worker    -- n^2 cells" in p.explain("A")
    assert "in 1 jobs of 2 stages" in p.explain("A")


def test_copies_pay_on_many_workers() -> None:
    normal = compile_source(read_source(SQUARE))
    t = candidates(normal, "A", MatrixOptions(strategy="incremental"))["incremental"]
    assert not pays("A", [t], {"n": 4_000.0, "k": 1.0}, 2)
    assert pays("A", [t], {"n": 50_000.0, "k": 1.0}, 100)


def test_auto_weighs_jobs_and_what_moves(tmp_path: Path) -> None:
    """Small products are done in the time of a job, whatever they take; large ones are not."""
    p = spread(tmp_path, "dynamic A(n, n); B := A * A; C := B * B; output D := C * A;")
    assert p.choice("A").strategy == "reevaluate"  # three stages instead of four
    p.sizes["n"] = 20_000.0
    assert p.choice("A").strategy == "incremental"
    assert p.choice("A", rank=5_000).strategy == "reevaluate"
    assert "s, reevaluate" in p.choice("A").why


def test_a_version_is_done_once(tmp_path: Path) -> None:
    p = spread(tmp_path, strategy="incremental")
    change(p, 1)
    before = p["A"], p["B"]
    flow = p._flow
    entry = flow.work.log.entry(flow.version)
    assert entry is not None
    flow._commit_log.pending = [entry]
    flow._finish()
    assert flow.stats[-1].repeated == 2 * 2  # both stages of both workers
    np.testing.assert_array_equal(p["A"], before[0])
    np.testing.assert_array_equal(p["B"], before[1])


@pytest.mark.parametrize("strategy", ["incremental", "reevaluate"])
@pytest.mark.parametrize("updates", [1, 2, 3])
def test_what_a_worker_lost_is_rebuilt(tmp_path: Path, updates: int, strategy: str) -> None:
    """From the first version, or from a snapshot, and what was logged since."""
    p = spread(tmp_path, strategy=strategy, copies=True)
    for row in range(updates):
        change(p, row)
    task.forget(p._flow.work.place)
    for part in p._flow.work.memory(0), p._flow.work.memory(1):
        shutil.rmtree(part)
    change(p, 7)
    assert p.stats[-1].rebuilt >= 1  # one of them may have a snapshot of just this version
    check(p)


def test_lost_redo_files_are_sent_again(tmp_path: Path) -> None:
    p = spread(tmp_path, strategy="incremental")
    change(p, 1)
    task.forget(p._flow.work.place)
    shutil.rmtree(p._flow.work.memory(0))
    lost = list((tmp_path / "checkpoint" / "p0000").glob("redo-*"))
    assert lost
    for path in lost:
        path.unlink()
    change(p, 2)
    check(p)


def test_a_checkpoint_drops_the_logs(tmp_path: Path) -> None:
    p = spread(tmp_path, strategy="incremental", settings=FlowSettings(memory=str(tmp_path / "m")))
    change(p, 1)
    p.checkpoint()
    redo = list((tmp_path / "checkpoint" / "p0000").glob("redo-*"))
    assert not redo
    shutil.rmtree(p._flow.work.memory(1))
    task.forget(p._flow.work.place)
    change(p, 2)
    check(p)


def test_an_inverse_is_the_drivers_or_is_refused(tmp_path: Path) -> None:
    a = linear.matrix("A", "n")
    views = {"W": linear.inverse(a)}
    with pytest.raises(FreshviewError, match=r"an inverse of 12 rows.*driver_inverse=144 or more"):
        spread(tmp_path, views, driver_inverse=100)
    p = spread(tmp_path, views, driver_inverse=144)
    np.testing.assert_allclose(p["W"], np.linalg.inv(p["A"]), rtol=1e-9)


def test_what_is_on_the_way_can_be_read(tmp_path: Path) -> None:
    p = spread(tmp_path, "dynamic A(n, n); C := A * A; output B := C * C;", strategy="reevaluate")
    assert "C" not in p._kept
    a = p["A"]
    np.testing.assert_allclose(p["C"], a @ a, rtol=1e-9)
    with pytest.raises(UnknownName, match="no matrix D"):
        p["D"]


def test_a_restart_wants_the_same_program(tmp_path: Path) -> None:
    p = spread(tmp_path, strategy="incremental")
    change(p, 1)
    p.close()
    options: dict[str, Any] = {"spark": InlineRunner(), "checkpoint": tmp_path / "checkpoint"}
    with pytest.raises(CheckpointProblem, match="to another matrix program"):
        SparkProgram.restart("dynamic A(n, n); output B := A * A';", **options)
    with pytest.raises(CheckpointProblem, match="2 workers, not 3"):
        SparkProgram.restart(SQUARE, workers=3, **options)
    with pytest.raises(CheckpointProblem, match="there is no checkpoint"):
        SparkProgram.restart(SQUARE, spark=InlineRunner(), checkpoint=tmp_path / "nowhere")
    with pytest.raises(CheckpointProblem, match="already"):
        spread(tmp_path)
    options |= {"strategy": "incremental", "driver_cells": 20, "settings": p._flow.work.settings}
    again = SparkProgram.restart(SQUARE, **options)
    np.testing.assert_array_equal(again.values["A"].shape, (N, N))
    change(again, 2)
    check(again)


def test_a_node_keeps_what_stays(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    node = MatrixNode(one, frozenset({("rows", "A/b"), ("columns", "E")}))
    node.put("rows", "A/b", np.arange(6.0).reshape(2, 3))
    node.put("columns", "E", np.zeros((4, 0)))
    node.put("local", "u", np.ones((3, 1)))
    other = MatrixNode(one, node.kept)  # as another process sees it
    other.get("rows", "A/b")[0, 0] = 9.0
    assert node.get("rows", "A/b")[0, 0] == 9.0
    node.save(tmp_path / "saved")
    back = MatrixNode(two, node.kept)
    back.restore(tmp_path / "saved")
    np.testing.assert_array_equal(back.get("rows", "A/b"), [[9, 1, 2], [3, 4, 5]])
    assert back.get("columns", "E").shape == (4, 0)
    assert not back.has("local", "u")
    node.clear()
    assert node.has("rows", "A/b")
    assert not node.has("local", "u")
    assert node.bytes == 48


@pytest.mark.parametrize("strategy", ["incremental", "hybrid"])
def test_old_values_are_read_before_they_change(tmp_path: Path, strategy: str) -> None:
    """A' is multiplied by what the first job made: until then A must not change."""
    what = "dynamic A(n, n); B := A * A; output C := B * A;"
    p = spread(tmp_path, what, strategy=strategy)
    for row in range(3):
        change(p, row)
        a = p["A"]
        np.testing.assert_allclose(p["C"], a @ a @ a, rtol=1e-9, atol=1e-9)
