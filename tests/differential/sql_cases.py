"""SQL texts that cover every construct of the front end, over one small schema.

The tables are meant to hold few distinct values, many NULLs and many duplicates: see `random_row`.
"""

from __future__ import annotations

import random
from datetime import date, timedelta
from decimal import Decimal

from freshview.calculus.schema import Relation
from freshview.calculus.types import Type, Value
from tests.differential.aggregate_cases import AGGREGATE_CASES
from tests.differential.asof_cases import ASOF_CASES
from tests.differential.spark_texts import SPARK_TEXTS
from tests.differential.window_cases import WINDOW_CASES

SCHEMA = """
CREATE STREAM r (a INT, b INT, c INT NOT NULL);
CREATE STREAM s (a INT, d INT NOT NULL, e INT);
CREATE STREAM t (
    k INT PRIMARY KEY,
    a INT,
    name STRING,
    day DATE,
    price DECIMAL(8, 2),
    w DOUBLE NOT NULL,
    flag BOOLEAN
);
CREATE TABLE u (a INT NOT NULL, f INT, PRIMARY KEY (a));
"""

CASES: tuple[str, ...] = (
    # Selection, projection, bags
    "SELECT * FROM r",
    "SELECT a, b FROM r",
    "SELECT r.*, r.a FROM r",
    "SELECT a AS x, a AS y, a + 1 AS z FROM r",
    "SELECT 1",
    "SELECT 1 + 2 * 3 AS seven, 'x' AS text, NULL AS nothing",
    "SELECT DISTINCT a FROM r",
    "SELECT DISTINCT a, b FROM r WHERE c > 1",
    "SELECT a FROM r WHERE b = 1",
    "SELECT a FROM r WHERE b <> 1",
    "SELECT a FROM r WHERE NOT b = 1",
    "SELECT a FROM r WHERE a = b",
    "SELECT a, b FROM r WHERE a <> b",
    "SELECT a FROM r WHERE a < b AND b < c",
    "SELECT a FROM r WHERE NOT (a < b AND b < c)",
    "SELECT a FROM r WHERE a < b OR b < c",
    "SELECT a FROM r WHERE NOT (a < b OR b = c)",
    "SELECT a FROM r WHERE a IS NULL",
    "SELECT a FROM r WHERE a IS NOT NULL AND b IS NULL",
    "SELECT a, c FROM r WHERE a + b > c",
    "SELECT a, c FROM r WHERE NOT (a + b > c)",
    "SELECT a + b AS x, a * b - c AS y FROM r",
    "SELECT a - b FROM r WHERE a - b <> 0",
    "SELECT (a + b) IS NULL AS x FROM r",
    "SELECT a FROM r WHERE (a + b) IS NOT NULL",
    "SELECT a FROM r WHERE a BETWEEN 1 AND 2",
    "SELECT a FROM r WHERE a NOT BETWEEN b AND 2",
    "SELECT a FROM r WHERE a IN (1, 2)",
    "SELECT a FROM r WHERE a NOT IN (1, 2)",
    "SELECT a FROM r WHERE a IN (1)",
    "SELECT a FROM r WHERE a NOT IN (1, NULL)",
    "SELECT a FROM r WHERE a IN (1, NULL)",
    "SELECT a, b FROM r WHERE a IN (b, 2, c)",
    "SELECT a, b FROM r WHERE a NOT IN (b, 2, c)",
    "SELECT a FROM r WHERE NULL",
    "SELECT a FROM r WHERE NOT (a = NULL)",
    "SELECT a FROM r WHERE TRUE",
    "SELECT a FROM r WHERE 1 = 0",
    "SELECT a, b FROM r WHERE a IS NOT DISTINCT FROM b",
    "SELECT a, b FROM r WHERE a IS DISTINCT FROM b",
    "SELECT a, b FROM r WHERE (a = b) IS TRUE",
    "SELECT a, b FROM r WHERE (a = b) IS NOT FALSE",
    "SELECT a = b AS same, a < 2 OR b < 2 AS small FROM r",
    "SELECT c > 1 AS big FROM r",
    "SELECT a FROM r WHERE a = a",
    "SELECT a FROM r WHERE NOT (a <> a)",
    "SELECT a, COUNT(*), MIN(b), COUNT(DISTINCT b) FROM r WHERE c IS NULL GROUP BY a",
    "SELECT COUNT(*), MIN(b), SUM(DISTINCT b), AVG(b) FROM r WHERE c IS NULL",
    # Strings, dates, numbers, functions
    "SELECT k, name FROM t WHERE name LIKE 'a%'",
    "SELECT k, name FROM t WHERE name NOT LIKE '%b_'",
    "SELECT k FROM t WHERE NOT (name LIKE 'a%' OR name = 'bb')",
    "SELECT k, UPPER(name), LENGTH(name) FROM t",
    "SELECT SUBSTRING(name, 0, 2) AS p, COUNT(*) FROM t GROUP BY SUBSTRING(name, 0, 2)",
    "SELECT SUBSTRING(name FROM 1 FOR 1) AS p FROM t WHERE SUBSTRING(name, 1, 1) IN ('a', 'b')",
    "SELECT name || '!' AS loud FROM t",
    "SELECT k FROM t WHERE day < DATE '2020-01-03'",
    "SELECT k FROM t WHERE day >= DATE('2020-01-02') AND day < '2020-01-04'",
    "SELECT k, EXTRACT(YEAR FROM day) AS y, EXTRACT(MONTH FROM day) AS m FROM t",
    "SELECT k FROM t WHERE day < DATE '2019-12-03' + INTERVAL '1' MONTH",
    "SELECT k, day + INTERVAL '1' DAY AS next FROM t",
    "SELECT k FROM t WHERE YEAR(day) = 2020",
    "SELECT k, price * 2 AS p, price + 0.05 AS q FROM t",
    "SELECT k, price * (1 - price) AS p FROM t WHERE price > 0.5",
    "SELECT k FROM t WHERE price = w",
    "SELECT k FROM t WHERE price < w OR a = w",
    "SELECT k, a / 2 AS half, price / a AS ratio FROM t",
    "SELECT k, a % 2 AS odd FROM t",
    "SELECT a / b AS q FROM r WHERE a / b > 0.5",
    "SELECT a, b FROM r WHERE NOT (a / b > 0.5)",
    "SELECT (a / b) IS NULL AS x FROM r",
    "SELECT COALESCE(a, b, c) AS x, COALESCE(a, b) AS y FROM r",
    "SELECT COALESCE(a + b, 0) AS x FROM r",
    "SELECT NULLIF(a, b) AS x FROM r",
    "SELECT LISTMAX(1, c) AS x, GREATEST(a, b, c) AS y, LEAST(a, c) AS z FROM r",
    "SELECT k, vec_length(w, w, w) AS l FROM t",
    "SELECT ABS(a - c) AS x FROM r",
    "SELECT k FROM t WHERE flag",
    "SELECT k FROM t WHERE NOT flag",
    "SELECT k, flag AND a > 1 AS x FROM t",
    "SELECT k, CAST(a AS DOUBLE) AS x FROM t WHERE CAST(a AS DOUBLE) = w",
    "SELECT -a AS x, -(a + b) AS y FROM r",
    # CASE
    "SELECT CASE WHEN a > 1 THEN 'big' WHEN a > 0 THEN 'small' ELSE 'none' END AS x FROM r",
    "SELECT CASE a WHEN 1 THEN 10 WHEN 2 THEN 20 END AS x FROM r",
    "SELECT CASE a WHEN b THEN c WHEN c THEN b ELSE a END AS x FROM r",
    "SELECT CASE WHEN a = b THEN NULL ELSE a + b END AS x FROM r",
    "SELECT SUM(CASE WHEN a = 1 THEN c ELSE 0 END) AS x FROM r",
    "SELECT a, SUM(CASE WHEN b > 1 THEN c END) AS x FROM r GROUP BY a",
    "SELECT COUNT(CASE WHEN a = 1 OR b = 1 THEN 1 END) AS x FROM r",
    "SELECT SUM(c) FILTER (WHERE a > 1) AS x, COUNT(*) FILTER (WHERE b = 1) AS y FROM r",
    "SELECT CASE WHEN a > 1 THEN 1 ELSE 0 END AS g, SUM(c) FROM r "
    "GROUP BY CASE WHEN a > 1 THEN 1 ELSE 0 END",
    "SELECT a FROM r WHERE CASE WHEN b > 1 THEN a ELSE c END > 1",
    "SELECT CASE WHEN EXISTS (SELECT 1 FROM s WHERE s.a = r.a) THEN c ELSE 0 END AS x FROM r",
    "SELECT CASE WHEN a > (SELECT MIN(e) FROM s) THEN (SELECT MAX(d) FROM s) ELSE b END FROM r",
    "SELECT IF(a > b, a, b) AS x FROM r",
    # Joins
    "SELECT r.b, s.d FROM r, s WHERE r.a = s.a",
    "SELECT r.b, s.d FROM r JOIN s ON r.a = s.a",
    "SELECT r.b, s.d FROM r INNER JOIN s ON r.a = s.a AND r.b < s.e",
    "SELECT COUNT(*) FROM r CROSS JOIN s",
    "SELECT * FROM r NATURAL JOIN s",
    "SELECT * FROM r JOIN s USING (a)",
    "SELECT a, COUNT(*) FROM r NATURAL JOIN s NATURAL JOIN u GROUP BY a",
    "SELECT x.a, y.b FROM r x, r y WHERE x.a = y.b AND x.c < y.c",
    "SELECT r.a FROM r, s WHERE r.a = s.a OR r.b = s.e",
    "SELECT r.a FROM r, s WHERE r.a < s.a OR r.b < s.e",
    "SELECT r.a FROM r, s WHERE NOT (r.a = s.a AND r.b = s.e)",
    "SELECT r.a FROM r, s WHERE (r.a = 1 AND s.a = 2) OR (r.a = 2 AND s.a = 1)",
    "SELECT r.a FROM r, s WHERE (r.a = s.a AND r.b = 1 AND s.d > 0) OR (r.a = s.a AND s.d < 2)",
    "SELECT COUNT(*) FROM r, s WHERE r.a - s.d > 1 OR s.d - r.a > 1",
    "SELECT r.b, s.d FROM r LEFT JOIN s ON r.a = s.a",
    "SELECT r.b, s.d FROM r LEFT JOIN s ON r.a = s.a AND s.e > 1",
    "SELECT r.b, s.d FROM r LEFT JOIN s ON r.a = s.a WHERE s.e > 1",
    "SELECT r.b FROM r LEFT JOIN s ON r.a = s.a WHERE s.d IS NULL",
    "SELECT r.b, s.d FROM r RIGHT JOIN s ON r.a = s.a",
    "SELECT r.b, s.d FROM r FULL OUTER JOIN s ON r.a = s.a",
    "SELECT r.b, s.d FROM r FULL JOIN s ON r.a = s.a AND r.b > 1",
    "SELECT a, b, d FROM r FULL JOIN s USING (a)",
    "SELECT a, b, d FROM r LEFT JOIN s USING (a)",
    "SELECT * FROM r NATURAL RIGHT JOIN s",
    "SELECT r.a, s.d, u.f FROM r LEFT JOIN s ON r.a = s.a LEFT JOIN u ON s.d = u.a",
    "SELECT r.a, s.d, u.f FROM r LEFT JOIN (s JOIN u ON s.d = u.a) ON r.a = s.a",
    "SELECT u.a, r.b, s.d FROM u, r LEFT JOIN s ON r.a = s.a WHERE u.a = r.b",
    "SELECT u.a, r.b, s.d FROM u, r FULL JOIN s ON r.a = s.a WHERE u.a < 2",
    "SELECT r.a, COUNT(s.d) AS n, SUM(s.d) AS t FROM r LEFT JOIN s ON r.a = s.a GROUP BY r.a",
    "SELECT r.a, COUNT(*) AS n FROM r LEFT JOIN s ON r.a = s.a AND s.d > 100 GROUP BY r.a",
    "SELECT r.b, s.d FROM r LEFT JOIN s ON r.a = s.a OR r.b = s.e",
    "SELECT r.b FROM r LEFT JOIN s ON EXISTS (SELECT 1 FROM u WHERE u.a = r.a AND u.f = s.e)",
    # Aggregates
    "SELECT COUNT(*) FROM r",
    "SELECT COUNT(*) AS n, COUNT(a) AS x, SUM(a) AS y, AVG(a) AS z, MIN(a), MAX(b) FROM r",
    "SELECT SUM(a) FROM r WHERE c > 100",
    "SELECT COUNT(a), SUM(a), MIN(a), AVG(a) FROM r WHERE c > 100",
    "SELECT a, COUNT(*) FROM r GROUP BY a",
    "SELECT a, SUM(b), COUNT(b), MIN(b), MAX(b), AVG(b) FROM r GROUP BY a",
    "SELECT a, SUM(c) FROM r GROUP BY a",
    "SELECT a, SUM(c - 1) AS z FROM r GROUP BY a",
    "SELECT SUM(c) FROM r GROUP BY a",
    "SELECT a FROM r GROUP BY a",
    "SELECT a, b, SUM(c) FROM r GROUP BY a, b",
    "SELECT a + 1 AS g, SUM(c) FROM r GROUP BY a + 1",
    "SELECT a + 1 AS g, SUM(c) FROM r GROUP BY g",
    "SELECT a + b, COUNT(*) FROM r GROUP BY 1",
    "SELECT a > 1 AS big, COUNT(*) FROM r GROUP BY a > 1",
    "SELECT a, SUM(c) + COUNT(*) * 2 AS x, SUM(b) / COUNT(b) AS y FROM r GROUP BY a",
    "SELECT a, SUM(b + c) AS x, MIN(b + c) AS y FROM r GROUP BY a",
    "SELECT SUM(a) + 1 AS x, SUM(a) * 2 > 3 AS y FROM r",
    "SELECT COUNT(DISTINCT a) FROM r",
    "SELECT a, COUNT(DISTINCT b), SUM(DISTINCT b), AVG(DISTINCT c) FROM r GROUP BY a",
    "SELECT SUM(DISTINCT b) FROM r WHERE c > 100",
    "SELECT MIN(DISTINCT b), MAX(DISTINCT c) FROM r",
    "SELECT MIN(name), MAX(day), MIN(price), SUM(price), AVG(w) FROM t",
    "SELECT name, SUM(price * (1 - price)) AS x FROM t GROUP BY name",
    "SELECT a, SUM(c) FROM r GROUP BY a HAVING SUM(c) > 3",
    "SELECT a, SUM(c) AS total FROM r GROUP BY a HAVING total > 3 AND COUNT(*) > 1",
    "SELECT a FROM r GROUP BY a HAVING SUM(b) > 1 OR COUNT(*) > 2",
    "SELECT a FROM r GROUP BY a HAVING NOT (SUM(b) > 1)",
    "SELECT a FROM r GROUP BY a HAVING a > 1 OR SUM(c) > 2",
    "SELECT COUNT(*) FROM r HAVING COUNT(*) > 3",
    "SELECT 1 AS one FROM r HAVING SUM(a) > 3",
    "SELECT a FROM r GROUP BY a HAVING SUM(c) > (SELECT AVG(d) FROM s)",
    "SELECT a FROM r GROUP BY a HAVING EXISTS (SELECT 1 FROM s WHERE s.a = r.a)",
    "SELECT a, (SELECT MAX(d) FROM s WHERE s.a = r.a) AS m FROM r GROUP BY a",
    "SELECT DISTINCT SUM(c) FROM r GROUP BY a",
    "SELECT r.a, SUM(s.d * r.c) FROM r, s WHERE r.a = s.a GROUP BY r.a",
    "SELECT 5 AS five, SUM(c) FROM r GROUP BY five, a",
    "SELECT LISTMAX(1, SUM(c)) AS x, SUM(c) / LISTMAX(1, SUM(c)) AS y FROM r",
    # Subqueries as values
    "SELECT a, (SELECT SUM(d) FROM s) AS x FROM r",
    "SELECT a, (SELECT SUM(d) FROM s WHERE s.a = r.a) AS x FROM r",
    "SELECT a, (SELECT COUNT(*) FROM s WHERE s.a = r.a) AS x FROM r",
    "SELECT a, (SELECT COUNT(*) FROM s WHERE s.d < r.c) + 1 AS x FROM r",
    "SELECT a FROM r WHERE c > (SELECT AVG(d) FROM s)",
    "SELECT a FROM r WHERE c > 0.5 * (SELECT SUM(d) FROM s WHERE s.a = r.a)",
    "SELECT a FROM r WHERE NOT (c > (SELECT SUM(d) FROM s WHERE s.a = r.a))",
    "SELECT a FROM r WHERE b = (SELECT MAX(e) FROM s WHERE s.a = r.a)",
    "SELECT a FROM r WHERE (SELECT MAX(e) FROM s WHERE s.a = r.a) IS NULL",
    "SELECT SUM(x.c) FROM r x WHERE 0.25 * (SELECT SUM(y.c) FROM r y) > "
    "(SELECT SUM(z.c) FROM r z WHERE z.a > x.a)",
    "SELECT a, (SELECT name FROM t WHERE t.k = r.a) AS name FROM r",
    "SELECT a, (SELECT f FROM u WHERE u.a = r.b) + 1 AS f FROM r",
    "SELECT a, (SELECT SUM(d) FROM s WHERE s.a = r.a GROUP BY s.a) AS x FROM r",
    "SELECT a, (SELECT SUM(d) FROM s WHERE s.a = r.a HAVING COUNT(*) > 1) AS x FROM r",
    "SELECT a, (SELECT d FROM s WHERE s.a = r.a ORDER BY d DESC LIMIT 1) AS x FROM r",
    "SELECT a FROM r WHERE (SELECT COUNT(*) FROM s WHERE s.a = r.a AND s.d > "
    "(SELECT MIN(f) FROM u WHERE u.a = r.b)) > 0",
    "SELECT a FROM r WHERE 1 <= (SELECT SUM(1) FROM s WHERE s.a = r.a AND 2 < "
    "(SELECT SUM(s2.d) FROM s s2 WHERE s2.a = s.a))",
    "SELECT SUM(c * (SELECT COUNT(*) FROM s WHERE s.a = r.a)) AS x FROM r",
    "SELECT (SELECT COUNT(*) FROM r) + (SELECT COUNT(*) FROM s) AS n",
    "SELECT a FROM r WHERE a > (SELECT MAX(d) FROM s WHERE d > 100)",
    "SELECT a FROM r WHERE (a > (SELECT MAX(d) FROM s WHERE d > 100)) IS NULL",
    # EXISTS, IN, ANY, ALL
    "SELECT a FROM r WHERE EXISTS (SELECT * FROM s WHERE s.a = r.a)",
    "SELECT a FROM r WHERE NOT EXISTS (SELECT * FROM s WHERE s.a = r.a)",
    "SELECT a FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.a = r.a AND s.d < r.c)",
    "SELECT a FROM r WHERE EXISTS (SELECT SUM(d) FROM s WHERE s.a = r.a)",
    "SELECT a FROM r WHERE EXISTS (SELECT a FROM s WHERE s.a = r.a GROUP BY a HAVING SUM(d) > 2)",
    "SELECT a, EXISTS (SELECT 1 FROM s WHERE s.a = r.a) AS x FROM r",
    "SELECT a FROM r WHERE a IN (SELECT a FROM s)",
    "SELECT a FROM r WHERE a NOT IN (SELECT a FROM s)",
    "SELECT a FROM r WHERE a NOT IN (SELECT a FROM s WHERE a IS NOT NULL)",
    "SELECT c FROM r WHERE c IN (SELECT d FROM s)",
    "SELECT c FROM r WHERE c NOT IN (SELECT d FROM s)",
    "SELECT c FROM r WHERE c NOT IN (SELECT e FROM s WHERE s.a = r.a)",
    "SELECT a, b FROM r WHERE (a, b) IN (SELECT a, e FROM s)",
    "SELECT a, b FROM r WHERE (a, b) NOT IN (SELECT a, e FROM s)",
    "SELECT a, a IN (SELECT a FROM s) AS x FROM r",
    "SELECT a FROM r WHERE (a IN (SELECT e FROM s WHERE d > 1)) IS NULL",
    "SELECT a FROM r WHERE a > ANY (SELECT e FROM s)",
    "SELECT a FROM r WHERE NOT (a > ANY (SELECT e FROM s))",
    "SELECT a FROM r WHERE a > ALL (SELECT e FROM s)",
    "SELECT a FROM r WHERE NOT (a > ALL (SELECT e FROM s))",
    "SELECT a FROM r WHERE a > ALL (SELECT d FROM s WHERE d > 100)",
    "SELECT c FROM r WHERE c >= ALL (SELECT d FROM s)",
    "SELECT c FROM r WHERE c <> ALL (SELECT d FROM s WHERE s.a = r.a)",
    "SELECT a, a < ALL (SELECT e FROM s WHERE s.a = r.a) AS x FROM r",
    "SELECT a FROM r WHERE a IN (SELECT MAX(d) FROM s)",
    "SELECT a FROM r WHERE c IN (SELECT SUM(d) FROM s GROUP BY a)",
    "SELECT a FROM r WHERE c > ALL (SELECT COUNT(*) FROM s GROUP BY a HAVING COUNT(*) > 1)",
    "SELECT a FROM r WHERE c > 2 OR EXISTS (SELECT 1 FROM s WHERE s.a = r.a)",
    "SELECT a FROM r WHERE a = 1 OR a IN (SELECT e FROM s) OR NOT EXISTS (SELECT 1 FROM u "
    "WHERE u.a = r.b)",
    "SELECT a FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.a = r.a OR s.d = r.b)",
    "SELECT a FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.a = r.a AND NOT EXISTS "
    "(SELECT 1 FROM u WHERE u.a = s.d AND u.f = r.b))",
    "SELECT a FROM r WHERE NOT (EXISTS (SELECT 1 FROM s WHERE s.a = r.a) AND b > 1)",
    "SELECT a FROM r WHERE (SELECT MAX(d) FROM s WHERE s.a = r.a) IN (SELECT f FROM u)",
    "SELECT a FROM r WHERE a + b IN (SELECT d FROM s)",
    # FROM-subqueries, common table expressions
    "SELECT x.a, x.n FROM (SELECT a, COUNT(*) AS n FROM r GROUP BY a) AS x WHERE x.n > 1",
    "SELECT n, COUNT(*) FROM (SELECT a, COUNT(*) FROM r GROUP BY a) AS x (a, n) GROUP BY n",
    "SELECT SUM(m) FROM (SELECT MAX(c) AS m FROM r GROUP BY a) x",
    "SELECT x.a, y.d FROM (SELECT DISTINCT a FROM r) x, (SELECT a, d FROM s WHERE d > 1) y "
    "WHERE x.a = y.a",
    "SELECT x.a, y.t FROM r x LEFT JOIN (SELECT a, SUM(d) AS t FROM s GROUP BY a) y ON x.a = y.a",
    "SELECT * FROM (SELECT a, b + 1 AS b FROM r) x",
    "SELECT AVG(n) FROM (SELECT COUNT(DISTINCT b) AS n FROM r GROUP BY a HAVING COUNT(*) > 1) x",
    "WITH x AS (SELECT a, SUM(c) AS t FROM r GROUP BY a) SELECT a FROM x WHERE t = "
    "(SELECT MAX(t) FROM x)",
    "WITH x (p, q) AS (SELECT a, c FROM r), y AS (SELECT p, MAX(q) AS m FROM x GROUP BY p) "
    "SELECT x.p, x.q FROM x, y WHERE x.p = y.p AND x.q = y.m",
    "SELECT a FROM r WHERE c = (SELECT MAX(m) FROM (SELECT d AS m FROM s WHERE s.a = r.a) x)",
    # ORDER BY and LIMIT
    "SELECT a, b, c FROM r ORDER BY a, b DESC, c",
    "SELECT a, c FROM r ORDER BY a LIMIT 3",
    "SELECT a, c FROM r ORDER BY a DESC LIMIT 3",
    "SELECT a, c FROM r ORDER BY a NULLS LAST, c DESC LIMIT 4",
    "SELECT a, c FROM r ORDER BY a DESC NULLS FIRST LIMIT 4",
    "SELECT a, SUM(c) AS t FROM r GROUP BY a ORDER BY t DESC, a LIMIT 2",
    "SELECT a, SUM(c) FROM r GROUP BY a ORDER BY SUM(c) LIMIT 2",
    "SELECT DISTINCT a FROM r ORDER BY 1 LIMIT 2",
    "SELECT a FROM (SELECT a, c FROM r ORDER BY c DESC, a LIMIT 3) x WHERE a > 0",
    "SELECT SUM(a) FROM (SELECT a FROM r ORDER BY b, a, c LIMIT 5) x",
    "SELECT a FROM r WHERE a IN (SELECT a FROM s ORDER BY d DESC LIMIT 2)",
    "SELECT a, c FROM r ORDER BY a LIMIT 0",
    *SPARK_TEXTS,
    *AGGREGATE_CASES,
    *WINDOW_CASES,
    *ASOF_CASES,
)

THRESHOLDS: tuple[str, ...] = (
    "SELECT a, COUNT(*), SUM(c) FROM r WHERE c > (SELECT AVG(d) FROM s) AND NOT EXISTS "
    "(SELECT 1 FROM s WHERE s.a = r.a) GROUP BY a",
    "SELECT b, SUM(c) FROM r WHERE c >= (SELECT AVG(c) FROM r) AND a IN (SELECT a FROM s) "
    "GROUP BY b",
    "WITH x AS (SELECT a, SUM(d) AS t FROM s GROUP BY a) "
    "SELECT r.b, x.t FROM r, x WHERE r.a = x.a AND x.t = (SELECT MAX(t) FROM x)",
    "WITH x AS (SELECT a, SUM(d) AS t FROM s GROUP BY a) "
    "SELECT r.a FROM r, x WHERE r.a = x.a AND x.t > (SELECT AVG(d) FROM s)",
    "WITH x AS (SELECT a, SUM(d) AS t FROM s GROUP BY a) "
    "SELECT r.b, COUNT(*) FROM r, x WHERE r.a = x.a AND x.t < (SELECT SUM(c) FROM r) GROUP BY r.b",
    "SELECT a, SUM(d) FROM s GROUP BY a HAVING SUM(d) > (SELECT AVG(d) FROM s)",
)
"""Rows with a nested query of their own, compared with an aggregate of all rows."""

FIRSTS: tuple[str, ...] = (
    # Read with the view
    "SELECT c, MIN(a), MAX(a), MIN(b), MAX(b) FROM r GROUP BY c",
    "SELECT a, b, MIN(c), MAX(c) FROM r GROUP BY a, b",
    "SELECT MIN(c), MAX(c) FROM r",
    "SELECT a, MIN(name), MAX(name), MIN(day), MAX(day), MIN(flag), MAX(flag) FROM t GROUP BY a",
    "SELECT name, MIN(price), MAX(price), MIN(w), MAX(w), MIN(w + price) FROM t GROUP BY name",
    "SELECT MIN(x.c), MAX(y.d) FROM r x, s y WHERE x.a = y.a GROUP BY y.e",
    "SELECT a, b, c FROM r ORDER BY b DESC, a, c DESC LIMIT 3",
    "SELECT name, k FROM t ORDER BY name DESC, k LIMIT 4",
    "SELECT a, c FROM r ORDER BY a NULLS LAST, c LIMIT 3",
    "SELECT b, c FROM r ORDER BY b DESC NULLS FIRST, c DESC LIMIT 3",
    "SELECT DISTINCT a, b FROM r ORDER BY a DESC, b LIMIT 3",
    # Part of a change
    "SELECT SUM(m), SUM(n) FROM (SELECT MIN(c) AS m, MAX(b) AS n FROM r GROUP BY a) x",
    "SELECT m, COUNT(*) FROM (SELECT MAX(name) AS m, MIN(w) FROM t GROUP BY a) x GROUP BY m",
    "SELECT r.a, r.b FROM r WHERE c = (SELECT MIN(d) FROM s WHERE s.a = r.a)",
    "SELECT r.a, r.b FROM r WHERE b = (SELECT MAX(e) FROM s WHERE s.a = r.a AND s.d = r.c)",
    "SELECT x.a, x.c FROM r x, (SELECT a, MIN(c) AS m FROM r GROUP BY a) y "
    "WHERE x.a = y.a AND x.c = y.m",
    "SELECT a, (SELECT e FROM s WHERE s.a = r.a ORDER BY e DESC LIMIT 1) AS x FROM r",
    "SELECT a FROM r WHERE c IN (SELECT d FROM s WHERE s.a = r.a ORDER BY d LIMIT 2)",
)
"""First rows, all of which a kernel reads off an ordered index."""

WORDS = ("a", "ab", "bb", "abc", "", "cb", "a text of many letters")


def random_value(t: Type, rng: random.Random) -> Value:
    """A value of a type from a small domain; one in four is NULL where NULL is allowed."""
    if t.nullable and rng.random() < 0.25:
        return None
    match t.kind:
        case "int":
            return rng.randint(0, 3)
        case "decimal":
            return Decimal(rng.randint(0, 6)) / 2 + Decimal("0.00")
        case "double":
            return rng.randint(0, 6) / 2
        case "date":
            return date(2020, 1, 1) + timedelta(days=rng.randint(-2, 4))
        case "bool":
            return rng.random() < 0.5
        case _:
            return rng.choice(WORDS)


def random_row(relation: Relation, rng: random.Random) -> tuple[Value, ...]:
    """A row of a relation."""
    return tuple(random_value(c.type, rng) for c in relation.columns)
