"""A Delta table with its change feed goes in, and the changes of a view go out to another."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.maven.conftest import need

pytestmark = [pytest.mark.spark, pytest.mark.full]

DELTA = "4.4.0"

TEXT = '''
from freshet.errors import FreshetError
from freshet.spark.io.sinks import Delta
from freshet.spark.open import pipeline
from freshet.spark.session import session
from pathlib import Path

few = {"spark.sql.shuffle.partitions": "2", "spark.databricks.delta.snapshotPartitions": "2"}
spark = session("local[2]", packages=[package], settings=few, log=Path("spark.log"))
spark.sql("CREATE TABLE delta.`orders` (id BIGINT, item STRING, amount DECIMAL(8, 2))"
          " USING delta TBLPROPERTIES (delta.enableChangeDataFeed = true)"
          .replace("`orders`", f"`{Path.cwd() / 'orders'}`"))
orders = f"delta.`{Path.cwd() / 'orders'}`"
spark.sql(f"INSERT INTO {orders} VALUES (1, 'pen', 1.5), (2, 'ink', 2), (3, 'pen', 4)")
spark.sql(f"INSERT INTO {orders} VALUES (4, 'nib', 1)")

SCRIPT = """
CREATE STREAM orders (id INT PRIMARY KEY, item STRING, amount DECIMAL(8, 2)) FROM DELTA 'orders';
CREATE TABLE again (id INT PRIMARY KEY, item STRING, amount DECIMAL(8, 2)) FROM DELTA 'orders';
CREATE VIEW totals AS SELECT item, SUM(amount) AS amount FROM orders GROUP BY item ORDER BY item;
CREATE VIEW joined AS SELECT COUNT(*) AS n FROM orders o, again a WHERE o.id = a.id;
"""

def totals():
    flow = pipeline(SCRIPT, spark, checkpoint="state", workers=2)
    flow.add_sink(Delta("totals", flow, str(Path.cwd() / "out")))
    with flow:
        assert flow.await_done(120)
        return [(i, str(a)) for i, a in flow.view("totals").rows()], flow.view("joined").rows()

assert totals() == ([("ink", "2.00"), ("nib", "1.00"), ("pen", "5.50")], [(4,)])
spark.sql(f"UPDATE {orders} SET amount = 9 WHERE id = 2")
spark.sql(f"DELETE FROM {orders} WHERE item = 'nib'")
spark.sql(f"INSERT INTO {orders} VALUES (5, 'pen', 1)")
assert totals() == ([("ink", "9.00"), ("pen", "6.50")], [(3,)])

out = spark.read.format("delta").load("out").toArrow().to_pylist()
held = {}
for row in out:
    key = (row["item"], str(row["amount"]))
    held[key] = held.get(key, 0) + row["__count"]
assert {k for k, n in held.items() if n} == {("ink", "9.00"), ("pen", "6.50")}, out
assert all(n in (0, 1) for n in held.values())

# A version that was written is not written again.
from pyarrow import table
sink = Delta("totals", type("Owner", (), {"spark": spark}), "out")
sink.emit(1, table({"item": ["x"], "amount": [None], "__count": [1]}))
assert spark.read.format("delta").load("out").count() == len(out)

spark.sql(f"CREATE TABLE delta.`{Path.cwd() / 'plain'}` (a BIGINT) USING delta")
spark.sql(f"INSERT INTO delta.`{Path.cwd() / 'plain'}` VALUES (1)")
flow = pipeline("CREATE STREAM p (a INT) FROM DELTA 'plain';"
                "CREATE VIEW v AS SELECT COUNT(*) AS n FROM p", spark, workers=2)
try:
    with flow:
        flow.await_done(120)
    raise AssertionError("a table without a change feed was read")
except FreshetError as e:
    assert "does not keep its changes" in str(e), e
spark.stop()
'''


def test_a_change_feed_goes_in_and_changes_go_out(version: str, alone: Callable[..., None]) -> None:
    minor = ".".join(version.split(".")[:2])
    package = f"io.delta:delta-spark_{minor}_2.13:{DELTA}"
    need(package)
    alone(TEXT, package=package)
