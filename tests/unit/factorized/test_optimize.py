"""Variable orders that are found: those of the papers, and the textbook's order of products."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshview.calculus.build import const
from freshview.calculus.schema import Column, Relation
from freshview.calculus.terms import Apply, Expr, Rel, Var
from freshview.calculus.types import INT
from freshview.errors import FreshviewError, SyntaxProblem
from freshview.factorized.compile import compile_joins
from freshview.factorized.optimize import MOST_TRIED, Sizes, cheapest, find_order
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.order import OrderProblem, VariableOrder, check_order, read_order
from freshview.factorized.terms import Join, natural_join
from freshview.factorized.viewtree import view_tree
from freshview.program.check import check_program
from freshview.program.statistics import Statistics
from freshview.reference.engine.run import Engine
from tests.differential.harness import schema_of
from tests.unit.factorized.fixture import join as fixture


def snowflake(name: str) -> tuple[tuple[Relation, ...], Join]:
    """The natural join of a workload's relations with all its variables in one cofactor."""
    declared = tuple(schema_of(name).relations.values())
    plain = natural_join(declared)
    lifts: list[Expr] = [Apply("cofactor", (const(v), Var(v)), "Cofactor") for v in plain.variables]
    kept = [f for f, v in zip(lifts, plain.variables, strict=True) if v != "price"]
    return declared, natural_join(declared, (), tuple(kept))


def skeleton(order: VariableOrder, names: str) -> dict[str, str | None]:
    """Which of the named variables stands above which."""
    shared = names.split()
    parents: dict[str, str | None] = {}
    for v in shared:
        above = [w for w in order.path(v)[:-1] if w in shared]
        parents[v] = above[-1] if above else None
    return parents


SIZES = Statistics(
    rows={"Inventory": 84e6, "Weather": 1.2e6, "Item": 5e3, "Location": 1.3e3, "Census": 1.3e3}
)


def test_retailer_has_the_order_and_the_nine_views_of_the_paper() -> None:
    declared, join = snowflake("retailer")
    assert len(join.variables) == 43
    order = find_order(join, declared, SIZES)
    assert skeleton(order, "locn dateid ksn zip") == {
        "locn": None,
        "dateid": "locn",
        "ksn": "dateid",
        "zip": "locn",
    }
    program = compile_joins({"Q": join}, declared, ViewTreeOptions(statistics=SIZES))
    check_program(program)
    assert len(program.maps) == 9


def test_housing_has_seven_views() -> None:
    declared, join = snowflake("housing")
    assert len(join.variables) == 27
    program = compile_joins({"Q": join}, declared)
    check_program(program)
    assert len(program.maps) == 7
    assert {len(m.keys) for m in program.maps} == {0, 1}


def chain(dims: list[int]) -> tuple[Join, Sizes]:
    """A1[X1, X2] * A2[X2, X3] * ... with X1 and the last one free; values are columns."""
    n = len(dims)
    atoms = tuple(Rel(f"A{i}", (f"X{i}", f"X{i + 1}", f"P{i}")) for i in range(1, n))
    factors = tuple(Var(f"P{i}") for i in range(1, n))
    rows = {f"A{i + 1}": float(p * q) for i, (p, q) in enumerate(pairwise(dims))}
    domains = {f"X{i + 1}": float(p) for i, p in enumerate(dims)}
    return Join(("X1", f"X{n}"), atoms, factors), Sizes(rows, domains)


def textbook(dims: list[int]) -> int:
    """The least number of multiplications of a matrix chain."""

    @cache
    def best(i: int, j: int) -> int:
        if j - i < 2:
            return 0
        return min(best(i, k) + best(k, j) + dims[i] * dims[k] * dims[j] for k in range(i + 1, j))

    return best(0, len(dims) - 1)


def cost(order: VariableOrder, dims: list[int]) -> int:
    """Multiplications of the views of an order: dep(X) and X at every X that is summed out."""
    join, _ = chain(dims)
    total = 0
    for v in order.parents:
        if v.startswith("X") and v not in join.keys:
            met = {v, *(w for w in order.depends(v, join.atoms))}
            product = 1
            for w in met:
                product *= dims[int(w[1:]) - 1]
            total += product
    return total


@given(st.lists(st.integers(2, 30), min_size=3, max_size=8))
def test_a_matrix_chain_is_multiplied_in_the_best_order(dims: list[int]) -> None:
    join, sizes = chain(dims)
    assert textbook(dims) <= cost(cheapest(join, sizes), dims) <= 1.001 * textbook(dims)


def test_a_chain_of_four_as_in_the_paper() -> None:
    """Ex. 6.1: X1 - X5 - X3 - {X2, X4}; no view at X1 or X5, they would be that at X3."""
    join, _ = chain([2, 2, 2, 2, 2])
    order = read_order("X1 - X5 - X3 - {X2 - {P1, P2}, X4 - {P3, P4}}")
    declared = tuple(Relation(a.name, tuple(Column(v, INT) for v in a.vars)) for a in join.atoms)
    program = compile_joins({"Q": join}, declared, ViewTreeOptions(orders={"Q": order}))
    check_program(program)
    names = {m.name: tuple(k.name for k in m.keys) for m in program.maps}
    assert names["V_A1_A2_at_X2"] == ("X1", "X3")
    assert names["V_A3_A4_at_X4"] == ("X5", "X3")
    assert names["Q"] == ("X1", "X5")
    assert len(names) == 3 + 4  # and the entries of each matrix by its row and column
    engine = Engine(program)
    a = [[[1, 2], [3, 4]], [[0, 1], [1, 1]], [[2, 0], [1, 3]], [[1, 1], [1, -1]]]
    for i, matrix in enumerate(a, 1):
        rows = [((r, c, x), 1) for r, line in enumerate(matrix) for c, x in enumerate(line)]
        engine.apply(f"A{i}", rows)
    product = {row[:2]: row[2] for row in engine.rows("Q")}
    want = a[0]
    for m in a[1:]:
        want = [[sum(x * m[k][j] for k, x in enumerate(line)) for j in (0, 1)] for line in want]
    assert product == {(i, j): want[i][j] for i in (0, 1) for j in (0, 1)}


def test_a_long_path_is_ordered_in_no_time() -> None:
    atoms = tuple(Rel("R", (f"v{i:02}", f"v{i + 1:02}")) for i in range(3 * MOST_TRIED))
    order = find_order(Join((), atoms))
    check_order(order, Join((), atoms))
    assert max(len(order.path(v)) for v in order.parents) <= 3 * MOST_TRIED


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ("A - {B, C - D}", "variable 'E' of S is not in the variable order"),
        ("A - {B, C - D, E}", "S has 'E' and 'C' on two branches of the variable order"),
        ("A - {B, C - {D, E, F}}", "variable 'F' of the order is in no relation of the query"),
        ("A - {B, B}", "variable 'B' stands twice in the variable order"),
    ],
)
def test_an_order_that_does_not_fit_says_why(order: str, said: str) -> None:
    with pytest.raises(OrderProblem, match=re.escape(said)):
        view_tree(fixture(), read_order(order))


@pytest.mark.parametrize("text", ["A - {B", "A - ", "A - {B,}", "A B", ""])
def test_an_order_that_cannot_be_read_says_so(text: str) -> None:
    with pytest.raises(SyntaxProblem, match="variable order"):
        read_order(text)


def test_a_child_before_its_parent_is_refused() -> None:
    with pytest.raises(FreshviewError, match="'B' hangs under 'A', which is not above it"):
        VariableOrder((("B", "A"), ("A", None)))
