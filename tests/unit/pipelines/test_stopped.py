"""A pipeline after its stop: it goes on from its checkpoint, or says that there is none."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.errors import FreshviewError, Overflow
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.pipeline import Pipeline
from freshview.spark.nodes.view_work import ViewWork

SCRIPT = """
CREATE STREAM sales (id INT PRIMARY KEY, item STRING NOT NULL);
CREATE VIEW totals AS SELECT item, COUNT(*) AS n FROM sales GROUP BY item ORDER BY item;
"""


def pipeline(folder: Path, script: str = SCRIPT, **choices: Any) -> Pipeline:
    settings = FlowSettings(memory=str(folder / "memory"), native=False)
    runner: Any = InlineRunner()
    emitted = {"workers": 2, "settings": settings, "upserts": ("sales",)}
    flow = Pipeline(PipelineOptions(**{**emitted, **choices}), runner, folder)
    flow.declare(script)
    return flow


ASKED: dict[str, Callable[[Pipeline], object]] = {
    "push": lambda flow: flow.push({"sales": [(2, "b")]}),
    "upsert": lambda flow: flow.upsert("sales", [(2, "b")]),
    "start": lambda flow: flow.start(),
    "with": lambda flow: flow.__enter__(),
}


@pytest.mark.parametrize("asked", ASKED)
def test_without_a_checkpoint_it_is_over(tmp_path: Path, asked: str) -> None:
    flow = pipeline(tmp_path)
    flow.push({"sales": [(1, "a")]})
    flow.stop()
    for _ in range(2):
        with pytest.raises(
            FreshviewError, match="was stopped, and its state is discarded; create anoth"
        ):
            ASKED[asked](flow)
    with pytest.raises(FreshviewError, match="the pipeline does not run"):
        flow.view("totals").rows()
    flow.stop()


def test_a_stop_before_the_start_means_nothing(tmp_path: Path) -> None:
    flow = pipeline(tmp_path)
    flow.stop()
    assert flow.push({"sales": [(1, "a")]}) == 1
    flow.stop()


def test_a_start_that_failed_may_be_tried_again(tmp_path: Path) -> None:
    settings = FlowSettings(memory=str(tmp_path / "memory"), native=False)
    runner: Any = InlineRunner()
    flow = Pipeline(PipelineOptions(workers=2, settings=settings), runner, tmp_path)
    flow.declare(SCRIPT.replace(";", " FROM FILE 's.csv' LINE DELIMITED CSV;", 1))
    with pytest.raises(FreshviewError, match="cannot read"):
        flow.start()
    flow.stop()
    (tmp_path / "s.csv").write_text("1,a\n")
    with flow:
        flow.await_done(60)
        assert flow.view("totals").rows() == [("a", 1)]


TABLE = """
CREATE STREAM sales (id INT PRIMARY KEY, item STRING NOT NULL);
CREATE TABLE weights (item STRING NOT NULL, weight INT NOT NULL)
  FROM FILE 'weights.csv' LINE DELIMITED CSV;
CREATE VIEW totals AS SELECT s.item, SUM(w.weight) AS n FROM sales s, weights w
  WHERE w.item = s.item GROUP BY s.item;
"""


@pytest.mark.parametrize("error", [Overflow("too large"), ConnectionError("the cluster is gone")])
def test_after_a_start_that_is_refused_tables_are_read_again(
    tmp_path: Path, error: Exception
) -> None:
    flow = pipeline(tmp_path, script=TABLE, checkpoint=tmp_path / "checkpoint", upserts=())
    (tmp_path / "weights.csv").write_text("a,1\n")
    with mock.patch.object(ViewWork, "perform", side_effect=error), pytest.raises(FreshviewError):
        flow.start()
    (tmp_path / "weights.csv").write_text("a,2\n")
    flow.push({"sales": [(1, "a")]})
    assert flow.view("totals").rows() == [("a", 2)]
    flow.stop()
    assert len(list((tmp_path / "checkpoint" / "state").glob("tables-*"))) == 1


def test_threads_that_start_it_together_share_it(tmp_path: Path) -> None:
    flow = pipeline(tmp_path, checkpoint=tmp_path / "checkpoint")
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(flow.upsert, "sales", [(i, "a")]) for i in range(4)]:
            assert done.result() <= 4
    assert flow.view("totals").rows() == [("a", 4)]
    flow.stop()


@pytest.mark.parametrize("asked", ["push", "upsert"])
def test_with_a_checkpoint_it_goes_on(tmp_path: Path, asked: str) -> None:
    flow = pipeline(tmp_path, checkpoint=tmp_path / "checkpoint")
    emitted: list[int] = []
    flow.on_version("totals", lambda version, _: emitted.append(version))
    flow.push({"sales": [(1, "a")]})
    flow.stop()
    assert ASKED[asked](flow) == 2
    assert flow.view("totals").rows() == [("a", 1), ("b", 1)]
    flow.stop()
    flow.start()
    assert flow.view("totals").rows() == [("a", 1), ("b", 1)]
    assert emitted == [1, 2]
    flow.stop()
