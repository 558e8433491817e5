"""How compiled terms get at rows: cost follows what is bound, not what is stored."""

from __future__ import annotations

import pytest

from freshview.calculus.text import read
from freshview.errors import UnboundVariable, UnknownName
from freshview.reference.engine.closures import compile_term
from freshview.reference.engine.scope import Work
from freshview.reference.engine.store import Cache, Store, Stores

ROWS = {(i, i % 10): 1 for i in range(1000)}


def cost(text: str, **variables: int) -> int:
    work = Work()
    stores = Stores({"R": Store(ROWS), "U": Store({(3,): 1})})
    rows_of = compile_term(read(text), stores, tuple(variables), work=work)
    rows_of(tuple(variables.values()))
    return work.visits


def test_get_visits_one_row() -> None:
    assert cost("R(a, b)", a=3, b=3) == 1


def test_slice_visits_its_rows() -> None:
    assert cost("R(a, b)", b=3) == 100
    assert cost("U(b) * R(a, b)") == 101


def test_scan_visits_all() -> None:
    assert cost("R(a, b)") == 1000


def test_what_follows_a_sum_is_done_once_a_group() -> None:
    assert cost("Sum[b](R(a, b)) * U(b)") == 1000 + 10


def test_local_variables_are_kept_apart_from_the_context() -> None:
    stores = Stores({"R": Store({(1, 2): 1, (3, 4): 1})})
    assert compile_term(read("Sum[](R(a, b) * b)"), stores, ("a",), ())((1,)) == {(): 6}
    assert compile_term(read("Sum[a](R(a, b) * b)"), stores, ("a",), ())((1,)) == {(): 2}


def test_a_cache_is_filled_once() -> None:
    asked = []
    cache = Cache()
    cache.fill = lambda inputs: asked.append(inputs) or {(7,): 2}
    rows_of = compile_term(read("C[p][x]"), Stores(caches={"C": cache}), ("p",), ("p", "x"))
    assert rows_of((1,)) == {(1, 7): 2}
    assert rows_of((1,)) == {(1, 7): 2}
    assert rows_of((2,)) == {(2, 7): 2}
    assert asked == [(1,), (2,)]


def test_complaints() -> None:
    with pytest.raises(UnknownName, match="relation 'S' is not stored; declare it static"):
        compile_term(read("S(a)"), Stores())
    with pytest.raises(UnknownName, match="there is no map 'M'"):
        compile_term(read("M[a]"), Stores())
    with pytest.raises(UnknownName, match="there is no view cache 'C'"):
        compile_term(read("C[p][a]"), Stores(), ("p",))
    with pytest.raises(UnboundVariable):
        compile_term(read("a"), Stores())
