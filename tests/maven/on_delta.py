"""A change feed into views and changes out to a table: what `test_delta.py` runs."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from freshview.errors import FreshviewError
from freshview.pipelines.open import pipeline
from freshview.spark.io.sinks import Delta
from freshview.spark.session import session
from tests.maven.on_kafka import held

SCRIPT = """
CREATE STREAM orders (id INT PRIMARY KEY, item STRING, amount DECIMAL(8, 2)) FROM DELTA 'orders';
CREATE TABLE again (id INT PRIMARY KEY, item STRING, amount DECIMAL(8, 2)) FROM DELTA 'orders';
CREATE VIEW totals AS SELECT item, SUM(amount) AS amount FROM orders GROUP BY item ORDER BY item;
CREATE VIEW joined AS SELECT COUNT(*) AS n FROM orders o, again a WHERE o.id = a.id;
"""
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "2",
}


def totals(spark: Any) -> tuple[dict[str, Decimal], int, str]:
    """The views after all that is in the table's feed, and the name of their state."""
    flow = pipeline(SCRIPT, spark, checkpoint="state", workers=2)
    flow.add_sink(Delta("totals", flow, str(Path.cwd() / "out")))
    with flow:
        assert flow.await_done(180)
        [(joined,)] = flow.view("joined").rows()
        return dict(flow.view("totals").rows()), joined, flow.state_id


def main() -> None:
    spark = session("local[2]", packages=["delta"], settings=SETTINGS, log=Path("spark.log"))
    orders, plain = (f"delta.`{Path.cwd() / name}`" for name in ("orders", "plain"))
    spark.sql(
        f"CREATE TABLE {orders} (id BIGINT, item STRING, amount DECIMAL(8, 2)) USING delta "
        "TBLPROPERTIES (delta.enableChangeDataFeed = true)"
    )
    spark.sql(f"INSERT INTO {orders} VALUES (1, 'pen', 1.5), (2, 'ink', 2), (3, 'pen', 4)")
    spark.sql(f"INSERT INTO {orders} VALUES (4, 'nib', 1)")
    three = {"ink": Decimal("2.00"), "nib": Decimal("1.00"), "pen": Decimal("5.50")}
    assert totals(spark)[:2] == (three, 4)

    spark.sql(f"UPDATE {orders} SET amount = 9 WHERE id = 2")
    spark.sql(f"DELETE FROM {orders} WHERE item = 'nib'")
    spark.sql(f"INSERT INTO {orders} VALUES (5, 'pen', 1)")
    *views, state_id = totals(spark)
    assert views == [{"ink": Decimal("9.00"), "pen": Decimal("6.50")}, 3]

    out = spark.read.format("delta").load("out").toArrow().to_pylist()
    assert held(out) == {("ink", "9.00"): 1, ("pen", "6.50"): 1}, out

    # A version that was written is not written again, and that of another state is not skipped.
    for name, more in ((state_id, 0), ("another", 1)):
        sink = Delta("totals", SimpleNamespace(spark=spark, state_id=name), "out")
        sink.emit(1, pa.table({"item": ["x"], "amount": [None], "__count": [1]}))
        assert spark.read.format("delta").load("out").count() == len(out) + more

    spark.sql(f"CREATE TABLE {plain} (a BIGINT) USING delta")
    spark.sql(f"INSERT INTO {plain} VALUES (1)")
    script = (
        "CREATE STREAM p (a INT) FROM DELTA 'plain'; CREATE VIEW v AS SELECT COUNT(*) AS n FROM p"
    )
    flow = pipeline(script, spark, workers=2)
    with pytest.raises(FreshviewError, match="does not keep its changes"), flow:
        flow.await_done(180)
    spark.stop()


if __name__ == "__main__":
    main()
