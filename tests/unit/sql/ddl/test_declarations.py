"""Declarations: types, keys, sources, and the names of queries."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshview.calculus.functions import Function
from freshview.calculus.schema import Column, Relation
from freshview.calculus.text import read, show
from freshview.calculus.types import DATE, DOUBLE, INT, STRING, decimal
from freshview.errors import FreshviewError
from freshview.sql import Catalog, Source
from freshview.sql.load import load

WORKLOADS = sorted(Path("workloads").glob("*/*.sql"))


def test_streams_and_tables_keep_types_keys_and_sources() -> None:
    catalog, queries = load(
        """
        CREATE STREAM Lineitem (
            orderkey BIGINT, quantity DECIMAL(12, 2) NOT NULL, comment VARCHAR(44), day DATE,
            w FLOAT, PRIMARY KEY (orderkey, day)
        ) FROM FILE 'l.csv' LINE DELIMITED CSV (delimiter := '|', skip := 1);
        CREATE TABLE n (k INT PRIMARY KEY, name CHAR(25)) FROM PARQUET 'nations/';
        CREATE STREAM q (x INT) FROM SOCKET '127.0.0.1' 9999 LINE DELIMITED CSV;
        """
    )
    assert queries == []
    assert catalog.relation("LINEITEM") == Relation(
        "Lineitem",
        (
            Column("orderkey", INT),
            Column("quantity", decimal(2)),
            Column("comment", STRING.or_null()),
            Column("day", DATE),
            Column("w", DOUBLE.or_null()),
        ),
        static=False,
        key=("orderkey", "day"),
    )
    assert catalog.relation("n").static
    assert catalog.sources["lineitem"] == Source(
        "file", ("l.csv",), "line", "csv", (("delimiter", "|"), ("skip", 1))
    )
    assert catalog.sources["n"] == Source("parquet", ("nations/",))
    assert catalog.sources["q"] == Source("socket", ("127.0.0.1", 9999), "line", "csv")


def test_bare_selects_are_named_and_become_views() -> None:
    script = "CREATE STREAM r (a INT); SELECT a FROM r"
    _, [query] = load(script, default_name="first")
    assert query.name == "first"
    catalog, queries = load(script + "; CREATE MATERIALIZED VIEW v AS SELECT a FROM r; SELECT 1")
    assert [q.name for q in queries] == ["query_1", "v", "query_2"]
    assert catalog.view("V").columns == (Column("a", INT.or_null()),)


def test_names_do_not_tell_case_apart() -> None:
    _, [query] = load("CREATE STREAM Rows (Alpha INT); SELECT rows.ALPHA FROM ROWS")
    assert show(query.term) == "Rows(rows_alpha)"


def test_unnamed_columns_are_called_after_their_function() -> None:
    _, [query] = load("CREATE STREAM r (a INT); SELECT SUM(a), COUNT(*), MAX(a) + 1, 2 FROM r")
    assert [c.name for c in query.columns] == ["sum", "count", "column_3", "column_4"]


def test_registered_functions_are_callable() -> None:
    twice = Function("twice", lambda x: 2 * x, lambda t: t, (1, 1))
    catalog = Catalog().with_function(twice)
    _, [query] = load("CREATE STREAM r (a INT NOT NULL); SELECT TWICE(a) FROM r", catalog=catalog)
    assert show(query.term) == "Sum[twice](r(r_a) * (twice := {twice(r_a)}))"


def test_or_on_one_table_is_one_factor_and_common_parts_come_out() -> None:
    schema = "CREATE STREAM r (a INT NOT NULL, b INT NOT NULL);"
    _, [query] = load(schema + "SELECT COUNT(*) FROM r WHERE a = 1 OR b = 2")
    assert "{or((r_a_1 = 1), (r_b_1 = 2))}" in show(query.term)
    twice = "FROM r x, r y WHERE (x.a = y.a AND x.b = 1 AND y.b = 2) OR (x.a = y.a AND x.b = 2)"
    _, [query] = load(schema + f"SELECT x.a {twice}")
    assert "{x_a = y_a} * ({x_b = 2} + {x_b = 1} * {y_b = 2})" in show(query.term)


@pytest.mark.parametrize("path", WORKLOADS, ids=str)
def test_every_workload_loads_and_prints(path: Path) -> None:
    schema = path.parent / "schema.sql"
    catalog, _ = load(schema.read_text(), str(schema))
    if path != schema:
        _, queries = load(path.read_text(), str(path), catalog, default_name=path.stem)
        assert queries
        assert all(read(show(q.term)) == q.term for q in queries)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("x INT, PRIMARY KEY (x, X)", "1:25: the key names 'X' twice"),
        ("x INT NULL NOT NULL", "1:29: column 'x' is NULL and NOT NULL"),
    ],
)
def test_what_a_declaration_contradicts_is_refused(columns: str, words: str) -> None:
    with pytest.raises(FreshviewError, match=words):
        load(f"CREATE STREAM r ({columns})")
