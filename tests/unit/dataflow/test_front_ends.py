"""The query of the thesis, section 3.2.1, from four front ends: one plan, equal answers."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import duckdb
import pytest

import freshview
from freshview.dataflow import (
    DataSource,
    EquiJoin,
    Grouping,
    Projection,
    Stream,
    count,
    from_sql,
    source,
)
from freshview.temporal import Sliding

CUSTOMER = {"custkey": "int", "name": "string", "mktsegment": "string", "at": "int"}
ORDERS = {"orderkey": "int", "custkey": "int", "at": "int"}
DELAY = 50

SQL = """
CREATE STREAM customer (custkey INT NOT NULL, name STRING NOT NULL, mktsegment STRING NOT NULL,
  at INT NOT NULL, WATERMARK FOR at AS at - 50);
CREATE STREAM orders (orderkey INT NOT NULL, custkey INT NOT NULL, at INT NOT NULL,
  WATERMARK FOR at AS at - 50);
CREATE VIEW segments AS
  SELECT customer.mktsegment, COUNT(orders.orderkey) AS n
  FROM customer JOIN orders ON customer.custkey = orders.custkey
  GROUP BY customer.mktsegment RANGE 300;
"""


def functional() -> Stream:
    customers = source("customer", CUSTOMER, time="at", delay=DELAY)
    orders = source("orders", ORDERS, time="at", delay=DELAY)
    return (
        customers.map(lambda c: (c.custkey, c.mktsegment))
        .join(orders.map(lambda o: (o.orderkey, o.custkey)), lambda c, o: c.custkey == o.custkey)
        .on_sliding_window(300)
        .group_by(lambda r: r.mktsegment, n=lambda r: count(r.orderkey))
    )


def imperative() -> Stream:
    customers = DataSource("customer", CUSTOMER, time="at", delay=DELAY)
    customers.add(Projection("custkey", "mktsegment"))
    orders = DataSource("orders", ORDERS, time="at", delay=DELAY)
    orders.add(Projection("orderkey", "custkey"))
    join = EquiJoin(customers, "custkey", orders, "custkey", window=Sliding(300))
    return join.add(Grouping("mktsegment", n=lambda r: count(r.orderkey))).stream


def notebook() -> Stream:
    """As cells are run one after the other, each shown."""
    plan = source("customer", CUSTOMER, time="at", delay=DELAY)
    for step in (
        lambda p: p.map(lambda c: (c.custkey, c.mktsegment)),
        lambda p: p.join(
            source("orders", ORDERS, time="at", delay=DELAY).map(
                lambda o: {"orderkey": o.orderkey, "custkey": o.custkey}
            ),
            lambda c, o: c.custkey == o.custkey,
        ),
        lambda p: p.on_sliding_window(300),
        lambda p: p.group_by(lambda r: r.mktsegment, n=lambda r: count(r.orderkey)),
    ):
        plan = step(plan)
        assert "<svg" in plan._repr_html_()
    return plan


FRONT_ENDS = {
    "functional": functional,
    "imperative": imperative,
    "sql": lambda: from_sql(SQL),
    "notebook": notebook,
}


def batches(seed: int) -> list[dict[str, list[tuple[Any, int]]]]:
    """Customers and orders come, and some go; time goes on, and most keys are frequent ones."""
    rng = random.Random(seed)
    kept: dict[str, list[Any]] = {"customer": [], "orders": []}
    out = []
    for number in range(8):
        now = 100 * number
        batch: dict[str, list[tuple[Any, int]]] = {"customer": [], "orders": []}
        for _ in range(rng.randint(0, 6)):
            key = rng.choice((1, 1, 2, 3, 4, 5))
            customer = (key, f"name {key}", rng.choice("ABC"), now + rng.randint(0, 99))
            batch["customer"].append((customer, 1))
        for _ in range(rng.randint(0, 12)):
            order = (rng.randint(1, 99), rng.choice((1, 1, 2, 3, 9)), now + rng.randint(0, 99))
            batch["orders"].append((order, 1))
        for name, rows in kept.items():
            fresh = [r for r in rows if r[-1] >= now]
            if fresh and rng.random() < 0.5:
                batch[name].append((rng.choice(fresh), -1))
            kept[name] += [r for r, n in batch[name] if n > 0]
        out.append(batch)
    return out


def oracle(rows: dict[str, list[Any]]) -> Counter[Any]:
    db = duckdb.connect()
    db.execute("CREATE TABLE customer (custkey INT, name TEXT, mktsegment TEXT, t INT)")
    db.execute("CREATE TABLE orders (orderkey INT, custkey INT, t INT)")
    for name, some in rows.items():
        if some:
            db.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(some[0]))})", some)
    return Counter(
        db.execute(
            "SELECT mktsegment, COUNT(orderkey) FROM customer c JOIN orders o "
            "ON c.custkey = o.custkey AND abs(c.t - o.t) < 300 GROUP BY mktsegment"
        ).fetchall()
    )


def test_one_plan() -> None:
    plans = {name: str(make().optimized()) for name, make in FRONT_ENDS.items()}
    assert len(set(plans.values())) == 1, plans


@pytest.mark.parametrize("seed", range(3))
def test_equal_answers(seed: int) -> None:
    flows = {name: make().run(engine="reference") for name, make in FRONT_ENDS.items()}
    db = freshview.connect(engine="reference")
    db.execute(SQL)
    rows: dict[str, list[Any]] = {"customer": [], "orders": []}
    for batch in batches(seed):
        db.apply(batch)
        for name, some in batch.items():
            for row, n in some:
                rows[name].append(row) if n > 0 else rows[name].remove(row)
        wanted = oracle(rows)
        assert Counter(db.view("segments").rows()) == wanted
        for name, flow in flows.items():
            assert not flow.apply(batch), "no row is late"
            assert Counter(flow.rows()) == wanted, name


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_equal_answers_on_spark() -> None:
    pytest.importorskip("pyspark", reason="Spark is not installed")
    from freshview.spark.java import NoJava, provide_java

    try:
        provide_java()
    except NoJava as e:
        pytest.skip(f"Spark does not start here: {e}")
    inside = functional().run(engine="reference")
    with from_sql(SQL).run(master="local[2]", joiners=2, engine="reference") as flow:
        for batch in batches(5)[:5]:
            inside.apply(batch)
            flow.apply(batch)
            assert Counter(flow.rows()) == Counter(inside.rows())
        assert flow.metrics["join"].batches == 5
