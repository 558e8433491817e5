"""Layouts read back from their text."""

from __future__ import annotations

import pytest

from freshview.calculus.tokens import Tokens
from freshview.calculus.types import INT, STRING, Type, decimal
from freshview.codegen.cpp.ring_types import HeaderType, cofactor_type
from freshview.codegen.layout.terms import Layout, MapPlace, Sort, Table
from freshview.codegen.layout.text import read, show
from freshview.codegen.layout.type_text import read_type, show_type
from freshview.errors import SyntaxProblem

TABLES = [
    Table("m", (), (INT,)),
    Table("m", (INT, STRING.or_null()), (decimal(2), INT), determining=(0,)),
    Table("m", (INT, INT), (INT,), determining=()),
    Table("m", (INT, INT), (INT,), indexes=((0,), (1, 0))),
    Table("m", (INT, STRING), (INT,), orders=((Sort(0), Sort(1, True, True)), ())),
    Table("m", (INT,), (INT,), home=("n", (0,))),
    Table("d_my table", (INT,), (INT,), transient=True),
]


@pytest.mark.parametrize("table", TABLES)
def test_table(table: Table) -> None:
    layout = Layout({table.name: table})
    assert read(show(layout)) == layout


def test_places_and_what_is_put_off() -> None:
    places = {"a": MapPlace("m", 0, (1, 0)), "sum(x)": MapPlace("n", 2, ())}
    layout = Layout({}, places, frozenset(["a", "b"]), frozenset(["sum(x)"]))
    assert read(show(layout)) == layout


TYPES = [
    INT,
    decimal(2).or_null(),
    Type("decimal", 6, nullable=True, wide=True),
    Type("ring", ring="Pair"),
    cofactor_type(()),
    cofactor_type(["x", "y z"]),
    cofactor_type(["x"], ["shop", "kind"]),
    cofactor_type((), ["shop"]),
    HeaderType("ring", ring="Stats", members=(("n", INT), ("total", Type("double"))), scaled=True),
]


@pytest.mark.parametrize("t", TYPES, ids=str)
def test_type(t: Type) -> None:
    assert read_type(Tokens(show_type(t))) == t


def test_a_column_that_is_none() -> None:
    with pytest.raises(SyntaxProblem, match="expected a column p0, p1"):
        read("map M in m k0 []")
