"""CREATE as Spark users write it: what is used, what is ignored and said, what is refused."""

from __future__ import annotations

import pytest

import freshview
from freshview.errors import AmbiguousName, SyntaxProblem, UnsupportedSql
from freshview.sql.load import load

T = "CREATE STREAM t (a INT, b INT);"


@pytest.mark.parametrize(
    "head",
    [
        "CREATE OR REPLACE VIEW",
        "CREATE TEMP VIEW",
        "CREATE OR REPLACE TEMPORARY VIEW",
        "CREATE VIEW IF NOT EXISTS",
        "CREATE MATERIALIZED VIEW IF NOT EXISTS",
    ],
)
def test_a_view_by_any_words_is_a_view(head: str) -> None:
    _, [query] = load(f"{T} {head} v AS SELECT a FROM t")
    assert (query.name, query.notes) == ("v", ())


def test_a_view_takes_the_place_of_another() -> None:
    script = f"{T} CREATE VIEW v AS SELECT a FROM t; CREATE OR REPLACE VIEW V AS SELECT b FROM t"
    catalog, [query] = load(script)
    assert [c.name for c in query.columns] == ["b"]
    assert catalog.view("v") is query


def test_what_exists_stays() -> None:
    script = f"{T} CREATE VIEW v AS SELECT a FROM t; CREATE VIEW IF NOT EXISTS v AS SELECT b FROM t"
    catalog, [query] = load(f"{script}; CREATE TABLE IF NOT EXISTS T (z INT)")
    assert [c.name for c in query.columns] == ["a"]
    assert len(catalog.relation("t").columns) == 2


def test_a_view_that_is_kept_is_replaced() -> None:
    db = freshview.connect()
    db.execute(f"{T} CREATE VIEW v AS SELECT a FROM t")
    for _ in range(2):  # the second time the script is known
        db.execute("CREATE OR REPLACE VIEW v AS SELECT b FROM t")
        assert list(db.view("v").columns) == ["b"]


def test_where_rows_are_is_used() -> None:
    catalog, _ = load("CREATE TABLE x (a INT) USING parquet LOCATION 'folder/x'")
    assert (catalog.sources["x"].kind, catalog.sources["x"].arguments) == ("parquet", ("folder/x",))
    catalog, _ = load("CREATE TABLE x (a INT) USING CSV OPTIONS (path 'x', delimiter '|')")
    assert catalog.sources["x"].options == (("delimiter", "|"),)


def test_explain_says_what_is_ignored() -> None:
    db = freshview.connect()
    (view,) = db.execute("""
        CREATE TABLE x (a INT COMMENT 'n', b INT, CONSTRAINT k PRIMARY KEY (a) NOT ENFORCED RELY,
                        CONSTRAINT f FOREIGN KEY (b) REFERENCES y (b), UNIQUE (b))
          USING parquet PARTITIONED BY (a) TBLPROPERTIES ('p' = 'q', 'r' = 's') COMMENT 'x';
        CREATE VIEW v COMMENT 'mine' AS SELECT a FROM x
    """)
    text = view.explain()
    for clause in ("COMMENT of 'x'", "FOREIGN KEY", "UNIQUE", "USING", "PARTITIONED BY",
                   "TBLPROPERTIES", "COMMENT of 'v'"):  # fmt: skip
        assert f"{clause} is ignored" in text or f"{clause} of 'x' is ignored" in text, clause
    assert db.catalog.relation("x").key == ("a",)


@pytest.mark.parametrize(
    ("sql", "kind", "words"),
    [
        ("CREATE TABLE x AS SELECT 1", UnsupportedSql, "CREATE TABLE AS is not supported"),
        ("CREATE TABLE x (a INT GENERATED ALWAYS AS (1))", UnsupportedSql, "GENERATED"),
        ("CREATE TABLE x (a INT) USING csv USING json", AmbiguousName, "two USING"),
        ("CREATE TABLE x (a INT) LOCATION 3", SyntaxProblem, "expected a text"),
        ("CREATE TABLE x (a INT) FROM PARQUET 'a' USING csv", SyntaxProblem, "'using' has no"),
    ],
)
def test_refused(sql: str, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        load(sql)
