"""The law of the distributed compiler: wherever maps live, every map has the reference's rows.

Random terms become programs of random strategies; their maps are placed anyhow, their batches
arrive anywhere, and each level of optimization runs on simulated workers.
"""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from freshview.calculus.functions import BUILTINS
from freshview.calculus.schema import Column, Query
from freshview.calculus.scope import outs, relations
from freshview.calculus.types import INT
from freshview.distributed.compile import distribute
from freshview.distributed.options import LEVELS
from freshview.distributed.placement import static_maps
from freshview.distributed.terms import (
    Dist,
    Everywhere,
    Local,
    Location,
    Placement,
    Random,
    Replicated,
    Slice,
)
from freshview.errors import TypeProblem
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.program.terms import Program
from tests.law.programs import recompute
from tests.law.spark_programs import Pair
from tests.law.strategies import RELATIONS, deltas, terms
from tests.law.test_compile import SCHEMA, is_typed, no_null, numeric
from tests.law.test_simplify import without_nulls
from tests.thin import thin

WORKERS = st.sampled_from([1, 2, 3, 5])
STRATEGIES = [
    DeltaOptions(),
    DeltaOptions(depth=1),
    DeltaOptions(depth=0),
    DeltaOptions(decompose=False),
    DeltaOptions(always_update=True),
    DeltaOptions(low_cardinality=frozenset("SU")),
]


@st.composite
def placements(draw: st.DrawFn, program: Program, workers: int) -> Placement:
    """Every map anywhere that it may be; every batch anywhere that it may arrive."""
    fixed = static_maps(program)
    maps: dict[str, Location] = {}
    for m in program.maps:
        if m.name in fixed and draw(st.booleans()):
            maps[m.name] = Everywhere()
        else:
            maps[m.name] = draw(locations(tuple(c.name for c in m.keys), workers, Replicated()))
    batches = {
        r.name: draw(
            locations(tuple(c.name for c in r.columns), workers, Random(), Random(whole=True))
        )
        for r in program.relations
        if not r.static
    }
    return Placement(maps, batches)


def locations(
    columns: tuple[str, ...], workers: int, *others: Location
) -> st.SearchStrategy[Location]:
    """On the driver, one of the others, or by some of the columns in some order, also on grids."""
    plain = st.sampled_from([Local(), *others])
    if not columns:
        return plain
    keys = st.lists(st.sampled_from(columns), min_size=1, max_size=2, unique=True)
    shapes = st.sampled_from([(n, workers // n) for n in range(1, workers + 1)])
    axes: list[Literal["rows", "columns"]] = ["rows", "columns"]
    lines = st.builds(Slice, keys.map(tuple), st.sampled_from(axes), shapes)
    return st.one_of(plain, keys.map(lambda k: Dist(tuple(k))), lines)


def stream(data: st.DataObject, pair: Pair, names: list[str]) -> None:
    """A few batches, of one relation or of several at once."""
    for number in range(3):
        among = st.sampled_from(names)
        changed = data.draw(st.lists(among, min_size=1, max_size=3, unique=True))
        pair.apply({name: list(no_null(data.draw(deltas(name))).items()) for name in changed})
        pair.check(f"batch {number}")


@pytest.mark.parametrize("level", LEVELS)
@settings(max_examples=15)
@given(data=st.data())
def test_incremental_programs(level: str, data: st.DataObject) -> None:
    e = numeric(without_nulls(data.draw(terms(depth=4))))
    assume(relations(e) and is_typed(e))
    names = tuple(sorted(outs(e)))
    query = Query("Q", tuple(Column(v, INT) for v in names), names, e)
    program = compile_queries([query], SCHEMA, data.draw(st.sampled_from(STRATEGIES)))
    workers = data.draw(WORKERS)
    distributed = distribute(program, data.draw(placements(program, workers)), LEVELS[level])
    table = no_null(data.draw(deltas("U")))
    rows = {"U": [row for row, m in table.items() for _ in range(abs(m))]}
    pair = Pair(program, distributed, workers, BUILTINS, rows)
    pair.check("ready")
    stream(data, pair, ["R", "S", "T"])


@pytest.mark.parametrize("level", thin(LEVELS, 2))
@settings(max_examples=30)
@given(data=st.data())
def test_programs_that_recompute(level: str, data: st.DataObject) -> None:
    """Whole terms over maps that are far apart: each kind of node meets each location."""
    e = without_nulls(data.draw(terms(depth=4)))
    try:
        program = recompute(e, batches=True)
    except TypeProblem:
        assume(False)
    workers = data.draw(WORKERS)
    distributed = distribute(program, data.draw(placements(program, workers)), LEVELS[level])
    pair = Pair(program, distributed, workers, BUILTINS, {})
    stream(data, pair, sorted(RELATIONS))
