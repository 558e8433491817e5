"""The law of collected changes: what the batches of a query collect is what changed in its rows.

Random terms become programs whose maps are anywhere, as in `test_spark.py`; SQL comes with the
placement that pipelines choose.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.schema import Column, Query
from freshview.calculus.scope import outs, relations
from freshview.calculus.types import INT
from freshview.distributed.compile import distribute
from freshview.distributed.options import LEVELS, DistributionOptions
from freshview.distributed.simulate import Simulation
from freshview.distributed.terms import Distributed
from freshview.errors import TypeProblem
from freshview.ivm.compile import compile_queries
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.program import program_of
from freshview.program.engine import added
from freshview.program.terms import Program
from freshview.sql.load import load
from tests.differential.harness import grouped
from tests.differential.streams import random_stream, schema
from tests.law.programs import over_copies, recompute
from tests.law.spark_programs import equal
from tests.law.strategies import RELATIONS, deltas, terms
from tests.law.test_compile import SCHEMA, is_typed, no_null, numeric
from tests.law.test_simplify import without_nulls
from tests.law.test_spark import STRATEGIES, WORKERS, placements


class Followed:
    """A query whose rows are known from its changes alone, once they were read."""

    def __init__(
        self, distributed: Distributed, functions: Functions, workers: int, query: str, tables: Any
    ) -> None:
        self.query = query
        self.simulation = Simulation(distributed, workers, functions)
        self.simulation.load(tables)
        self.rows = self.simulation.read(query)
        self.gathered = 0

    def apply(self, batch: Any) -> None:
        self.simulation.apply(batch)
        self.gathered = sum(len(rows) for rows in self.simulation.changed.values())
        self.rows = added(self.rows, self.simulation.collected(self.query).items())

    def check(self, where: str) -> None:
        wanted = self.simulation.read(self.query)
        assert equal(self.rows, wanted), f"{where}: {self.rows} != {wanted}"
        assert not self.simulation.misplaced(), where


def follow(data: st.DataObject, program: Program, level: str, names: list[str]) -> None:
    workers = data.draw(WORKERS)
    [query] = program.queries
    placement = data.draw(placements(program, workers))
    distributed = distribute(program, placement, LEVELS[level], collected=[query.name])
    assert not distributed.compared or "may fail" in str(distributed.compared)
    table = no_null(data.draw(deltas("U"))) if "U" not in names else {}
    rows = {"U": [row for row, m in table.items() for _ in range(abs(m))]} if table else {}
    followed = Followed(distributed, BUILTINS, workers, query.name, rows)
    known = {t.relation for t in program.triggers if t.event == "batch"}
    for number in range(4):
        drawn = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
        batch = {n: list(no_null(data.draw(deltas(n))).items()) for n in drawn if n in known}
        if batch:
            followed.apply(batch)
            followed.check(f"batch {number}")


@pytest.mark.parametrize("level", ["naive", "shared"])
@settings(max_examples=40)
@given(data=st.data())
def test_incremental_programs(level: str, data: st.DataObject) -> None:
    e = numeric(without_nulls(data.draw(terms(depth=4))))
    assume(relations(e) and is_typed(e))
    names = tuple(sorted(outs(e)))
    query = Query("Q", tuple(Column(v, INT) for v in names), names, e)
    program = compile_queries([query], SCHEMA, data.draw(st.sampled_from(STRATEGIES)))
    follow(data, program, level, ["R", "S", "T"])


@settings(max_examples=40)
@given(data=st.data())
def test_programs_that_recompute(data: st.DataObject) -> None:
    """Maps that are replaced as a whole: only what differs in them is collected."""
    e = without_nulls(data.draw(terms(depth=4)))
    try:
        program = recompute(e, batches=True)
    except TypeProblem:
        assume(False)
    follow(data, program, "shared", sorted(RELATIONS))


@pytest.mark.parametrize("level", ["naive", "shared"])
@settings(max_examples=60)
@given(data=st.data())
def test_any_term_over_maps(level: str, data: st.DataObject) -> None:
    """Read-outs that the compiler would not write: maps that share some columns, or none."""
    e = without_nulls(data.draw(terms(depth=4)))
    assume(relations(e))
    try:
        program = recompute(e, batches=True)
    except TypeProblem:
        assume(False)
    triggers = tuple(
        replace(t, statements=t.statements[:1]) for t in program.triggers if t.event == "batch"
    )
    [query] = program.queries
    query = replace(query, term=over_copies(e))
    maps = tuple(m for m in program.maps if m.name != "Q")
    read = replace(program, triggers=triggers, maps=maps, queries=(query,))
    follow(data, read, level, sorted(RELATIONS))


VIEWS = {
    "groups": "SELECT r.a, COUNT(*) AS n, SUM(r.c * s.d) AS total FROM r, s WHERE r.a = s.a "
    "GROUP BY r.a",
    "total": "SELECT SUM(c) AS total, COUNT(*) AS n FROM r",
    "square": "SELECT a, SUM(b) * SUM(b) + 1 AS q, AVG(b) AS m FROM r GROUP BY a",
    "extremes": "SELECT r.a, MIN(s.d) AS low, MAX(r.b) AS high FROM r, s WHERE r.a = s.a "
    "GROUP BY r.a",
    "types": "SELECT name, day, SUM(price) AS price, SUM(w) AS w FROM t GROUP BY name, day",
    "static": "SELECT u.f, SUM(r.c) AS c FROM r, u WHERE r.a = u.a GROUP BY u.f",
    "nested": "SELECT a, c FROM r WHERE c > (SELECT SUM(d) FROM s) OR NOT EXISTS "
    "(SELECT 1 FROM s WHERE s.a = r.a)",
    "outer": "SELECT r.a, r.b + 1 AS b, s.d FROM r LEFT JOIN s ON r.a = s.a",
    "outer groups": "SELECT x.a, x.n, y.n * 2 AS m FROM "
    "(SELECT a, COUNT(*) AS n FROM r GROUP BY a) x LEFT JOIN "
    "(SELECT a, SUM(d) AS n FROM s GROUP BY a) y ON x.a = y.a",
    "top": "SELECT a, SUM(b) AS t FROM r GROUP BY a ORDER BY t DESC LIMIT 2",
    "above": "SELECT a, SUM(b) AS t FROM r GROUP BY a HAVING SUM(b) > (SELECT AVG(b) FROM r)",
    "distinct": "SELECT a, COUNT(DISTINCT b) AS n FROM r GROUP BY a",
    "union": "SELECT a, b + 1 AS x FROM r UNION ALL SELECT a, d * d FROM s",
    "of groups": "SELECT n, COUNT(*) AS groups FROM (SELECT a, COUNT(*) AS n FROM r GROUP BY a) g "
    "GROUP BY n",
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", VIEWS)
def test_views_of_sql(name: str, seed: int) -> None:
    catalog, queries = load(VIEWS[name], catalog=schema(), default_name="query")
    program = program_of(queries, catalog, PipelineOptions())
    options = DistributionOptions(workers=3, deliver=True, grids=True)
    known = [q.name for q in queries]
    d = distribute(program, None, options, catalog.functions, known)
    assert not d.compared, "all of these are collected"
    stream = random_stream(catalog, random.Random(f"{name} {seed}"), 12)
    read = {r.name for r in program.relations if r.static}
    tables = {n: [row for row, _ in rows] for n, rows in grouped(list(stream.static)) if n in read}
    followed = Followed(d, catalog.functions, 3, queries[0].name, tables)
    for number, batch in enumerate(stream.batches):
        changed = {t.relation for t in program.triggers if t.event == "batch"}
        rows = dict(grouped([e for e in batch if e[0] in changed]))
        if rows:
            followed.apply(rows)
            followed.check(f"batch {number}")
