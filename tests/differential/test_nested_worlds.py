"""Worlds whose views nest every construct in every other: DuckDB's rows after every batch.

`python -m tests.differential.test_worlds reference 400100 404600` runs many seeds, and so do
`kernels` and `default`; `-m full -k spark` of this file runs 100 worlds on Spark.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import freshview
from freshview.codegen.library.compiler import find_compiler
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.runtime.ingest.columns import rows_of
from freshview.sql.load import load
from tests.differential.duck import Duck, plain
from tests.differential.harness import grouped, same
from tests.differential.nested_sql import ComputedWriter
from tests.differential.test_worlds import by_default, on_kernels, on_reference
from tests.differential.typed_terms import Column, Source
from tests.differential.worlds import World, world
from tests.thin import thin

COMPILED = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]
FAILED = (300_061,)
"""Seeds that once gave wrong rows."""

SOURCES = [
    Source("r", tuple(Column(f"{k[0]}{i}", k) for i, k in enumerate(("int", "string", "date")))),
    Source("s", tuple(Column(f"{k[0]}{i}", k) for i, k in enumerate(("int", "decimal", "int")))),
    Source("t", tuple(Column(f"{k[0]}{i}", k) for i, k in enumerate(("bool", "double", "int")))),
]

CONSTRUCTS = (
    *("UNION ALL", r"UNION SELECT", "INTERSECT SELECT", "INTERSECT ALL", "EXCEPT SELECT"),
    *("EXCEPT ALL", "MINUS", "SEMI JOIN", "ANTI JOIN", "LATERAL", "PIVOT", "UNPIVOT"),
    *("GROUPING SETS", "ROLLUP", "CUBE", "GROUPING_ID", "GROUPING\\(", "VALUES", "range\\("),
    *("OFFSET", "LIMIT", "ORDER BY", "GROUP BY ALL", "\\* EXCEPT", "QUALIFY", "WITH c0"),
    *("MATERIALIZED", "USING", "ASOF JOIN", "ASOF LEFT JOIN", "FULL JOIN", "RIGHT JOIN"),
    *("ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE", "PERCENT_RANK", "CUME_DIST", "LAG", "LEAD"),
    *("FIRST_VALUE", "LAST_VALUE", "NTH_VALUE", "IGNORE NULLS", "ROWS BETWEEN", "RANGE BETWEEN"),
    *("GROUPS BETWEEN", "EXCLUDE CURRENT ROW", "EXCLUDE GROUP", "EXCLUDE TIES", "WINDOW w AS"),
    *("FILTER \\(WHERE", r"FILTER \(WHERE [^()]*\) OVER", r"COUNT\(DISTINCT [\w.]*\) OVER"),
    *("STDDEV", "VAR_POP", "COVAR", "CORR", "REGR_", "SKEWNESS", "MEDIAN", "PERCENTILE_CONT"),
    *("PERCENTILE_DISC", "MODE\\(", "MIN_BY", "MAX_BY", "FIRST\\(", "LAST\\(", "BOOL_AND"),
    *("BOOL_OR", "COUNT_IF", "APPROX_COUNT_DISTINCT", r"MEDIAN\([\w.]*\) OVER", "TRY_CAST"),
    *("CAST\\(", " DIV ", " & ", "RLIKE", "CONCAT_WS", "ADD_MONTHS", "EXISTS", "NOT IN", " ANY "),
    *(" ALL \\(", "CASE WHEN", r"\([\w., ]*\) (NOT )?IN \(SELECT", r"SELECT \(SELECT", "HAVING"),
)
"""What must come within a few thousand views."""


def test_every_construct_is_written() -> None:
    writer = ComputedWriter(random.Random(3), list(SOURCES))
    text = "\n".join(writer.view("v").sql for _ in range(4000))
    assert [c for c in CONSTRUCTS if not re.search(c, text)] == []
    aliases = re.search(r"SELECT q\d*\.x0 AS y0, .*y0 AS z, z \+ y0", text)
    assert aliases, "an alias beside what it names"


@pytest.mark.parametrize(
    "seed",
    [*thin(range(300_000, 300_030), 10), *thin(range(400_000, 400_030), 10), *FAILED],
    ids="world-{}-".format,
)
def test_reference(seed: int) -> None:
    on_reference(seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(400_100, 404_600), ids="world-{}-".format)
def test_reference_in_full(seed: int) -> None:
    on_reference(seed)


@pytest.mark.parametrize("seed", thin(range(301_030, 301_040), 5), ids="world-{}-".format)
class TestKernels:
    pytestmark = COMPILED

    def test_from_the_start(self, seed: int) -> None:
        on_kernels(seed)

    def test_that_take_over(self, seed: int) -> None:
        by_default(seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(404_600, 405_500), ids="world-{}-".format)
class TestKernelsInFull:
    pytestmark = COMPILED

    def test_as_users_get_them(self, seed: int) -> None:
        (on_kernels if seed % 2 else by_default)(seed)


def follow_pipeline(w: World, folder: Path, runner: Any, settings: FlowSettings) -> None:
    """Every view of a pipeline has DuckDB's rows after every batch."""
    views = [f"CREATE VIEW {v.name} AS {v.sql};" for v in w.views]
    path = folder / "views.sql"
    path.write_text("\n".join([w.script(), *views]))
    duck = Duck(load(w.script())[0])
    for v in w.views:
        duck.create_view(v.name, v.oracle or v.sql)
    flow = freshview.pipeline(path, runner, workers=2, settings=settings).start()
    known = {r.name for v in flow.views for r in v.relations}
    try:
        for number, batch in enumerate(w.batches):
            duck.apply(batch)
            flow.push({n: c for n, c in grouped(list(batch)) if n in known})
            for v in w.views:
                rows = Counter(tuple(map(plain, r)) for r in rows_of(flow.view(v.name).to_arrow()))
                expected = duck.query(f"SELECT * FROM {v.name}")
                assert same(rows, expected), (
                    f"{w}\n{v.name}, batch {number}: too much {dict(rows - expected)}, "
                    f"missing {dict(expected - rows)}"
                )
    finally:
        flow.stop()


def settings(folder: Path, *, native: bool) -> FlowSettings:
    """Where workers keep their state."""
    return FlowSettings(memory=str(folder / "memory"), native=native)


@pytest.mark.parametrize("seed", thin(range(302_000, 302_020), 10), ids="world-{}-".format)
def test_workers_of_a_pipeline(seed: int, tmp_path: Path) -> None:
    follow_pipeline(world(seed), tmp_path, InlineRunner(), settings(tmp_path, native=False))


@pytest.mark.full
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("seed", range(405_500, 405_600), ids="world-{}-".format)
def test_on_spark(seed: int, tmp_path: Path, spark: Any) -> None:
    native = bool(seed % 2) and find_compiler() is not None
    follow_pipeline(world(seed), tmp_path, spark, settings(tmp_path, native=native))
