"""Topics of a Kafka broker go in, as rows and as Debezium envelopes, and changes go out to one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyarrow import table

from freshet.spark.io.sinks import messages
from tests.maven.broker import Broker
from tests.maven.conftest import Alone

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("connectors")]

RUN = ["-c", "from freshet.cli import main; main()", "run"]
SCRIPT = """
CREATE STREAM orders (id INT PRIMARY KEY, total INT NOT NULL)
  FROM KAFKA 'out.sent' (bootstrap := '{address}', changes := 'upsert');
CREATE VIEW revenue AS SELECT COUNT(*) AS n, SUM(total) AS total FROM orders;
"""


def test_topics_go_in_and_changes_go_out(alone: Alone, broker: Broker) -> None:
    alone("-m", "tests.maven.on_kafka", broker.address)


def test_a_topic_on_the_command_line(alone: Alone, broker: Broker, tmp_path: Path) -> None:
    """One run writes a topic that another one reads: `--package kafka` is all that they need."""
    (tmp_path / "made.csv").write_text("1,10\n2,20\n3,5\n")
    (tmp_path / "made.sql").write_text(
        "CREATE STREAM made (id INT PRIMARY KEY, total INT NOT NULL)"
        " FROM FILE 'made.csv' LINE DELIMITED CSV; CREATE VIEW sent AS SELECT id, total FROM made;"
    )
    (tmp_path / "read.sql").write_text(SCRIPT.format(address=broker.address))
    kafka = ["--package", "kafka", "--master", "local[1]"]
    alone(*RUN, "made.sql", *kafka, "--out", f"kafka:{broker.address}/out")
    said = alone(*RUN, "read.sql", *kafka)
    assert said.split()[-2:] == ["3", "35"], said


def test_messages_are_json() -> None:
    [one] = messages(table({"a": [1], "__count": [2]}), 3).to_pylist()
    assert json.loads(one["value"]) == {"a": 1, "__count": 2, "__version": 3}
