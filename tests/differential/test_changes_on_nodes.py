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
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.program import program_of
from freshview.runtime.ingest.columns import COUNT, rows_of, table_of
from freshview.sql import Catalog
from freshview.sql.load import load
from tests.differential.harness import grouped, same
from tests.differential.streams import random_stream, schema
from tests.law.test_collected_changes import VIEWS

WORKERS, BATCHES = 2, 12


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


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", VIEWS)
def test_one_view_in_python(tmp_path: Path, name: str, seed: int) -> None:
    follow([name], tmp_path, seed, native=False)


def test_many_views_in_python(tmp_path: Path) -> None:
    follow(list(VIEWS), tmp_path, 7, native=False)


@pytest.mark.native
@pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("half", range(2))
def test_views_in_kernels(tmp_path: Path, half: int) -> None:
    follow(list(VIEWS)[half::2], tmp_path, half, native=True)
