"""Planning grows with a power of the query's size: by counts of terms worked on, not by clocks."""

from __future__ import annotations

from functools import partial

import pytest

from freshview.calculus.walk import size
from freshview.codegen.loops.walk import statements
from freshview.codegen.pipeline import plan_kernel
from freshview.errors import StrictRefusal
from freshview.ivm import budget
from freshview.plan.compile import compile_queries
from freshview.plan.options import PlanOptions
from freshview.program.terms import Program
from freshview.sql.load import load
from tests import large_queries as large
from tests.large_queries import Family
from tests.thin import thin
from tests.work import calls, counted

FAMILIES: dict[str, tuple[Family, int]] = {
    "extremes": (large.extremes, 7),
    "extremes, not null": (partial(large.extremes, nullable=False), 7),
    "extremes by group": (partial(large.extremes, grouped=True), 6),
    "sums": (partial(large.aggregates, fn="SUM(c{})"), 8),
    "averages by group": (partial(large.aggregates, fn="AVG(c{})", grouped=True), 8),
    "distinct": (partial(large.aggregates, fn="COUNT(DISTINCT c{})"), 6),
    "self-join": (large.self_join, 5),
    "self-join, star": (partial(large.self_join, shape="star"), 6),
    "self-join, clique": (partial(large.self_join, shape="clique"), 6),
    "joins": (large.chain_of_joins, 6),
    "left joins": (partial(large.chain_of_joins, join="LEFT JOIN"), 4),
    "left joins, star": (large.star_of_joins, 4),
    "right joins": (partial(large.chain_of_joins, join="RIGHT JOIN"), 4),
    "exists": (large.nested_exists, 8),
    "not exists": (partial(large.nested_exists, word="NOT EXISTS"), 8),
    "in": (large.nested_in, 8),
    "one of some joins": (large.alternatives, 6),
    "one of some subqueries": (large.some_exists, 6),
    "case": (large.long_case, 10),
    "guarded casts": (large.guarded_casts, 6),
    "nested case": (large.deep_case, 10),
    "nested coalesce": (large.deep_coalesce, 10),
    "logic": (large.mixed_logic, 12),
    "ctes": (large.chain_of_ctes, 20),
}

CHOICES = ("guarded casts", "case", "one of some joins", "logic", "extremes")
"""Where a row takes one of several ways: products of sums."""

MOST_GROWTH = 16.0
"""Twice the size may cost the fourth power; what doubles with each step costs 2^n."""


def plan(text: str, options: PlanOptions | None = None) -> Program:
    catalog, queries = load(text)
    relations = list(catalog.relations.values())
    return compile_queries(queries, relations, options, catalog.functions)


def nodes(program: Program) -> int:
    """How large a program is when it is written out."""
    statements = (size(s.term) for t in program.triggers for s in t.statements)
    return sum(statements) + sum(size(m.definition) for m in program.maps)


@pytest.mark.parametrize("name", FAMILIES)
def test_planning_is_polynomial(name: str) -> None:
    family, n = FAMILIES[name]
    small, steps = counted(lambda: plan(family(n)))
    large_, more = counted(lambda: plan(family(2 * n)))
    assert more <= MOST_GROWTH * steps + 2_000
    assert nodes(large_) <= MOST_GROWTH * nodes(small) + 500


@pytest.mark.parametrize(
    "name",
    [
        n if n in CHOICES else pytest.param(n, marks=pytest.mark.full, id=f"{n}, too")
        for n in FAMILIES
    ],
)
def test_the_loops_of_a_kernel_are_polynomial(name: str) -> None:
    """What follows a sum is not written once for each combination of addends."""
    family, n = FAMILIES[name]
    assert loops(family(2 * n)) <= MOST_GROWTH * loops(family(n)) + 500


def loops(text: str) -> int:
    """How many statements the kernel of a query has."""
    draft = plan_kernel(plan(text, PlanOptions(mode="tuple", caches=False)))
    return sum(1 for f in draft.loops.functions for _ in statements(f.body))


@pytest.mark.full
@pytest.mark.parametrize("mode", thin(["batch", "tuple"], 2))
@pytest.mark.parametrize("name", FAMILIES)
def test_planning_is_polynomial_in_both_modes(name: str, mode: str) -> None:
    family, n = FAMILIES[name]
    options = PlanOptions(mode=mode)  # type: ignore[arg-type]
    _, steps = counted(lambda: plan(family(n), options))
    _, more = counted(lambda: plan(family(2 * n), options))
    assert more <= MOST_GROWTH * steps + 2_000


@pytest.mark.parametrize("family", [large.long_or, partial(large.long_or, shown=False)])
def test_long_conditions_cost_what_they_are_long(family: Family) -> None:
    """The parts of a long OR are looked at one by one, not each beside every other."""
    short, long = (calls(lambda n=n: plan(family(n))) for n in (200, 800))
    assert long <= 6 * short


@pytest.mark.parametrize("level", large.STACKS)
def test_views_over_views_are_planned_level_by_level(level: str) -> None:
    """Four levels more cost as many steps, and add as many nodes, wherever they come."""

    def top(n: int) -> tuple[int, int]:
        catalog, queries = load(large.stacked_views(n, large.STACKS[level]))
        relations = list(catalog.relations.values())
        options = PlanOptions(strategy="higher-order")
        program, steps = counted(lambda: compile_queries(queries[-1:], relations, options))
        return nodes(program), steps

    (small, few), (middle, more), (large_, most) = top(8), top(12), top(16)
    assert large_ - middle <= 1.5 * (middle - small) + 100
    assert most - more <= 1.5 * (more - few) + 2_000


def test_past_the_budget_there_are_fewer_deltas_and_the_notes_say_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A map whose delta is too large is recomputed; it is the same view."""
    text = large.nested_exists(6)
    monkeypatch.setattr(budget, "ONE_DELTA", 10)
    program = plan(text, PlanOptions(strategy="higher-order"))
    assert any("more than planning may take" in note for note in program.notes)
    with pytest.raises(StrictRefusal, match="more than planning may take"):
        plan(text, PlanOptions(strategy="higher-order", strict=True))


def test_a_program_that_grows_too_large_ends_with_base_relations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = large.chain_of_joins(6)
    usual = plan(text, PlanOptions(strategy="higher-order"))
    monkeypatch.setattr(budget.Budget, "allow", lambda self, e: setattr(self, "limit", 0))
    program = plan(text, PlanOptions(strategy="higher-order"))
    assert any("all that planning may take" in note for note in program.notes)
    assert len(program.maps) < len(usual.maps)


def test_the_workloads_are_far_below_the_budget() -> None:
    from tests.differential.harness import case

    for workload, name in (("tpcds", "d68"), ("mddb", "mddb2"), ("tpch", "q08")):
        c = case(workload, name)
        program = compile_queries(
            [c.query],
            list(c.catalog.relations.values()),
            PlanOptions(strategy="higher-order"),
            c.catalog.functions,
        )
        assert not any("planning may take" in note for note in program.notes)
