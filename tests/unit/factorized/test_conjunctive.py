"""The rows of a join as keys, as a payload and factorized: Ex. 6.5 of F-IVM 2018 on its figure."""

from __future__ import annotations

import pytest

from freshview.calculus.terms import Rel
from freshview.factorized.compile import compile_joins
from freshview.factorized.conjunctive import (
    Factorized,
    Result,
    factorize,
    listed_by_keys,
    listed_in_payload,
)
from freshview.factorized.options import ViewTreeOptions
from freshview.program.check import check_program
from freshview.reference.engine.run import Engine
from tests.unit.factorized.fixture import COLUMNS, ORDER, filled, join, relations

HEAD = tuple("ABCD")
ATOMS = join().atoms
ROWS = {
    (1, 1, 1, 1): 2,
    (1, 2, 1, 1): 2,
    (1, 1, 2, 2): 1,
    (1, 1, 2, 3): 1,
    (1, 2, 2, 2): 1,
    (1, 2, 2, 3): 1,
    (2, 3, 2, 2): 1,
    (2, 3, 2, 3): 1,
}
OPTIONS = ViewTreeOptions(orders={"Q": ORDER})


def test_the_result_has_eight_rows_that_count_ten() -> None:
    assert (len(ROWS), sum(ROWS.values())) == (8, 10)
    by_keys = compile_joins({"Q": listed_by_keys(HEAD, ATOMS)}, relations(), OPTIONS)
    check_program(by_keys)
    assert {row[:4]: row[4] for row in filled(by_keys).rows("Q")} == ROWS
    in_payload = compile_joins({"Q": listed_in_payload(HEAD, ATOMS)}, relations(), OPTIONS)
    check_program(in_payload)
    [(payload,)] = filled(in_payload).rows("Q")
    assert payload.table(HEAD) == ROWS


def result(factorized: Factorized, engine: Engine) -> Result:
    return Result.of(factorized, {m.name: engine.contents(m.name) for m in factorized.program.maps})


def test_a_factorized_result_is_unions_under_values() -> None:
    factorized = factorize("Q", HEAD, ATOMS, relations(), OPTIONS)
    check_program(factorized.program)
    [a] = factorized.roots
    engine = filled(factorized.program)
    assert engine.contents(a.view.name) == {(1,): 8, (2,): 2}
    rows = result(factorized, engine)
    under = {
        u.vars[0]: rows.groups[u.view] for u in (*a.below, *(d for u in a.below for d in u.below))
    }
    assert under["B"] == {(1,): {(1,): 1, (2,): 1}, (2,): {(3,): 1}, (3,): {(4,): 1}}
    assert under["C"] == {(1,): {(1,): 2, (2,): 2}, (2,): {(2,): 2}}
    # for c2 once
    assert under["D"] == {(1,): {(1,): 1}, (2,): {(2,): 1, (3,): 1}, (3,): {(4,): 1}}
    assert rows.total() == 10
    assert dict(rows.rows()) == ROWS


@pytest.mark.parametrize("mode", ["batch", "tuple"])
def test_a_factorized_result_follows_changes(mode: str) -> None:
    factorized = factorize(
        "Q", HEAD, ATOMS, relations(), ViewTreeOptions(mode=mode, orders={"Q": ORDER})
    )
    engine = filled(factorized.program)
    engine.apply("T", [((1, 1), -1), ((2, 2), 3)])
    engine.apply("S", [((3, 1, 7), 1), ((2, 2, 4), -1)])
    listing = filled(compile_joins({"Q": listed_by_keys(HEAD, ATOMS)}, relations(), OPTIONS))
    listing.apply("T", [((1, 1), -1), ((2, 2), 3)])
    listing.apply("S", [((3, 1, 7), 1), ((2, 2, 4), -1)])
    assert dict(result(factorized, engine).rows()) == {r[:4]: r[4] for r in listing.rows("Q")}


def test_a_variable_that_is_not_in_the_head_is_only_counted() -> None:
    factorized = factorize("Q", "ABC", ATOMS, relations(), OPTIONS)
    rows = result(factorized, filled(factorized.program))
    short: dict[tuple[int, ...], int] = {}
    for row, n in ROWS.items():
        short[row[:3]] = short.get(row[:3], 0) + n
    assert dict(rows.rows()) == short


def test_views_of_a_self_join_are_kept_once_and_read_twice() -> None:
    edges = [r for r in relations() if r.name == "R"]
    assert COLUMNS["R"] == "AB"
    atoms = [Rel("R", ("X", "Y")), Rel("R", ("X", "Z"))]
    factorized = factorize("Q", "XYZ", atoms, edges)
    engine = Engine(factorized.program)
    engine.apply("R", [((1, 5), 1), ((1, 6), 2), ((2, 7), 1)])
    assert dict(result(factorized, engine).rows()) == {
        (1, 5, 5): 1,
        (1, 5, 6): 2,
        (1, 6, 5): 2,
        (1, 6, 6): 4,
        (2, 7, 7): 1,
    }
    assert len(factorized.program.maps) == 4  # the count, X, and for Y and Z the same two
