"""Which maps share a record."""

from __future__ import annotations

from freshview.calculus.schema import Column
from freshview.calculus.text import read
from freshview.calculus.types import INT
from freshview.codegen.layout.fuse import Walk, fuse
from freshview.program.terms import Map


def map_of(name: str, definition: str, *keys: str) -> Map:
    return Map(name, tuple(Column(k, INT) for k in keys), INT, read(definition))


def test_a_count_and_a_sum_share() -> None:
    count = map_of("n", "Sum[a](R(a, b) * {b > 3})", "a")
    total = map_of("s", "Sum[x](R(x, y) * {y > 3} * y)", "x")
    assert fuse([count, total], {}) == [[(count, (0,)), (total, (0,))]]


def test_keys_may_stand_in_another_order() -> None:
    first = map_of("f", "R(a, b)", "a", "b")
    second = map_of("g", "R(a, b) * a", "b", "a")
    assert fuse([first, second], {}) == [[(first, (0, 1)), (second, (1, 0))]]


def test_other_rows_do_not_share() -> None:
    some = map_of("n", "Sum[a](R(a, b) * {b > 3})", "a")
    others = map_of("m", "Sum[a](R(a, b) * {b > 4})", "a")
    assert [len(group) for group in fuse([some, others], {})] == [1, 1]


def test_some_of_the_rows_join_those_that_have_them_all() -> None:
    some = map_of("m", "Sum[x](R(x, y) * {y > 4} * {in(y, 5, 6)})", "x")
    every = map_of("n", "Sum[a](R(a, b))", "a")
    assert fuse([some, every], {}) == [[(every, (0,)), (some, (0,))]]


def test_a_map_that_is_walked_through_keeps_its_rows_apart() -> None:
    some = map_of("m", "R(a, b) * {b > 4}", "a", "b")
    every = map_of("n", "R(a, b)", "a", "b")
    by_a, by_b = (frozenset([Walk(0, frozenset([i]))]) for i in range(2))
    assert len(fuse([some, every], {"m": by_a})) == 2
    assert len(fuse([some, every], {"m": by_a, "n": by_b})) == 2
    assert len(fuse([some, every], {"n": by_a})) == 1


def test_slices_that_are_walked_through_together_share() -> None:
    some = map_of("m", "R(a, b) * {b > 4}", "b", "a")
    every = map_of("n", "R(a, b)", "a", "b")
    by_a = {"m": frozenset([Walk(0, frozenset([1]))]), "n": frozenset([Walk(0, frozenset([0]))])}
    assert fuse([some, every], by_a) == [[(every, (0, 1)), (some, (1, 0))]]
    elsewhere = {**by_a, "m": frozenset([Walk(1, frozenset([1]))])}
    assert len(fuse([some, every], elsewhere)) == 2
