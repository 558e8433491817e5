"""The page of functions says what is there."""

from __future__ import annotations

import pytest

import freshview
from freshview.calculus.builtin.table import ENTRIES
from freshview.sql.lower.values.rewritten import RENAMED, WRITTEN
from tests.differential.function_cases import BY_NAME
from tests.differential.function_page import NOT_SCALAR, PAGE, SYNTAX, page, spark_functions, state

HERE = ("C++", "Python", "written")
SUPPORTED = [n for g, n in spark_functions() if g not in NOT_SCALAR and state(g, n) in HERE]


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page()


def test_every_supported_function_has_an_example_or_answers_of_spark() -> None:
    assert [n for n in SUPPORTED if n not in BY_NAME and n not in SYNTAX] == []


def test_every_name_is_one_of_spark() -> None:
    names = {n for _, n in spark_functions()} | {"timestampadd", "timestampdiff"}
    own = {e.names[0] for e in ENTRIES}
    assert {*RENAMED, *WRITTEN} - names - own == set()


@pytest.mark.parametrize("name", SYNTAX)
def test_examples_are_read(name: str) -> None:
    db = freshview.connect(engine="reference")
    db.execute(
        "CREATE STREAM t (i INT, x DOUBLE, s STRING, d DATE, t TIMESTAMP, flag BOOLEAN);"
        f"CREATE VIEW v AS SELECT i, {SYNTAX[name]} AS y FROM t"
    )
    db.insert("t", [(None,) * 6])
    assert len(db.view("v").rows()) == 1
