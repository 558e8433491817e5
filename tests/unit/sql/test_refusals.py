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
    ("SELECT CURRENT_DATE FROM r", UnsupportedSql, "1:8", "NOW outside of a condition"),
    ("SELECT a FROM db.nope", UnknownName, "1:", "view 'db.nope'"),
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
    ("SELECT CASE WHEN a > 1 THEN 1 ELSE 'x' END FROM r", TypeProblem, "1:8", "int and string"),
    ("SELECT SUBSTRING(name) FROM t", TypeProblem, "1:", "2 to 3 arguments"),
    ("SELECT vec_length(a) FROM r", TypeProblem, "1:8", "3 arguments"),
    ("SELECT a FROM r WHERE (a, b) IN (SELECT a FROM s)", TypeProblem, "1:24", "2 values"),
    ("SELECT (SELECT a, d FROM s) FROM r", TypeProblem, "1:9", "has 2 columns"),
    ("SELECT INTERVAL '1' DAY + INTERVAL '1' MONTH FROM r", TypeProblem, "1:17", "does not go"),
    ("SELECT p FROM r AS x (p, q)", TypeProblem, "1:15", "3 columns, 2 names"),
    # Constructs
    ("SELECT a FROM r ORDER BY a LIMIT 3 OFFSET 1 + 1", UnsupportedSql, "1:43", "computed OFFSET"),
    ("SELECT a FROM r ORDER BY a LIMIT 1 + 1", UnsupportedSql, "1:34", "computed LIMIT"),
    ("SELECT DISTINCT a FROM r ORDER BY b LIMIT 1", UnsupportedSql, "1:35", "not selected"),
    ("SELECT a FROM r UNION SELECT a, d FROM s", TypeProblem, "1:", "UNION of 1 columns and of 2"),
    ("SELECT name FROM t EXCEPT SELECT a FROM s", TypeProblem, "1:", "'name' of this EXCEPT"),
    ("SELECT a FROM r UNION BY NAME SELECT a FROM s", UnsupportedSql, "1:", "BY NAME"),
    ("SELECT a FROM VALUES (1, 2), (3) AS x (a)", TypeProblem, "1:", "numbers of columns"),
    ("SELECT x FROM VALUES (1), ('a') AS q (x)", TypeProblem, "1:", "column 'x' of VALUES"),
    ("SELECT x FROM r, VALUES (r.a) AS q (x)", UnsupportedSql, "1:", "'a' in VALUES"),
    ("SELECT id FROM range(1000)", UnsupportedSql, "1:", "RANGE of more than 100 rows"),
    ("SELECT id FROM range(1, 2, 0)", UnsupportedSql, "1:", "this RANGE"),
    ("SELECT * FROM nothing_like_it(3)", UnsupportedSql, "1:", "'nothing_like_it'"),
    ("SELECT * EXCEPT (x) FROM r", UnknownName, "1:", "no column 'x' to leave out"),
    ("SELECT * EXCEPT (a, b, c) FROM r", UnsupportedSql, "1:", "leaves no column"),
    ("SELECT a AS x, b AS x, x + 1 AS y FROM r", AmbiguousName, "1:24", "before this one"),
    ("SELECT *, COUNT(*) FROM r GROUP BY ALL", UnsupportedSql, "1:", "GROUP BY ALL beside *"),
    ("SELECT GROUPING(a) FROM r GROUP BY a", UnsupportedSql, "1:8", "GROUPING without"),
    ("SELECT GROUPING(c) FROM r GROUP BY ROLLUP (a)", UnsupportedSql, "1:8", "GROUPING of"),
    ("SELECT 1 FROM r GROUP BY GROUPING SETS (())", UnsupportedSql, "1:", "no column"),
    ("SELECT SUM(c) FROM r GROUP BY CUBE (a, b, c, a + 1, b + 1, c + 1, a + 2)", UnsupportedSql,
     "1:", "CUBE of 7 columns"),
    ("SELECT * FROM r PIVOT (SUM(q) FOR b IN (1, 2))", UnknownName, "1:", "no column 'q'"),
    ("SELECT * FROM r PIVOT (ABS(c) FOR b IN (1, 2))", UnsupportedSql, "1:", "without an agg"),
    ("SELECT * FROM r UNPIVOT ((v, w) FOR n IN (a, b))", UnsupportedSql, "1:", "1 columns for 2"),
    ("SELECT r.a FROM r RIGHT JOIN LATERAL (SELECT d FROM s) x ON TRUE", UnsupportedSql, "1:",
     "RIGHT JOIN LATERAL"),
    ("SELECT ROW_NUMBER() OVER (ORDER BY b) FROM r", UnsupportedSql, "1:8", "may come twice"),
    ("SELECT LAG(a) OVER (ORDER BY b) FROM r", UnsupportedSql, "1:8", "may come twice"),
    ("SELECT SUM(a) OVER (ORDER BY b ROWS 1 PRECEDING) FROM r", UnsupportedSql, "1:8",
     "may come twice"),
    ("SELECT RANK() OVER (PARTITION BY b) FROM r", UnsupportedSql, "1:8", "without ORDER BY"),
    ("SELECT r.a FROM r ASOF JOIN t ON r.a = t.a", UnsupportedSql, "1:", "MATCH_CONDITION"),
    ("SELECT r.a FROM r ASOF RIGHT JOIN t ON r.c >= t.k", UnsupportedSql, "1:", "ASOF RIGHT JOIN"),
    ("SELECT RANK() FROM r", UnsupportedSql, "1:8", "RANK without OVER"),
    ("SELECT ABS(a) OVER (ORDER BY b) FROM r", UnsupportedSql, "1:", "OVER here"),
    ("SELECT a FROM r WHERE SUM(c) OVER () > 1", UnsupportedSql, "1:23", "not allowed in WHERE"),
    ("SELECT a FROM r GROUP BY RANK() OVER (ORDER BY a)", UnsupportedSql, "1:", "not allowed"),
    ("SELECT SUM(COUNT(*) OVER ()) OVER () FROM r", UnsupportedSql, "1:12", "inside of another"),
    ("SELECT SUM(a) OVER w FROM r", UnknownName, "1:8", "no window 'w'"),
    ("SELECT SUM(c) OVER (ORDER BY a, b RANGE 1 PRECEDING) FROM r", UnsupportedSql, "1:8",
     "one column of ORDER BY"),
    ("SELECT SUM(c) OVER (ORDER BY a ROWS BETWEEN a PRECEDING AND CURRENT ROW) FROM r",
     UnsupportedSql, "1:", "offset of a frame"),
    ("SELECT k, NTILE(a) OVER (ORDER BY k) FROM t", UnsupportedSql, "1:11", "this NTILE"),
    ("SELECT a, ROW_NUMBER() OVER (ORDER BY a) AS n FROM r QUALIFY n <= 1000", UnsupportedSql,
     "1:11", "numbers up to 1000"),
    ("SELECT a FROM r WHERE SUM(c) > 1", UnsupportedSql, "1:23", "SUM is not allowed in WHERE"),
    ("SELECT SUM(SUM(c)) FROM r", UnsupportedSql, "1:12", "SUM is not allowed here"),
    ("SELECT (SELECT d FROM s) FROM r", UnsupportedSql, "1:9", "more than one row"),
    ("SELECT (SELECT SUM(r.c) FROM s) FROM r", UnsupportedSql, "1:16", "outer column"),
    ("SELECT a FROM r TABLESAMPLE (10 PERCENT)", UnsupportedSql, "1:", "TABLESAMPLE"),
    ("SELECT a FROM r FOR UPDATE", UnsupportedSql, "1:", "FOR UPDATE"),
    ("SELECT a FROM r LATERAL VIEW explode(b) x AS y", UnsupportedSql, "1:", "LATERAL VIEW"),
    ("SELECT DISTINCT ON (a) a FROM r", UnsupportedSql, "1:", "DISTINCT ON"),
    ("SELECT name FROM t WHERE name LIKE 'x' ESCAPE '!!'", UnsupportedSql, "1:26", "ESCAPE"),
    ("SELECT a FROM r WHERE a IN ()", UnsupportedSql, "1:23", "empty list"),
    ("WITH RECURSIVE x AS (SELECT 1) SELECT * FROM x", UnsupportedSql, "1:", "RECURSIVE"),
    ("SELECT CAST(a AS DATE) FROM r", UnsupportedSql, "1:", "no CAST from INT to DATE"),
    ("SELECT COUNT(a, b) FROM r", UnsupportedSql, "1:8", "several columns"),
    ("INSERT INTO r VALUES (1, 2, 3)", UnsupportedSql, "1:1", "INSERT"),
    ("SELECT a FROM r;\nDROP TABLE r", AmbiguousName, "2:1", "'query' reads 'r'"),
    ("ALTER TABLE r ADD COLUMN x INT", UnsupportedSql, "1:1", "ALTER"),
    ("CREATE INDEX i ON r (a)", UnsupportedSql, "1:8", "CREATE INDEX"),
    # Declarations
    ("CREATE STREAM x (a BLOB)", TypeProblem, "1:20", "BLOB"),
    ("CREATE STREAM x (a INT,\n a INT)", AmbiguousName, "2:2", "declared twice"),
    ("CREATE STREAM R (a INT)", AmbiguousName, "1:15", "already declared"),
    ("CREATE VIEW r AS SELECT a FROM s", AmbiguousName, "1:13", "already declared"),
    ("CREATE STREAM x (a INT) FROM MOON 'x'", UnsupportedSql, "1:30", "is not a source"),
    ("CREATE TABLE x (a INT AS (b + 1))", UnsupportedSql, "1:23", "compute the column in a view"),
    ("CREATE TABLE x (a INT, PRIMARY KEY (b))", SyntaxProblem, "1:", "which is not a column"),
    ("CREATE TABLE x (a INT) SORTED (a)", UnsupportedSql, "1:", "after a declaration"),
    ("CREATE TABLE x (a INT", SyntaxProblem, "1:", "end of the statement"),
    ("CREATE VIEW v AS", SyntaxProblem, "1:15", "no query"),
    ("CREATE VIEW v (x, y) AS SELECT a FROM r", TypeProblem, "1:13", "2 names"),
    # Text
    ("SELECT a FROM", SyntaxProblem, "1:10", "cannot be read"),
    ("SELECT MEDIAN(a, a) FROM r", SyntaxProblem, "1:19", "MEDIAN takes at most 1 arguments"),
    ("SELECT CORR(ABS(a)) FROM r", SyntaxProblem, "1:19", "an argument of CORR is missing"),
    ("SELECT a FROM r WHERE", SyntaxProblem, "1:17", "something is missing here"),
    ("SELECT a -> 'x' FROM r", UnsupportedSql, "1:8", "a path into JSON"),
    ("SELECT DATE_ADD('x', 1) FROM r", BadValue, "1:8", "cannot be cast to DATE"),
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
