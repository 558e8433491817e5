"""SQL as Spark users write it, over the schema of `sql_cases`, where they are tested."""

from __future__ import annotations

SET_OPERATIONS: tuple[str, ...] = (
    "SELECT a FROM r UNION ALL SELECT a FROM s",
    "SELECT a FROM r UNION SELECT a FROM s",
    "SELECT a, b FROM r UNION DISTINCT SELECT d, e FROM s UNION ALL SELECT a, 1 FROM u",
    "SELECT a FROM r UNION ALL SELECT e FROM s UNION SELECT f FROM u",
    "SELECT a FROM r INTERSECT SELECT a FROM s",
    "SELECT a, b FROM r INTERSECT ALL SELECT a, e FROM s",
    "SELECT a FROM r EXCEPT SELECT a FROM s",
    "SELECT a, b FROM r MINUS SELECT a, e FROM s",
    "SELECT a FROM r EXCEPT ALL SELECT a FROM s",
    "SELECT a FROM r EXCEPT ALL SELECT a FROM r WHERE b > 1",
    "SELECT a FROM r UNION SELECT a FROM s INTERSECT SELECT f FROM u",
    "SELECT a, c FROM r UNION SELECT a, d FROM s ORDER BY c DESC, a LIMIT 2",
    "SELECT w FROM t UNION ALL SELECT a FROM r UNION ALL SELECT price FROM t",
    "SELECT price FROM t INTERSECT SELECT a FROM r",
    "SELECT name FROM t EXCEPT SELECT 'a'",
    "SELECT NULL AS x UNION ALL SELECT a FROM r",
    "(SELECT a FROM r ORDER BY c, a LIMIT 2) UNION ALL (SELECT a FROM s ORDER BY d, a LIMIT 1)",
    "SELECT a, COUNT(*) AS n FROM (SELECT a FROM r UNION ALL SELECT a FROM s) x GROUP BY a",
    "SELECT a FROM r WHERE a IN (SELECT a FROM s UNION SELECT a FROM u)",
    "SELECT a FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.a = r.a "
    "UNION ALL SELECT 1 FROM u WHERE u.a = r.b)",
    "WITH x AS (SELECT a FROM r UNION SELECT a FROM s) SELECT x.a, u.f FROM x JOIN u ON x.a = u.a",
    "SELECT a, SUM(c) AS n FROM r GROUP BY a UNION ALL SELECT NULL, SUM(c) FROM r",
    "SELECT a, SUM(c) AS n FROM r GROUP BY a EXCEPT SELECT a, SUM(d) FROM s GROUP BY a",
    "SELECT a, MAX(c) AS n FROM r GROUP BY a INTERSECT SELECT a, MAX(d) FROM s GROUP BY a",
)

JOINS: tuple[str, ...] = (
    # constants have no place in the parser's tree: what follows a comma?
    "SELECT r.a, n FROM r JOIN (VALUES (FALSE, 1), (TRUE, 2)) q (k, n) ON q.k = (r.a > 1)",
    "SELECT r.a, n FROM r, (VALUES (FALSE, 1), (NULL, 2)) q (k, n) RIGHT JOIN u ON u.a = q.n",
    "SELECT r.a, x.n FROM r JOIN (SELECT FALSE, 1 AS n) x ON x.n = r.a",
    "SELECT r.b FROM r LEFT SEMI JOIN s ON r.a = s.a",
    "SELECT r.b FROM r SEMI JOIN s USING (a)",
    "SELECT r.b FROM r LEFT ANTI JOIN s ON r.a = s.a",
    "SELECT r.b FROM r ANTI JOIN s ON r.a = s.a AND s.d < r.c",
    "SELECT r.b FROM r LEFT ANTI JOIN s ON r.a = s.a OR r.b = s.e",
    "SELECT r.a, u.f FROM r LEFT SEMI JOIN s ON r.a = s.a JOIN u ON u.a = r.b",
    "SELECT a, COUNT(*) FROM r LEFT ANTI JOIN s ON r.a = s.a GROUP BY a",
    "SELECT r.a, x.d FROM r, LATERAL (SELECT d FROM s WHERE s.a = r.a) x",
    "SELECT r.a, x.m FROM r, LATERAL (SELECT MAX(d) AS m FROM s WHERE s.a = r.a) x",
    "SELECT r.a, x.n FROM r JOIN LATERAL (SELECT COUNT(*) AS n FROM s WHERE s.d < r.c) x "
    "ON x.n > 1",
    "SELECT r.a, x.m FROM r LEFT JOIN LATERAL "
    "(SELECT d AS m FROM s WHERE s.a = r.a ORDER BY d, e LIMIT 1) x ON TRUE",
    "SELECT r.a, x.y FROM r CROSS JOIN LATERAL (SELECT e, SUM(d) FROM s WHERE s.a = r.a "
    "GROUP BY e) AS x (e, y)",
    "SELECT r.a, x.z FROM r, LATERAL (SELECT r.a + r.c AS z) x",
    "SELECT SUM(x.d * r.c) AS t FROM r, LATERAL (SELECT d FROM s WHERE s.a = r.a) x",
    "SELECT r.a, x.k, x.v FROM r JOIN (VALUES (1, 'a'), (2, 'b'), (NULL, 'c')) AS x (k, v) "
    "ON r.a = x.k",
    "SELECT * FROM VALUES (1, 'a'), (2, NULL) AS x (k, v)",
    "SELECT r.a, x.k FROM r LEFT JOIN VALUES (1.5), (2), (NULL) AS x (k) ON r.a < x.k",
    "SELECT x.id, COUNT(r.a) AS n FROM range(4) x (id) LEFT JOIN r ON r.a = x.id GROUP BY x.id",
    "SELECT id FROM range(1, 10, 3) x (id) LEFT ANTI JOIN r ON r.c = x.id",
    "SELECT k, v FROM VALUES (1, 2), (3, 4) AS x (k, v)",
)

GROUPINGS: tuple[str, ...] = (
    "SELECT a, b, SUM(c) AS t FROM r GROUP BY ROLLUP (a, b)",
    "SELECT a, b, SUM(c) AS t, GROUPING(a) AS g, GROUPING_ID() AS i FROM r GROUP BY CUBE (a, b)",
    "SELECT a, b, COUNT(*) AS n, GROUPING_ID(a, b) AS i FROM r "
    "GROUP BY GROUPING SETS ((a, b), (a), ())",
    "SELECT a, MAX(c) AS m FROM r GROUP BY GROUPING SETS ((a), (a), (b))",
    "SELECT a, b, SUM(a) AS t FROM r GROUP BY a, ROLLUP (b)",
    "SELECT a, b, SUM(c) AS t FROM r GROUP BY ROLLUP (a, b) HAVING GROUPING(b) = 1 AND SUM(c) > 2",
    "SELECT a, SUM(c) AS t FROM r GROUP BY ROLLUP (a) ORDER BY GROUPING(a) DESC, t LIMIT 3",
    "SELECT a + 1 AS x, COUNT(DISTINCT b) AS n FROM r GROUP BY CUBE (a + 1)",
    "SELECT r.a, s.d, COUNT(*) AS n FROM r JOIN s ON r.a = s.a GROUP BY ROLLUP (r.a, s.d)",
    "SELECT t, COUNT(*) AS n FROM (SELECT a, b, SUM(c) AS t FROM r GROUP BY CUBE (a, b)) x "
    "GROUP BY t",
    "SELECT a, SUM(c) AS t FROM r GROUP BY ALL",
    "SELECT a, c > 1 AS big, MIN(b) AS m FROM r GROUP BY ALL",
    "SELECT COUNT(*) AS n FROM r GROUP BY ALL",
)

AS_IT_STANDS: tuple[str, ...] = (
    "SELECT a FROM (SELECT a, c FROM r) WHERE c > 1",
    "SELECT * FROM (SELECT a FROM r), (SELECT d FROM s)",
    "SELECT * EXCEPT (a) FROM r",
    "SELECT r.* EXCEPT (a, c), s.d FROM r JOIN s ON r.a = s.a",
    "SELECT a + 1 AS x, x * 2 AS y, x + y AS z FROM r",
    "SELECT a + 1 AS a, a AS b FROM r",
    "SELECT a, SUM(c) AS t, t / COUNT(*) AS m FROM r GROUP BY a",
    "SELECT a FROM r ORDER BY b",
    "SELECT a FROM r ORDER BY b DESC, c LIMIT 2",
    "SELECT a, c FROM r LIMIT 2",
    "SELECT a, c FROM r ORDER BY a, c LIMIT 2 OFFSET 1",
    "SELECT a, b, c FROM r ORDER BY c DESC OFFSET 2",
    "SELECT a, c FROM r OFFSET 1",
    "SELECT a FROM (SELECT a FROM r ORDER BY a) x",
    "SELECT SUM(c) AS t FROM (SELECT c FROM r LIMIT 3)",
    "WITH x AS MATERIALIZED (SELECT a FROM r) SELECT * FROM x",
    "WITH x AS (SELECT MAX(c) AS m FROM r) SELECT a FROM r WHERE c = (SELECT m FROM x)",
    "SELECT a, (SELECT x.m FROM (SELECT MAX(d) AS m FROM s) x) AS m FROM r",
    "SELECT a FROM r LIMIT ALL",
)

SPARK_TEXTS = (*SET_OPERATIONS, *JOINS, *GROUPINGS, *AS_IT_STANDS)
