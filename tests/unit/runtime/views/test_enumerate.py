"""Rows of a factorized result by their numbers, beside those that are listed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from freshview.calculus.schema import Column, Relation
from freshview.calculus.terms import Rel
from freshview.calculus.types import INT, STRING
from freshview.errors import BadRow
from freshview.factorized.conjunctive import Result, factorize
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.readout import NotFactorized
from freshview.program.terms import Program
from freshview.reference.engine.engine import ReferenceEngine
from freshview.runtime.compile.kernel_engine import kernel_engine
from freshview.runtime.views.enumerate import Rows
from tests.unit.factorized.fixture import ORDER, ROWS, filled, join, relations

ENGINES = [ReferenceEngine, pytest.param(kernel_engine, marks=pytest.mark.native)]


def kept(program: Program) -> ReferenceEngine:
    """The rows of the figure."""
    engine = ReferenceEngine(program)
    engine.apply({name: [(row, 1) for row in rows] for name, rows in ROWS.items()})
    return engine


def listed(result: Result) -> Counter[tuple[Any, ...]]:
    return Counter(dict(result.rows()))


@pytest.mark.parametrize("make", ENGINES)
@pytest.mark.parametrize("head", ["ABCD", "ABC", "AB", "A", "DCBA"])
def test_all_the_rows_are_there_as_often_as_they_count(make: Any, head: str) -> None:
    factorized = factorize(
        "Q", head, join().atoms, relations(), ViewTreeOptions(orders={"Q": ORDER})
    )
    engine = make(factorized.program)
    for name, inserted in ROWS.items():
        engine.apply({name: [(row, 1) for row in inserted]})
    engine.apply({"T": [((1, 1), -1), ((2, 2), 3)]})
    reference = filled(factorized.program)
    reference.apply("T", [((1, 1), -1), ((2, 2), 3)])
    contents = {m.name: reference.contents(m.name) for m in factorized.program.maps}
    wanted = listed(Result.of(factorized, contents))
    rows = Rows(factorized, engine)
    assert len(rows) == wanted.total()
    assert Counter(rows[k] for k in range(len(rows))) == wanted
    assert rows[-1] == rows[len(rows) - 1]
    batches = list(rows.stream(3))
    assert [b.num_rows for b in batches[:-1]] == [3] * (len(batches) - 1)
    table = pa.Table.from_batches(batches)
    assert table.column_names == list(head)
    assert [tuple(r.values()) for r in table.to_pylist()] == [rows[k] for k in range(len(rows))]
    some = np.array([len(rows) - 1, 0])
    assert [tuple(r.values()) for r in rows.take(some).to_pylist()] == [rows[-1], rows[0]]


def test_numbers_that_no_row_has() -> None:
    factorized = factorize(
        "Q", "ABCD", join().atoms, relations(), ViewTreeOptions(orders={"Q": ORDER})
    )
    rows = Rows(factorized, kept(factorized.program))
    with pytest.raises(IndexError, match="there is no row 10 among 10"):
        rows[10]
    with pytest.raises(BadRow, match="from 0 to 9"):
        rows.take([3, 10])
    empty = Rows(factorized, ReferenceEngine(factorized.program))
    assert len(empty) == 0
    assert list(empty.stream()) == []


def test_variables_of_one_relation_share_a_view() -> None:
    wide = Relation("W", tuple(Column(c, INT) for c in "kabc"))
    names = Relation("N", (Column("k", INT), Column("s", STRING), Column("t", STRING)))
    atoms = [Rel("W", tuple("kabc")), Rel("N", tuple("kst"))]
    factorized = factorize("Q", "kabcst", atoms, [wide, names])
    [k] = factorized.roots
    assert sorted("".join(sorted(u.vars)) for u in k.below) == ["abc", "st"]
    engine = ReferenceEngine(factorized.program)
    engine.apply({"W": [((1, a, a + 1, 7), 1) for a in range(3)]})
    engine.apply({"N": [((1, "x", "y"), 2), ((1, "x", "z"), 1), ((2, "u", "v"), 1)]})
    rows = Rows(factorized, engine)
    assert len(rows) == 9
    assert Counter(rows[i] for i in range(9))[1, 2, 3, 7, "x", "y"] == 2


def test_a_product_of_relations_without_a_common_variable() -> None:
    declared = [Relation(n, (Column("x", INT),)) for n in "RS"]
    factorized = factorize("Q", "ab", [Rel("R", ("a",)), Rel("S", ("b",))], declared)
    engine = ReferenceEngine(factorized.program)
    engine.apply({"R": [((1,), 1), ((2,), 1)]})
    engine.apply({"S": [((b,), 1) for b in range(3)]})
    rows = Rows(factorized, engine)
    assert {rows[i] for i in range(6)} == {(a, b) for a in (1, 2) for b in range(3)}


def test_an_order_with_a_summed_variable_on_top_is_refused() -> None:
    with pytest.raises(NotFactorized, match="depend on A, which is not in the head"):
        factorize("Q", "BC", join().atoms, relations(), ViewTreeOptions(orders={"Q": ORDER}))
