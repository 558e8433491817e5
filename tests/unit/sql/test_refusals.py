"""What is refused: one sentence, the place, and what to write instead; nothing half-created."""

from __future__ import annotations

import pytest

from freshview.errors import (
    AmbiguousName,
    BadValue,
    FreshviewError,
    SyntaxProblem,
    TypeProblem,
    UnknownName,
    UnsupportedSql,
)
from freshview.sql import Catalog
from freshview.sql.load import load
from tests.differential.sql_cases import SCHEMA

CATALOG, _ = load(SCHEMA)

REFUSED: tuple[tuple[str, type[FreshviewError], str, str], ...] = (
    # Names
    ("SELECT x FROM r", UnknownName, "1:8", "no column 'x'"),
    ("SELECT r.x FROM r", UnknownName, "1:8", "'r' has no column 'x'"),
    ("SELECT a,\n  q.a\nFROM r", UnknownName, "2:3", "no column 'q.a'"),
    ("SELECT a FROM r, s", AmbiguousName, "1:8", "more than one table"),
    ("SELECT r.a FROM r r, s r", AmbiguousName, "1:22", "'r' is in FROM twice"),
    ("SELECT a FROM nope", UnknownName, "1:15", "'nope'"),
    ("SELECT s.* FROM r", UnknownName, "1:8", "no table 's'"),
    ("SELECT frob(a) FROM r", UnknownName, "1:8", "no function 'frob'"),
    ("SELECT CURRENT_DATE FROM r", UnknownName, "1:1", "current_date"),
    ("SELECT a AS x FROM r WHERE x = 1", UnknownName, "1:28", "no column 'x'"),
    ("SELECT a, SUM(c) FROM r", UnknownName, "1:8", "neither in GROUP BY"),
    ("SELECT a\nFROM r\nGROUP BY a\nHAVING b > 1", UnknownName, "4:8", "neither in GROUP BY"),
    ("SELECT a FROM r GROUP BY a, 7", UnknownName, "1:29", "no column 7"),
    ("SELECT a FROM r NATURAL JOIN (SELECT 1 AS z) q", UnknownName, "1:", "no common column"),
    ("SELECT b FROM r GROUP BY b HAVING EXISTS (SELECT 1 FROM s WHERE s.a = r.a)",
     UnknownName, "1:71", "neither in GROUP BY"),
    # Types
    ("SELECT k FROM t WHERE name = 3", TypeProblem, "1:23", "string cannot be compared with int"),
    ("SELECT k FROM t WHERE day = 'soon'", BadValue, "1:23", "'soon' cannot be cast to DATE"),
    ("SELECT k FROM t WHERE day > DATE '2020-13-01'", BadValue, "1:34", "cannot be cast to DATE"),
    ("SELECT name + 1 FROM t", TypeProblem, "1:8", "needs numbers"),
    ("SELECT SUM(name) FROM t", TypeProblem, "1:8", "SUM needs numbers"),
    ("SELECT YEAR(a) FROM r", UnsupportedSql, "1:13", "no CAST from INT to DATE"),
    ("SELECT a FROM r WHERE a", TypeProblem, "1:23", "a condition is of type bool"),
    ("SELECT CASE WHEN a > 1 THEN 1 ELSE 'x' END FROM r", TypeProblem, "1:18", "int and string"),
    ("SELECT SUBSTRING(name) FROM t", TypeProblem, "1:", "2 to 3 arguments"),
    ("SELECT vec_length(a) FROM r", TypeProblem, "1:8", "3 arguments"),
    ("SELECT a FROM r WHERE (a, b) IN (SELECT a FROM s)", TypeProblem, "1:24", "2 values"),
    ("SELECT (SELECT a, d FROM s) FROM r", TypeProblem, "1:9", "has 2 columns"),
    ("SELECT INTERVAL '1' DAY FROM r", TypeProblem, "1:", "interval"),
    ("SELECT p FROM r AS x (p, q)", TypeProblem, "1:15", "3 columns, 2 names"),
    # Constructs
    ("SELECT a FROM r LIMIT 3", UnsupportedSql, "1:", "LIMIT without ORDER BY"),
    ("SELECT a FROM r ORDER BY a LIMIT 3 OFFSET 2", UnsupportedSql, "1:43", "OFFSET"),
    ("SELECT a FROM r ORDER BY a LIMIT 1 + 1", UnsupportedSql, "1:34", "computed LIMIT"),
    ("SELECT a FROM r ORDER BY b", UnsupportedSql, "1:26", "not selected"),
    ("SELECT a FROM (SELECT a FROM r ORDER BY a) x", UnsupportedSql, "1:41", "has no effect"),
    ("SELECT a FROM r UNION SELECT a FROM s", UnsupportedSql, "1:", "UNION"),
    ("SELECT SUM(a) OVER (PARTITION BY b) FROM r", UnsupportedSql, "1:8", "OVER"),
    ("SELECT a FROM r WHERE SUM(c) > 1", UnsupportedSql, "1:23", "SUM is not allowed in WHERE"),
    ("SELECT SUM(SUM(c)) FROM r", UnsupportedSql, "1:12", "SUM is not allowed here"),
    ("SELECT (SELECT d FROM s) FROM r", UnsupportedSql, "1:9", "more than one row"),
    ("SELECT (SELECT SUM(r.c) FROM s) FROM r", UnsupportedSql, "1:16", "outer column"),
    ("SELECT a FROM r GROUP BY ROLLUP (a)", UnsupportedSql, "1:", "ROLLUP"),
    ("SELECT a FROM r GROUP BY a WITH CUBE", UnsupportedSql, "1:", "CUBE"),
    ("SELECT a FROM r TABLESAMPLE (10 PERCENT)", UnsupportedSql, "1:", "TABLESAMPLE"),
    ("SELECT r.a FROM r LEFT SEMI JOIN s ON r.a = s.a", UnsupportedSql, "1:", "EXISTS"),
    ("SELECT /*+ BROADCAST(r) */ a FROM r", UnsupportedSql, "1:", "a hint"),
    ("SELECT a FROM r SORT BY a", UnsupportedSql, "1:", "SORT BY"),
    ("SELECT * EXCEPT (a) FROM r", UnsupportedSql, "1:", "EXCEPT"),
    ("SELECT a FROM db.r", UnsupportedSql, "1:15", "qualified"),
    ("SELECT a FROM (SELECT a FROM r)", UnsupportedSql, "1:", "without a name"),
    ("SELECT a FROM r, LATERAL (SELECT d FROM s) x", UnsupportedSql, "1:", "LATERAL"),
    ("SELECT DISTINCT ON (a) a FROM r", UnsupportedSql, "1:", "DISTINCT ON"),
    ("SELECT name FROM t WHERE name ILIKE 'x'", UnsupportedSql, "1:26", "ILIKE"),
    ("SELECT name FROM t WHERE name LIKE 'x' ESCAPE '!!'", UnsupportedSql, "1:26", "ESCAPE"),
    ("SELECT a FROM r WHERE a IN ()", UnsupportedSql, "1:23", "empty list"),
    ("WITH RECURSIVE x AS (SELECT 1) SELECT * FROM x", UnsupportedSql, "1:", "RECURSIVE"),
    ("SELECT CAST(a AS DATE) FROM r", UnsupportedSql, "1:", "no CAST from INT to DATE"),
    ("SELECT COUNT(a, b) FROM r", UnsupportedSql, "1:8", "several columns"),
    ("INSERT INTO r VALUES (1, 2, 3)", UnsupportedSql, "1:1", "INSERT"),
    ("SELECT a FROM r;\nDROP TABLE r", UnsupportedSql, "2:1", "DROP"),
    ("CREATE INDEX i ON r (a)", UnsupportedSql, "1:8", "CREATE INDEX"),
    # Declarations
    ("CREATE STREAM x (a BLOB)", TypeProblem, "1:20", "BLOB"),
    ("CREATE STREAM x (a INT,\n a INT)", AmbiguousName, "2:2", "declared twice"),
    ("CREATE STREAM R (a INT)", AmbiguousName, "1:15", "already declared"),
    ("CREATE VIEW r AS SELECT a FROM s", AmbiguousName, "1:13", "already declared"),
    ("CREATE STREAM x (a INT) FROM MOON 'x'", UnsupportedSql, "1:30", "is not a source"),
    ("CREATE TABLE x (a INT CHECK (a > 1))", UnsupportedSql, "1:23", "CHECK"),
    ("CREATE TABLE x (a INT, PRIMARY KEY (b))", SyntaxProblem, "1:", "which is not a column"),
    ("CREATE TABLE x (a INT) PARTITIONED BY (a)", UnsupportedSql, "1:", "after a declaration"),
    ("CREATE TABLE x (a INT", SyntaxProblem, "1:", "end of the statement"),
    ("CREATE VIEW v AS", SyntaxProblem, "1:15", "no query"),
    ("CREATE VIEW v (x, y) AS SELECT a FROM r", TypeProblem, "1:13", "2 names"),
    # Text
    ("SELECT a FROM", SyntaxProblem, "1:10", "cannot be read"),
    ("SELECT a b c FROM r", SyntaxProblem, "1:12", "cannot be read near 'c'"),
    ("SELECT\n 'abc FROM r", SyntaxProblem, "2:2", "close the quote"),
)  # fmt: skip


@pytest.mark.parametrize(("sql", "kind", "place", "words"), REFUSED)
def test_refusal_names_the_place_and_the_remedy(
    sql: str, kind: type[FreshviewError], place: str, words: str
) -> None:
    with pytest.raises(kind) as caught:
        load(sql, "q.sql", CATALOG)
    text = str(caught.value)
    assert text.startswith(f"q.sql:{place}"), text
    assert words in text
    assert "\n" not in text


def test_an_error_leaves_the_catalog_as_it_was() -> None:
    before = dict(CATALOG.relations), dict(CATALOG.views)
    with pytest.raises(UnknownName):
        load("CREATE STREAM x (a INT); CREATE VIEW v AS SELECT a FROM x; SELECT b FROM v",
             catalog=CATALOG)  # fmt: skip
    assert (dict(CATALOG.relations), dict(CATALOG.views)) == before
    assert not CATALOG.has("x")


def test_an_empty_catalog_says_so() -> None:
    with pytest.raises(UnknownName, match="declare it first"):
        load("SELECT a FROM r", catalog=Catalog())
