"""Changes that are products of factors, given to a database."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import freshview
from freshview import Database, FreshviewError, Product
from tests.thin import thin

SCRIPT = """
CREATE STREAM A (i BIGINT NOT NULL, j BIGINT NOT NULL, a DOUBLE NOT NULL);
CREATE STREAM B (j BIGINT NOT NULL, k BIGINT NOT NULL, b DOUBLE NOT NULL);
CREATE STREAM C (k BIGINT NOT NULL, l BIGINT NOT NULL, c DOUBLE NOT NULL);
CREATE VIEW q AS SELECT i, l, SUM(a * b * c) AS x
  FROM A NATURAL JOIN B NATURAL JOIN C GROUP BY i, l;
"""
QUERY = SCRIPT.split(" AS ", 1)[1]
BY_VECTORS = {"b": [("j", "b"), ("K", "b")]}


def opened(**options: Any) -> Database:
    db = freshview.connect(**options)
    db.execute(SCRIPT)
    rng = np.random.default_rng(1)
    for name in "AC":
        i, j = (x.ravel() for x in np.indices((4, 4)))
        columns = [c.name for c in db.catalog.relation(name).columns]
        db.insert(name, dict(zip(columns, (i, j, rng.integers(1, 9, 16) / 2), strict=True)))
    return db


def answer(db: Database) -> list[tuple[Any, ...]]:
    return sorted(db.view("q").rows())


def by_duckdb(tables: dict[str, pa.Table]) -> list[tuple[Any, ...]]:
    con = duckdb.connect()
    for name, table in tables.items():
        con.register(name, table)
    return sorted(con.execute(QUERY).fetchall())


@pytest.fixture(params=["reference", pytest.param("native", marks=pytest.mark.native)])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("mode", ["batch", "tuple"])
@pytest.mark.parametrize("strategy", thin(["factorized", "auto", "higher-order", "first-order"], 3))
def test_a_product_is_its_rows(engine: Any, strategy: Any, mode: Any) -> None:
    db = opened(strategy=strategy, engine=engine, mode=mode, products=BY_VECTORS)
    listed = opened(strategy="higher-order", engine="reference")
    u = {"j": [0, 1, 3], "b": [1.0, 2.0, 0.5]}
    v = {"k": np.arange(4), "b": np.array([1.0, 0.5, 2.0, 4.0])}
    rows = [(j, k, x * y) for j, x in zip(*u.values(), strict=True) for k, y in enumerate(v["b"])]
    db.apply({"B": Product(u, v)})
    listed.insert("B", rows)
    assert answer(db) == answer(listed)
    # Twice the same less, then once more: the factors may come in any order, and as tables.
    turned = pa.table(v).select(["b", "k"])
    db.apply({"B": [Product(turned, u, count=2), Product(u, v, count=-1)]})
    listed.insert("B", rows)
    assert answer(db) == answer(listed)
    db.delete("B", rows)
    listed.delete("B", rows)
    db.apply({"B": Product({"j": [], "b": []}, v)})
    assert answer(db) == answer(listed)
    columns = {n: list(c) for n, c in zip("jkb", zip(*rows, strict=True), strict=True)}
    tables = {"B": pa.table(columns)}
    rng = np.random.default_rng(1)
    for name, names in (("A", "ija"), ("C", "klc")):
        i, j = (x.ravel() for x in np.indices((4, 4)))
        values = (i, j, rng.integers(1, 9, 16) / 2)
        tables[name] = pa.table(dict(zip(names, values, strict=True)))
    assert answer(db) == by_duckdb(tables)


def test_explain_tells_who_takes_factors() -> None:
    db = opened(strategy="auto", engine="reference", products=BY_VECTORS)
    assert "since B changes by products" in db.view("q").explain()
    assert "products of B come as factors: (j, b) * (k, b)" in db.view("q").explain()
    db = opened(strategy="higher-order", engine="reference", products=BY_VECTORS)
    assert "products of B are listed row by row" in db.view("q").explain()


def test_factors_cost_less_than_their_rows() -> None:
    work = []
    for strategy in ("factorized", "first-order"):
        db = opened(strategy=strategy, engine="reference", products=BY_VECTORS)
        before = db.view("q").work
        u = {"j": [0, 1, 2, 3], "b": [1.0] * 4}
        db.apply({"B": Product(u, {"k": [0, 1, 2, 3], "b": [1.0] * 4})})
        work.append(db.view("q").work - before)
    assert 2 * work[0] < work[1]


def test_other_factors_than_declared_are_listed(engine: Any) -> None:
    db = opened(strategy="factorized", engine=engine, products=BY_VECTORS)
    other = opened(strategy="factorized", engine=engine)
    for each in (db, other):
        each.apply({"B": Product({"j": [1, 2]}, {"k": [0, 3], "b": [2.0, 3.0]})})
    assert answer(db) == answer(other)
    assert len(answer(db)) == 16


def test_a_product_that_is_refused_changes_nothing(engine: Any) -> None:
    db = opened(strategy="factorized", engine=engine, products=BY_VECTORS)
    db.insert("B", (0, 0, 1.0))
    before = answer(db)
    one = {"j": [0], "b": [1.0]}
    fits = Product(one, {"k": [1], "b": [1.0]})
    does_not = Product(one, {"k": [2], "b": [1.0]}, count=-1)
    with pytest.raises(FreshviewError, match="does not hold"):
        db.apply({"B": [fits, does_not]})
    assert answer(db) == before


def test_what_is_no_product() -> None:
    db = opened(engine="reference")
    with pytest.raises(FreshviewError, match="must name its columns"):
        db.apply({"B": Product([(1, 2.0)], {"k": [1], "b": [1.0]})})
    with pytest.raises(FreshviewError, match="have the columns j, it has j, k, b"):
        db.apply({"B": Product({"j": [1]})})
    with pytest.raises(FreshviewError, match="cannot come 'twice' times"):
        db.apply({"B": Product({"j": [1]}, {"k": [1], "b": [1.0]}, count="twice")})  # type: ignore[arg-type]
    db.execute("CREATE STREAM big (i BIGINT NOT NULL, j BIGINT NOT NULL, n BIGINT NOT NULL)")
    with pytest.raises(FreshviewError, match="leaves the range of column 'n'"):
        db.apply({"big": Product({"i": [1], "n": [2**40]}, {"j": [1], "n": [2**40]})})


def test_a_batch_is_decomposed_where_it_pays(engine: Any) -> None:
    script = """
    CREATE STREAM R (a BIGINT NOT NULL, b BIGINT NOT NULL);
    CREATE STREAM S (b BIGINT NOT NULL, c BIGINT NOT NULL);
    CREATE VIEW n AS SELECT a, COUNT(*) AS n FROM R NATURAL JOIN S GROUP BY a;
    """
    grid = [((a, b), 1) for a in range(10) for b in range(8) if (a, b) != (9, 7)]
    results = []
    for decompose in (True, False):
        db = freshview.connect("factorized", engine=engine, products={"S": [("b",), ("c",)]})
        db.execute(script)
        db.insert("R", [(a, b) for a in range(3) for b in range(10)])
        db.apply({"S": grid}, decompose=decompose)
        db.apply({"S": [((0, 100), 1), ((1, 101), 2)]}, decompose=decompose)
        db.apply({"S": [(row, -n) for row, n in grid]}, decompose=decompose)
        db.apply({"S": grid}, decompose=decompose)
        results.append(
            (sorted(db.view("n").rows()), db.view("n").work if engine == "reference" else 0)
        )
    assert results[0][0] == results[1][0]
    assert results[0][1] <= results[1][1]


def test_a_snapshot_goes_on_with_products(tmp_path: Any) -> None:
    db = opened(strategy="factorized", engine="reference", products=BY_VECTORS)
    db.snapshot(tmp_path / "kept")
    again = freshview.restore(tmp_path / "kept")
    for each in (db, again):
        each.apply({"B": Product({"j": [1], "b": [2.0]}, {"k": [0, 3], "b": [2.0, 3.0]})})
    assert answer(again) == answer(db)
    assert "come as factors" in again.view("q").explain()
