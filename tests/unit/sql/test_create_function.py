"""CREATE FUNCTION with a body in SQL."""

from __future__ import annotations

from typing import Any

import pytest

import freshview as fv
from freshview.errors import FreshviewError

T = "CREATE STREAM t (id INT PRIMARY KEY, a INT, b BIGINT);"
ROWS = [(1, 5, 7), (2, None, 8), (3, 5, 9)]

MAX = "f(x INT) RETURNS BIGINT RETURN SELECT MAX(b) FROM t WHERE a = x"
NONE = "f(x INT) RETURNS STRING RETURN CASE WHEN x IS NULL THEN 'none' ELSE 'some' END"
SQUARE = "f(x BIGINT) RETURNS INT COMMENT 'c' DETERMINISTIC RETURN x * x"
PRODUCT = "f(x INT, y INT DEFAULT 10) RETURNS INT RETURN x * y"
NEXT = "f(x INT) RETURNS INT RETURN x + 1"

CALLS: list[tuple[str, str, list[tuple[Any, ...]]]] = [
    (NEXT, "SELECT f(a) AS x, f(41) AS y FROM t WHERE id = 1", [(6, 42)]),
    (PRODUCT, "SELECT f(a) + f(a, 2) AS x FROM t", [(60,), (60,), (None,)]),
    (MAX, "SELECT DISTINCT f(a) AS x FROM t", [(9,), (None,)]),
    (MAX, "SELECT f(5) AS x, f(6) AS y", [(9, None)]),
    (SQUARE, "SELECT SUM(f(b)) AS x FROM t GROUP BY f(a)", [(130,), (64,)]),
    ("f() RETURNS DOUBLE RETURN 0.5", "SELECT f() AS x", [(0.5,)]),
    (NONE, "SELECT f(a) AS x, COUNT(*) AS n FROM t GROUP BY f(a)", [("none", 1), ("some", 2)]),
]


@pytest.mark.parametrize("engine", ["reference", pytest.param("native", marks=pytest.mark.native)])
def test_calls(engine: Any, native: None) -> None:
    for body, sql, rows in CALLS:
        db = fv.connect(engine=engine)
        db.execute(f"{T} CREATE FUNCTION {body}; CREATE VIEW v AS {sql}")
        db.insert("t", [(4, 5, 100)])
        db.insert("t", ROWS)
        db.delete("t", (4, 5, 100))
        assert sorted(db.view("v").rows(), key=str) == sorted(rows, key=str), sql


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("CREATE FUNCTION f(x INT) RETURNS INT RETURN f(x)", "there is no function 'f'"),
        ("CREATE FUNCTION f(x INT) RETURNS INT RETURN y", "there is no column 'y'"),
        ("CREATE FUNCTION f(x INT) RETURNS INT RETURN SUM(x)", "SUM is not allowed here"),
        ("CREATE FUNCTION upper(x STRING) RETURNS STRING RETURN x", "there is a function 'upper'"),
        ("CREATE FUNCTION f(x INT, x INT) RETURNS INT RETURN x", "declared twice"),
        ("CREATE FUNCTION f(x INT) RETURNS TABLE (a INT) RETURN SELECT 1", "RETURNS TABLE"),
        ("CREATE FUNCTION f(x INT) RETURNS INT LANGUAGE PYTHON AS 'x'", "in another language"),
        ("CREATE FUNCTION f(x INT) RETURNS INT RETURN x; SELECT f(1, 2) AS y", "takes 1 arguments"),
        ("CREATE FUNCTION f(x INT) RETURNS TINYINT RETURN x; SELECT f(200) AS y", "TINYINT"),
        ("DROP FUNCTION f", "there is no function 'f' to drop"),
    ],
)
def test_refused(sql: str, words: str) -> None:
    with pytest.raises(FreshviewError, match=words):
        fv.connect(engine="reference").execute(sql)


def test_a_function_is_replaced_dropped_and_restored(tmp_path: Any) -> None:
    db = fv.connect(engine="reference")
    db.execute(T + "CREATE FUNCTION f(x INT) RETURNS INT RETURN x + 1")
    db.execute("CREATE VIEW v AS SELECT f(a) AS x FROM t")
    db.insert("t", ROWS)
    db.execute("CREATE FUNCTION IF NOT EXISTS f(x INT) RETURNS INT RETURN 0")
    assert db.sql("SELECT f(1) AS x").rows() == [(2,)]
    db.execute("CREATE OR REPLACE FUNCTION f(x INT) RETURNS INT RETURN x + 2")
    assert db.sql("SELECT f(1) AS x").rows() == [(3,)]
    assert sorted(db.view("v").rows(), key=str) == [(6,), (6,), (None,)]
    db.snapshot(tmp_path / "s")
    again = fv.restore(tmp_path / "s")
    assert again.sql("SELECT f(1) AS x").rows() == [(3,)]
    assert sorted(again.view("v").rows(), key=str) == [(6,), (6,), (None,)]
    db.execute("DROP FUNCTION f; DROP FUNCTION IF EXISTS f")
    with pytest.raises(FreshviewError, match="there is no function 'f'"):
        db.sql("SELECT f(1) AS x")
