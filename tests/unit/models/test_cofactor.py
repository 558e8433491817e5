"""A cofactor is a view like the others: filled, atomic, versioned, saved, the same on engines."""

from __future__ import annotations

import random
import re
import threading
from pathlib import Path
from typing import Any

import pytest

import freshview as fv
from freshview.algebra import Category
from freshview.algebra import Cofactor as Element
from freshview.errors import AmbiguousName, FreshviewError, TypeProblem, UnknownName, UnsupportedSql
from freshview.factorized.dtree import read_dtree
from freshview.factorized.order import OrderProblem
from freshview.factorized.readout import NotFactorized
from freshview.models import Cofactor, LinearRegression

SCRIPT = """
CREATE STREAM sales (item INT NOT NULL, store INT NOT NULL, units DOUBLE);
CREATE STREAM items (item INT NOT NULL, price DOUBLE NOT NULL, kind STRING NOT NULL);
CREATE STREAM shops (store INT NOT NULL, size INT NOT NULL, open BOOLEAN NOT NULL);
"""
JOIN = "FROM sales NATURAL JOIN items NATURAL JOIN shops"
ALL = f"SELECT units, price, size {JOIN}"


def filled(connect: Any, **options: Any) -> Any:
    db = connect(**options)
    db.execute(SCRIPT)
    return db


def data(db: Any, seed: int = 1, rows: int = 40) -> None:
    """Whole numbers: sums are exact in any order."""
    rng = random.Random(seed)
    db.insert("items", [(i, rng.randrange(20), f"k{i % 3}") for i in range(6)])
    db.insert("shops", [(i, rng.randrange(50), i > 1) for i in range(4)])
    sales = [(rng.randrange(6), rng.randrange(4), rng.randrange(9)) for _ in range(rows)]
    db.insert("sales", [*sales, (1, 1, None)])
    db.delete("sales", sales[:5])


def test_it_starts_with_the_data_so_far(connect: Any) -> None:
    before, after = filled(connect), filled(connect)
    early = Cofactor(before, ALL)
    data(before)
    data(after)
    late = Cofactor(after, ALL)
    assert early.element() == late.element()
    assert early.count() == 35  # the row without units is left out
    assert early.columns == ("units", "price", "size")


def test_arrow_names_what_the_numbers_are_of(engine: str, connect: Any) -> None:
    db = filled(connect)
    cof = Cofactor(db, f"SELECT store, units, price {JOIN} GROUP BY store")
    data(db)
    table = cof.to_arrow()
    assert table.column_names == [
        "store",
        *("payload[]", "payload[units]", "payload[price]"),
        *("payload[units, units]", "payload[units, price]", "payload[price, price]"),
    ]
    elements = dict(cof.read()[1])
    for row in table.to_pylist():
        x = elements[row["store"],]
        assert row["payload[]"] == x.count
        assert row["payload[price]"] == x.sums.get("price", 0)
        assert row["payload[units, price]"] == x.product("units", "price")
    assert cof.view.lookup(store=2) == [(2, elements[2,])]
    if engine == "native":
        engine: Any = cof.view._maintained.engine
        assert engine.find({0: 2}) == [(2, elements[2,])]  # without a look at the others
    assert cof.view.lookup(store=99) == []


def test_categories_are_lists_inside(connect: Any) -> None:
    db = filled(connect)
    cof = Cofactor(db, f"SELECT kind, units, open {JOIN}", categorical=["kind", "open"])
    db.apply(
        {
            "items": [((1, 2.0, "b"), 1), ((2, 3.0, "a"), 1)],
            "shops": [((1, 5, True), 1), ((2, 5, False), 1)],
            "sales": [((1, 1, 4.0), 1), ((2, 1, 6.0), 1), ((2, 2, 1.0), 1)],
        }
    )
    (row,) = cof.to_arrow().to_pylist()
    assert row == {
        "payload[]": 3.0,
        "payload[kind]": [{"value": "a", "sum": 2.0}, {"value": "b", "sum": 1.0}],
        "payload[units]": 11.0,
        "payload[open]": [{"value": False, "sum": 1.0}, {"value": True, "sum": 2.0}],
        "payload[kind, units]": [{"value": "a", "sum": 7.0}, {"value": "b", "sum": 4.0}],
        "payload[kind, open]": [
            {"first": "a", "second": False, "sum": 1.0},
            {"first": "a", "second": True, "sum": 1.0},
            {"first": "b", "second": True, "sum": 1.0},
        ],
        "payload[units, units]": 53.0,
        "payload[units, open]": [{"value": False, "sum": 1.0}, {"value": True, "sum": 10.0}],
    }
    assert cof.element().product(Category("kind", "a"), "units") == 7.0
    assert cof.names(["kind", "units"]) == ("kind=a", "kind=b", "units")
    with pytest.raises(FreshviewError, match="not recorded"):
        cof.view.track()


def test_a_group_lives_as_long_as_its_count(connect: Any) -> None:
    db = filled(connect)
    cof = Cofactor(db, f"SELECT units, price {JOIN} GROUP BY store")
    db.insert("items", [(1, 0.1, "a"), (1, 0.7, "a")])
    db.insert("shops", [(1, 1, True), (2, 1, True)])
    sales = [(1, 1, 0.1), (1, 1, 0.2), (1, 1, 0.3), (1, 2, 1.0)]
    db.insert("sales", sales)
    assert sorted(cof.groups()) == [(1,), (2,)]
    for row in (sales[1], sales[0], sales[2]):  # rounding leaves something in the sums
        db.delete("sales", [row])
    assert cof.groups() == [(2,)]
    assert cof.to_arrow().column("store").to_pylist() == [2]
    assert cof.element(1) == Element()
    db.delete("sales", [sales[3]])
    assert cof.groups() == []
    assert cof.element() == Element()


def test_changes_and_versions(connect: Any) -> None:
    db = filled(connect)
    cof = Cofactor(db, f"SELECT units {JOIN} GROUP BY store", name="units_by_store")
    assert db.view("units_by_store").columns == ("store", "payload")
    cof.view.track()
    data(db)
    version, elements = cof.read()
    assert version == db.version
    db.insert("sales", [(1, 1, 3.0)])
    changes = sorted(cof.view.changes(version).to_pylist(), key=lambda r: r["__count"])
    assert [(r["store"], r["__count"]) for r in changes] == [(1, -1), (1, 1)]
    assert changes[1]["payload[]"] == elements[1,].count + 1


def test_snapshots(connect: Any, tmp_path: Path) -> None:
    db = filled(connect)
    cof = Cofactor(db, f"SELECT store, units, price {JOIN} GROUP BY store", order="store - item")
    data(db)
    hot = Cofactor(db, f"SELECT units, kind {JOIN}", categorical=["kind"], name="hot")
    db.snapshot(tmp_path)
    again = fv.restore(tmp_path)
    assert Cofactor.attach(again, cof.name).read() == cof.read()
    assert Cofactor.attach(again, "hot").element() == hot.element()
    assert Cofactor.attach(again, "hot").categorical == ("kind",)
    for d in (db, again):
        d.insert("sales", [(1, 1, 3.0), (2, 1, 4.0)])
    assert Cofactor.attach(again, cof.name).read() == cof.read()
    again.execute("CREATE VIEW n AS SELECT COUNT(*) AS n FROM sales")
    with pytest.raises(UnknownName, match="'n' is not a cofactor"):
        Cofactor.attach(again, "n")


def test_a_refused_batch_changes_nothing(connect: Any) -> None:
    db = filled(connect)
    cof = Cofactor(db, ALL)
    data(db)
    before = cof.read()
    with pytest.raises(FreshviewError, match="does not hold"):
        db.apply({"items": [((1, 5.0, "x"), 1)], "sales": [((9, 9, 9.0), -1)]})
    assert cof.read() == before


def test_static_tables(connect: Any) -> None:
    db = connect()
    db.execute(SCRIPT.replace("STREAM items", "TABLE items"))
    cof = Cofactor(db, ALL)
    db.load("items", [(1, 2.0, "a")])
    db.insert("shops", [(1, 3, True)])
    db.insert("sales", [(1, 1, 5.0)])
    assert cof.element().sums == {"units": 5, "price": 2, "size": 3}


def test_rows_need_not_be_kept(connect: Any) -> None:
    db = filled(connect, keep_rows=False)
    cof = Cofactor(db, ALL)
    db.insert("shops", [(1, 3, True)])
    db.insert("items", [(1, 2.0, "a")])
    writer = db.writer("sales")
    writer.insert(1, 1, 5.0)
    writer.insert(1, 1, 6.0)
    writer.delete(1, 1, 5.0)
    assert cof.element().sums == {"units": 6, "price": 2, "size": 3}


def test_expressions_and_tests(connect: Any) -> None:
    db = filled(connect)
    cof = Cofactor(
        db,
        "SELECT s.units * 2 AS twice, i.price - 10 AS price FROM sales s JOIN items i "
        "ON s.item = i.item WHERE i.kind = 'k1' AND s.units > 2",
    )
    data(db)
    rows = db.execute(
        "SELECT SUM(s.units * 2), SUM((i.price - 10) * s.units * 2), COUNT(*) FROM sales s "
        "JOIN items i ON s.item = i.item WHERE i.kind = 'k1' AND s.units > 2"
    )[0].rows()
    x = cof.element()
    assert (x.sums["twice"], x.product("twice", "price"), x.count) == rows[0]


def test_what_has_no_square_is_left_out(connect: Any) -> None:
    db = filled(connect)
    cof = Cofactor(db, "SELECT units FROM sales")
    db.insert("sales", [(1, 1, 3.0), (1, 1, 4.0)])
    odd = [(1, 1, x) for x in (1e200, -1.7e308, None)]
    db.insert("sales", odd)
    assert cof.element() == Element(2, {"units": 7}, {("units", "units"): 25})
    db.delete("sales", [odd[1], odd[2], (1, 1, 3.0)])
    assert cof.element() == Element.of("units", 4)


def test_truth_counts_as_one(connect: Any) -> None:
    db = filled(connect)
    db.execute("CREATE STREAM s (x INT NOT NULL, yes BOOLEAN)")
    cof = Cofactor(db, "SELECT x, yes FROM s")
    db.insert("s", [(2, True), (3, False), (4, None), (5, True)])
    assert cof.element() == Element(
        3, {"x": 10, "yes": 2}, {("x", "x"): 38, ("x", "yes"): 7, ("yes", "yes"): 2}
    )


def test_orders(connect: Any) -> None:
    db = filled(connect)
    dtree = read_dtree(
        "6 3\n0 store int -1 {} 0\n1 item int 0 {0} 0\n2 units double 1 {0,1} 0\n"
        "3 price double 1 {1} 0\n4 kind string 3 {1,3} 0\n5 size int 0 {0} 0\n"
        "sales 2 item,store,units\nitems 4 item,price,kind\nshops 5 store,size\n"
    )
    orders = ("item - store", "Store - {item - {units, price - kind}, shops.size}", dtree)
    cofactors = [Cofactor(db, ALL, order=o) for o in orders]
    data(db)
    assert len({m.element() for m in cofactors}) == 1
    assert "V_sales_shops_at_shops_store" in db.program(cofactors[0].name).maps[1].name
    with pytest.raises(OrderProblem, match="'colour' of the variable order is not a column"):
        Cofactor(db, ALL, order="item - {store, colour}")
    with pytest.raises(OrderProblem, match="two branches"):
        Cofactor(db, ALL, order="{item, store}")
    sql = "SELECT units, price FROM sales JOIN items ON sales.item = items.item, shops"
    with pytest.raises(OrderProblem, match=re.escape("do not join on it; write relation.column")):
        Cofactor(db, sql, order="store - item")


def test_explain_tells_the_engine(engine: str, connect: Any) -> None:
    db = filled(connect)
    text = Cofactor(db, ALL).explain()
    assert "strategy: factorized" in text
    assert ("\nnative" in text) == (engine == "native")
    hot = Cofactor(db, f"SELECT units, kind {JOIN}", categorical="kind")
    assert hot.engine == engine


def test_a_kernel_takes_over(native: None) -> None:
    db = fv.connect()
    db.execute(SCRIPT)
    cof = Cofactor(db, f"SELECT units - 1 AS less, price, size {JOIN}")
    data(db)
    before = cof.element()
    rng = random.Random(7)
    rows = [(rng.randrange(6), rng.randrange(4), rng.randrange(9)) for _ in range(2500)]
    db.insert("sales", rows)
    for job in db._tiering.jobs:
        job.wait(60)
    assert cof.engine == "native"
    db.delete("sales", rows)
    assert cof.element() == before


def test_readers_see_whole_batches(connect: Any) -> None:
    """Every batch adds a sale and its item: price and units are always of equal number."""
    db = filled(connect)
    cof = Cofactor(db, ALL)
    model = LinearRegression(cof, "units", ["price"])
    db.insert("shops", [(1, 1, True)])
    db.apply({"items": [((k, k, "a"), 1) for k in range(3)]})
    db.apply({"sales": [((k, 1, 2.0 * k), 1) for k in range(3)]})
    wrong: list[object] = []
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            fit = model.now()
            if abs(fit.coef_[0] - 2) > 1e-9 or abs(fit.intercept_) > 1e-9:
                wrong.append(fit)

    thread = threading.Thread(target=look)
    thread.start()
    for k in range(3, 60):
        db.apply({"items": [((k, k, "a"), 1)], "sales": [((k, 1, 2.0 * k), 1)]})
    done.set()
    thread.join()
    assert not wrong


@pytest.mark.parametrize(
    ("sql", "features", "keys"),
    [
        ("SELECT store, units FROM sales GROUP BY 1", "units", "store"),
        ("SELECT s.store, units FROM sales s GROUP BY store", "units", "store"),
        ("SELECT store, units FROM sales s GROUP BY s.store", "units", "store"),
        ("SELECT store AS k, units FROM sales GROUP BY k", "units", "k"),
        ("SELECT store AS k, units FROM sales GROUP BY store", "units", "k"),
        (
            "SELECT store AS item, item AS store, units FROM sales GROUP BY item",
            "item units",
            "store",
        ),
        ("SELECT * FROM sales GROUP BY store", "item units", "store"),
        ("SELECT units FROM sales GROUP BY store, item", "units", "store item"),
        ("SELECT units, item + store AS k FROM sales GROUP BY item + store", "units", "k"),
    ],
)
def test_keys_are_no_features(sql: str, features: str, keys: str) -> None:
    db = fv.connect(engine="reference")
    db.execute(SCRIPT)
    cof = Cofactor(db, sql)
    assert cof.columns == tuple(features.split())
    assert [c.name for c in cof.keys] == keys.split()


@pytest.mark.parametrize(
    ("sql", "options", "error", "says"),
    [
        ("SELECT units, colour FROM sales", {}, UnknownName, "no column 'colour'"),
        (f"SELECT units, kind {JOIN}", {}, TypeProblem, "column 'kind' is text, not a number; "),
        (f"SELECT units {JOIN}", {"categorical": ["kind"]}, UnknownName, "'kind' is not selected"),
        ("SELECT SUM(units) FROM sales", {}, UnsupportedSql, "SUM has no place"),
        ("SELECT DISTINCT units FROM sales", {}, UnsupportedSql, "DISTINCT has no place"),
        ("SELECT units FROM sales LIMIT 3", {}, UnsupportedSql, "LIMIT has no place"),
        ("SELECT units FROM sales ORDER BY 1", {}, UnsupportedSql, "ORDER BY has no place"),
        ("SELECT units FROM sales; SELECT 1", {}, UnsupportedSql, "by one SELECT"),
        ("CREATE VIEW v AS SELECT units FROM sales", {}, UnsupportedSql, "named by name="),
        ("SELECT units FROM sales GROUP BY SUM(store)", {}, UnsupportedSql, "SUM has no place"),
        ("SELECT units FROM sales GROUP BY 2", {}, UnknownName, "GROUP BY 2 is not a column"),
        ("SELECT store FROM sales GROUP BY store", {}, UnsupportedSql, "besides its keys"),
        ("SELECT units FROM sales WHERE 1 = 0", {}, UnsupportedSql, "never true"),
        ("SELECT units, units FROM sales", {}, AmbiguousName, "two columns .* 'units'"),
        ("SELECT units FROM sales", {"name": "sales"}, AmbiguousName, "already declared"),
        (
            "SELECT units FROM sales WHERE units > (SELECT AVG(units) FROM sales)",
            {},
            NotFactorized,
            "select from a join",
        ),
    ],
)
def test_refusals(sql: str, options: dict[str, Any], error: type[Exception], says: str) -> None:
    db = fv.connect(engine="reference")
    db.execute(SCRIPT)
    with pytest.raises(error, match=says) as caught:
        Cofactor(db, sql, **options)
    assert "\n" not in str(caught.value)
    assert [v.name for v in db.views] == []


def test_sql_does_not_read_it() -> None:
    db = fv.connect(engine="reference")
    db.execute(SCRIPT)
    Cofactor(db, ALL, name="cof")
    with pytest.raises(UnsupportedSql, match="elements of ring"):
        db.execute("SELECT * FROM cof")
