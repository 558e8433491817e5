"""RANGE: the window of a join."""

from __future__ import annotations

import pytest

from freshview.calculus.text import show
from freshview.errors import FreshviewError
from freshview.sql.load import load

STREAMS = """
CREATE STREAM a (ts TIMESTAMP NOT NULL, k INT NOT NULL, WATERMARK FOR ts AS ts);
CREATE STREAM b (ts TIMESTAMP NOT NULL, k INT NOT NULL, WATERMARK FOR ts AS ts);
CREATE STREAM n (t INT NOT NULL, WATERMARK FOR t AS t - 5);
CREATE STREAM x (t DOUBLE NOT NULL, WATERMARK FOR t AS t);
CREATE STREAM p (t INT NOT NULL);
"""


@pytest.mark.parametrize(
    "window", ["5 MINUTES", "5 min", "'5' MINUTE", "INTERVAL '5' MINUTE", "300 SECONDS"]
)
def test_rows_less_than_that_apart(window: str) -> None:
    _, [query] = load(f"{STREAMS} SELECT a.k FROM a JOIN b ON a.k < b.k RANGE {window}")
    _, [written] = load(
        f"{STREAMS} SELECT a.k FROM a JOIN b ON a.k < b.k WHERE a.ts < b.ts + INTERVAL 5 MINUTES "
        "AND b.ts < a.ts + INTERVAL 5 MINUTES"
    )
    assert query.term == written.term


def test_each_pair_of_streams_is_in_the_window() -> None:
    _, [query] = load(f"{STREAMS} SELECT 1 AS one FROM n a, n b, n c, p RANGE 7")
    assert show(query.term).count("+ 7)") == 6
    _, [query] = load(f"{STREAMS} SELECT 1 AS one FROM x a, x b RANGE 0.5")
    assert "{a_t < (b_t + 0.5e0)}" in show(query.term)


@pytest.mark.parametrize(
    ("select", "sentence"),
    [
        ("SELECT a.k FROM a, b RANGE 5", "this RANGE does not fit 'ts', which is timestamp"),
        ("SELECT a.t FROM n a, n b RANGE 7 DAYS", "this RANGE does not fit 't', which is int"),
        ("SELECT a.t FROM n a, x RANGE 7", "the time of 'a' is int, that of 'x' double"),
        ("SELECT a.t FROM n a, p RANGE 7", "and 1 in FROM has a time"),
        ("SELECT p.t FROM p RANGE 7", "and 0 in FROM have a time"),
        ("SELECT a.t FROM n a LEFT JOIN n b ON a.t > b.t RANGE 7", "write the window in ON"),
        ("SELECT a.k FROM a, b RANGE 5 MONTHS", "RANGE 5 MONTHS is no length of time"),
        ("SELECT a.k FROM a, b RANGE 5 apples", "RANGE 5 apples is no length of time"),
        ("SELECT 1 AS i FROM (SELECT a.k FROM a, b RANGE 5 DAYS) x", "at the end of a view"),
    ],
)
def test_refusals(select: str, sentence: str) -> None:
    with pytest.raises(FreshviewError) as refusal:
        load(STREAMS + select)
    assert sentence in str(refusal.value)


def test_range_is_still_a_name() -> None:
    _, [query] = load(f"{STREAMS} SELECT t AS range FROM n")
    assert query.columns[0].name == "range"
