"""Sessions whose workers lack Freshview are refused before anything is begun."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.pipeline import Pipeline
from freshview.spark.cluster import SparkRunner
from freshview.spark.probe import NoWorkers, check_workers


class Context:
    """A context that runs a function of partitions here, and counts how often."""

    defaultParallelism = 2
    asked = 0

    def parallelize(self, items: Any, parts: int) -> Context:
        return self

    def mapPartitions(self, function: Any) -> Context:
        self.function = function
        return self

    def collect(self) -> list[Any]:
        self.asked += 1
        return [answer for _ in range(2) for answer in self.function(iter([0]))]


class Session:
    def __init__(self) -> None:
        self.sparkContext = Context()


@pytest.mark.parametrize("module", ["freshview", "freshview.durable.task"])
def test_workers_without_freshview_are_refused_with_the_setting_that_helps(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, module: str
) -> None:
    session: Any = Session()
    flow = Pipeline(PipelineOptions(checkpoint=tmp_path / "checkpoint", workers=2), session)
    flow.declare("CREATE STREAM s (a INT); CREATE VIEW v AS SELECT COUNT(*) AS n FROM s")
    monkeypatch.setitem(sys.modules, module, None)  # an import of it fails
    for work in (flow.start, lambda: flow.push({"s": [(1,)]}), lambda: SparkRunner(session, 2)):
        with pytest.raises(NoWorkers, match=r"spark\.executorEnv\.PYTHONPATH=.*src") as e:
            work()
        assert "cannot import Freshview: " in str(e.value)
        assert "\n" not in str(e.value)
    flow.stop()
    assert not (tmp_path / "checkpoint" / "state").exists()
    monkeypatch.undo()
    check_workers(session)
    check_workers(session)
    assert session.sparkContext.asked == 4  # once when all is well
