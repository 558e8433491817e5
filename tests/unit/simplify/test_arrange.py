"""What an order of factors costs: rows visited, on joins whose batch meets itself."""

from __future__ import annotations

import pytest

from freshview.calculus.terms import Expr
from freshview.calculus.text import read, show
from freshview.reference.engine.closures import compile_term
from freshview.reference.engine.scope import Work
from freshview.reference.engine.store import Store, Stores
from freshview.simplify import APART, FINISH, arrange, finish, loops, simplify

ROWS = 20
CHAIN = {(i, i + 1, i + 2, i + 3): 1 for i in range(ROWS - 3)}
FRAME = {(0, i, i * 10): 1 for i in range(ROWS)}  # time, atom, position

BATCHES = "(DELTA P)(t, a, x) * (DELTA P)(t, b, y) * (DELTA P)(t, c, z) * (DELTA P)(t, d, w)"


def visits(e: Expr) -> int:
    work = Work()
    stores = Stores({"C": Store(CHAIN)}, {"P": Store(FRAME)}, {"M": Store(FRAME)})
    result = compile_term(e, stores, work=work)(())
    assert len(result) == len(CHAIN)
    return work.visits


def test_the_relation_that_connects_a_batch_with_itself_comes_second() -> None:
    plain = read(f"{BATCHES} * C(a, b, c, d)")
    better = arrange(plain)
    assert show(better).startswith("(DELTA P)(t, a, x) * C(a, b, c, d) * ")
    assert visits(plain) > ROWS**4
    assert visits(better) == ROWS + 4 * len(CHAIN)


CHANGE = read(
    "Sum[t](C(a, b, c, d) * (DELTA P)(t, a, x) * M[t, b, y] * M[t, c, z] * M[t, d, w])"
    " + Sum[t](C(a, b, c, d) * M[t, a, x] * (DELTA P)(t, b, y) * M[t, c, z] * M[t, d, w])"
)


@pytest.mark.parametrize(("rules", "nested"), [(FINISH, 3), (APART, 2)])
def test_a_common_factor_that_connects_costs_loops(rules: tuple, nested: int) -> None:
    assert loops(arrange(simplify(CHANGE, rules))) == nested


def test_products_stay_apart_where_that_saves_loops() -> None:
    assert finish(CHANGE) == arrange(simplify(CHANGE, APART))
