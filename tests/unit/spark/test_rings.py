"""Elements of rings, and models of them, in pipelines; the workers are in this process."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import freshview as fv
from freshview.algebra import Pair
from freshview.codegen.library.compiler import find_compiler
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.errors import FreshviewError
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.pipeline import Pipeline
from freshview.runtime.database.database import Database

SCRIPT = """
CREATE STREAM sales (store INT, item INT NOT NULL, units DOUBLE);
CREATE STREAM items (item INT NOT NULL, price DOUBLE NOT NULL, kind STRING);
CREATE VIEW pairs AS SELECT store, SUM([pair: Pair](item)) AS p FROM sales GROUP BY store;
CREATE VIEW moments AS
  SELECT SUM([cofactor: Cofactor]('price', price) * [onehot: Cofactor]('kind', kind)) AS m,
         COUNT(*) AS n
  FROM sales NATURAL JOIN items WHERE kind IS NOT NULL;
"""
BATCHES: list[dict[str, list[Any]]] = [
    {
        "sales": [((1, 1, 3.0), 1), ((1, 2, 5.0), 2), ((None, 1, 4.0), 1), ((2, 3, 7.0), 1)],
        "items": [((1, 1.5, "a"), 1), ((2, 2.5, "b"), 1), ((3, 4.0, None), 1), ((3, 5.0, "b"), 1)],
    },
    {"sales": [((1, 2, 5.0), -1), ((2, 2, 6.0), 1)], "items": [((1, 1.5, "a"), -1)]},
    {"sales": [((None, 1, 4.0), -1), ((1, 1, 3.0), -1)], "items": [((1, 9.0, None), 1)]},
    {"items": [((2, 2.5, "b"), -1), ((3, 5.0, "b"), -1), ((3, 4.0, None), -1)]},
    {"items": [((2, 2.0, "a"), 1), ((3, 8.0, "a"), 1), ((1, 3.0, "b"), 1)]},
]


def pipeline(folder: Path, workers: int, native: bool = False, **options: Any) -> Pipeline:
    settings = FlowSettings(snapshot_every=2, memory=str(folder / "memory"), native=native)
    chosen = PipelineOptions(
        checkpoint=folder / "state", workers=workers, settings=settings, **options
    )
    flow = Pipeline(chosen, InlineRunner(), folder)  # type: ignore[arg-type]
    flow.declare(SCRIPT)
    return flow


def database() -> Database:
    db = fv.connect(engine="reference")
    db.execute(SCRIPT)
    return db


@pytest.mark.parametrize("strategy", ["auto", "factorized", "first-order"])
@pytest.mark.parametrize("workers", [1, 3])
def test_views_of_elements_are_those_of_a_database(
    tmp_path: Path, workers: int, strategy: str
) -> None:
    db, flow = database(), pipeline(tmp_path, workers, strategy=strategy)
    flow.start()
    for number, batch in enumerate(BATCHES):
        db.apply(batch)
        flow.push(batch)
        if number == 2:  # another driver goes on from the checkpoint
            flow.stop()
            flow = pipeline(tmp_path, workers, strategy=strategy).start()
        for name in ("pairs", "moments"):
            actual, wanted = flow.view(name).rows(), db.view(name).rows()
            assert Counter(actual) == Counter(wanted), (name, number)
        assert flow.view("moments").to_arrow().equals(db.view("moments").to_arrow()), number
        assert flow.view("pairs").lookup(store=2) == db.view("pairs").lookup(store=2)
    assert flow.view("pairs").rows() == [(1, Pair(1, 2)), (2, Pair(2, 5))]
    with pytest.raises(FreshviewError, match="have no Arrow columns"):
        flow.view("pairs").to_arrow()
    flow.stop()


def test_models_follow_a_pipeline(tmp_path: Path) -> None:
    db, flow = database(), pipeline(tmp_path, 2)
    sql = "SELECT units, price FROM sales NATURAL JOIN items"
    by_store = "SELECT store, units, price FROM sales NATURAL JOIN items GROUP BY store"
    here, there = (fv.models.Cofactor(home, sql) for home in (db, flow))
    grouped = [fv.models.Cofactor(home, by_store, name="by_store") for home in (db, flow)]
    models = [fv.models.LinearRegression(c, label="units") for c in (here, there)]
    flow.start()
    for batch in BATCHES[:3]:
        db.apply(batch)
        flow.push(batch)
        assert there.read()[0] == flow.version
        assert there.count() == here.count()
        assert np.allclose(there.covariance(), here.covariance(), atol=1e-9)
        assert np.allclose(models[1].coef_, models[0].coef_, atol=1e-8)
        assert sorted(grouped[1].groups(), key=repr) == sorted(grouped[0].groups(), key=repr)
        assert grouped[1].element(2) == grouped[0].element(2)
    assert there.engine == "reference"
    assert "== placement" in there.explain()
    assert fv.models.Cofactor.attach(flow, there.name).count() == here.count()  # type: ignore[arg-type]
    with pytest.raises(FreshviewError, match="the pipeline runs already"):
        fv.models.Cofactor(flow, sql)
    flow.stop()


def test_what_a_pipeline_does_not_do_with_elements_is_refused(tmp_path: Path) -> None:
    flow = pipeline(tmp_path, 2)
    with pytest.raises(FreshviewError, match="comes with a variable order, and a pipeline finds"):
        fv.models.Cofactor(flow, "SELECT units FROM sales", order="store - item")
    with pytest.raises(FreshviewError, match="a pipeline keeps no factorized views"):
        flow.declare("CREATE FACTORIZED VIEW f AS SELECT store FROM sales")
    with pytest.raises(FreshviewError, match="the changes of 'moments' cannot be sent"):
        flow.on_version("moments", print, changes=True)
    with pytest.raises(FreshviewError, match="have no Arrow columns"):
        flow.on_version("pairs", print)
    assert [v.name for v in flow.views] == ["pairs", "moments"]
    emitted: list[tuple[int, list[float]]] = []
    flow.on_version("moments", lambda v, t: emitted.append((v, t.column("m[]").to_pylist())))
    flow.push(BATCHES[0])
    assert emitted == [(1, [5.0])]
    flow.stop()


@pytest.mark.native
def test_kernels_leave_elements_to_python_and_say_so(tmp_path: Path) -> None:
    if find_compiler() is None:
        pytest.skip("there is no C++ compiler")
    flow = pipeline(tmp_path, 2, native=True)
    with warnings.catch_warnings(record=True) as emitted:
        warnings.simplefilter("always")
        flow.start()
    said = [str(w.message) for w in emitted]
    assert any(
        "no native kernels: Python keeps the maps" in w and "holds elements of ring(" in w
        for w in said
    )
    flow.push(BATCHES[0])
    assert flow.view("pairs").engine == "reference"
    assert len(flow.view("pairs").rows()) == 3
    flow.stop()
