"""The order of statements: `+=` before what it reads changes, `:=` after."""

from __future__ import annotations

import pytest

from freshview.calculus.terms import View
from freshview.calculus.text import read
from freshview.errors import ProgramProblem
from freshview.program.order import order
from freshview.program.terms import Statement


def statement(target: str, op: str, term: str) -> Statement:
    return Statement(View(target, ()), op, read(term))  # type: ignore[arg-type]


def test_increments_read_old_maps_and_replacements_new_ones() -> None:
    listed = [
        statement("Last", ":=", "Next[] * 2"),
        statement("M", "+=", "1"),
        statement("Next", ":=", "M[]"),
        statement("Q", "+=", "M[]"),
    ]
    assert [s.target.name for s in order(listed, {})] == ["Q", "M", "Next", "Last"]


def test_a_statement_may_read_its_own_target() -> None:
    assert len(order([statement("M", "+=", "M[]")], {})) == 1


def test_a_circle_is_refused() -> None:
    with pytest.raises(ProgramProblem, match="the maps M, N wait for each other in a circle"):
        order([statement("M", "+=", "N[]"), statement("N", "+=", "M[]")], {})


def test_a_map_is_not_recomputed_from_itself() -> None:
    whole = Statement(View("M", ("a",)), ":=", read("M[a] * N[a]"))
    with pytest.raises(ProgramProblem, match="M would be recomputed from itself"):
        order([whole], {})
