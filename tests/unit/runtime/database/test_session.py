"""A database that is used by SQL alone: statements that change rows, ask, drop and show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import freshview as fv
from freshview.errors import FreshviewError, SyntaxProblem, UnsupportedSql
from freshview.runtime.database.database import Database
from freshview.sql.load import load

SHOP = """
CREATE STREAM t (id INT PRIMARY KEY, v INT, w STRING);
CREATE STREAM s (id INT, v DECIMAL(8, 2));
CREATE TABLE u (name STRING, born DATE);
CREATE VIEW total AS SELECT w, SUM(v) AS n FROM t GROUP BY w;
CREATE VIEW rows AS SELECT COUNT(*) AS n FROM t;
"""


@pytest.fixture
def db() -> Database:
    db = fv.connect(engine="reference")
    db.execute(SHOP)
    db.sql("INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 1 + 2, NULL)")
    return db


def test_insert_takes_values_columns_in_any_order_and_queries(db: Database) -> None:
    assert db.sql("INSERT INTO s (v, id) SELECT v / 4.0, id FROM t WHERE v >= 10").rows() == [(2,)]
    assert [[str(x) for x in row] for row in db.sql("SELECT * FROM s").rows()] == [
        ["1", "2.50"],
        ["2", "5.00"],
    ]
    db.sql("INSERT INTO t (id) VALUES (4)")
    assert db.sql("SELECT * FROM t WHERE id = 4").rows() == [(4, None, None)]


def test_insert_of_thousands_of_rows_is_one_change(db: Database) -> None:
    before = db.version
    rows = ", ".join(f"({i}, {i % 7}, 'x')" for i in range(10, 2010))
    assert db.sql(f"INSERT INTO t VALUES {rows}").rows() == [(2000,)]
    assert db.version == before + 1
    assert db.view("rows").rows() == [(2003,)]


def test_insert_overwrite_replaces_all_rows(db: Database) -> None:
    db.sql("INSERT OVERWRITE TABLE t SELECT id + 10, v, w FROM t WHERE id > 1")
    assert sorted(r[0] for r in db.sql("SELECT id FROM t").rows()) == [12, 13]


def test_a_static_table_is_loaded_by_insert(db: Database) -> None:
    fresh = fv.connect(engine="reference")
    fresh.execute(SHOP)
    fresh.sql("INSERT INTO u VALUES ('ada', DATE '1815-12-10')")
    assert fresh.sql("SELECT YEAR(born) FROM u").rows() == [(1815,)]
    with pytest.raises(FreshviewError, match="static table"):
        fresh.sql("DELETE FROM u")


def test_update_reads_the_old_row(db: Database) -> None:
    assert db.sql("UPDATE t SET id = id + 1, v = id WHERE w IS NOT NULL OR v = 3").rows() == [(3,)]
    assert sorted(db.sql("SELECT id, v FROM t").rows()) == [(2, 1), (3, 2), (4, 3)]


def test_a_statement_that_is_refused_changes_nothing(db: Database) -> None:
    before = db.version, db.sql("SELECT * FROM t").rows()
    with pytest.raises(FreshviewError, match="two rows with the key"):
        db.sql("UPDATE t SET id = 1")
    with pytest.raises(FreshviewError, match="cannot be cast"):
        db.sql("UPDATE t SET v = CAST(w AS INT)")
    assert (db.version, db.sql("SELECT * FROM t").rows()) == before


def test_merge_does_the_first_clause_that_takes_a_row(db: Database) -> None:
    db.sql("INSERT INTO s VALUES (1, 100), (2, 1), (9, 9)")
    done = db.sql("""
        MERGE INTO t USING s AS n ON t.id = n.id
        WHEN MATCHED AND n.v > 50 THEN DELETE
        WHEN MATCHED THEN UPDATE SET v = n.v + 1, t.w = DEFAULT
        WHEN NOT MATCHED THEN INSERT (id, w) VALUES (n.id, 'new')
        WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = 0""")
    assert done.rows() == [(4,)]
    assert sorted(db.sql("SELECT * FROM t").rows()) == [
        (2, 2, None),
        (3, 0, None),
        (9, None, "new"),
    ]


def test_merge_with_stars_goes_by_the_names_of_columns(db: Database) -> None:
    db.sql("""
        MERGE INTO t USING (SELECT 'x' AS w, id + 2 AS id, v FROM t WHERE id < 3) n ON t.id = n.id
        WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *""")
    assert sorted(db.sql("SELECT * FROM t").rows()) == [
        (1, 10, "a"), (2, 20, "b"), (3, 10, "x"), (4, 20, "x")]  # fmt: skip


def test_a_row_that_several_rows_of_the_source_would_change_is_refused(db: Database) -> None:
    twice = "MERGE INTO t USING (SELECT 1 AS id UNION ALL SELECT 1) n ON t.id = n.id WHEN MATCHED"
    with pytest.raises(FreshviewError, match="several rows of the source change"):
        db.sql(f"{twice} THEN UPDATE SET v = 1")
    assert db.sql(f"{twice} THEN DELETE").rows() == [(1,)]


def test_a_select_is_asked_once_over_streams_and_views_as_they_stand(db: Database) -> None:
    answer = db.sql("SELECT w, n * 2 AS twice FROM total WHERE n > 5 ORDER BY w DESC")
    assert answer.rows() == [("b", 40), ("a", 20)]
    assert answer.to_pylist() == [{"w": "b", "twice": 40}, {"w": "a", "twice": 20}]
    assert pa.table(answer).equals(answer.to_arrow())
    db.sql("DELETE FROM t")
    assert len(answer) == 2
    assert [v.name for v in db.views] == ["total", "rows"]
    assert db.sql("SELECT * FROM total").rows() == []


def test_views_are_asked_where_rows_are_not_kept() -> None:
    db = fv.connect(engine="reference", keep_rows=False)
    db.execute(SHOP)
    db.insert("t", (1, 10, "a"))
    assert db.sql("SELECT n FROM total").rows() == [(10,)]
    with pytest.raises(FreshviewError, match="rows of 't' are not kept"):
        db.sql("SELECT * FROM t")


def test_a_query_may_read_rings_and_factorized_views(db: Database) -> None:
    db.execute("CREATE FACTORIZED VIEW pairs AS SELECT t.id, s.v FROM t JOIN s ON t.id = s.id")
    db.sql("INSERT INTO s VALUES (1, 2)")
    assert db.sql("SELECT id FROM pairs").rows() == [(1,)]


def test_a_script_mixes_declarations_changes_and_questions() -> None:
    db = fv.connect(engine="reference")
    views = db.execute("""
        CREATE STREAM r (a INT);
        INSERT INTO r VALUES (1), (2);
        CREATE VIEW v AS SELECT SUM(a) AS s FROM r;
        UPDATE r SET a = a * 10;
        SELECT COUNT(*) AS n FROM r;
    """)
    assert [(v.name, v.rows()) for v in views] == [("v", [(30,)]), ("query", [(2,)])]
    assert db.sql("DELETE FROM r WHERE a = 10; SELECT s FROM v").rows() == [(20,)]


def test_a_script_that_cannot_be_read_does_nothing(db: Database) -> None:
    before = db.version
    with pytest.raises(SyntaxProblem, match=r"q\.sql:2:1: SELECT lists no columns"):
        db.sql("DELETE FROM t;\nSELECT , FROM t", "q.sql")
    assert db.version == before


def test_errors_name_the_place_in_the_whole_script(db: Database) -> None:
    with pytest.raises(FreshviewError, match=r"q\.sql:3:13"):
        db.sql("DELETE FROM t;\nCREATE VIEW x AS\n     SELECT nope FROM t", "q.sql")


def test_a_view_is_dropped_and_the_others_go_on(db: Database) -> None:
    told: list[Any] = []
    db.view("rows").subscribe(lambda _, changes: told.append(changes.to_pylist()))
    old = db.view("total")
    db.sql("DROP VIEW total")
    assert [v.name for v in db.views] == ["rows"]
    with pytest.raises(FreshviewError, match="dropped or replaced"):
        old.rows()
    with pytest.raises(FreshviewError, match="no view 'total'"):
        db.sql("DROP VIEW total")
    db.sql("DROP VIEW IF EXISTS total; DELETE FROM t WHERE id = 1")
    assert told == [[{"n": 2, "__count": 1}, {"n": 3, "__count": -1}]]


def test_a_kept_view_is_replaced(db: Database) -> None:
    db.execute("CREATE OR REPLACE VIEW total AS SELECT MAX(v) AS most FROM t")
    db.sql("INSERT INTO t VALUES (7, 70, 'c')")
    assert db.view("total").rows() == [(70,)]
    assert db.view("rows").rows() == [(4,)]


def test_a_replacement_that_is_refused_leaves_the_view(db: Database) -> None:
    with pytest.raises(FreshviewError):
        db.execute("CREATE OR REPLACE VIEW total AS SELECT CAST(w AS INT) AS x FROM t WHERE id < 3")
    assert sorted(db.view("total").rows(), key=str) == [("a", 10), ("b", 20), (None, 3)]


def test_a_stream_is_dropped_if_no_view_reads_it(db: Database) -> None:
    with pytest.raises(FreshviewError, match="'total' reads 't'; drop 'total' first"):
        db.sql("DROP STREAM t")
    db.sql("INSERT INTO s VALUES (1, 1)")
    writer = db.writer("s")
    db.sql("DROP STREAM s; CREATE STREAM s (x STRING)")
    assert db.sql("SELECT * FROM s").rows() == []
    with pytest.raises(FreshviewError):
        writer.insert(1, 1)


def test_what_was_dropped_and_replaced_stays_so_in_a_snapshot(db: Database, tmp_path: Path) -> None:
    db.sql("DROP VIEW total; CREATE OR REPLACE VIEW rows AS SELECT SUM(v) AS n FROM t")
    db.snapshot(tmp_path / "kept")
    again = fv.restore(tmp_path / "kept")
    assert [(v.name, v.rows()) for v in again.views] == [("rows", [(33,)])]


def test_show_and_describe(db: Database) -> None:
    assert db.sql("SHOW VIEWS").rows() == [("total",), ("rows",)]
    assert ("u", "table") in db.sql("SHOW TABLES").rows()
    assert db.sql("SHOW COLUMNS IN s").rows() == [("id",), ("v",)]
    assert db.sql("DESCRIBE TABLE t").rows()[:2] == [("id", "int", False), ("v", "int", True)]


REFUSED = (
    ("INSERT INTO rows VALUES (1)", "'rows' is a view"),
    ("INSERT INTO t VALUES (1)", "3 columns of 't' get 1 values"),
    ("INSERT INTO t VALUES ('a', 1, 'b')", "'id' is INT, and cannot hold STRING"),
    ("INSERT INTO u VALUES ('ada', '1815-12-10')", "'born' is DATE, and cannot hold STRING"),
    ("INSERT INTO t (id, id, v) VALUES (1, 2, 3)", "'id' is given twice"),
    ("INSERT INTO t", "INSERT has no rows"),
    ("UPDATE t SET q = 1", "'t' has no column 'q'"),
    ("UPDATE t SET v = ", "expected an expression"),
    ("UPDATE t SET v = 1 WHERE SUM(v) > 1", "SUM is not allowed in WHERE"),
    ("DELETE FROM nope", "no table or stream 'nope'"),
    ("DELETE t", "expected FROM"),
    ("MERGE INTO t USING s ON t.id = s.id", "MERGE does nothing"),
    ("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN INSERT *", "no action of this WHEN"),
    ("MERGE INTO t USING (SELECT 1) ON TRUE WHEN NOT MATCHED THEN INSERT *", "has no name"),
    ("DROP INDEX i", "DROP INDEX"),
    ("SHOW PARTITIONS t", "SHOW PARTITIONS t"),
    ("DESCRIBE nope", "no table, stream or view 'nope'"),
)  # fmt: skip


@pytest.mark.parametrize(("sql", "words"), REFUSED)
def test_refusals(db: Database, sql: str, words: str) -> None:
    with pytest.raises(FreshviewError) as caught:
        db.sql(sql, "q.sql")
    assert words in str(caught.value)
    assert str(caught.value).startswith("q.sql:1:")


def test_what_only_reads_declarations_refuses_changes() -> None:
    with pytest.raises(UnsupportedSql, match="INSERT is not supported among declarations"):
        load("CREATE STREAM r (a INT); INSERT INTO r VALUES (1)")


@pytest.mark.native
def test_rows_that_constants_fix_are_sought_alone() -> None:
    for engine in ("reference", "native"):
        db = fv.connect(engine=engine)  # type: ignore[arg-type]
        db.execute(
            "CREATE STREAM r (k INT, s STRING, d DECIMAL(8, 2), x DOUBLE, day DATE, t TIMESTAMP, "
            "f BOOLEAN); CREATE STREAM p (a INT, b INT, c INT, PRIMARY KEY (b, a))"
        )
        row = "1.50, 2.5e0, DATE '2024-02-29', TIMESTAMP '2024-02-29 12:30:00.5', TRUE"
        db.sql(f"INSERT INTO r VALUES (1, 'a', {row}), (1, 'a', {row}), (1, 'b', {row})")
        db.sql("INSERT INTO r (k) VALUES (1), (NULL)")
        whole = db.sql("SELECT * FROM r WHERE k + 0 = 1 AND s || '' = 'a'").rows()
        assert len(whole) == 2
        assert db.sql("SELECT * FROM r x WHERE x.k = 1 AND s = 'a' AND f").rows() == whole
        assert db.sql("SELECT COUNT(*) FROM r WHERE k = 1").rows() == [(4,)]
        assert db.sql("SELECT COUNT(*) FROM r WHERE k = 1 AND k = 2").rows() == [(0,)]
        assert db.sql(
            "SELECT COUNT(*) FROM r WHERE k = 1 AND 5 = (SELECT COUNT(*) FROM r)"
        ).rows() == [(1 * 4,)]
        db.sql("INSERT INTO p VALUES (1, 2, 3), (2, 1, 4)")
        assert db.sql("SELECT c FROM p WHERE a = 1 AND b = 2").rows() == [(3,)]
        assert db.sql("SELECT c FROM p WHERE a = 1 AND b = 2 AND c = 4").rows() == []
        assert db.sql("UPDATE p SET c = 9 WHERE b = 1").rows() == [(1,)]
        assert db.sql("DELETE FROM r WHERE k = 1 AND s = 'a'").rows() == [(2,)]
        assert db.sql("SELECT COUNT(*) FROM r").rows() == [(3,)]
