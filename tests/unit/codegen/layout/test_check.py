"""What a layout may not say, each once."""

from __future__ import annotations

import pytest

from freshview.codegen.layout.check import check
from freshview.codegen.layout.terms import Layout
from freshview.codegen.layout.text import read
from freshview.errors import ProgramProblem

PROBLEMS = {
    "table m [int] : [int] key k1": "the key has the column k1",
    "table m [int] : [int] key k0": "all of its columns",
    "table m [int] : [int] index k0 index k0": "an index twice",
    "table m [int] : [int] index k0, k0": "a column twice",
    "table m [int] : [int] order k0 order k0": "an order twice",
    "table m [int] : [int] order k1": "an order has the column k1",
    "table m [int] : [int] order k0 text": "by the text of a column",
    "table m [int] : [cofactor(x)] order k0": "adds up numbers only",
    "transient m [int] : [int] order k0": "no longer than a batch",
    "table m [int] : [int] home n by k0": "'n', which is not a table",
    "table m [int] : [int] home n by k0 table n [int] : [int]": "that is not there",
    "table m [int] : [int] home n by k0, k1 table n [int, int] : [int] index k0, k1": "other col",
    "table m [int] : [int] index k0 home n by k0 table n [int] : [int] index k0": "more than one",
    "table m [int] : [int] home n by k0 table n [int] : [int] index k0 home o by k0 "
    "table o [int] : [int] index k0": "another table itself",
    "table m [int] : [int] home o by k0 table n [int] : [int] home o by k0 "
    "table o [int] : [int] index k0": "lies where 'm' lies",
    "map M in m p0 [k0]": "'m', which is not a table",
    "table m [int] : [int] map M in m p1 [k0]": "no payload column p1",
    "table m [int, int] : [int] map M in m p0 [k0, k0]": "not those of 'm'",
    "table m [int] : [int] map M in m p0 [k0] map N in m p0 [k0]": "that of 'M'",
    "deferred M": "has no place",
    "table m [int] : [int] map M in m p0 [k0] deferred M late M": "after every batch",
}


@pytest.mark.parametrize(("text", "problem"), PROBLEMS.items())
def test_problem(text: str, problem: str) -> None:
    with pytest.raises(ProgramProblem, match=problem):
        check(read(text))


def test_a_table_under_another_name() -> None:
    tables = read("table m [int] : [int]").tables
    with pytest.raises(ProgramProblem, match="listed as 'n'"):
        check(Layout({"n": tables["m"]}))


def test_a_guest_in_the_heads_of_an_index() -> None:
    check(read("table m [int] : [int] home n by k1 table n [date, int] : [int] index k1"))
