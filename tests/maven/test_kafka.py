"""Topics of a Kafka broker go in, as rows and as Debezium envelopes, and changes go out to one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.maven.conftest import need

pytestmark = [pytest.mark.spark, pytest.mark.full]

TEXT = '''
import json
from pathlib import Path
import pyarrow as pa
from freshet.errors import FreshetError
from freshet.spark.io.sinks import Kafka, frame
from freshet.spark.open import pipeline
from freshet.spark.session import session

spark = session("local[2]", packages=[package], log=Path("spark.log"))

def send(topic, *pairs):
    keys, values = [k for k, _ in pairs], [None if v is None else json.dumps(v) for _, v in pairs]
    table = pa.table({"key": pa.array(keys, pa.string()), "value": pa.array(values, pa.string())})
    (frame(spark, table.append_column("topic", pa.array([topic] * len(pairs)))).coalesce(1)
     .write.format("kafka").option("kafka.bootstrap.servers", address).save())

def row(number, item, amount):
    return {"id": number, "item": item, "amount": amount}

SCRIPT = f"""
CREATE STREAM sales (id INT, item STRING, amount DECIMAL(8, 2))
  FROM KAFKA 'sales' (bootstrap := '{address}', format := 'json');
CREATE STREAM items (id INT PRIMARY KEY, item STRING, amount DECIMAL(8, 2))
  FROM KAFKA 'items' (bootstrap := '{address}', format := 'debezium');
CREATE VIEW totals AS SELECT i.item, SUM(s.amount) AS amount FROM sales s, items i
  WHERE s.item = i.item GROUP BY i.item ORDER BY item;
"""

def totals():
    flow = pipeline(SCRIPT, spark, checkpoint="state", workers=2)
    flow.add_sink(Kafka("totals", flow, address, "totals"))
    with flow:
        assert flow.await_done(180)
        rejected = flow.totals.last.rejected if flow.totals.last else 0
        return [(i, str(a)) for i, a in flow.view("totals").rows()], rejected

def same(got, want):
    assert got == want, (got, want)

send("sales", ("a", row(1, "pen", 1.25)), ("b", row(2, "ink", 2)), ("c", {"id": "x"}))
send("items", ("1", {"op": "c", "before": None, "after": row(1, "pen", 0)}),
     ("2", {"payload": {"op": "c", "before": None, "after": row(2, "ink", 0)}}))
same(totals(), ([("ink", "2.00"), ("pen", "1.25")], 1))
send("sales", ("a", row(3, "pen", 1)))
send("items", ('{"id": 2}', {"op": "d", "before": None, "after": None}), ('{"id": 2}', None),
     ("1", {"op": "u", "before": None, "after": row(1, "pen", 5)}))
same(totals(), ([("pen", "2.25")], 0))
same(totals(), ([("pen", "2.25")], 0))

reader = spark.read.format("kafka").option("kafka.bootstrap.servers", address)
sent = [json.loads(r.value) for r in reader.option("subscribe", "totals").load().collect()]
held = {}
for one in sent:
    key = (one["item"], one["amount"])
    held[key] = held.get(key, 0) + one["__count"]
assert {k for k, n in held.items() if n} == {("pen", "2.25")}, sent
assert {one["__version"] for one in sent} == {1, 2}

flow = pipeline(SCRIPT.replace("'sales'", "'nowhere'"), spark, workers=2)
try:
    with flow:
        flow.await_done(180)
    raise AssertionError("a missing topic was read")
except FreshetError as e:
    assert "Kafka topic" in str(e), e
spark.stop()
'''


def test_topics_go_in_and_changes_go_out(
    version: str, alone: Callable[..., None], tmp_path: Path
) -> None:
    from tests.maven.broker import RESOLVE, SERVER, Broker

    package = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{version}"
    need(package, f"org.apache.spark:spark-token-provider-kafka-0-10_2.13:{version}", SERVER)
    alone(RESOLVE, server=SERVER, ivy=str(tmp_path / "ivy"))
    with Broker(tmp_path / "ivy" / "jars", tmp_path) as broker:
        alone(TEXT, package=package, address=broker.address)


def test_messages_are_json() -> None:
    from pyarrow import table

    from freshet.spark.io.sinks import messages

    [one] = messages(table({"a": [1], "__count": [2]}), 3).to_pylist()
    assert json.loads(one["value"]) == {"a": 1, "__count": 2, "__version": 3}
