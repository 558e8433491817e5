"""Strategies as values: what is chosen, what is said about it, what a strict view refuses."""

from __future__ import annotations

import pytest

from freshview.calculus import alpha_equivalence
from freshview.errors import FreshviewError, StrictRefusal
from freshview.factorized.readout import NotFactorized
from freshview.ivm import compile as ivm
from freshview.ivm.divide import divide
from freshview.ivm.options import DeltaOptions
from freshview.plan.choose import recomputed
from freshview.plan.compile import compile_queries
from freshview.plan.options import PlanOptions
from freshview.plan.range_sums import has_range_sums
from freshview.plan.switches import read_switches
from freshview.program.cost import program_cost
from freshview.program.statistics import Statistics
from freshview.program.terms import Program
from freshview.reference.engine.run import Engine
from freshview.simplify import arrange, everywhere
from freshview.sql.load import load
from tests.differential.harness import case

EDGES = """
CREATE STREAM r (a INT NOT NULL, b INT NOT NULL);
CREATE STREAM s (b INT NOT NULL, c INT NOT NULL);
CREATE STREAM t (c INT NOT NULL, a INT NOT NULL);
SELECT COUNT(*) FROM r, s, t WHERE r.b = s.b AND s.c = t.c AND t.a = r.a
"""

BELOW_AVERAGE = """
CREATE STREAM r (a INT NOT NULL);
SELECT COUNT(*) FROM r WHERE a < (SELECT SUM(x.a) FROM r x)
"""


def program(text: str, options: PlanOptions) -> Program:
    catalog, queries = load(text)
    return compile_queries(queries, list(catalog.relations.values()), options)


@pytest.mark.parametrize("strategy", ["reeval", "first-order", "project", "higher-order"])
def test_a_strategy_that_is_asked_for_is_taken(strategy: str) -> None:
    compiled = program(EDGES, PlanOptions(strategy=strategy))
    assert compiled.notes[0] == f"strategy: {strategy}, as asked for"
    assert recomputed(compiled) == (strategy == "reeval")


def test_auto_keeps_the_base_relations_of_a_cycle() -> None:
    compiled = program(EDGES, PlanOptions())
    assert "cyclic" in compiled.notes[0]
    assert all(len(m.keys) <= 2 for m in compiled.maps)
    assert "reeval" in compiled.notes[0]  # what it was compared with


def test_auto_caches_a_nested_aggregate_over_few_prices() -> None:
    c = case("finance", "vwap")
    compiled = compile_queries([c.query], list(c.catalog.relations.values()), PlanOptions())
    assert any(m.inputs for m in compiled.maps)
    assert "view caches" in compiled.notes[0]


CORRELATED = """
CREATE STREAM r (a INT NOT NULL, b INT NOT NULL);
CREATE STREAM s (b INT NOT NULL, c INT NOT NULL);
SELECT r.a, SUM(s.c) FROM r, s
WHERE r.b = s.b AND s.c < (SELECT SUM(x.c) FROM s x) GROUP BY r.a
"""


def misses() -> list[int]:
    remembered = (everywhere, arrange, alpha_equivalence._renaming, divide)
    return [f.cache_info().misses for f in remembered]


@pytest.mark.parametrize("text", [CORRELATED, BELOW_AVERAGE])
def test_plans_that_are_compared_share_their_work(text: str) -> None:
    """Another plan that decides alike simplifies, divides and compares nothing that is new."""
    catalog, queries = load(text)
    relations = list(catalog.relations.values())
    plain = ivm.compile_queries(queries, relations, DeltaOptions(mode="tuple"))
    before = misses()
    other = ivm.compile_queries(queries, relations, DeltaOptions(mode="tuple", cyclic=True))
    assert recomputed(plain)
    assert other == plain
    assert misses() == before


def test_sizes_and_rates_change_the_choice() -> None:
    c = case("finance", "vwap")
    relations = list(c.catalog.relations.values())
    few = PlanOptions(statistics=Statistics(rows={"Bids": 4, "Asks": 4}))
    assert not any(m.inputs for m in compile_queries([c.query], relations, few).maps)


def test_the_estimate_ranks_strategies_as_the_work_does() -> None:
    """Cheaper by estimate is cheaper by count, where both are clear: within a factor of ten."""
    c = case("tpch_papers", "q17")
    relations = list(c.catalog.relations.values())
    costs = []
    for strategy in ("higher-order", "reeval"):
        compiled = compile_queries([c.query], relations, PlanOptions(strategy=strategy))
        engine = Engine(compiled)
        engine.load(c.workload.tables(seed=1))
        for batch in c.workload.stream(seed=1, batches=20, max_size=100, live=300):
            for relation in dict.fromkeys(r for r, _, _ in batch):
                engine.apply(relation, [(row, m) for r, row, m in batch if r == relation])
        costs.append((program_cost(compiled, Statistics()), engine.work))
    (cost, work), (cost_again, work_again) = costs
    assert cost * 10 < cost_again
    assert work * 2 < work_again


def test_a_strict_view_names_the_node_that_asks_for_recomputation() -> None:
    with pytest.raises(StrictRefusal, match=r"a change of r can touch every row") as caught:
        program(BELOW_AVERAGE, PlanOptions(strict=True))
    assert "Exists(Sum[](r(" in str(caught.value)
    assert not recomputed(program(EDGES, PlanOptions(strict=True)))


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(FreshviewError, match="there is no strategy 'magic'; use one of auto, "):
        PlanOptions(strategy="magic")  # type: ignore[arg-type]


def test_no_cache_is_keyed_by_the_parameters_of_a_trigger() -> None:
    # Once a KeyError: a map that is inlined asked for a cache over the trigger's row.
    c = case("tpch_papers", "q21")
    chosen = compile_queries(
        [c.query],
        list(c.catalog.relations.values()),
        PlanOptions(mode="tuple"),
        c.catalog.functions,
    )
    assert chosen.triggers


JOINED = """
CREATE STREAM r (a INT NOT NULL, b INT NOT NULL);
CREATE STREAM s (b INT NOT NULL, c INT NOT NULL);
SELECT r.a, COUNT(*) AS n, SUM(s.c) AS total FROM r, s WHERE r.b = s.b GROUP BY r.a
"""


def test_factorized_keeps_joins_and_names_what_is_none() -> None:
    compiled = program(JOINED, PlanOptions(strategy="factorized", strict=True))
    assert compiled.notes[0] == "strategy: factorized, as asked for"
    assert "variable order" in compiled.notes[1]
    assert not recomputed(compiled)
    # Both aggregates read one view of r, and one each of s.
    assert [len(m.keys) for m in compiled.maps] == [1, 2, 1, 1, 1]
    engine = Engine(compiled)
    engine.apply("r", [((1, 5), 1), ((2, 5), 1)])
    engine.apply("s", [((5, 7), 1), ((5, 8), 1)])
    assert engine.rows("query") == [(1, 2, 15), (2, 2, 15)]
    with pytest.raises(NotFactorized, match=r"does not keep Exists\(Sum\[\]\(r"):
        program(BELOW_AVERAGE, PlanOptions(strategy="factorized"))


APART = """
CREATE STREAM r (g INT NOT NULL, x INT NOT NULL, v INT NOT NULL);
CREATE STREAM s (g INT NOT NULL, y INT NOT NULL, w INT NOT NULL);
SELECT r.g, SUM(v - w) FROM r, s WHERE r.g = s.g AND (x > y + 9 OR y > x + 9) GROUP BY r.g
"""


def test_row_by_row_a_sum_over_ranges_is_preferred_to_a_walk() -> None:
    """It looks at more rows one by one, but an ordered index looks at none."""
    chosen = program(APART, PlanOptions(mode="tuple"))
    assert has_range_sums(chosen)
    flat = program(APART, PlanOptions(strategy="first-order", mode="tuple"))
    assert not has_range_sums(flat)
    assert program_cost(flat, Statistics()) < program_cost(chosen, Statistics())


BEST = """
CREATE STREAM r (g INT NOT NULL, x INT NOT NULL, d DOUBLE NOT NULL);
SELECT g, SUM(x) AS s FROM r GROUP BY g ORDER BY s DESC LIMIT 10
"""
IN_ORDER = "the rows that LIMIT chooses from are kept in order"


def in_order(text: str = BEST, **options: object) -> bool:
    compiled = program(text, PlanOptions(ordered=True, **options))  # type: ignore[arg-type]
    return any(note.startswith(IN_ORDER) for note in compiled.notes)


def test_auto_keeps_first_rows_in_order_unless_sizes_say_otherwise() -> None:
    """How many groups there are is what is known least: a read must not follow their number."""
    assert in_order()
    assert in_order(strict=True)
    assert in_order(statistics=Statistics({"r": 1e6}, values={"r": {"g": 1e5}}))
    assert not in_order(statistics=Statistics({"r": 1000}, values={"r": {"g": 20}}))
    assert not in_order(statistics=Statistics({"r": 1e6}, values={"r": {"g": 1e5}}, reads=1e-6))


def test_first_rows_are_not_kept_in_order_where_that_does_not_help() -> None:
    assert not in_order(BEST.replace("SUM(x)", "SUM(d)"))
    assert not in_order(BEST.replace(" LIMIT 10", ""))
    assert not in_order(strategy="higher-order")
    assert not in_order(switches=read_switches({"moves": False}))
    assert IN_ORDER not in str(program(BEST, PlanOptions()).notes)  # an engine without such indexes
