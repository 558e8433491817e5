"""Every switch of the compiler gives the same rows, on every engine."""

from __future__ import annotations

from typing import Any

import pytest

import freshview as fv
from freshview.codegen.library.compiler import find_compiler
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.program import program_of
from freshview.plan.switches import read_switches
from freshview.sql.load import load
from tests.differential.harness import SWITCHES
from tests.differential.random_sql import random_script
from tests.differential.streams import MODES, STATIC, agree
from tests.thin import thin

PAIRS = [(switch, mode) for switch in SWITCHES for mode in MODES]

SHOP = """
CREATE STREAM orders (id INT NOT NULL, shop INT NOT NULL);
CREATE STREAM items (id INT NOT NULL, price INT NOT NULL);
CREATE VIEW dear AS SELECT o.shop, COUNT(*) AS n, SUM(i.price) AS total FROM orders o, items i
  WHERE o.id = i.id AND i.price * 3 > (SELECT SUM(j.price) FROM items j WHERE j.id = i.id)
  GROUP BY o.shop;
CREATE VIEW above AS SELECT COUNT(*) AS n FROM items
  WHERE price * 4 > (SELECT SUM(x.id) FROM items x);
CREATE VIEW over AS SELECT i.id, COUNT(*) AS n FROM items i
  WHERE 20 > (SELECT SUM(x.id) FROM items x WHERE x.price < i.price) GROUP BY i.id
"""

EACH: list[dict[str, Any]] = [
    {},
    {"depth": 0},
    {"depth": 1},
    {"decompose": False},
    {"always_update": True},
    {"ordered": True},
    {"low_cardinality": ["orders"]},
    {"recompute": [("dear", "orders"), ("dear_2", "items"), ("dear_orders", "items")]},
    {"increment": [("above", "items"), ("above_2", "items")]},
    {"caches": True},
    {"moves": False},
]


@pytest.mark.parametrize("seed", thin(range(60), 5), ids="seed-{}-".format)
def test_random_view_follows_its_tables(seed: int) -> None:
    switch, mode = PAIRS[seed % len(PAIRS)]
    variant = list(STATIC)[seed // len(PAIRS) % len(STATIC)]
    agree(random_script(5_000 + seed), variant, switch, mode, seed=seed, batches=8)


def answers(engine: Any, strategy: Any, switches: dict[str, Any]) -> list[object]:
    """The rows of all views after each of some changes."""
    db = fv.connect(strategy, engine=engine, switches=switches)
    db.execute(SHOP)
    seen: list[object] = []
    for n in range(12):
        db.insert("orders", [(n % 5, n % 3), (n, n % 2)])
        db.insert("items", [(n % 4, n), (n % 3, 2), (n, 7)])
        if n % 3 == 2:
            db.delete("items", [(n - 1, 7)])
            db.delete("orders", [(n - 2, (n - 2) % 2)])
        seen.append([sorted(db.view(v).rows()) for v in ("dear", "above", "over")])
    return seen


@pytest.mark.parametrize("strategy", ["auto", "higher-order"])
@pytest.mark.parametrize("switches", EACH, ids=str)
def test_a_database_answers_alike(switches: dict[str, Any], strategy: str) -> None:
    assert answers("reference", strategy, switches) == answers("reference", "reeval", {})


@pytest.mark.native
@pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("switches", EACH, ids=str)
def test_kernels_answer_alike(switches: dict[str, Any]) -> None:
    assert answers("native", "higher-order", switches) == answers("reference", "reeval", {})


@pytest.mark.native
@pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
def test_kernels_keep_caches() -> None:
    db = fv.connect("higher-order", engine="native", switches={"caches": True})
    db.execute(SHOP)
    db.insert("items", [(1, 3), (2, 5)])
    assert db.view("over").rows() == [(2, 1)]
    assert db.view("over").engine == "native"
    assert any(m.inputs for m in db.program("over").maps)


def test_a_pipeline_plans_by_them() -> None:
    catalog, queries = load(SHOP)
    options = PipelineOptions(switches=read_switches({"depth": 0}))
    program = program_of(queries, catalog, options)
    for notes in program.view_notes.values():
        assert notes[1] == "switches: depth=0"
    assert len(program.view_notes) == len(queries)
    assert all(
        s.op == ":=" for t in program.triggers for s in t.statements if "base" not in s.target.name
    )


def test_a_snapshot_keeps_them(tmp_path: Any) -> None:
    db = fv.connect(switches={"recompute": [("dear", "orders")]}, engine="reference")
    db.execute(SHOP)
    db.insert("items", [(1, 2)])
    db.snapshot(tmp_path / "shop")
    again = fv.restore(tmp_path / "shop")
    assert again.state.settings == db.state.settings
    assert "switches: recompute=dear:orders" in again.view("dear").explain()
