"""References between relations, found in joins on primary keys."""

from __future__ import annotations

from freshview.ivm.compile import compile_queries
from freshview.program.references import keyed_columns, levels, references
from freshview.program.terms import Program
from freshview.sql.load import load

TABLES = """
CREATE STREAM nation (n INT PRIMARY KEY, name STRING NOT NULL);
CREATE STREAM customer (c INT PRIMARY KEY, n INT NOT NULL);
CREATE STREAM orders (o INT PRIMARY KEY, c INT NOT NULL);
CREATE STREAM line (o INT, no INT, price INT NOT NULL, PRIMARY KEY (o, no));
CREATE STREAM back (o INT NOT NULL, no INT NOT NULL);
"""


def compiled(select: str) -> Program:
    catalog, queries = load(TABLES + select)
    return compile_queries(queries, list(catalog.relations.values()))


def test_a_chain_of_references() -> None:
    program = compiled(
        "SELECT x.name, SUM(l.price) AS p FROM nation x, customer y, orders z, line l "
        "WHERE x.n = y.n AND y.c = z.c AND z.o = l.o GROUP BY x.name"
    )
    edges = references(program)
    assert (edges["line"], edges["orders"]) == ({"orders"}, {"customer"})
    assert levels(program) | {"back": 0} == {
        "line": 0,
        "orders": 1,
        "customer": 2,
        "nation": 3,
        "back": 0,
    }
    assert keyed_columns(program)["line", 0] == {"orders"}


def test_a_key_of_two_columns_is_referred_to_by_both() -> None:
    both = "SELECT b.o, l.price FROM back b, line l WHERE b.o = l.o AND b.no = l.no"
    one = "SELECT b.o, l.price FROM back b, line l WHERE b.o = l.o"
    assert references(compiled(both))["back"] == {"line"}
    assert references(compiled(one))["back"] == set()
    assert keyed_columns(compiled(both)) == {}


def test_two_that_refer_to_each_other_are_on_one_level() -> None:
    program = compiled("SELECT x.name FROM nation x, customer y WHERE x.n = y.c")
    assert references(program)["nation"] == {"customer"}
    assert {levels(program)["nation"], levels(program)["customer"]} == {0}
