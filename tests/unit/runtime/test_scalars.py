"""Scalar functions: the same answers for constants and for columns, on both engines."""

from __future__ import annotations

import math
from datetime import date, datetime

import pytest

import freshview
from freshview.errors import AmbiguousName, BadValue, FreshviewError, SyntaxProblem
from tests.unit.databases import Connect

POSITIONS = [
    (s, p, n)
    for s in ("", "a", "abc", "äöü\U0001d4b3")
    for p in (-8, -3, 0, 2, 5)
    for n in (-1, 1, 6)
]
FAR = [("abc", p, n) for p in (-(1 << 62), 1 << 62) for n in (0, 1 << 62)]


def spark_substring(s: str, position: int, length: int) -> str:
    start = position - 1 if position > 0 else len(s) + position if position < 0 else 0
    return s[max(start, 0) : max(start + length, 0)]


def test_substrings_are_the_same_everywhere(connect: Connect) -> None:
    db = connect(keep_rows=False)
    db.execute(
        "CREATE STREAM t (s STRING NOT NULL, p BIGINT NOT NULL, n BIGINT NOT NULL);"
        "CREATE VIEW v AS SELECT s, p, n, SUBSTRING(s, p, n) AS a, SUBSTRING(s, p) AS b,"
        " CONCAT('[', TRIM(CONCAT(' \t', s, '\n ')), ']') AS c FROM t"
    )
    db.insert("t", POSITIONS + FAR)
    wanted = {
        (s, p, n, spark_substring(s, p, n), spark_substring(s, p, 1 << 63), f"[\t{s}\n]")
        for s, p, n in POSITIONS + FAR
    }
    assert set(db.view("v").rows()) == wanted


LIKES = [
    (r"a\%", {"a%"}),
    (r"a\_b", {"a_b"}),
    (r"a\\b", {"a\\b"}),
    ("a_b", {"a_b", "axb", "a\\b", "a\nb"}),
    ("a%", {"a%", "ab", "a_b", "axb", "a\\b", "a\nb", "a!"}),
    (r"%\%%", {"a%", "%"}),
    ("", {""}),
    (r"_\%", {"a%"}),
]
TEXTS = ["a%", "ab", "a_b", "axb", "a\\b", "a\nb", "", "%", "a!", "\U0001d4b3"]


def test_like_knows_its_escape_character(connect: Connect) -> None:
    """Patterns that are constants, and the same ones in a column."""
    db = connect(keep_rows=False)
    known = ", ".join(
        f"s LIKE '{p.replace(chr(92), chr(92) * 2)}' AS k{i}" for i, (p, _) in enumerate(LIKES)
    )
    db.execute(
        "CREATE STREAM t (s STRING NOT NULL, p STRING NOT NULL);"
        f"CREATE VIEW known AS SELECT s, {known}, s LIKE 'a!!' ESCAPE '!' AS e FROM t;"
        "CREATE VIEW free AS SELECT s, p, s LIKE p AS k, s LIKE p ESCAPE '{' AS e FROM t"
    )
    db.insert("t", [(s, p) for s in TEXTS for p, _ in LIKES])
    for row in db.view("known").rows():
        assert list(row[1:]) == [*(row[0] in matching for _, matching in LIKES), row[0] == "a!"]
    by_pattern = dict(LIKES)
    for s, p, k, _ in db.view("free").rows():
        assert k == (s in by_pattern[p])
    for bad in ("a\\", "\\b"):
        with pytest.raises(BadValue, match="is not a pattern: behind its escape character"):
            db.insert("t", [("a", "%"), ("a", bad)])
    assert len(db.view("free").rows()) == len(TEXTS) * len(LIKES)


ROUNDED = {
    (1.005, 2): 1.01,
    (2.675, 2): 2.68,
    (0.285, 2): 0.29,
    (0.49999999999999994, 0): 0.0,
    (-2.5, 0): -3.0,
    (1.55, 1): 1.6,
    (1e300, 2): 1e300,
    (1234.567, -2): 1200.0,
    (4503599627370497.5, 0): 4503599627370498.0,
    (123456789012.123, 5): 123456789012.123,
    (5e-324, 2): 0.0,
}


def test_doubles_are_rounded_by_the_digits_they_show(connect: Connect) -> None:
    db = connect(keep_rows=False)
    places = sorted({n for _, n in ROUNDED})
    columns = ", ".join(f"ROUND(x, {n}) AS r{i}" for i, n in enumerate(places))
    db.execute(f"CREATE STREAM t (x DOUBLE NOT NULL); CREATE VIEW v AS SELECT x, {columns} FROM t")
    values = sorted({x for x, _ in ROUNDED} | {n / 1000 for n in range(-1000, 1000, 7)})
    db.insert("t", [(x,) for x in values])
    for x, *rounded in db.view("v").rows():
        for n, r in zip(places, rounded, strict=True):
            if (x, n) in ROUNDED:
                assert r == ROUNDED[x, n], (x, n)
                literal = repr(x) if "e" in repr(x) else f"{x!r}e0"
                (view,) = freshview.connect(engine="reference").execute(
                    f"SELECT ROUND({literal}, {n}) AS y"
                )
                assert view.rows() == [(r,)]
            assert math.copysign(1, r) == math.copysign(1, x) or r == 0


REFUSED = [
    ("DATE '9999-12-31' + 1", "leaves the years 1 to 9999"),
    ("DATE '2020-01-01' + INTERVAL '99999999999999999999' DAY", "longer than the years"),
    ("DATE '2020-01-01' - INTERVAL '3000' YEAR", "leaves the years 1 to 9999"),
    ("FLOOR(1e19)", "leaves the 64-bit integers"),
    ("ROUND(9223372036854775807, -1)", "leaves the 64-bit integers"),
    ("9223372036854775807 + 1", "leaves the 64-bit integers"),
    ("9223372036854775807 * 2", "leaves the 64-bit integers"),
    ("1e400", "no DOUBLE holds"),
    ("'a' LIKE 'a!' ESCAPE '!'", "is not a pattern"),
    ("CAST('x' AS ARRAY<BIGINT>)", "CAST to ARRAY<BIGINT> is not supported"),
    ("CAST('x' AS STRUCT<a BIGINT>)", "CAST to STRUCT<a: BIGINT> is not supported"),
    ("CAST(1 AS DECIMAL(39, 2))", "there is no DECIMAL"),
    ("CAST(1 AS BINARY)", "CAST to BINARY is not supported"),
    ("CAST(DATE '2020-01-01' AS BIGINT)", "there is no CAST from DATE to"),
    ("INTERVAL '1_0' DAY + DATE '2020-01-01'", "this INTERVAL is not supported"),
    ("SUM(DISTINCT)", "has no argument"),
    ("COUNT(DISTINCT)", "has no argument"),
    ("COUNT()", "has no argument"),
]


@pytest.mark.parametrize(("expression", "said"), REFUSED)
def test_constants_without_an_answer_are_refused_with_their_place(
    expression: str, said: str
) -> None:
    with pytest.raises(FreshviewError, match=said) as raised:
        freshview.connect(engine="reference").execute(f"SELECT {expression} AS x")
    assert str(raised.value).startswith("<text>:1:")


@pytest.mark.parametrize(
    "sql",
    [
        *(
            "SELECT id, FROM t",
            "SELECT , id FROM t",
            "SELECT FROM t",
            "SELECT id FROM t WHERE id IN (1,)",
        ),
        *("SELECT id FROM t ORDER BY id,", "SELECT id, COUNT(*) FROM t GROUP BY id, HAVING TRUE"),
        *("SELECT id,, s FROM t", "SELECT DISTINCT FROM t", "SELECT COALESCE(id,) FROM t"),
    ],
)
def test_lists_with_nothing_in_them_are_no_sql(sql: str) -> None:
    with pytest.raises(SyntaxProblem):
        freshview.connect(engine="reference").execute(
            f"CREATE STREAM t (id BIGINT, s STRING); {sql}"
        )


def test_columns_of_a_view_have_names_of_their_own() -> None:
    db = freshview.connect(engine="reference")
    db.execute("CREATE STREAM t (id BIGINT, s STRING)")
    for sql in (
        "SELECT id, id FROM t",
        "SELECT a.*, b.* FROM t a, t b",
        "SELECT id AS X, s AS x FROM t",
    ):
        with pytest.raises(
            AmbiguousName, match=r"<text>:1:\d+: the view has two columns .*; rename"
        ):
            db.execute(f"CREATE VIEW v AS {sql}")
    (named,) = db.execute("CREATE VIEW v (a, b) AS SELECT id, id FROM t")
    (alone,) = db.execute("SELECT id, id, SUM(id), SUM(id + 1) FROM t GROUP BY id")
    db.insert("t", [(1, "x")])
    assert named.to_pylist() == [{"a": 1, "b": 1}]
    assert alone.to_pylist() == [{"id": 1, "id_2": 1, "sum": 1, "sum_4": 2}]


def test_dates_that_leave_the_calendar_refuse_the_batch(connect: Connect) -> None:
    db = connect(keep_rows=False)
    db.execute(
        "CREATE STREAM t (d DATE NOT NULL, m TIMESTAMP NOT NULL, n BIGINT NOT NULL);"
        "CREATE VIEW v AS SELECT d + n AS a, ADD_MONTHS(d, n) AS b, m + INTERVAL '1' HOUR AS c,"
        " HOUR(d) AS h, HOUR(m) AS k FROM t"
    )
    noon = datetime(2020, 1, 31, 12)
    good = [(date(2020, 1, 31), noon, 1), (date(9999, 12, 30), noon, 0), (date(1, 1, 2), noon, 0)]
    db.insert("t", good)
    before = sorted(db.view("v").rows())
    assert (date(2020, 2, 1), date(2020, 2, 29), datetime(2020, 1, 31, 13), 0, 12) in before
    last = datetime(9999, 12, 31, 23, 30)
    bad = [(date(9999, 12, 31), noon, 1), (date(1, 1, 1), noon, -1), (date(2020, 1, 1), last, 0)]
    bad += [(date(2020, 1, 1), noon, n) for n in (10**9, -(10**9), (1 << 63) - 1)]
    for row in bad:
        with pytest.raises(BadValue, match=r"row 2 of 't': .* leaves the years 1 to 9999"):
            db.insert("t", [good[0], row])
    assert sorted(db.view("v").rows()) == before


def test_an_error_of_a_python_function_refuses_the_batch() -> None:
    db = freshview.connect()
    db.register_function("ln", math.log, "double")
    db.register_function("wrong", lambda x: "text", "int")
    db.register_function("none", lambda x: None, "int")
    db.execute("CREATE STREAM t (x BIGINT); CREATE VIEW v AS SELECT SUM(ln(x)) AS s FROM t")
    db.insert("t", [(1,), (None,)])
    with pytest.raises(BadValue, match=r"row 2 of 't': ln\(0\) raised ValueError: .*; let the"):
        db.insert("t", [(2,), (0,)])
    assert db.view("v").rows() == [(0.0,)]
    for call, said in (("ln(-1)", "raised ValueError"), ("wrong(1)", "answered 'text'; it must")):
        with pytest.raises(BadValue, match=said):
            db.execute(f"SELECT {call} AS y")
    with pytest.raises(BadValue, match=r"over the rows that are there: none\(1\) answered None"):
        db.execute("CREATE VIEW w AS SELECT none(x) AS y FROM t")
    assert [v.name for v in db.views] == ["v"]
