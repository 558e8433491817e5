"""Rows of a base relation: what is taken, what is refused, and that refusals change nothing."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshview.calculus.rows import Row, checked
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import BOOL, DATE, DOUBLE, INT, STRING, TIMESTAMP, decimal
from freshview.errors import BadRow
from freshview.runtime.ingest.consolidate import consolidate
from freshview.runtime.relations.base import Base

PLAIN = Relation("R", (Column("k", INT), Column("v", INT)))
KEYED = Relation("K", (Column("k", INT), Column("v", INT)), key=("k",))


def change(base: Base, *changes: tuple[Row, int]) -> None:
    net = consolidate(base.relation, changes)
    base.check(net)
    base.apply(net)


def test_rows_may_be_mappings() -> None:
    assert checked(PLAIN, {"v": 2, "k": 1}) == (1, 2)


def test_values_take_the_form_of_their_column() -> None:
    relation = Relation("R", (Column("x", DOUBLE), Column("m", decimal(2))))
    x, m = checked(relation, (1, 2))
    assert (type(x), str(m)) == (float, "2.00")


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (True, INT),
        (1, BOOL),
        (1.5, INT),
        (1.555, decimal(2)),
        (float("nan"), DOUBLE),
        (Decimal("0.001"), decimal(2)),
        (Decimal("NaN"), decimal(2)),
        (1 << 63, INT),
        (datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))), TIMESTAMP),
        (datetime(2024, 1, 1, 1), DATE),
        (b"bytes", STRING),
        ([1], STRING),
        (None, STRING),
    ],
)
def test_values_of_other_types_are_refused(value: object, type_: object) -> None:
    with pytest.raises(BadRow, match=r"R\.x"):
        checked(Relation("R", (Column("x", type_),)), (value,))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ((1,), "has 1 values; expected 2: k, v"),
        ("12", "cannot be '12'"),
        (12, "cannot be 12"),
        ({"k": 1, "w": 2}, "'R' has no column 'w'; its columns are k, v"),
        ({"k": 1}, r"R\.v is NOT NULL"),
    ],
)
def test_misshapen_rows_are_refused(row: object, said: str) -> None:
    with pytest.raises(BadRow, match=said):
        checked(PLAIN, row)  # type: ignore[arg-type]


@pytest.mark.parametrize("multiplicity", [1.0, True, None])
def test_multiplicities_are_integers(multiplicity: object) -> None:
    with pytest.raises(BadRow, match="multiplicity"):
        consolidate(PLAIN, [((1, 2), multiplicity)])  # type: ignore[list-item]


def test_what_cancels_out_is_no_change() -> None:
    assert consolidate(PLAIN, [((1, 2), 1), ((3, 4), 2), ((1, 2), -1)]) == {(3, 4): 2}


def test_deleting_what_is_not_there_is_refused() -> None:
    base = Base(PLAIN)
    change(base, ((1, 2), 1))
    with pytest.raises(BadRow, match=r"'R' does not hold \(1, 2\) 2 times"):
        change(base, ((1, 2), -2))
    assert base.rows == {(1, 2): 1}


def test_a_key_has_one_row() -> None:
    base = Base(KEYED)
    change(base, ((1, 10), 1))
    for bad in ([((1, 11), 1)], [((1, 10), 1)], [((2, 1), 1), ((2, 2), 1)], [((3, 3), 2)]):
        with pytest.raises(BadRow, match="two rows with the key"):
            change(base, *bad)
    change(base, ((1, 11), 1), ((1, 10), -1))
    assert base.rows == {(1, 11): 1}
    with pytest.raises(BadRow, match="two rows with the key"):
        change(base, ((1, 10), 1))


small = st.integers(0, 2)
batches = st.lists(
    st.lists(st.tuples(st.tuples(small, small), st.integers(-2, 2)), max_size=4), max_size=8
)


@pytest.mark.parametrize("relation", [PLAIN, KEYED])
@given(batches=batches)
def test_a_base_is_a_multiset_with_a_key(
    relation: Relation, batches: list[list[tuple[Row, int]]]
) -> None:
    """Against the plainest model: count rows, and look at all of them after each batch."""
    base, model = Base(relation), Counter[Row]()
    for batch in batches:
        wanted = Counter(model)
        for row, m in batch:
            wanted[row] += m
        wanted = Counter({row: m for row, m in wanted.items() if m})
        keys = Counter[object]()
        for row, m in wanted.items():
            keys[row[0]] += m
        legal = all(m > 0 for m in wanted.values()) and (
            not relation.key or all(n == 1 for n in keys.values())
        )
        if legal:
            change(base, *batch)
            model = wanted
        else:
            with pytest.raises(BadRow):
                change(base, *batch)
        assert base.rows == model
