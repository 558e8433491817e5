"""What follows from a change of a view on Spark follows the change: as the view grows, the same.

Rows that come to the driver, rows that are told, and, where keys find them, rows looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from freshview.distributed.compile import distribute
from freshview.distributed.options import DistributionOptions
from freshview.distributed.simulate import Simulation
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.program import program_of
from freshview.program.engine import added
from freshview.sql.load import load

STREAMS = """
CREATE STREAM r (k INT NOT NULL, v INT NOT NULL);
CREATE STREAM s (k INT NOT NULL, d INT NOT NULL);
CREATE STREAM o (k INT NOT NULL, c INT NOT NULL, PRIMARY KEY (k));
"""
FEW, MANY = 200, 2000
KEYED = {
    "groups": "SELECT k, SUM(v) AS v, COUNT(*) AS n FROM r GROUP BY k",
    "by key": "SELECT o.k, SUM(v) AS v, COUNT(*) AS n FROM o, r WHERE o.k = r.k GROUP BY o.k",
    "extremes": "SELECT k, MIN(v) AS low, MAX(v) AS high FROM r GROUP BY k",
    "joined": "SELECT r.k, SUM(r.v * s.d) AS x FROM r, s WHERE r.k = s.k GROUP BY r.k",
    "square": "SELECT k, SUM(v) * SUM(v) AS q FROM r GROUP BY k",
    "total": "SELECT SUM(v) AS v FROM r",
}
OTHERS = {
    "rows": "SELECT r.k, r.v, s.d FROM r, s WHERE r.k = s.k",
    "outer": "SELECT r.k, r.v, s.d FROM r LEFT JOIN s ON r.k = s.k",
    "first": "SELECT k, SUM(v) AS v FROM r GROUP BY k ORDER BY v DESC LIMIT 3",
    "above by key": "SELECT o.k, SUM(v) AS x FROM o, r WHERE o.k = r.k GROUP BY o.k "
    "HAVING SUM(v) > (SELECT AVG(v) FROM r)",
    "above": "SELECT k, SUM(v) AS v FROM r GROUP BY k HAVING SUM(v) > (SELECT AVG(v) FROM r)",
}


@dataclass(frozen=True)
class Cost:
    """What single rows have cost: rows sent to the driver, rows told, rows looked at."""

    gathered: int
    told: int
    work: int


def cost(sql: str, groups: int, collected: Sequence[str] = ("q",)) -> Cost:
    catalog, queries = load(f"{STREAMS} CREATE VIEW q AS {sql};")
    program = program_of(queries, catalog, PipelineOptions())
    options = DistributionOptions(workers=3, deliver=True)
    simulation = Simulation(distribute(program, None, options, collected=collected), 3)
    known = {r.name for r in program.relations}
    rows = {
        "r": [((k, k + 1), 1) for k in range(groups)],
        "s": [((k, 2), 1) for k in range(groups)],
        "o": [((k, 1), 1) for k in range(groups)],
    }
    simulation.apply({n: some for n, some in rows.items() if n in known})
    simulation.apply({"r": [((7, 7), 1)]})  # what is looked up is put in order once
    simulation.collected("q")
    total = Cost(0, 0, 0)
    for k in (1, 50, 120):
        before, gathered, work = simulation.read("q"), simulation.gathered, simulation.work.visits
        simulation.apply({"r": [((k, -5), 1)]})
        gathered, work = simulation.gathered - gathered, simulation.work.visits - work
        change, now = simulation.collected("q"), simulation.read("q")
        if collected:
            assert added(before, change.items()) == now
            assert all(change.values()), "a row that did not change"
        total = Cost(total.gathered + gathered, total.told + len(change), total.work + work)
    return total


@pytest.mark.parametrize("sql", KEYED.values(), ids=KEYED)
def test_changes_cost_what_they_are_worth(sql: str) -> None:
    assert cost(sql, FEW) == cost(sql, MANY)


@pytest.mark.parametrize("groups", [FEW, MANY])
@pytest.mark.parametrize("sql", [*KEYED.values(), *OTHERS.values()], ids=[*KEYED, *OTHERS])
def test_rows_that_come_to_the_driver_are_the_change(sql: str, groups: int) -> None:
    """Beside those that come without a sink: what the driver computes itself needs not come."""
    alone, followed = cost(sql, groups, ()), cost(sql, groups)
    assert followed.gathered - alone.gathered in (0, followed.told)
