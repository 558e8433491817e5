"""Every workload query equals DuckDB's recomputation after every batch, deletes included.

The default run streams few small batches through every query in both modes, and through one of the
other strategies; the full run (`make test-full`) streams 200 batches of 1 to 1,000 rows, and all
the strategies that apply.
"""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import pytest

from freshview.ivm.options import DeltaOptions
from tests.differential.harness import STRATEGIES, agree, case, cases, compiled
from tests.thin import only, own_wording, thin

MODES = ("batch", "tuple")
LIVE = {"mst": 50, "vwap": 100}
"""Live rows of queries that compare all rows with all: the others have 200, 500 in the full run."""

LARGEST = {"mst": 20, "vwap": 100, "psp": 200}
"""Rows of a batch where the other strategies compare all with all: the rest has up to 1,000."""

OTHERS = [s for s in STRATEGIES if s != "higher-order"]
CASES = cases()


def of(workload: str, name: str, among: list[str]) -> str:
    """A choice that depends on the query alone, so that all are met over all the queries."""
    return among[crc32(f"{workload}/{name}".encode()) % len(among)]


@pytest.mark.parametrize(("workload", "name"), only(CASES, own_wording))
def test_higher_order(workload: str, name: str) -> None:
    options = [replace(STRATEGIES["higher-order"], mode=mode) for mode in MODES]
    live = LIVE.get(name, 200)
    agree(case(workload, name), *options, seed=3, batches=12, max_size=150, live=live)


@pytest.mark.parametrize(("workload", "name"), thin(CASES, 3))
def test_another_strategy(workload: str, name: str) -> None:
    mode = of(workload, name, ["tuple", "batch"])
    options = replace(STRATEGIES[of(workload, name, OTHERS)], mode=mode)
    agree(case(workload, name), options, seed=4, batches=8, max_size=40, live=60)


@pytest.mark.full
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("workload", "name"), CASES)
def test_higher_order_in_full(workload: str, name: str, mode: str) -> None:
    options = replace(STRATEGIES["higher-order"], mode=mode)
    live = LIVE.get(name, 500)
    _, filled = agree(case(workload, name), options, seed=5, batches=200, max_size=1000, live=live)
    assert filled, "the stream never filled the view"


def applicable(workload: str, name: str, mode: str) -> list[DeltaOptions]:
    """The other strategies whose program differs from the higher-order one."""
    c = case(workload, name)
    plain = compiled(c, replace(STRATEGIES["higher-order"], mode=mode))
    tried = [replace(STRATEGIES[s], mode=mode) for s in OTHERS if s != "reeval"]
    return [o for o in tried if compiled(c, o) != plain]


@pytest.mark.full
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("workload", "name"), CASES)
def test_other_strategies_in_full(workload: str, name: str, mode: str) -> None:
    options = applicable(workload, name, mode)
    live = min(LIVE.get(name, 150), 150)
    largest = LARGEST.get(name, 1000)
    agree(case(workload, name), *options, seed=6, batches=200, max_size=largest, live=live)


@pytest.mark.full
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("workload", "name"), CASES)
def test_reeval_in_full(workload: str, name: str, mode: str) -> None:
    # Re-evaluation costs a whole query per row in tuple mode: fewer rows, as many batches.
    largest = {"batch": 1000, "tuple": 20}[mode]
    options = replace(STRATEGIES["reeval"], mode=mode)
    live = min(LIVE.get(name, 100), 100)
    agree(case(workload, name), options, seed=7, batches=200, max_size=largest, live=live)
