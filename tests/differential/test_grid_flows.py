"""Views whose joins are on a grid, as pipelines run them: kernels, logs, restarts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from freshview.codegen.library.compiler import find_compiler
from freshview.distributed.terms import Slice
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.pipelines.flow import Flow
from freshview.runtime.ingest.columns import rows_of
from tests.differential.flows import table
from tests.law.test_grids import VIEWS, compiled, rows, spread

ENGINES = [
    False,
    pytest.param(
        True, marks=pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
    ),
]
WORKERS = {"band": 4, "sums of both": 6, "not equal": 6, "rows": 7, "less": 9}


def duck(name: str, kept: dict[str, list[tuple[Any, ...]]]) -> Counter[Any]:
    db = duckdb.connect()
    for stream, some in kept.items():
        cells = list(zip(*some, strict=True)) or [()] * 3
        types = (pa.int64(), pa.int64(), pa.string())
        arrays = [pa.array(c, t) for c, t in zip(cells, types, strict=True)]
        db.register(stream, pa.table(arrays, names=["k", "v", "w"]))
    return Counter(db.execute(VIEWS[name]).fetchall())


@pytest.mark.parametrize("native", ENGINES)
@pytest.mark.parametrize("name", WORKERS)
def test_flows(tmp_path: Path, name: str, native: bool) -> None:
    random, workers = Random(name), WORKERS[name]
    distributed = spread(compiled(VIEWS[name]), workers)
    assert any(isinstance(p.at, Slice) for p in distributed.maps)
    settings = FlowSettings(snapshot_every=2, memory=str(tmp_path / "memory"), native=native)
    common: dict[str, Any] = {"checkpoint": tmp_path / "checkpoint", "settings": settings}
    flow = Flow.start(distributed, InlineRunner(), workers=workers, **common)
    relations = {r.name: r for r in distributed.program.relations}
    kept: dict[str, list[tuple[Any, ...]]] = {n: [] for n in relations}
    for number in range(8):
        batch = {}
        for stream, present in kept.items():
            new = rows(random, 9)
            gone = random.sample(present, min(len(present), random.choice((0, 2, 4))))
            for row in gone:
                present.remove(row)
            present += new
            changes = [(r, 1) for r in new] + [(r, -1) for r in gone]
            if changes:
                batch[stream] = table(relations[stream], changes)
        if batch:
            flow.apply(batch)
        if number == 4:
            flow.close()
            flow = Flow.restart(distributed, InlineRunner(), **common)
        assert Counter(rows_of(flow.read("query"))) == duck(name, kept), number
    flow.close()
