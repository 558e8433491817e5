"""Order, NULL placement, ties, and limits that count multiplicities."""

from __future__ import annotations

from freshview.calculus.text import read
from freshview.reference.oracle.evaluate import Database, evaluate

ROWS = {(1, 5): 1, (1, 7): 1, (1, None): 1, (2, 6): 1}


def top(text: str, rows: dict = ROWS, **env: object) -> dict:
    return evaluate(read(text), Database({"R": rows}), env)


def test_ascending_puts_null_last() -> None:
    assert top("Top[; b; 3](R(a, b))") == {(1, 5): 1, (2, 6): 1, (1, 7): 1}


def test_descending_puts_null_last_too() -> None:
    assert top("Top[; b desc; 1](R(a, b))") == {(1, 7): 1}


def test_nulls_first() -> None:
    assert top("Top[; b nulls first; 1](R(a, b))") == {(1, None): 1}
    assert top("Top[; b desc nulls first; 2](R(a, b))") == {(1, None): 1, (1, 7): 1}


def test_one_top_per_key() -> None:
    assert top("Top[a; b; 1](R(a, b))") == {(1, 5): 1, (2, 6): 1}


def test_ties_go_by_the_other_variables_null_smallest() -> None:
    assert top("Top[; a; 1](R(a, b))") == {(1, None): 1}


def test_the_limit_counts_multiplicities() -> None:
    assert top("Top[; b; 4](R(a, b))", {(1, 1): 3, (1, 2): 3, (1, 3): 1}) == {(1, 1): 3, (1, 2): 1}


def test_a_negative_row_is_not_there() -> None:
    assert top("Top[; b; 1](R(a, b))", {(1, 1): -2, (1, 2): 1}) == {(1, 2): 1}


def test_a_limit_of_zero_takes_nothing() -> None:
    assert top("Top[; b; 0](R(a, b))") == {}


def test_what_the_context_knows_does_not_change_the_choice() -> None:
    assert top("Top[; b; 1](R(a, b))", b=7) == {}
    assert top("Top[; b; 1](R(a, b))", b=5) == {(1, 5): 1}


def test_keys_from_the_context_choose_the_group() -> None:
    assert top("Top[a; b; 1](R(a, b))", a=2) == {(2, 6): 1}
