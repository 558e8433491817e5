"""SQL as Spark's users spell it: what is read, and the rows that it gives."""

from __future__ import annotations

from typing import Any

import pytest

import freshview as fv
from freshview.errors import FreshviewError

T = (
    "CREATE STREAM t (id INT PRIMARY KEY, a INT, b BIGINT, s STRING);"
    "INSERT INTO t VALUES (1, 5, 7, 'abc'), (2, NULL, 8, 'xyz'), (3, 1, 2, NULL);"
)

QUERIES: list[tuple[str, list[tuple[Any, ...]]]] = [
    ("FROM t SELECT a WHERE b > 2 ORDER BY ALL", [(None,), (5,)]),
    ("SELECT x FROM (FROM t SELECT id AS x)", [(1,), (2,), (3,)]),
    ("SELECT EXTRACT(YEAR FROM DATE '2024-02-29') AS x FROM t WHERE id = 1", [(2024,)]),
    ("SELECT id FROM t WHERE a IN LIST (1, 5)", [(1,), (3,)]),
    ("SELECT id, b FROM t ORDER BY ALL DESC LIMIT 1", [(3, 2)]),
    ("SELECT * FROM t ORDER BY ALL LIMIT 1", [(1, 5, 7, "abc")]),
    ("SELECT id FROM t WHERE s LIKE ANY ('a%', 'q%')", [(1,)]),
    ("SELECT id FROM t WHERE s LIKE ALL ('a%', '%c')", [(1,)]),
    ("SELECT id FROM t WHERE s NOT LIKE ALL ('a%', 'q%')", [(2,)]),
    ("SELECT id FROM t WHERE s NOT LIKE ANY ('a%', 'q%')", [(1,), (2,)]),
    ("SELECT id FROM t WHERE NOT s LIKE ANY ('a%', 'q%')", [(2,)]),
    ("SELECT id FROM t WHERE s ILIKE SOME ('A%')", [(1,)]),
    ("SELECT r'\\d' AS x FROM t WHERE id = 1", [("\\d",)]),
    ("SELECT id FROM t WHERE (a, b) IN ((5, 7), (1, 3))", [(1,)]),
    ("SELECT id FROM t WHERE (a, b) NOT IN ((5, 7), (1, 3))", [(3,), (2,)]),
    ("SELECT SPLIT('a,b', ',')[1] AS x FROM t WHERE id = 1", [("b",)]),
]


@pytest.mark.parametrize(("sql", "rows"), QUERIES, ids=[q for q, _ in QUERIES])
def test_queries(sql: str, rows: list[tuple[Any, ...]]) -> None:
    db = fv.connect(engine="reference")
    db.sql(T)
    db.execute(f"CREATE VIEW v AS {sql}")
    assert sorted(db.view("v").rows(), key=str) == sorted(rows, key=str)


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE EXTERNAL TABLE x (a INT) STORED AS PARQUET LOCATION '/x'",
        "CREATE TEMPORARY TABLE x (a BYTE, b SHORT, c LONG, d TIMESTAMP_NTZ, e TIMESTAMP_LTZ)",
        "CREATE STREAMING TABLE x (a INT)",
        "CREATE GLOBAL TEMPORARY VIEW w AS SELECT a FROM t",
        "CREATE OR REFRESH MATERIALIZED VIEW w PARTITIONED BY (a) COMMENT 'x' AS SELECT a FROM t",
        "CREATE VIEW w (a COMMENT 'x', b) AS SELECT a, b FROM t",
        "CREATE TABLE x (a INT CHECK (a > (1)) NOT NULL, b INT REFERENCES t (id), c INT UNIQUE,"
        " CONSTRAINT k CHECK (a > b), CONSTRAINT f FOREIGN KEY (a) REFERENCES t (id))",
    ],
)
def test_declarations(sql: str) -> None:
    db = fv.connect(engine="reference")
    db.sql(T)
    db.execute(sql)


def test_what_is_ignored_is_said() -> None:
    db = fv.connect(engine="reference")
    db.execute(
        "CREATE STREAM x (a INT CHECK (a > 1), b INT REFERENCES y (b), c INT UNIQUE);"
        "CREATE VIEW v AS SELECT a FROM x"
    )
    shown = db.view("v").explain()
    for word in ("CHECK", "REFERENCES", "UNIQUE"):
        assert f"{word} of 'x' is ignored" in shown


def test_defaults_are_stored() -> None:
    db = fv.connect(engine="reference")
    db.sql(
        "CREATE STREAM x (k INT PRIMARY KEY, a STRING DEFAULT 'n', b DECIMAL(4, 2) DEFAULT -1.5);"
        "INSERT INTO x (k) VALUES (1); INSERT INTO x VALUES (2, DEFAULT, 1), (3, 'c', DEFAULT);"
        "INSERT INTO x (k, a) SELECT 4, 'd'; UPDATE x SET a = DEFAULT WHERE k = 3;"
        "MERGE INTO x USING (SELECT 5 AS k) y ON x.k = y.k"
        " WHEN NOT MATCHED THEN INSERT (k, a) VALUES (y.k, DEFAULT)"
    )
    rows = sorted((k, a, str(b)) for k, a, b in db.sql("SELECT * FROM x").rows())
    assert rows == [
        (1, "n", "-1.50"),
        (2, "n", "1.00"),
        (3, "n", "-1.50"),
        (4, "d", "-1.50"),
        (5, "n", "-1.50"),
    ]


def test_a_relation_that_is_replaced_is_empty() -> None:
    db = fv.connect(engine="reference")
    db.sql("CREATE STREAM x (a INT); INSERT INTO x VALUES (1)")
    db.execute("DROP STREAM x; CREATE STREAM x (a INT)")
    assert db.sql("SELECT * FROM x").rows() == []
    db.sql("INSERT INTO x VALUES (1); CREATE OR REPLACE STREAM x (a INT)")
    assert db.sql("SELECT * FROM x").rows() == []
    db.execute("CREATE VIEW v AS SELECT a FROM x")
    with pytest.raises(FreshviewError, match="the view 'v' reads 'x'"):
        db.execute("CREATE OR REPLACE STREAM x (a INT)")
