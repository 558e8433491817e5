"""Matrices that come from views: results are those of recomputation from the views."""

from __future__ import annotations

import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import freshview as fv
from freshview import linear
from freshview.errors import FreshviewError
from freshview.linear.linked.labels import BadCell

PAGES = ["a", "b", "c", "d", "e", "f"]
LINKS = """
    CREATE STREAM clicks (source STRING NOT NULL, target STRING NOT NULL, times BIGINT NOT NULL);
    CREATE VIEW links AS
      SELECT target, source, SUM(times) AS value FROM clicks GROUP BY target, source;
"""


def clicks() -> fv.Database:
    db = fv.connect(engine="reference")
    db.execute(LINKS)
    db.insert("clicks", [("a", "b", 1), ("b", "c", 2), ("c", "a", 1), ("a", "c", 3)])
    return db


def matrix_of(db: fv.Database, view: str, rows: list[Any], cols: list[Any]) -> Any:
    matrix = np.zeros((len(rows), len(cols)))
    for row, column, value in db.view(view).rows():
        matrix[rows.index(row), cols.index(column)] = value
    return matrix


def test_results_follow_the_view() -> None:
    db, random = clicks(), np.random.default_rng(0)
    a = linear.matrix("L", "n")
    fresh = linear.over(db, {"two": a @ a, "sum": a + a.T}, {"L": "links"}, labels={"n": PAGES})
    kept: list[tuple[str, str, int]] = [("a", "b", 1), ("b", "c", 2)]
    for step in range(20):
        batch = []
        for _ in range(3):
            s, t = random.choice(PAGES, 2)
            batch.append(((str(s), str(t), int(random.integers(1, 5))), 1))
        if step % 3 == 2:
            batch.append((kept.pop(0), -1))  # a cell may vanish with it
        kept += [row for row, _ in batch[:2]]
        db.apply({"clicks": batch})
        m = matrix_of(db, "links", PAGES, PAGES)
        np.testing.assert_array_equal(fresh["L"], m)
        np.testing.assert_allclose(fresh["two"], m @ m, rtol=1e-12)
        assert fresh.version == db.version
    assert fresh.report.updates == 20
    assert all("labels" not in why for why in fresh.report.reasons)


def test_results_are_views() -> None:
    db = clicks()
    a = linear.matrix("L", "n")
    fresh = linear.over(db, {"two": a @ a}, {"L": "links"})
    table = fresh.view("two").to_arrow()
    assert table.schema == pa.schema(
        [("row", pa.string()), ("column", pa.string()), ("value", pa.float64())]
    )
    m = matrix_of(db, "links", ["a", "b", "c"], ["a", "b", "c"])
    wanted = {("abc"[i], "abc"[j], (m @ m)[i, j]) for i, j in np.argwhere(m @ m)}
    assert set(fresh.view("two").rows()) == wanted
    assert pa.table(fresh.view("two")).equals(table)
    assert fresh.labels("two") == (("a", "b", "c"), ("a", "b", "c"))
    with pytest.raises(FreshviewError, match="there is no matrix three"):
        fresh.view("three")


def test_labels_come_and_go() -> None:
    db = clicks()
    n = linear.matrix("L", "n")
    fresh = linear.over(db, {"rank": linear.pagerank(0.1 * n)}, {"L": "links"})
    assert fresh["rank"].shape == (3, 1)
    db.insert("clicks", ("z", "a", 1))
    assert fresh["rank"].shape == (4, 1)
    assert fresh.report.reasons == ["labels of n came or went"]
    db.delete("clicks", ("z", "a", 1))
    m = matrix_of(db, "links", ["a", "b", "c"], ["a", "b", "c"])
    wanted = np.linalg.solve(np.eye(3) - 0.085 * m, np.full((3, 1), 0.15))
    wanted *= 3 / wanted.sum()
    np.testing.assert_allclose(fresh["rank"], wanted, rtol=1e-9)
    db.insert("clicks", ("a", "b", 1))
    assert fresh["rank"][1, 0] > wanted[1, 0]
    assert fresh.report.updates == 3
    assert fresh.report.reevaluations == 2


REGRESSION = """
    CREATE STREAM facts (house BIGINT NOT NULL, fact STRING NOT NULL, value DOUBLE NOT NULL);
    CREATE STREAM sales (house BIGINT NOT NULL, price DECIMAL(9, 2) NOT NULL);
    CREATE VIEW x AS SELECT house, fact, SUM(value) FROM facts GROUP BY house, fact;
    CREATE VIEW y AS SELECT house, SUM(price) FROM sales GROUP BY house;
"""


def test_several_views_change_at_once() -> None:
    db = fv.connect(engine="reference")
    db.execute(REGRESSION)
    random = np.random.default_rng(3)

    def sold(house: int) -> dict[str, Any]:
        size, age = float(random.integers(50, 200)), float(random.integers(1, 90))
        price = Decimal(int(100 * (3 * size - age + random.random()))) / 100
        facts = [((house, "size", size), 1), ((house, "age", age), 1)]
        return {"facts": facts, "sales": [((house, price), 1)]}

    for house in range(8):
        db.apply(sold(house))
    x, y = linear.matrix("X", "m", "n"), linear.matrix("Y", "m", 1)
    labels = {"m": 20, "n": ["size", "age"]}
    fresh = linear.over(db, {"beta": linear.ols(x, y)}, {"X": "x", "Y": "y"}, labels=labels)
    for house in range(8, 16):
        db.apply(sold(house))
        a = matrix_of(db, "x", list(range(20)), ["size", "age"])
        b = np.zeros((20, 1))
        for at, price in db.view("y").rows():
            b[at, 0] = float(price)
        wanted = np.linalg.lstsq(a, b)[0]
        np.testing.assert_allclose(fresh["beta"], wanted, rtol=1e-9)
    assert fresh.report.updates == 8
    assert [row[:2] for row in fresh.view("beta").rows()] == [("size", 0), ("age", 0)]
    db.insert("facts", (20, "age", 1.0))
    complaint = (
        "'x' has the row 20, which is not a label of m; its 20 labels are given: 0, 1, 2, ..."
    )
    with pytest.raises(BadCell) as e:
        fresh["beta"]
    assert str(e.value) == complaint
    db.delete("facts", (20, "age", 1.0))
    np.testing.assert_allclose(fresh["beta"], wanted, rtol=1e-9)


def test_edges_are_a_boolean_matrix() -> None:
    db = fv.connect(engine="reference")
    db.execute("CREATE STREAM e (a BIGINT NOT NULL, b BIGINT NOT NULL)")
    db.execute("CREATE VIEW g AS SELECT DISTINCT a, b FROM e")
    db.insert("e", [(1, 2), (2, 3), (2, 3), (7, 1)])
    reach = linear.reachability(linear.matrix("G", "n"))
    fresh = linear.over(db, {"R": reach}, {"G": "g"}, semiring="boolean")
    assert (7, 3, True) in fresh.view("R").rows()
    db.delete("e", [(2, 3)])
    assert (7, 3, True) in fresh.view("R").rows()
    db.delete("e", [(2, 3)])
    wanted = {(1, 1), (2, 2), (7, 7), (1, 2), (7, 1), (7, 2)}
    assert {(a, b) for a, b, _ in fresh.view("R").rows()} == wanted


def test_eager_programs_follow_by_themselves() -> None:
    db = clicks()
    a = linear.matrix("L", "n")
    fresh = linear.over(db, {"two": a @ a}, {"L": "links"}, labels={"n": PAGES}, eager=True)
    db.insert("clicks", ("a", "b", 1))
    assert fresh.version == db.version
    assert fresh.program["L"][1, 0] == 2
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        db.insert("clicks", ("a", "stranger", 1))
    assert "is not a label of n" in str(heard[0].message)
    assert fresh.program["L"][1, 0] == 2
    db.delete("clicks", ("a", "stranger", 1))
    fresh.close()
    db.insert("clicks", ("a", "b", 1))
    assert fresh.program["L"][1, 0] == 2
    assert fresh["L"][1, 0] == 3


@pytest.mark.parametrize(
    ("view", "complaint"),
    [
        ("SELECT r, c, v FROM t", "has the cell (1, 'x') twice; GROUP BY row and column"),
        ("SELECT r, c, SUM(n) AS n FROM t GROUP BY r, c", "'m' has NULL in 'n'; leave such rows"),
        ("SELECT v, c, r FROM t WHERE n IS NULL", "which is not a label of n"),
        ("SELECT r, v, c FROM t", "has 'c' of type string, which is not a number"),
        ("SELECT r, c FROM t", "'m' has the columns r, c; a view for A has three"),
        ("SELECT r, c, r AS r2, v FROM t", "a view for A has three: row, column and value"),
        ("SELECT r, c, big FROM t", "a number in 'big' of 'm' is too large for a double"),
    ],
)
def test_what_is_no_matrix(view: str, complaint: str) -> None:
    db = fv.connect(engine="reference")
    db.execute(
        "CREATE STREAM t (r BIGINT NOT NULL, c STRING NOT NULL, v DOUBLE NOT NULL, n BIGINT, "
        f"big BIGINT NOT NULL); CREATE VIEW m AS {view};"
    )
    db.insert("t", [(1, "x", 1.5, None, 1), (1, "x", 2.5, None, 2**60 + 1)])
    a = linear.matrix("A", "n", "k")
    with pytest.raises(BadCell) as e:
        linear.over(db, {"B": a @ a.T}, {"A": "m"}, labels={"n": [1, 2], "k": ["x"]})
    assert complaint in str(e.value)


def test_other_complaints() -> None:
    db = fv.connect(engine="reference")
    db.execute(LINKS)
    a = linear.matrix("L", "n")
    with pytest.raises(
        FreshviewError, match="n has no labels, since 'links' have no rows; give them"
    ):
        linear.over(db, {"B": a @ a}, {"L": "links"})
    with pytest.raises(FreshviewError, match="there is no view 'none'"):
        linear.over(db, {"B": a @ a}, {"L": "none"})
    with pytest.raises(FreshviewError, match="there is no input K; there is L"):
        linear.over(db, {"B": a @ a}, {"K": "links"})
    with pytest.raises(FreshviewError, match="no input comes from a view; use Program"):
        linear.over(db, {"B": a @ a}, {"L": np.eye(2)})
    with pytest.raises(FreshviewError, match="the label 'a' of n is given twice"):
        linear.over(db, {"B": a @ a}, {"L": "links"}, labels={"n": ["a", "a"]})
    b = linear.matrix("L", linear.beside(a, a).cols)
    with pytest.raises(FreshviewError, match=r"L has 2\*n rows or columns, which have no labels"):
        linear.over(db, {"B": b @ b}, {"L": "links"})
