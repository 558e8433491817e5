"""Which keys of a map determine the others."""

from __future__ import annotations

from freshview.calculus.schema import Column, Relation
from freshview.calculus.text import read
from freshview.calculus.types import DATE, INT, STRING
from freshview.codegen.layout.dependencies import determining, is_determined
from freshview.program.terms import Map

ORDERS = Relation("O", (Column("o", INT), Column("c", INT), Column("d", DATE)), key=("o",))
CUSTOMERS = Relation("C", (Column("c", INT), Column("n", STRING)), key=("c",))
LINES = Relation("L", (Column("o", INT), Column("p", INT)))
RELATIONS = {r.name: r for r in (ORDERS, CUSTOMERS, LINES)}


def by(definition: str, **keys: object) -> list[str]:
    columns = tuple(Column(name, t) for name, t in keys.items())  # type: ignore[arg-type]
    m = Map("M", columns, INT, read(definition))
    return [columns[i].name for i in determining(m, RELATIONS)]


def test_a_key_determines_its_row() -> None:
    assert by("O(o, c, d)", d=DATE, o=INT, c=INT) == ["o"]


def test_a_key_determines_through_a_join() -> None:
    assert by("Sum[o, n, d](O(o, c, d) * C(c, n) * L(o, p))", n=STRING, o=INT, d=DATE) == ["o"]


def test_without_a_key_nothing_is_determined() -> None:
    assert by("L(o, p)", o=INT, p=INT) == ["o", "p"]


def test_a_constant_is_determined_by_nothing() -> None:
    assert by("L(o, p) * {p = 3}", o=INT, p=INT) == ["o"]


def test_a_computed_key_is_determined_by_what_it_is_computed_from() -> None:
    assert by("L(o, p) * (q := p + 1)", o=INT, q=INT, p=INT) == ["o", "p"]


def test_an_aggregate_is_determined_by_its_group() -> None:
    definition = "Exists(L(o, p)) * (n := Sum[o](L(o, q) * q))"
    keys = tuple(Column(name, INT) for name in ("n", "o", "p"))
    m = Map("M", keys, INT, read(definition))
    assert is_determined(m, 0, [1])
    assert not is_determined(m, 0, [2])
    # While it changes, the old value is there as well: records are not found without it.
    assert by(definition, n=INT, o=INT, p=INT) == ["n", "o", "p"]
