"""Expressions whose values leave their range, or are not numbers: every engine says the same."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

import freshview
from freshview.codegen.library.compiler import find_compiler
from freshview.errors import Overflow
from freshview.runtime.database import tiering

COMPILED = pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
ENGINES = ["reference", pytest.param("native", marks=[pytest.mark.native, COMPILED])]

SCHEMA = "CREATE STREAM r (a BIGINT, b BIGINT, d DECIMAL(38, 2), s STRING, x DOUBLE, t DATE);"
BIG = (2**40, 2**40, Decimal(10**35), "abc", 1e308, date(9999, 12, 31))


def database(engine: str, *views: str) -> Any:
    db = freshview.connect(engine=engine)  # type: ignore[arg-type]
    db.execute(SCHEMA + "".join(f"CREATE VIEW v{i} AS {v};" for i, v in enumerate(views)))
    return db


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "view",
    [
        "SELECT COUNT(*) AS n FROM r WHERE a * b > 0",
        "SELECT a * b > 0 AS q FROM r",
        "SELECT CASE WHEN a * b > 0 THEN 1 END AS q FROM r",
        "SELECT (a * b) % 10 AS q, SQRT(a * b) AS s FROM r",
        "SELECT CAST(a * b AS STRING) AS q FROM r",
        "SELECT CAST(a * b AS DOUBLE) AS q, a * b + 0.5 AS p FROM r",
        "SELECT COUNT(*) AS n FROM r WHERE d * d > 0",
    ],
)
def test_a_number_that_leaves_its_range_in_an_expression_is_refused(engine: str, view: str) -> None:
    db = database(engine, view)
    db.insert("r", [(1, 2, Decimal(3), "4", 0.5, date(2020, 1, 1))])
    before = db.view("v0").rows()
    with pytest.raises(Overflow):
        db.insert("r", [BIG])
    assert db.view("v0").rows() == before


@pytest.mark.parametrize("engine", ENGINES)
def test_what_may_refuse_a_row_sees_only_rows_that_pass_the_tests_before_it(engine: str) -> None:
    db = database(
        engine,
        "SELECT SUM(CASE WHEN b = 1 AND CAST(s AS BIGINT) > 5 THEN 1 ELSE 0 END) AS q FROM r",
        "SELECT b = 0 OR CAST(s AS BIGINT) > 5 AS q FROM r",
        "SELECT COUNT(*) AS n FROM r WHERE t + 1 > DATE '2020-01-01' AND b = 1",
        "SELECT b FROM r WHERE b IN"
        " (SELECT y.b FROM r y WHERE y.b = 1 AND CAST(y.s AS BIGINT) > 5)",
    )
    db.insert("r", [(0, 0, None, "abc", None, date(9999, 12, 31))])
    db.insert("r", [(0, 1, None, "7", None, date(2021, 1, 1))])
    assert [sorted(v.rows()) for v in db.views] == [[(1,)], [(True,), (True,)], [(1,)], [(1,)]]


@pytest.mark.native
@COMPILED
def test_a_kernel_that_takes_over_serves_what_was_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiering, "TIER_UP_ROWS", 3)
    db = database(
        "auto", "SELECT SUM(CASE WHEN b = 1 AND CAST(s AS BIGINT) > 5 THEN 1 END) AS q FROM r"
    )
    db.insert("r", [(0, 0, None, "abc", None, None)] + [(0, 1, None, "7", None, None)] * 5)
    for build in db._tiering.jobs:
        build.wait()
    assert db.view("v0").rows() == [(5,)]
    db.delete("r", [(0, 0, None, "abc", None, None)])
    assert (db.view("v0").rows(), db.view("v0").engine) == ([(5,)], "native")


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_not_a_number_is_one_value(engine: str) -> None:
    db = database(
        engine,
        "SELECT CAST(x * 10 - ABS(x) * 10 AS STRING) AS q, CAST(-x * 10 AS STRING) AS p FROM r",
        "SELECT x * 10 - ABS(x) * 10 AS z, COUNT(*) AS n FROM r GROUP BY x * 10 - ABS(x) * 10",
        "SELECT COUNT(*) AS n FROM r WHERE x * 10 - ABS(x) * 10 = x * 10 - ABS(x) * 10",
    )
    rows = [(i, None, None, None, 1e308, None) for i in range(3)]
    db.insert("r", rows)
    texts, groups, equal = (v.rows() for v in db.views)
    assert (texts, equal) == ([("NaN", "-Infinity")] * 3, [(3,)])
    assert [n for _, n in groups] == [3]
    db.delete("r", rows)
    assert [v.rows() for v in db.views] == [[], [], [(0,)]]


def test_the_greatest_of_one_value_is_that_value() -> None:
    db = database("reference", "SELECT LEAST(s) AS s, GREATEST(a) AS a FROM r")
    db.insert("r", [(7, 0, None, "abc", None, None)])
    assert db.view("v0").rows() == [("abc", 7)]
