"""Matrix programs on Spark beside the same programs in this process, after every update."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from freshview import linear
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.durable.versions import Interrupted
from freshview.linear import Program
from freshview.spark.matrix.program import SparkProgram
from tests.differential.test_linear import PROGRAMS, change

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def both(name: str, folder: Path, spark: Any, **options: Any) -> tuple[SparkProgram, Program]:
    """The same program with workers and without, over the same inputs."""
    program, _ = PROGRAMS[name]()
    values = {i.name: program[i.name] for i in program.normal.inputs}
    flow_settings = FlowSettings(snapshot_every=3, memory=str(folder / "memory"))
    strategy = options.pop("strategy", "auto")
    p = SparkProgram(
        program.source,
        values,
        spark=spark,
        checkpoint=folder / "checkpoint",
        settings=flow_settings,
        strategy=strategy,
        **{"workers": 2, "driver_cells": 100, **options},
    )
    return p, Program(program.source, values, strategy=strategy)


def same_stream(p: SparkProgram, q: Program, steps: range) -> None:
    dynamic = [i.name for i in q.normal.inputs if i.dynamic]
    for step in steps:
        for each in (p, q):
            change(each, dynamic[step % len(dynamic)], np.random.default_rng(step), step)
        wanted = q["result"]
        error = np.abs(p["result"] - wanted).max() / np.abs(wanted).max()
        assert error < 1e-9, (step, error)


@pytest.mark.parametrize("name", ["powers", "descent, exponential"])
def test_results_follow(name: str, tmp_path: Path, spark: Any) -> None:
    p, q = both(name, tmp_path, spark, strategy="incremental")
    with p:
        same_stream(p, q, range(2))
        assert p.report.reevaluations == 0
        assert p.stats[-1].repeated == 0


def test_computed_anew_on_spark(tmp_path: Path, spark: Any) -> None:
    p, q = both("ols", tmp_path, spark, strategy="reevaluate")
    with p:
        same_stream(p, q, range(1))


@pytest.mark.full
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("strategy", ["auto", "incremental", "hybrid", "reevaluate"])
@pytest.mark.parametrize("cells", [30, 100, 700])
@pytest.mark.parametrize("copies", [False, True])
def test_results_follow_however_they_are_spread(
    name: str, strategy: str, cells: int, copies: bool, tmp_path: Path
) -> None:
    options = {"strategy": strategy, "driver_cells": cells, "copies": copies, "workers": 3}
    p, q = both(name, tmp_path, InlineRunner(), **options)
    with p:
        same_stream(p, q, range(12))


@pytest.mark.full
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_follow_on_spark(name: str, tmp_path: Path, spark: Any) -> None:
    p, q = both(name, tmp_path, spark, driver_cells=30)
    with p:
        same_stream(p, q, range(12))


def test_a_restart_goes_on(tmp_path: Path) -> None:
    """What was logged and not done is done by the next driver, once."""
    p, q = both("powers", tmp_path, InlineRunner(), strategy="incremental")
    same_stream(p, q, range(2))
    v = np.full((1, 24), 0.01)
    step = p._flow._coordinator.step
    p._flow._coordinator.step = lambda entry: (step(entry), 1 / 0)  # type: ignore[assignment]
    with pytest.raises(Interrupted):
        p.update("A", rows=[3], v=v)
    q.update("A", rows=[3], v=v)
    p.close(forget=False)
    again = SparkProgram.restart(
        p.source,
        spark=InlineRunner(),
        checkpoint=tmp_path / "checkpoint",
        settings=p._flow.work.settings,
        strategy="incremental",
        driver_cells=100,
    )
    assert again.version == 3
    np.testing.assert_allclose(again["result"], q["result"], rtol=1e-9, atol=1e-12)
    same_stream(again, q, range(3, 6))
    again.close()


def test_an_update_that_is_refused_changes_nothing(tmp_path: Path) -> None:
    a = linear.matrix("A", "n")
    values = np.eye(12) * 2 + 0.1
    p = SparkProgram(
        {"W": linear.inverse(a)},
        A=values,
        spark=InlineRunner(),
        workers=2,
        checkpoint=tmp_path / "checkpoint",
        settings=FlowSettings(memory=str(tmp_path / "memory")),
        driver_cells=20,
    )
    before = p["W"]
    with pytest.raises(linear.Singular):
        p.assign("A", rows=[1], to=values[[0]])
    np.testing.assert_array_equal(p["A"], values)
    np.testing.assert_array_equal(p["W"], before)
    p.update("A", cells=[(0, 1, 0.5)])
    np.testing.assert_allclose(p["W"], np.linalg.inv(p["A"]), rtol=1e-9)
