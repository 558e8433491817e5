"""The ring axioms, for every ring that payloads come from."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshview.algebra import (
    DECIMALS,
    DOUBLES,
    INTEGERS,
    NUMBERS,
    Category,
    Cofactor,
    Element,
    ElementRing,
    Gmr,
    Matrix,
    Pair,
    Relational,
    Ring,
    broken_law,
)

integers = st.integers(-(10**6), 10**6)
decimals = st.decimals(-1000, 1000, places=2)
# Doubles do not form a ring; on small dyadic fractions nothing is rounded, and the laws are exact.
dyadics = st.integers(-1024, 1024).map(lambda n: n / 16)
exact_dyadics = dyadics.map(Decimal)

slots = st.sampled_from(["x", "y", "z", Category("c", 1), Category("c", "one"), Category("d", 1)])
cofactors = st.builds(
    Cofactor,
    st.integers(-5, 5),
    st.dictionaries(slots, st.one_of(st.integers(-9, 9), dyadics), max_size=4),
    st.dictionaries(st.tuples(slots, slots), st.integers(-9, 9), max_size=4),
)
# A payload's row has each column once, in the order of the names.
cells = st.dictionaries(st.sampled_from("abc"), st.integers(0, 1), max_size=3)
rows = cells.map(lambda counts: tuple(sorted(counts.items())))
payloads = st.dictionaries(rows, st.integers(-3, 3), max_size=4).map(Relational)
entries = st.one_of(st.integers(-9, 9), dyadics)
matrices = st.one_of(
    st.integers(-3, 3).map(Matrix.whole),
    st.tuples(st.tuples(entries, entries), st.tuples(entries, entries)).map(Matrix.of),
)


@dataclass(frozen=True)
class Gaussian(Element):
    """A ring that a user brings: whole complex numbers."""

    real: int
    imaginary: int

    @classmethod
    def whole(cls, n: int) -> Gaussian:
        return cls(n, 0)

    def plus(self, other: Gaussian) -> Gaussian:
        return Gaussian(self.real + other.real, self.imaginary + other.imaginary)

    def times(self, other: Gaussian) -> Gaussian:
        return Gaussian(
            self.real * other.real - self.imaginary * other.imaginary,
            self.real * other.imaginary + self.imaginary * other.real,
        )

    def scaled(self, n: int) -> Gaussian:
        return Gaussian(n * self.real, n * self.imaginary)

    def is_zero(self) -> bool:
        return not self.real and not self.imaginary


def scale(ring: Ring[Any], n: int, a: Any) -> Any:
    """N copies of `a`: the action of the integers on any ring."""
    total = ring.zero
    for _ in range(abs(n)):
        total = ring.add(total, a if n >= 0 else ring.neg(a))
    return total


ELEMENTS: dict[str, tuple[ElementRing[Any], st.SearchStrategy[Any]]] = {
    "pairs": (ElementRing(Pair), st.builds(Pair, st.integers(-9, 9), integers)),
    "pairs of decimals": (ElementRing(Pair), st.builds(Pair, st.integers(-9, 9), decimals)),
    "cofactors": (ElementRing(Cofactor), cofactors),
    "relational payloads": (ElementRing(Relational), payloads),
    "matrices": (ElementRing(Matrix), matrices),
    "a user's ring": (
        ElementRing(Gaussian),
        st.builds(Gaussian, st.integers(-9, 9), st.integers(-9, 9)),
    ),
}

RINGS: dict[str, tuple[Ring[Any], st.SearchStrategy[Any]]] = {
    "integers": (INTEGERS, integers),
    "decimals": (DECIMALS, decimals),
    "doubles": (DOUBLES, dyadics),
    "numbers": (NUMBERS, st.one_of(st.integers(-99, 99), exact_dyadics, dyadics)),
    **ELEMENTS,
}


every_ring = pytest.mark.parametrize(("ring", "elements"), RINGS.values(), ids=list(RINGS))


@every_ring
@given(data=st.data())
def test_addition_is_an_abelian_group(ring: Ring[Any], elements: Any, data: Any) -> None:
    a, b, c = (data.draw(elements) for _ in range(3))
    assert ring.add(ring.add(a, b), c) == ring.add(a, ring.add(b, c))
    assert ring.add(a, b) == ring.add(b, a)
    assert ring.add(a, ring.zero) == a
    assert ring.add(a, ring.neg(a)) == ring.zero
    assert ring.is_zero(ring.add(a, ring.neg(a)))


@every_ring
@given(data=st.data())
def test_multiplication_is_a_monoid(ring: Ring[Any], elements: Any, data: Any) -> None:
    a, b, c = (data.draw(elements) for _ in range(3))
    assert ring.mul(ring.mul(a, b), c) == ring.mul(a, ring.mul(b, c))
    assert ring.mul(a, ring.one) == a
    assert ring.mul(ring.one, a) == a
    assert ring.mul(a, ring.zero) == ring.zero


@every_ring
@given(data=st.data())
def test_multiplication_distributes(ring: Ring[Any], elements: Any, data: Any) -> None:
    a, b, c = (data.draw(elements) for _ in range(3))
    assert ring.mul(a, ring.add(b, c)) == ring.add(ring.mul(a, b), ring.mul(a, c))
    assert ring.mul(ring.add(a, b), c) == ring.add(ring.mul(a, c), ring.mul(b, c))


@every_ring
@given(data=st.data())
def test_integers_act_on_a_ring(ring: Ring[Any], elements: Any, data: Any) -> None:
    a = data.draw(elements)
    n, m = data.draw(st.integers(-20, 20)), data.draw(st.integers(-20, 20))
    assert scale(ring, n + m, a) == ring.add(scale(ring, n, a), scale(ring, m, a))
    assert scale(ring, 1, a) == a


every_element = pytest.mark.parametrize(("ring", "elements"), ELEMENTS.values(), ids=list(ELEMENTS))


@every_element
@given(data=st.data())
def test_whole_numbers_are_part_of_a_ring(ring: ElementRing[Any], elements: Any, data: Any) -> None:
    a, n = data.draw(elements), data.draw(st.integers(-4, 4))
    whole = ring.element.whole(n)
    assert n * a == a * n == whole * a == a * whole == scale(ring, n, a)
    assert a + n == n + a == a + whole
    assert bool(a) is (not ring.is_zero(a))
    assert a - a == ring.zero
    assert hash(a + n) == hash(whole + a)


@every_element
@given(data=st.data())
def test_multiplication_commutes_where_it_says_so(
    ring: ElementRing[Any], elements: Any, data: Any
) -> None:
    a, b = data.draw(elements), data.draw(elements)
    if ring.element.commutative:
        assert a * b == b * a


@every_element
@given(data=st.data())
def test_a_ring_of_ones_own_can_be_tested_by_the_same_laws(
    ring: ElementRing[Any], elements: Any, data: Any
) -> None:
    a, b, c = (data.draw(elements) for _ in range(3))
    assert broken_law(ring.element, a, b, c) is None


class Maxima(Gaussian):
    """Not a ring: the larger of two parts has no opposite."""

    def plus(self, other: Gaussian) -> Gaussian:
        return Maxima(max(self.real, other.real), 0)

    def scaled(self, n: int) -> Gaussian:
        return Maxima(n * self.real, 0)

    def times(self, other: Gaussian) -> Gaussian:
        return Maxima(self.real * other.real, 0)


class Words(Gaussian):
    """Not commutative, though it says so."""

    def times(self, other: Gaussian) -> Gaussian:
        return Words(self.real, other.imaginary)


def test_what_is_no_ring_is_told_which_law_it_breaks() -> None:
    said = broken_law(Maxima, Maxima(1, 0), Maxima(2, 0), Maxima(3, 0))
    assert said is not None
    assert said.startswith("a + -a = 0 does not hold in Maxima for a = ")
    assert broken_law(Words, Words(1, 2), Words(3, 4), Words(5, 6)) is not None


def test_matrices_do_not_commute() -> None:
    a, b = Matrix.of(((0, 1), (0, 0))), Matrix.of(((0, 0), (1, 0)))
    assert not Matrix.commutative
    assert a * b != b * a


def test_payloads_of_different_rings_do_not_mix() -> None:
    with pytest.raises(TypeError):
        _ = Pair(1, 2) * Cofactor(1)
    with pytest.raises(TypeError):
        _ = Pair(1, 2) + Cofactor(1)


SCHEMAS = st.sampled_from([("a", "b"), ("b", "c"), ("c",), ()])


def relation(schema: tuple[str, ...]) -> st.SearchStrategy[Gmr[int]]:
    row = st.tuples(*(st.integers(0, 2) for _ in schema))
    rows = st.dictionaries(row, st.integers(-3, 3), max_size=6)
    return rows.map(lambda entries: Gmr(INTEGERS, schema, entries))


relations = SCHEMAS.flatmap(relation)


@st.composite
def alike(draw: st.DrawFn) -> tuple[Gmr[int], Gmr[int], Gmr[int]]:
    """Three relations over one schema."""
    schema = draw(SCHEMAS)
    return draw(relation(schema)), draw(relation(schema)), draw(relation(schema))


@given(alike())
def test_union_of_relations_is_an_abelian_group(abc: tuple[Gmr[int], ...]) -> None:
    a, b, c = abc
    empty: Gmr[int] = Gmr(INTEGERS, a.schema)
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert a + empty == a
    assert a + -a == empty


@given(relations, relations, relations)
def test_join_of_relations_is_a_commutative_monoid(a: Gmr[int], b: Gmr[int], c: Gmr[int]) -> None:
    unit = Gmr(INTEGERS, (), {(): 1})
    assert (a * b) * c == a * (b * c)
    assert a * b == b * a
    assert a * unit == a
    assert unit * a == a


@given(relations, alike())
def test_join_distributes_over_union(a: Gmr[int], bcd: tuple[Gmr[int], ...]) -> None:
    b, c, _ = bcd
    assert a * (b + c) == a * b + a * c
    assert (b + c) * a == b * a + c * a


@given(alike())
def test_grouping_is_linear(abc: tuple[Gmr[int], ...]) -> None:
    a, b, _ = abc
    keys = a.schema[:1]
    assert (a + b).sum(keys) == a.sum(keys) + b.sum(keys)
    assert a.sum(a.schema) == a
