"""Joins that no key can partition, on grids of workers: the reference's rows, each in its line."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from freshview.calculus.functions import BUILTINS
from freshview.calculus.scope import base_relations
from freshview.distributed.compile import distribute
from freshview.distributed.options import DistributionOptions
from freshview.distributed.partitioning.grids import best_shape, load
from freshview.distributed.terms import Distributed, Slice
from freshview.plan.compile import compile_queries
from freshview.plan.options import PlanOptions, Strategy
from freshview.program.statistics import Statistics
from freshview.program.terms import Program
from freshview.sql.load import load as load_sql
from tests.law.spark_programs import Pair
from tests.thin import thin

STREAMS = """
CREATE STREAM a (k INT, v INT NOT NULL, w STRING);
CREATE STREAM b (k INT, v INT NOT NULL, w STRING);
CREATE STREAM c (k INT, v INT NOT NULL, w STRING);
CREATE TABLE s (k INT, v INT NOT NULL, w STRING);
"""
VIEWS = {
    "band": "SELECT b.w, COUNT(*), SUM(a.v) FROM a JOIN b ON a.v BETWEEN b.v - 2 AND b.v + 2 "
    "GROUP BY b.w",
    "less": "SELECT a.w, MIN(b.v), AVG(a.k) FROM a, b WHERE a.k < b.k GROUP BY a.w",
    "not equal": "SELECT COUNT(*) AS n FROM a, b WHERE a.w <> b.w AND a.v > b.v",
    "cross": "SELECT SUM(a.v * b.v) AS s FROM a, b",
    "sums of both": "SELECT b.w, SUM(a.v - b.v) AS d, COUNT(*) FROM a, b WHERE a.v > b.v "
    "GROUP BY b.w",
    "averages of both": "SELECT a.w, AVG(b.v - 2 * a.v), SUM(a.v * b.v + a.v) FROM a, b "
    "WHERE a.v BETWEEN b.v - 1 AND b.v + 3 AND a.k <> b.k GROUP BY a.w",
    "rows": "SELECT a.k, b.w FROM a, b WHERE a.v + b.v = 4",
    "three": "SELECT c.w, COUNT(*) FROM a, b, c WHERE a.k = b.k AND b.v < c.v GROUP BY c.w",
    "three bands": "SELECT COUNT(*) FROM a, b, c WHERE a.v < b.v AND b.v < c.v AND a.k <> c.k",
    "with itself": "SELECT COUNT(*) FROM a x, a y WHERE x.v < y.v AND x.w = 'x' AND y.w <> 'x'",
    "static": "SELECT s.w, COUNT(*) FROM a, b, s WHERE a.v < b.v AND a.k = s.k GROUP BY s.w",
    "nested": "SELECT a.w, COUNT(*) FROM a "
    "WHERE a.v > (SELECT COUNT(*) FROM b WHERE b.v < a.v) GROUP BY a.w",
    "exists": "SELECT a.k FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.v > a.v)",
    "outer": "SELECT a.k, b.v FROM a LEFT JOIN b ON a.v < b.v",
}
ON_A_GRID = dict.fromkeys(("band", "less", "not equal", "sums of both", "rows", "static"), 4)
ON_A_GRID["averages of both"] = 7
"""Views on a grid, and of how many workers at least: two maps a side are twice the copies."""


def compiled(sql: str, strategy: Strategy = "higher-order") -> Program:
    catalog, queries = load_sql(STREAMS + sql)
    options = PlanOptions(strategy=strategy, mode="batch", caches=False)
    read = base_relations(queries[0])
    relations = [r for r in catalog.relations.values() if r.name in read]
    return compile_queries(queries, relations, options, catalog.functions)


def spread(program: Program, workers: int, *, deliver: bool = True) -> Distributed:
    options = DistributionOptions(workers=workers, deliver=deliver, grids=True)
    return distribute(program, options=options)


def rows(random: Random, most: int) -> list[tuple[Any, ...]]:
    return [
        (random.choice((None, 1, 1, 2, 3)), random.randint(0, 5), random.choice((None, "x", "y")))
        for _ in range(random.randint(0, most))
    ]


@pytest.mark.parametrize("seed", thin(range(6), 6))
@pytest.mark.parametrize("workers", [2, 4, 7])
@pytest.mark.parametrize("name", VIEWS)
def test_grids(name: str, workers: int, seed: int) -> None:
    random = Random(f"{name} {workers} {seed}")
    program = compiled(VIEWS[name])
    delivered = random.random() < 0.7
    distributed = spread(program, workers, deliver=delivered)
    slices = [p.at for p in distributed.maps if isinstance(p.at, Slice)]
    if workers >= ON_A_GRID.get(name, workers + 1) and delivered:
        assert slices, "nothing is on a grid"
        assert any("on a grid of" in word for word in distributed.placement.words)
    tables = {"s": rows(random, 6)} if name == "static" else {}
    pair = Pair(program, distributed, workers, BUILTINS, tables)
    kept: dict[str, list[tuple[Any, ...]]] = {"a": [], "b": [], "c": []}
    for number in range(6):
        changes: dict[str, list[tuple[tuple[Any, ...], int]]] = {}
        for stream, present in kept.items():
            if random.random() < 0.8:
                new = rows(random, 5)
                gone = random.sample(present, min(len(present), random.choice((0, 0, 1, 3))))
                for row in gone:
                    present.remove(row)
                present += new
                changes[stream] = [(r, 1) for r in new] + [(r, -1) for r in gone]
        pair.apply(changes)
        pair.check(f"{name}, {workers} workers, batch {number}")


def test_a_small_side_is_copied() -> None:
    """One column of the grid is what a copy on every worker is."""
    statistics = Statistics(
        rows={"a": 1e7, "b": 1e2}, batch=1e4, values={"a": {"v": 1e7}, "b": {"v": 1e2}}
    )
    options = DistributionOptions(workers=8, deliver=True, grids=True, statistics=statistics)
    distributed = distribute(compiled(VIEWS["band"]), options=options)
    assert not [p for p in distributed.maps if isinstance(p.at, Slice)]
    assert any("without a grid" in word for word in distributed.placement.words)


def test_an_equality_needs_no_grid() -> None:
    sql = "SELECT a.w, COUNT(*) FROM a, b WHERE a.k = b.k AND a.v < b.v GROUP BY a.w"
    distributed = spread(compiled(sql), 8)
    assert not [p for p in distributed.maps if isinstance(p.at, Slice)]


@pytest.mark.parametrize("workers", [2, 3, 5, 8, 16, 31, 64])
def test_the_best_shape(workers: int) -> None:
    """No other grid has a smaller load, whatever the sizes are."""
    random = Random(workers)
    for _ in range(50):
        r, s = 10 ** random.uniform(0, 6), 10 ** random.uniform(0, 6)
        n, m = best_shape(r, s, workers)
        assert n * m <= workers
        every = [(i, j) for i in range(1, workers + 1) for j in range(1, workers // i + 1)]
        assert load(r, s, (n, m)) == pytest.approx(min(load(r, s, shape) for shape in every))
