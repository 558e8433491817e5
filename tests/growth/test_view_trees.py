"""What a change costs in a view tree: operation counts, alone and among ten copies of the data."""

from __future__ import annotations

import pytest

from freshview.factorized.options import ViewTreeOptions
from tests.differential.harness import case, compiled
from tests.differential.test_factorized import KEPT
from tests.growth.test_cost_follows_the_delta import growth

SLOW = ("mddb2",)


@pytest.mark.parametrize(("workload", "name"), [c for c in KEPT if c[1] not in SLOW])
def test_the_work_follows_the_change(workload: str, name: str) -> None:
    """Also where higher-order deltas grow: TPC-H Q5, whose cycle the indicators break."""
    c = case(workload, name)
    assert growth(c, compiled(c, ViewTreeOptions())) == {}
