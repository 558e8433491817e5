"""Changes that come as products: Ex. 5.1 and 5.2 of F-IVM 2018, and rank-1 changes of matrices."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshview.calculus.schema import Column, Relation
from freshview.calculus.terms import Var
from freshview.calculus.text import show
from freshview.calculus.types import INT, STRING
from freshview.errors import ProgramProblem
from freshview.factorized.compile import compile_joins
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.order import read_order
from freshview.factorized.products import Factors, decompose
from freshview.factorized.terms import natural_join
from freshview.program.check import check_program
from freshview.program.terms import Program
from freshview.reference.engine.run import Engine
from tests.unit.factorized.fixture import ORDER, ROWS, filled, join, relations


def test_sizes_of_example_5_1() -> None:
    n, m = 6, 9
    grid = {(a, b): 1 for a in range(n) for b in range(m)}
    _, [whole] = decompose(grid)
    assert (len(grid), whole.size) == (n * m, n + m)
    wider = grid | {(n, b): 1 for b in range(m - 1)}
    assert len(wider) == n * m + m - 1
    _, products = decompose(wider)
    # Two products would be n + 2m values; taking all of the last row and one entry back is less.
    assert sum(p.size for p in products) == n + m + 3
    assert [p.sign for p in products] == [1, -1]


def test_two_products_where_taking_back_does_not_pay() -> None:
    rows = {(a, b): 1 for a in range(4) for b in range(4)} | {(9, 0): 1, (9, 7): 1}
    _, products = decompose(rows)
    assert sorted((len(p.left), len(p.right), p.sign) for p in products) == [(1, 2, 1), (4, 4, 1)]


cells = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 1))


@given(st.dictionaries(cells, st.sampled_from([1, 1, 2, -1]), min_size=1))
def test_products_add_up_to_the_batch(rows: dict[tuple[int, ...], int]) -> None:
    way, products = decompose(rows)
    total: dict[tuple[int, ...], int] = {}
    for p in products:
        for left in p.left:
            for right, count in p.right.items():
                mine, others = iter(left), iter(right)
                row = tuple(next(mine) if i in way else next(others) for i in range(3))
                total[row] = total.get(row, 0) + p.sign * count
    assert {row: count for row, count in total.items() if count} == rows
    assert sum(p.size for p in products) <= 4 * len(rows)


def test_example_5_2_sums_go_to_the_factors() -> None:
    options = ViewTreeOptions(orders={"Q": ORDER}, products={"S": (("A",), ("C",), ("E",))})
    program = compile_joins({"Q": join()}, relations(), options)
    check_program(program)
    [trigger] = [t for t in program.triggers if t.relation == "S_3"]
    terms = {s.target.name: show(s.term) for s in trigger.statements}
    assert terms["Q"] == (
        "Sum[]((DELTA S_3)(E)) * Sum[](S_1_aside[A] * V_R_at_B[A]) * "
        "Sum[](S_2_aside[C] * V_T_at_D[C])"
    )
    engine = filled(program)
    engine.apply("S_1", [((1,), 1), ((2,), 1)])
    engine.apply("S_2", [((1,), 1), ((2,), 1)])
    assert engine.rows("Q") == [(10,)]  # nothing happens before the last factor is there
    engine.apply("S_3", [((8,), 1), ((9,), 1)])
    listed = filled(compile_joins({"Q": join()}, relations(), ViewTreeOptions(orders={"Q": ORDER})))
    listed.apply("S", [((a, c, e), 1) for a in (1, 2) for c in (1, 2) for e in (8, 9)])
    for m in listed.program.maps:
        assert engine.contents(m.name) == listed.contents(m.name)
    assert len(ROWS["S"]) == 4


def chain(n: int, *, products: bool) -> Program:
    """Q = A1 * A2 * A3, entries in a column each; A2 changes by u * v'."""
    declared = [
        Relation(f"A{i}", tuple(Column(c, INT) for c in (f"X{i}", f"X{i + 1}", f"P{i}")))
        for i in (1, 2, 3)
    ]
    join = natural_join(tuple(declared), ("X1", "X4"), tuple(Var(f"P{i}") for i in (1, 2, 3)))
    groups = {"A2": (("X2", "P2"), ("X3", "P2"))} if products else {}
    order = read_order("X1 - X4 - X3 - {X2 - {P1, P2}, P3}")
    return compile_joins(
        {"Q": join}, declared, ViewTreeOptions(orders={"Q": order}, products=groups)
    )


def entries(rng: random.Random, n: int) -> list[list[int]]:
    return [[rng.randint(-3, 3) for _ in range(n)] for _ in range(n)]


def product(*matrices: list[list[int]]) -> list[list[int]]:
    out = matrices[0]
    for m in matrices[1:]:
        columns = list(zip(*m, strict=True))
        out = [[sum(map(int.__mul__, row, c)) for c in columns] for row in out]
    return out


def started(n: int, *, products: bool) -> tuple[Engine, list[list[list[int]]]]:
    rng = random.Random(n)
    program = chain(n, products=products)
    check_program(program)
    engine, matrices = Engine(program), [entries(rng, n) for _ in range(3)]
    for i, matrix in enumerate(matrices, 1):
        rows = [((r, c, x), 1) for r, line in enumerate(matrix) for c, x in enumerate(line)]
        engine.apply(f"A{i}", rows)
    return engine, matrices


def cost_of_rank_1(n: int) -> int:
    engine, (a, b, c) = started(n, products=True)
    rng = random.Random(n + 1)
    u, v = [rng.randint(1, 3) for _ in range(n)], [rng.randint(1, 3) for _ in range(n)]
    before = engine.work
    engine.apply("A2_1", [((i, x), 1) for i, x in enumerate(u)])
    engine.apply("A2_2", [((j, x), 1) for j, x in enumerate(v)])
    cost = engine.work - before
    changed = [[x + u[i] * v[j] for j, x in enumerate(line)] for i, line in enumerate(b)]
    want = product(a, changed, c)
    cells = {row[:2]: row[2] for row in engine.rows("Q")}
    assert cells == {(i, j): x for i, line in enumerate(want) for j, x in enumerate(line) if x}
    return cost


def test_a_rank_1_change_of_a_matrix_costs_its_square() -> None:
    small, large = cost_of_rank_1(6), cost_of_rank_1(12)
    assert large / small < 4.3  # the square of the size; listing the change costs its cube


def test_listing_the_same_change_costs_the_cube() -> None:
    costs = []
    for n in (6, 12):
        engine, _ = started(n, products=False)
        before = engine.work
        engine.apply("A2", [((i, j, 1), 1) for i in range(n) for j in range(n)])
        costs.append(engine.work - before)
    assert costs[1] / costs[0] > 6


def test_factors_must_have_the_columns_of_the_relation() -> None:
    r = Relation("R", (Column("a", INT), Column("b", STRING)))
    with pytest.raises(ProgramProblem, match="the factors of 'R' have the columns a, it has a, b"):
        Factors(r, (("a",),))
    with pytest.raises(ProgramProblem, match="column 'b' of 'R' is string: factors cannot share"):
        Factors(r, (("a", "b"), ("b",)))
