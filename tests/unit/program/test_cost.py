"""Estimates of rows and work: keys, columns that agree, look-ups, conditions."""

from __future__ import annotations

import pytest

from freshview.calculus.schema import Column, Relation
from freshview.calculus.text import read
from freshview.calculus.types import INT
from freshview.program.cost import Estimate, Model, ProgramCostModel, program_cost
from freshview.program.statistics import Statistics
from freshview.program.terms import Map, Program
from tests.differential.harness import STRATEGIES, case, compiled

COLUMNS = {name: Column(name, INT) for name in ("ticket", "item", "customer", "price")}
SALES = Relation("Sales", tuple(COLUMNS.values()), key=("item", "ticket"))
VALUES = {"ticket": 100.0, "item": 50.0, "customer": 80.0, "price": 30.0}
ALL = "Sales(ticket, item, customer, price)"


def estimate(term: str, bound: dict[str, float], *maps: Map) -> Estimate:
    program = Program((SALES,), maps, (), ())
    statistics = Statistics(rows={"Sales": 400.0}, values={"Sales": VALUES})
    return Model(program, statistics).estimate(read(term), bound)


def test_a_whole_key_has_one_row() -> None:
    assert estimate(ALL, {"ticket": 100.0, "item": 50.0}).rows == 1.0


def test_a_map_knows_the_keys_of_its_relation() -> None:
    keys = tuple(COLUMNS[name] for name in ("customer", "item", "ticket"))
    kept = Map("M", keys, INT, read(f"Sum[customer, item, ticket]({ALL})"))
    assert estimate("M[customer, item, ticket]", {"ticket": 100.0, "item": 50.0}, kept).rows == 1.0


def test_columns_that_are_bound_together_agree() -> None:
    alone = estimate(ALL, {"ticket": 100.0}).rows
    both = estimate(ALL, {"ticket": 100.0, "customer": 80.0}).rows
    assert alone == 4.0
    assert 2.0 < both < alone


def test_a_look_up_costs_a_row_even_if_it_is_not_there() -> None:
    kept = Map("M", (COLUMNS["ticket"],), INT, read(f"Sum[ticket]({ALL} * {{customer = 1}})"))
    there = estimate("M[ticket]", {"ticket": 100.0}, kept)
    assert there.rows < 0.1
    assert there.work == 1.0


def test_columns_that_a_key_determines_add_no_groups() -> None:
    groups = estimate(f"Sum[ticket, item, price, customer]({ALL})", {}).rows
    assert groups == 400.0
    assert estimate(f"Sum[item]({ALL})", {}).rows == 50.0


def test_conditions_on_the_same_rows_overlap() -> None:
    one = estimate(f"{ALL} * {{price > 1}}", {}).rows
    two = estimate(f"{ALL} * {{price > 1}} * {{price < 9}}", {}).rows
    assert two == pytest.approx(one * 0.33**0.5)


@pytest.mark.parametrize("name", ["q03", "q16", "vwap"])
def test_plans_that_are_compared_cost_what_each_costs_alone(name: str) -> None:
    """Sizes of maps that plans have in common are estimated once; those over maps are not."""
    c = case("finance" if name == "vwap" else "tpch_papers", name)
    model = ProgramCostModel(Statistics())
    plans = [compiled(c, options) for options in STRATEGIES.values()]
    for plan in (*plans, *reversed(plans)):
        assert model.cost(plan) == program_cost(plan, Statistics())
    assert len(model.sizes) == 1
