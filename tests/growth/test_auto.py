"""`auto` chooses what costs little: its work beside that of every strategy, by counts of rows."""

from __future__ import annotations

import pytest

from bench.auto import BOUND, MODES, Case, measure, moving_average, workload_case
from freshview.ivm.options import Mode
from tests.differential.harness import cases
from tests.thin import only, thin

SAMPLE = {
    ("tpch", "q03"),
    ("tpch", "q21"),
    ("tpcds", "d42"),
    ("retailer", "r_stock"),
}
"""Queries on which the choice was once far from the best; all the others are in the full run."""


@pytest.mark.parametrize("mode", thin(MODES, 2))
@pytest.mark.parametrize(("workload", "name"), only(cases(), SAMPLE.__contains__))
def test_no_strategy_does_much_less(workload: str, name: str, mode: Mode) -> None:
    check(workload_case(workload, name, batches=60, size=100, live=500), mode)


@pytest.mark.parametrize("mode", MODES)
def test_no_strategy_does_much_less_for_a_moving_average(mode: Mode) -> None:
    check(moving_average(60), mode)


def check(case: Case, mode: Mode) -> None:
    """The bound holds for what is chosen with the sizes of the data and without them."""
    line = measure(case, mode)
    works = f"{line.chosen}: {line.auto:,.0f}, without sizes {line.blind:,.0f}; best: {line.best}"
    assert max(line.ratio, line.blind_ratio) <= BOUND, works
