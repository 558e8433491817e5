"""Topics of a Kafka broker go in, as rows and as Debezium envelopes, and changes go out to one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyarrow import table

from freshview.spark.io.sinks import messages
from tests.maven.broker import Broker
from tests.maven.conftest import Alone

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("connectors")]

RUN = ["-c", "from freshview.cli import main; main()", "run"]
SEND = """
import sys
from tests.maven.on_kafka import Shop, row
pen, ink, bad = row(1, "pen", 1.25), row(2, "ink", 2), {"id": "no number"}
Shop(sys.argv[1]).send("lines", ("a", pen), ("b", ink), ("c", bad))
"""
SCRIPT = """
CREATE STREAM sales (id INT, item STRING, amount DECIMAL(8, 2))
  FROM KAFKA 'lines' (bootstrap := '{address}');
CREATE VIEW revenue AS SELECT COUNT(*) AS n, SUM(amount) AS total FROM sales;
"""


def test_topics_go_in_and_changes_go_out(alone: Alone, broker: Broker) -> None:
    alone("-m", "tests.maven.on_kafka", broker.address)


@pytest.mark.full
def test_a_topic_on_the_command_line(alone: Alone, broker: Broker, tmp_path: Path) -> None:
    """`--package kafka` is all that it needs."""
    alone("-c", SEND, broker.address)
    (tmp_path / "sales.sql").write_text(SCRIPT.format(address=broker.address))
    said = alone(*RUN, "sales.sql", "--package", "kafka", "--master", "local[1]")
    assert said.split()[-2:] == ["2", "3.25"], said
    assert "rows that do not fit: 1" in said


def test_messages_are_json() -> None:
    [one] = messages(table({"a": [1], "__count": [2]}), 3).to_pylist()
    assert json.loads(one["value"]) == {"a": 1, "__count": 2, "__version": 3}
