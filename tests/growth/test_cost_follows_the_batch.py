"""What a batch costs that is joined with itself: operation counts, as the batch grows.

The batch is a frame of a molecule: one position for every atom. All of them are at one time, so a
join on time alone pairs all with all; but the atoms of a dihedral are neighbours in a chain, and
which ones they are a table tells. The chain is made longer, not the data denser.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from freshview.ivm.options import Mode
from freshview.reference.engine.run import Engine
from tests.differential.harness import STRATEGIES, case, compiled

TIMES = 4
SLACK = 1.2

DEGREE: dict[tuple[str, Mode], int] = {
    ("first-order", "batch"): 1,
    ("project", "batch"): 1,
    # A map of the view has the atoms of two positions as keys: pairs of the batch are tried.
    ("cyclic", "batch"): 2,
    ("higher-order", "batch"): 2,
    ("first-order", "tuple"): 1,
    ("higher-order", "tuple"): 1,
}
"""How the cost of a frame grows with its atoms, where four of them are joined."""


def work(strategy: str, mode: Mode, scale: int) -> int:
    """What it costs that a frame comes, and that all its atoms move."""
    c = case("mddb", "mddb2")
    program = compiled(c, replace(STRATEGIES[strategy], mode=mode))
    tables = c.workload.tables(seed=1, scale=scale)
    engine = Engine(program, c.catalog.functions)
    engine.load(tables)
    before = engine.work
    frame = [(1, 0, atom[1], 0.0, 1.0, 2.0 * i) for i, atom in enumerate(tables["AtomMeta"])]
    engine.apply("AtomPositions", [(row, 1) for row in frame])
    moved = [(*row[:3], 7.0, *row[4:]) for row in frame]
    engine.apply("AtomPositions", [(r, -1) for r in frame] + [(r, 1) for r in moved])
    cost = engine.work - before
    assert engine.read("mddb2"), "a frame without dihedrals shows nothing"
    return cost


@pytest.mark.parametrize(("strategy", "mode"), DEGREE)
def test_a_whole_frame(strategy: str, mode: Mode) -> None:
    short, long = (work(strategy, mode, scale) for scale in (1, TIMES))
    assert long <= SLACK * short * TIMES ** DEGREE[strategy, mode]
