"""Aggregates as users call them: digits that survive, and what is refused."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import freshview as fv
from freshview.codegen.library.compiler import find_compiler
from freshview.errors import TypeProblem, UnsupportedSql
from freshview.sql.load import load

SCHEMA = "CREATE STREAM r (g INT, x DOUBLE, y DOUBLE, name STRING);"
NATIVE = pytest.param("native", marks=pytest.mark.native)
TEN_DIGITS = 1e-10


@pytest.mark.parametrize("engine", ["reference", NATIVE])
@pytest.mark.parametrize("mean", [0.0, 1e6, 1e9])
def test_moments_keep_their_digits_beside_a_large_mean(engine: str, mean: float) -> None:
    """A variance of about 1 beside a mean of 1e9: its rows came behind others that have gone."""
    if engine == "native" and find_compiler() is None:
        pytest.skip("there is no C++ compiler")
    rng = random.Random(7)
    pairs = [(x := mean + rng.gauss(0, 1), 3 * x + rng.gauss(0, 1)) for _ in range(200)]
    others = [(1, mean + 100.0, mean), (1, mean - 50.0, mean)]
    db = fv.connect(engine=engine)
    db.execute(
        "CREATE STREAM r (g INT, x DOUBLE, y DOUBLE);"
        "CREATE VIEW v AS SELECT g, VAR_POP(x) AS v, COVAR_SAMP(y, x) AS c, REGR_SLOPE(y, x) AS s "
        "FROM r GROUP BY g"
    )
    db.insert("r", others)
    db.insert("r", [(1, x, y) for x, y in pairs])
    for row in others:
        db.delete("r", row)
    xs, ys = [Fraction(x) for x, _ in pairs], [Fraction(y) for _, y in pairs]
    middle, other = sum(xs) / 200, sum(ys) / 200
    spread = sum((x - middle) ** 2 for x in xs)
    both = sum((x - middle) * (y - other) for x, y in zip(xs, ys, strict=True))
    expected = [float(spread / 200), float(both / 199), float(both / spread)]
    [(_, *row)] = db.view("v").rows()
    assert row == pytest.approx(expected, rel=TEN_DIGITS)


@pytest.mark.parametrize(
    ("sql", "problem", "words"),
    [
        ("SELECT PERCENTILE(x, y) FROM r", UnsupportedSql, "computed share"),
        ("SELECT PERCENTILE(x, 1.5) FROM r", TypeProblem, "between 0 and 1"),
        ("SELECT MEDIAN(name) FROM r", TypeProblem, "needs numbers"),
        ("SELECT STDDEV(name) FROM r", TypeProblem, "needs numbers"),
        ("SELECT EVERY(x, y) FROM r", UnsupportedSql, "of several columns"),
        ("SELECT BOOL_AND(x) FROM r", TypeProblem, "needs a BOOLEAN"),
        ("SELECT MODE() WITHIN GROUP (ORDER BY x, y) FROM r", UnsupportedSql, "order by one"),
        ("SELECT SUM(x) WITHIN GROUP (ORDER BY y) FROM r", UnsupportedSql, "WITHIN GROUP"),
    ],
)
def test_refusals_say_what_is_wrong(sql: str, problem: type[Exception], words: str) -> None:
    with pytest.raises(problem, match=words):
        load(SCHEMA + sql)


def test_explain_says_what_an_aggregate_without_order_means() -> None:
    _, [query] = load(SCHEMA + "SELECT FIRST(x) AS a, APPROX_COUNT_DISTINCT(y) AS b FROM r")
    assert any("FIRST as an aggregate is the least value" in note for note in query.notes)
    assert "APPROX_COUNT_DISTINCT is exact" in query.notes
