"""Nexmark: every query equals DuckDB's after every batch, deletes and NULLs included."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import freshview
from tests.differential.nexmark import House, bag, changes, page, queries
from workloads import NEXMARK

NAMES = list(queries())
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "nexmark.md"


def run(names: Sequence[str], batches: int, live: int, **options: Any) -> None:
    db, house = freshview.connect(**options), House()
    db.execute(NEXMARK.schema.read_text())
    for name in names:
        db.execute(f"CREATE VIEW {name} AS {queries()[name]}")
    for table, rows in NEXMARK.tables().items():
        db.load(table, rows)
    filled: set[str] = set()
    for batch in NEXMARK.stream(seed=1, batches=batches, live=live, max_size=60):
        db.apply(changes(batch))
        house.apply(batch)
        for name in names:
            rows = bag(db.view(name).rows())
            assert rows == house.rows(name), name
            filled |= {name} if rows else set()
    assert filled == set(names)


def test_the_page_is_that_of_the_queries() -> None:
    assert PAGE.read_text() == page()


@pytest.mark.parametrize("name", NAMES)
def test_on_the_reference_engine(name: str) -> None:
    run([name], batches=10, live=60, engine="reference")


@pytest.mark.native
@pytest.mark.parametrize("name", NAMES)
def test_on_kernels(name: str) -> None:
    run([name], batches=10, live=60, engine="native")


@pytest.mark.spark
@pytest.mark.parametrize("part", range(3))
def test_on_spark(part: int, spark: Any, tmp_path: Path) -> None:
    names = NAMES[part::3]
    views = "".join(f"CREATE VIEW {n} AS {queries()[n]};" for n in names)
    house = House()
    folder = tmp_path / "side_input"
    folder.mkdir()
    side = "".join(f"{k},{v}\n" for k, v in NEXMARK.tables()["side_input"])
    (folder / "rows.csv").write_text(f"k,v\n{side}")
    source = f"FROM CSV '{folder}' (header := true, delimiter := ',');"
    schema = NEXMARK.schema.read_text().rstrip().removesuffix(";") + source
    script = schema + views
    read = {s for s in ("bid", "auction", "person") if re.search(rf"\b{s}\b", views)}
    with freshview.pipeline(script, spark, checkpoint=tmp_path / "c", workers=2) as flow:
        for batch in NEXMARK.stream(seed=2, batches=4, live=40, max_size=60):
            flow.push({s: rows for s, rows in changes(batch).items() if s in read})
            house.apply(batch)
            for name in names:
                assert bag(flow.view(name).rows()) == house.rows(name), name
