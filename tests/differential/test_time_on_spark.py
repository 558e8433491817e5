"""Windows of time and the clock in a pipeline: equal to DuckDB's, also behind a restart."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import freshview as fv
from freshview.durable.settings import FlowSettings
from freshview.errors import FreshviewError
from tests.differential.final_worlds import FINAL_SCRIPT, FinalWorld
from tests.differential.time_worlds import PAIRS, SCHEMA, START, Row, World

VIEWS = ["tumbling", "hopping", "sessions", "recent", "recent_groups", "silent_keys", "same_minute"]
SCRIPT = SCHEMA + "".join(f"CREATE VIEW {name} AS {PAIRS[name][0]};" for name in VIEWS)


class FollowedPipeline:
    """A pipeline that can be stopped and opened anew from its checkpoint."""

    def __init__(self, spark: Any, folder: Path, *, native: bool) -> None:
        self.spark, self.folder, self.native = spark, folder, native
        self.flow = self.open()

    def open(self) -> Any:
        settings = FlowSettings(memory=str(self.folder / "memory"), native=self.native)
        checkpoint = self.folder / "checkpoint"
        flow = fv.pipeline(SCRIPT, self.spark, checkpoint=checkpoint, workers=2, settings=settings)
        return flow.start()

    def reopen(self) -> None:
        self.flow.stop()
        self.flow = self.open()

    def apply(self, rows: list[tuple[Row, int]]) -> None:
        if rows:
            self.flow.push({"r": rows})

    def advance_clock(self, to: datetime) -> None:
        self.flow.advance_clock(to)

    def rows(self, view: str) -> list[Row]:
        return list(self.flow.view(view).rows())


@pytest.mark.spark
@pytest.mark.parametrize("native", [False, pytest.param(True, marks=pytest.mark.native)])
def test_views_of_a_pipeline_follow_time(spark: Any, tmp_path: Path, native: bool) -> None:
    followed = FollowedPipeline(spark, tmp_path, native=native)
    world = World(7, followed, VIEWS)
    world.run(5)
    now = followed.flow.clock
    followed.reopen()
    assert followed.flow.clock == now > START
    world.compare()
    world.run(3)
    with pytest.raises(FreshviewError, match="never goes back"):
        followed.advance_clock(now - timedelta(days=1))
    followed.flow.stop()


@pytest.mark.spark
def test_final_rows_of_a_pipeline(spark: Any, tmp_path: Path) -> None:
    flow = fv.pipeline(FINAL_SCRIPT, spark, checkpoint=tmp_path / "checkpoint", workers=2).start()
    world = FinalWorld(3, lambda rows: flow.push({"s": rows}), lambda: flow.view("minutes").rows())
    world.run(6)
    flow.stop()
    flow = fv.pipeline(FINAL_SCRIPT, spark, checkpoint=tmp_path / "checkpoint", workers=2).start()
    world.change, world.read = (
        lambda rows: flow.push({"s": rows}),
        lambda: flow.view("minutes").rows(),
    )
    world.run(3)
    flow.stop()
