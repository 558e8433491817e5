"""Topics into views and changes out to a topic: what `test_kafka.py` runs with its broker."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from freshview.errors import FreshviewError
from freshview.pipelines.open import pipeline
from freshview.spark.io.sinks import Kafka, frame
from freshview.spark.session import session

SCRIPT = """
CREATE STREAM sales (id INT, item STRING, amount DECIMAL(8, 2))
  FROM KAFKA 'sales' (bootstrap := '{address}', format := 'json');
CREATE STREAM items (id INT PRIMARY KEY, item STRING, amount DECIMAL(8, 2))
  FROM KAFKA 'items' (bootstrap := '{address}', format := 'debezium');
CREATE VIEW totals AS SELECT i.item, SUM(s.amount) AS amount FROM sales s, items i
  WHERE s.item = i.item GROUP BY i.item ORDER BY item;
"""

Message = tuple[str, dict[str, Any] | None]


def row(number: int, item: str, amount: float) -> dict[str, Any]:
    return {"id": number, "item": item, "amount": amount}


class Shop:
    """A producer, a pipeline that is started anew for what has come, and a consumer."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.script = SCRIPT.format(address=address)
        self.spark = session("local[2]", packages=["kafka"], log=Path("spark.log"))

    def send(self, topic: str, *messages: Message) -> None:
        values = [None if v is None else json.dumps(v) for _, v in messages]
        columns = {
            "key": pa.array([k for k, _ in messages], pa.string()),
            "value": pa.array(values, pa.string()),
            "topic": pa.array([topic] * len(messages), pa.string()),
        }
        writer = frame(self.spark, pa.table(columns)).coalesce(1).write.format("kafka")
        writer.option("kafka.bootstrap.servers", self.address).save()

    def totals(self) -> tuple[dict[str, Decimal], int]:
        """The view after all that has come, and how many rows did not fit this time."""
        flow = pipeline(self.script, self.spark, checkpoint="state", workers=2)
        flow.add_sink(Kafka("totals", flow, self.address, "totals"))
        with flow:
            assert flow.await_done(180)
            rejected = flow.totals.last.rejected if flow.totals.last else 0
            return dict(flow.view("totals").rows()), rejected

    def received(self) -> list[dict[str, Any]]:
        reader = self.spark.read.format("kafka").option("kafka.bootstrap.servers", self.address)
        rows = reader.option("subscribe", "totals").load().collect()
        return [json.loads(r.value) for r in rows]


def held(changes: Iterable[dict[str, Any]]) -> dict[tuple[str, str], int]:
    """The rows that are left when all changes are added up."""
    counts: dict[tuple[str, str], int] = {}
    for one in changes:
        key = (one["item"], str(one["amount"]))
        counts[key] = counts.get(key, 0) + one["__count"]
    return {key: n for key, n in counts.items() if n}


def main(address: str) -> None:
    shop = Shop(address)
    shop.send(
        "sales", ("a", row(1, "pen", 1.25)), ("b", row(2, "ink", 2)), ("c", {"id": "no number"})
    )
    shop.send(
        "items",
        ("1", {"op": "c", "before": None, "after": row(1, "pen", 0)}),
        ("2", {"payload": {"op": "c", "before": None, "after": row(2, "ink", 0)}}),
    )
    assert shop.totals() == ({"ink": Decimal("2.00"), "pen": Decimal("1.25")}, 1)

    shop.send("sales", ("a", row(3, "pen", 1)))
    shop.send(
        "items",
        ('{"id": 2}', {"op": "d", "before": None, "after": None}),
        ('{"id": 2}', None),
        ("1", {"op": "u", "before": None, "after": row(1, "pen", 5)}),
    )
    assert shop.totals() == ({"pen": Decimal("2.25")}, 0)
    assert shop.totals() == ({"pen": Decimal("2.25")}, 0), "what was read is not read again"

    sent = shop.received()
    assert held(sent) == {("pen", "2.25"): 1}, sent
    assert {one["__version"] for one in sent} == {1, 2}, sent

    flow = pipeline(shop.script.replace("'sales'", "'nowhere'"), shop.spark, workers=2)
    with pytest.raises(FreshviewError, match="Kafka topic"), flow:
        flow.await_done(180)
    shop.spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
