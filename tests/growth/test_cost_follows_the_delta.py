"""The work that a change causes follows the change, not the data: operation counts, never clocks.

The data grows by copies of itself whose keys are shifted, so a copy joins only with itself: every
group of a key keeps its size, and a program that goes from the change to its partners by key does
the very same work among ten copies as alone. A scan, or a join on something other than keys,
shows at once. Reading a view is not part of it: only what happens when rows change.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from freshview.calculus.schema import Relation
from freshview.ivm.options import DeltaOptions
from freshview.program.terms import Program
from freshview.reference.engine.engine import ReferenceEngine
from tests.differential.harness import Case, Start, case, cases, compiled
from tests.thin import thin
from workloads import WORKLOADS, Row

# What tells the rows of one copy from those of another: the columns that streams join on. Keys
# of static tables stay, since those tables stay.
KEYS = {
    "tpch": "o_orderkey l_orderkey o_custkey c_custkey l_partkey p_partkey ps_partkey "
    "l_suppkey s_suppkey ps_suppkey",
    "tpch_papers": "orderkey custkey partkey suppkey",
    "finance": "id broker_id",
    "mddb": "trj_id",
    "tpcds": "ss_ticket_number ss_customer_sk c_customer_sk ss_addr_sk c_current_addr_sk "
    "ca_address_sk",
    "housing": "postcode",
    "retailer": "locn ksn zip",
}

LIVE = {"mddb": 60}  # of each relation; 120 elsewhere. Joins of four positions are slow.
SHIFT = 1_000_003  # beyond every key that the generators draw
COPIES = 10
SLACK = 1.2  # a group that is not a key may have a row more or less among the copies
CHANGED = 20  # rows of each relation that leave and come back

Name = tuple[str, str]

TOTAL = "each row is compared with an aggregate of all rows"
EXTREME = "each row is compared with the extreme of all rows"

RECOMPUTED: dict[Name, str] = {
    ("tpch", "q15"): EXTREME,
    ("tpch", "q22"): TOTAL,
    ("tpch_papers", "q11"): TOTAL,
    ("tpch_papers", "q15"): EXTREME,
    ("tpch_papers", "q22"): TOTAL,
    ("tpch_papers", "q22a"): TOTAL,
    ("finance", "mst"): TOTAL,
    ("finance", "psp"): TOTAL,
    ("finance", "vwap"): TOTAL,
}
"""Queries with a `:=` statement: the change of one row can touch all others."""

NATIONS = "the join is a cycle through nations: a map over customers x suppliers of a nation"
DISTINCT = (
    "COUNT(DISTINCT): a part meets all suppliers of its brand, type and size, not just its own"
)

GROWS: dict[Name, str] = {
    ("tpch", "q05"): NATIONS,
    ("tpch_papers", "q05"): NATIONS,
    ("tpch", "q16"): DISTINCT,
    ("tpch_papers", "q16"): DISTINCT,
}
"""Programs of `+=` only whose work grows all the same: a known cost, which a test states."""

BOUNDED = [name for name in cases() if name not in RECOMPUTED and name not in GROWS]


@cache
def live_rows(workload: str, live: int) -> dict[str, list[Row]]:
    """Rows that are live after a while of a workload's stream, by relation."""
    rows: Counter[tuple[str, Row]] = Counter()
    events = 0
    for batch in WORKLOADS[workload].stream(seed=1, batches=None, max_size=50, live=live):
        for relation, row, count in batch:
            rows[relation, row] += count
        events += len(batch)
        if events > 10 * live:
            break
    by_relation: dict[str, list[Row]] = {}
    for (relation, row), count in sorted(rows.items(), key=repr):
        by_relation.setdefault(relation, []).extend([row] * count)
    return by_relation


def copy_of(row: Row, relation: Relation, keys: frozenset[str], number: int) -> Row:
    """The same row in another copy of the data."""
    return tuple(
        v + number * SHIFT if c.name in keys and isinstance(v, int) else v
        for c, v in zip(relation.columns, row, strict=True)
    )


def work(
    c: Case, program: Program, copies: int, times: int, start: Start = ReferenceEngine
) -> dict[str, int]:
    """What it costs, by relation, that some rows of the first copy leave and come back."""
    keys = frozenset(KEYS[c.workload.name].split())
    live = times * LIVE.get(c.workload.name, 120)
    rows = {c.catalog.relation(n): r for n, r in live_rows(c.workload.name, live).items()}
    engine = start(program, c.catalog.functions)
    engine.load(c.workload.tables(seed=1))
    for relation, mine in rows.items():
        everywhere = [copy_of(r, relation, keys, n) for n in range(copies) for r in mine]
        engine.apply({relation.name: [(r, 1) for r in everywhere]})
    cost: dict[str, int] = {}
    for relation, mine in rows.items():
        before = engine.work
        for sign in (-1, 1):
            chosen = mine[:: max(1, len(mine) // CHANGED)]
            engine.apply({relation.name: [(r, sign) for r in chosen]})
        cost[relation.name] = engine.work - before
    return cost


def growth(
    c: Case,
    program: Program,
    copies: int = COPIES,
    times: int = 1,
    start: Start = ReferenceEngine,
    slack: float = SLACK,
) -> dict[str, str]:
    """The relations whose changes cost more among many copies of the data, with the counts.

    `times` makes each copy larger.
    """
    alone = work(c, program, 1, times, start)
    among = work(c, program, copies, times, start)
    if not any(alone.values()):
        pytest.fail("changes that touch nothing show nothing")  # also where growth is expected
    return {
        name: f"{alone[name]} became {among[name]}"
        for name in alone
        if among[name] > slack * alone[name]
    }


def recomputes(program: Program) -> bool:
    """Whether a change of a relation computes some map anew."""
    return any(s.op == ":=" for t in program.triggers if t.event != "ready" for s in t.statements)


@pytest.mark.parametrize(("workload", "name"), thin(BOUNDED, 2))
def test_batches(workload: str, name: str) -> None:
    c = case(workload, name)
    program = compiled(c, DeltaOptions())
    if recomputes(program):
        pytest.fail("; ".join(program.notes))
    assert growth(c, program) == {}


@pytest.mark.parametrize(("workload", "name"), sorted(GROWS))
def test_list_of_queries_whose_work_grows(workload: str, name: str) -> None:
    """Each query of the list does grow; else it belongs among the bounded ones."""
    c = case(workload, name)
    program = compiled(c, DeltaOptions())
    assert not recomputes(program)
    assert growth(c, program), f"its work no longer grows, though {GROWS[workload, name]}"


@pytest.mark.full
@pytest.mark.parametrize(("workload", "name"), sorted(GROWS))
def test_list_of_queries_whose_work_grows_by_single_rows(workload: str, name: str) -> None:
    c = case(workload, name)
    assert growth(c, compiled(c, DeltaOptions(mode="tuple")))


@pytest.mark.full
@pytest.mark.parametrize(("workload", "name"), BOUNDED)
def test_single_rows(workload: str, name: str) -> None:
    c = case(workload, name)
    program = compiled(c, DeltaOptions(mode="tuple"))
    if recomputes(program):
        pytest.fail("; ".join(program.notes))
    assert growth(c, program) == {}


@pytest.mark.full
@pytest.mark.parametrize(("workload", "name"), BOUNDED)
def test_more_copies_of_more_rows(workload: str, name: str) -> None:
    c = case(workload, name)
    assert growth(c, compiled(c, DeltaOptions()), copies=20, times=2) == {}


@pytest.mark.parametrize(("workload", "name"), sorted(RECOMPUTED))
def test_list_of_recomputed_queries(workload: str, name: str) -> None:
    """Each query of the list is still recomputed; else it belongs among the bounded ones."""
    assert recomputes(compiled(case(workload, name), DeltaOptions()))


@pytest.mark.parametrize("workload", ["tpch", "tpch_papers"])
def test_base_relations_of_a_cycle(workload: str) -> None:
    """Q5 joins in a cycle: with base relations kept, only a supplier meets all of its nation.

    Its change could go to the line items by its key instead; the order of the join does not
    know that a nation is a larger group than a supplier.
    """
    c = case(workload, "q05")
    grown = growth(c, compiled(c, DeltaOptions(cyclic=True)))
    assert {name.lower() for name in grown} == {"supplier"}


def test_the_measure_sees_recomputation() -> None:
    """A program that recomputes must fail the test, or the test says nothing."""
    c = case("tpch_papers", "q03")
    program = compiled(c, DeltaOptions(depth=0))
    assert recomputes(program)
    grown = growth(c, program)
    assert set(grown) == {"Customer", "Orders", "Lineitem"}
