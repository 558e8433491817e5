"""The queries of TPC-DS as they are worded, kept incrementally, beside DuckDB after every batch.

`python -m tests.differential.tpcds.test_tpcds` prints the table of `docs/reference/tpcds.md`, with
a number also runs that query: `... test_tpcds reference 3`.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest

from freshview.codegen.library.compiler import find_compiler
from freshview.errors import FreshviewError, NotNative
from freshview.reference.engine.engine import ReferenceEngine
from freshview.runtime.compile.kernel_engine import kernel_engine
from freshview.sql.load import load
from tests.differential import harness
from tests.differential.tpcds.source import NotInstalled, tpcds
from tests.differential.tpcds.world import World, catalog
from tests.thin import only
from workloads import Workload

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "tpcds.md"
ALL = range(1, 100)
USUAL = (3, 42)
"""Of the supported ones, those of the usual run: the others take seconds to minutes."""

HARD: dict[int, str] = {}
"""Queries that are read, but not yet kept at a bearable cost, and why."""


@pytest.fixture(autouse=True, scope="module")
def installed() -> None:
    try:
        tpcds()
    except NotInstalled as why:
        pytest.skip(f"TPC-DS cannot be installed here: {why}")


@cache
def blocked(number: int) -> str:
    """What keeps a query from being maintained; empty if nothing does."""
    try:
        load(tpcds().texts[number], f"q{number}", catalog())
    except FreshviewError as error:
        return error.what
    return HARD.get(number, "")


def case_of(number: int, part: float) -> harness.Case:
    text = tpcds().texts[number]
    _, [query] = load(text, f"q{number}", catalog(), default_name=f"q{number}")
    world = cast(Workload, World(text, part=part))
    return harness.Case(world, catalog(), query, text.rstrip().rstrip(";"), ())


def run(number: int, engine: str, batches: int = 6) -> bool:
    """Keep a query, and compare after every batch; tells whether it ever had rows."""
    case = case_of(number, 0.15 if engine == "reference" else 1.0)
    start: Any = ReferenceEngine
    if engine == "kernel":
        start = lambda program, functions: kernel_engine(program, functions)  # noqa: E731
    options = replace(harness.STRATEGIES["higher-order"], mode="batch")
    _, filled = harness.agree(
        case, options, seed=number, batches=batches, max_size=60, live=0, start=start
    )
    return bool(filled)


def supported() -> list[Any]:
    return only(ALL, lambda number: number in USUAL)


def skip_if_blocked(number: int) -> None:
    if why := blocked(number):
        pytest.skip(f"q{number}: {why}")


@pytest.mark.parametrize("number", supported())
def test_a_query_equals_duckdb_after_every_batch(number: int) -> None:
    skip_if_blocked(number)
    run(number, "reference")


@pytest.mark.native
@pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("number", supported())
def test_a_kernel_equals_duckdb_after_every_batch(number: int) -> None:
    skip_if_blocked(number)
    try:
        run(number, "kernel")
    except NotNative as why:
        pytest.skip(f"q{number} has no kernel: {why}")


def test_the_page_says_what_is_supported() -> None:
    assert table() in PAGE.read_text(), "print it anew: see the top of this file"


def table() -> str:
    """The support table of the docs."""
    reasons: dict[str, list[int]] = {}
    for number in ALL:
        reasons.setdefault(blocked(number), []).append(number)
    kept = reasons.pop("", [])
    lines = ["| queries | | |", "|---|---|---|"]
    lines.append(f"| {_listed(kept)} | {len(kept)} | accepted |")
    for why, numbers in sorted(reasons.items(), key=lambda item: -len(item[1])):
        lines.append(f"| {_listed(numbers)} | {len(numbers)} | {why} |")
    return "\n".join(lines)


def _listed(numbers: list[int]) -> str:
    return ", ".join(str(n) for n in numbers)


if __name__ == "__main__":
    if not sys.argv[1:]:
        print(table())
    for asked in sys.argv[2:]:
        print(asked, run(int(asked), sys.argv[1]), flush=True)
