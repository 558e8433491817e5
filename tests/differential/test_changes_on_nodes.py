"""Changes that versions collect on nodes add up to the views: Python and kernels keep the maps.

Random streams with NULLs, deletions and rows that come twice, several relations in a batch, several
views in a program, and a restart in the middle.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from freshview.calculus.schema import Column
from freshview.calculus.types import INT
from freshview.codegen.library.compiler import find_compiler
from freshview.distributed.compile import distribute
from freshview.distributed.options import DistributionOptions
from freshview.distributed.terms import Distributed
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.pipelines.flow import Flow
from freshview.pipelines.open import pipeline
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.program import program_of
from freshview.runtime.ingest.columns import COUNT, rows_of, table_of
from freshview.sql import Catalog
from freshview.sql.load import load
from tests.differential.harness import grouped, same
from tests.differential.streams import random_stream, schema
from tests.law.test_collected_changes import VIEWS
from tests.thin import thin

WORKERS, BATCHES = 2, 12
ON_SPARK = ("groups", "extremes", "outer", "outer groups", "above", "square", "union")


def rows(table: pa.Table) -> Counter[Any]:
    return Counter(rows_of(table))


def changed(table: pa.Table) -> Counter[Any]:
    counts = table.column(COUNT).to_pylist()
    assert all(counts), "a row that did not change"
    keys = rows_of(table.drop_columns([COUNT]))
    assert len(set(keys)) == len(keys), "a row twice"
    return Counter(dict(zip(keys, counts, strict=True)))


def counted(catalog: Catalog, name: str, some: list[Any]) -> pa.Table:
    """Rows of a relation with their counts, as a table."""
    columns = (*catalog.relation(name).columns, Column(COUNT, INT))
    return table_of(columns, [(*row, count) for row, count in some], name)


def together(names: list[str]) -> tuple[Catalog, Distributed]:
    """A program of several views, all of whose changes are collected."""
    script = ";\n".join(f"CREATE VIEW `{name}` AS {VIEWS[name]}" for name in names)
    catalog, queries = load(script, catalog=schema())
    program = program_of(queries, catalog, PipelineOptions())
    options = DistributionOptions(workers=WORKERS, deliver=True, grids=True)
    return catalog, distribute(program, None, options, catalog.functions, names)


def follow(names: list[str], folder: Path, seed: int, native: bool) -> None:
    catalog, distributed = together(names)
    stream = random_stream(catalog, random.Random(f"changes {seed}"), BATCHES)
    static = {r.name for r in distributed.program.relations if r.static}
    moving = {t.relation for t in distributed.program.triggers if t.event == "batch"}
    tables = {n: some for n, some in grouped(list(stream.static)) if n in static}
    common: Any = {
        "checkpoint": folder / "state",
        "functions": catalog.functions,
        "settings": FlowSettings(memory=str(folder / "memory"), native=native),
    }
    static_rows = {n: counted(catalog, n, some).drop_columns([COUNT]) for n, some in tables.items()}
    flow = Flow.start(distributed, InlineRunner(), workers=WORKERS, tables=static_rows, **common)
    known = {name: rows(flow.read(name)) for name in names}
    for number, batch in enumerate(stream.batches):
        given = dict(grouped([e for e in batch if e[0] in moving]))
        if not given:
            continue
        since = flow.version
        flow.apply({name: counted(catalog, name, some) for name, some in given.items()})
        if number == BATCHES // 2:
            flow.close()
            flow = Flow.restart(distributed, InlineRunner(), **common)
        for name in names:
            known[name].update(changed(flow.changes(name, since)))
            now = Counter({row: n for row, n in known[name].items() if n})
            assert min(now.values(), default=1) > 0
            assert same(now, rows(flow.read(name))), f"{name} after batch {number}"
        flow.acknowledge(flow.version)
    left = list((folder / "state").glob("changes/*"))
    assert len(left) <= 1, "what was received is kept"
    flow.close()


@pytest.mark.parametrize("seed", thin(range(2), 2))
@pytest.mark.parametrize("name", thin(VIEWS, 2))
def test_one_view_in_python(tmp_path: Path, name: str, seed: int) -> None:
    follow([name], tmp_path, seed, native=False)


def test_many_views_in_python(tmp_path: Path) -> None:
    follow(list(VIEWS), tmp_path, 7, native=False)


@pytest.mark.native
@pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("half", range(2))
def test_views_in_kernels(tmp_path: Path, half: int) -> None:
    follow(list(VIEWS)[half::2], tmp_path, half, native=True)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_views_on_spark(tmp_path: Path, spark: Any) -> None:
    """Beside Spark SQL: what a sink was told adds up to what Spark finds in the rows themselves."""
    texts = {name.replace(" ", "_"): VIEWS[name] for name in ON_SPARK}
    script = "CREATE STREAM r (a INT, b INT, c INT NOT NULL);CREATE STREAM s (a INT, d INT);"
    flow = pipeline(script, spark, workers=2, checkpoint=tmp_path / "checkpoint", trusted=True)
    told: dict[str, Counter[Any]] = {}
    for name, sql in texts.items():
        flow.declare(f"CREATE VIEW {name} AS {sql}")
        told[name] = Counter()

        def hear(_: int, table: pa.Table, name: str = name) -> None:
            told[name].update(changed(table))

        flow.on_version(name, hear, changes=True)
    rng, held = random.Random("on spark"), {"r": Counter(), "s": Counter()}
    for _ in range(4):
        batch: dict[str, list[Any]] = {}
        for name, width in (("r", 3), ("s", 2)):
            change = Counter(tuple(rng.randrange(4) for _ in range(width)) for _ in range(6))
            change.subtract(rng.sample(sorted(held[name]), min(3, len(held[name]))))
            batch[name] = [(row, n) for row, n in change.items() if n]
            held[name] += Counter(change) if name in held else change
            held[name] = +Counter({row: n for row, n in held[name].items() if n > 0})
        flow.push(batch)
        for name, columns in (("r", "a INT, b INT, c INT"), ("s", "a INT, d INT")):
            spark.createDataFrame(list(held[name].elements()), columns).createOrReplaceTempView(
                name
            )
        for name, sql in texts.items():
            now = Counter({row: n for row, n in told[name].items() if n})
            wanted = Counter(tuple(row) for row in spark.sql(sql).collect())
            assert same(now, wanted), name
    flow.stop()
