"""What Spark answers where DuckDB has another meaning, and what `explain` says of a text."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import pytest

import freshview
from freshview.sql.parse.statements import parse
from freshview.sql.statements import CreateView

SCRIPT = """
CREATE STREAM t (a INT, b STRING, c INT);
CREATE STREAM d (a INT, b DECIMAL(4, 2), c INT);
CREATE STREAM w (a INT, b INT, c INT, d INT, e INT);
"""
T = [(1, "x", 5), (1, "y", 6), (2, "x", 7)]

ANSWERS: tuple[tuple[str, str, list[tuple[object, ...]]], ...] = (
    # asked of Spark 4.3 over these rows
    ("SELECT * FROM t PIVOT (SUM(c) FOR b IN ('x', 'y'))", "a x y", [(1, 5, 6), (2, 7, None)]),
    ("SELECT * FROM t PIVOT (SUM(c) AS s, COUNT(*) AS n FOR b IN ('x' AS xx, 'y', 'z'))",
     "a xx_s xx_n y_s y_n z_s z_n",
     [(1, 5, 1, 6, 1, None, None), (2, 7, 1, None, None, None, None)]),
    ("SELECT * FROM t PIVOT (SUM(c), MAX(c) FOR b IN ('x', 'y'))",
     "a x_sum(c) x_max(c) y_sum(c) y_max(c)", [(1, 5, 5, 6, 6), (2, 7, 7, None, None)]),
    ("SELECT * FROM t PIVOT (COUNT(*) FOR (b, a) IN (('x', 1) AS q, ('y', 3)))",
     "c q {y,_3}", [(5, 1, None), (6, None, None), (7, None, None)]),
    ("SELECT * FROM d PIVOT (SUM(c) FOR b IN (1.5, 2.50))", "a 1.5 2.50", [(1, 5, 6)]),
    ("SELECT * FROM w UNPIVOT (v FOR n IN (a, b AS bb, c))", "d e n v",
     [(4, None, "a", 1), (4, None, "bb", 2)]),
    ("SELECT * FROM w UNPIVOT INCLUDE NULLS (v FOR n IN (b, c))", "a d e n v",
     [(1, 4, None, "b", 2), (1, 4, None, "c", None)]),
    ("SELECT * FROM w UNPIVOT ((v, u) FOR n IN ((a, b), (c, e), (c, d) AS cd))", "n v u",
     [("a_b", 1, 2), ("cd", None, 4)]),
    ("SELECT COUNT(*) AS n FROM t WHERE c > 9 GROUP BY ROLLUP (a)", "n", []),
    ("SELECT a, COUNT(*) AS n, GROUPING(a) AS g, GROUPING_ID() AS i FROM t WHERE c > 5 "
     "GROUP BY GROUPING SETS ((a), (a), ())", "a n g i",
     [(1, 1, 0, 0), (2, 1, 0, 0), (1, 1, 0, 0), (2, 1, 0, 0), (None, 2, 1, 1)]),
    ("SELECT a, SUM(a) AS s FROM t GROUP BY ROLLUP (a)", "a s", [(1, 2), (2, 2), (None, 4)]),
    ("SELECT 1 AS one, COUNT(*) AS n FROM t WHERE c > 9 GROUP BY ALL", "one n", []),
    ("SELECT a + 1 AS a, a AS b FROM t WHERE b = 'x'", "a b", [(2, 1), (3, 2)]),
)  # fmt: skip


@pytest.mark.parametrize(("sql", "columns", "rows"), ANSWERS)
def test_rows_are_those_of_spark(sql: str, columns: str, rows: list[tuple[object, ...]]) -> None:
    db = freshview.connect()
    db.execute(SCRIPT)
    (view,) = db.execute(f"CREATE VIEW v AS {sql}")
    db.insert("t", [*T, (9, "x", 1)])
    db.insert("d", [(1, Decimal("1.5"), 5), (1, Decimal("2.5"), 6)])
    db.insert("w", (1, 2, None, 4, None))
    db.delete("t", (9, "x", 1))
    assert [name.replace(" ", "_") for name in view.columns] == columns.split()
    assert Counter(view.rows()) == Counter(rows)


@pytest.mark.parametrize(
    ("sql", "note"),
    [
        ("SELECT a FROM t LIMIT 2", "LIMIT without ORDER BY: the rows are ordered by all"),
        ("SELECT a FROM t LIMIT 2 OFFSET 1", "LIMIT and OFFSET without ORDER BY"),
        ("SELECT a FROM t ORDER BY c", "the rows are not listed by it"),
        ("SELECT a FROM t ORDER BY c LIMIT 1", "the rows are chosen, but not listed, by it"),
        ("SELECT a FROM (SELECT a FROM t ORDER BY c)", "has no effect (<text>:1:58)"),
    ],
)
def test_explain_says_what_a_reader_may_not_expect(sql: str, note: str) -> None:
    db = freshview.connect()
    db.execute(SCRIPT)
    (view,) = db.execute(f"CREATE VIEW v AS {sql}")
    choice = view.explain().partition("== choice\n")[2].partition("\n\n")[0]
    assert note in choice, choice


def test_rows_come_in_the_order_that_is_selected() -> None:
    db = freshview.connect()
    db.execute(SCRIPT)
    (view,) = db.execute("SELECT a, c FROM t ORDER BY a DESC, b, c")
    db.insert("t", T)
    assert [row[0] for row in view.rows()] == [2, 1, 1]


@pytest.mark.parametrize(
    ("sources", "count"),
    [
        ("r, (SELECT (SELECT FALSE) AS y, 1 AS n) AS x RIGHT JOIN u ON u.a = x.n", 2),
        ("r JOIN (SELECT FALSE, 1 AS n) RIGHT JOIN u ON u.a = n", 1),
        ("r JOIN (SELECT ')' AS p, 1 AS n) x RIGHT JOIN u ON u.a = n", 1),
        ("s JOIN r ON s.a = r.a, (SELECT NULL AS y, 1 AS n) x FULL JOIN u ON u.a = n", 2),
        ("r, VALUES (FALSE, 1), (TRUE, 2) AS q (k, n) JOIN u ON u.a = n", 2),
        ("r JOIN VALUES (1, FALSE), (FALSE, 2) AS q (k, n) JOIN u ON u.a = n", 1),
        ("r JOIN (VALUES (1, FALSE), (FALSE, 2)) q (k, n), u", 2),
    ],
)
def test_a_comma_binds_less_than_a_join(sources: str, count: int) -> None:
    (view,) = parse(f"CREATE VIEW v AS SELECT 1 FROM {sources}")
    assert isinstance(view, CreateView)
    assert len(view.query.sources) == count
