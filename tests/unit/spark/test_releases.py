"""Releases of Spark: which are taken, and which connectors belong to each."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from freshview.errors import FreshviewError
from freshview.spark import releases
from freshview.spark.io.connectors import Connector, needs

ROOT = Path(__file__).resolve().parents[3]


def test_the_guide_lists_the_connectors_of_every_release() -> None:
    guide = (ROOT / "docs" / "how-to" / "pipeline.md").read_text()
    rows = re.findall(r"^\| (4\.\d+\.\d+) \| `(\S+)` \| (.+) \|$", guide, re.MULTILINE)
    for version, kafka, delta in rows:
        package = releases.delta_package(version)
        assert kafka == releases.kafka_package(version)
        assert delta == ("none yet" if package is None else f"`{package}`")
    listed = {".".join(version.split(".")[:2]) for version, _, _ in rows}
    installed = ".".join(map(str, releases.release(releases.installed())))
    assert {*releases.DELTA_BUILDS, installed} <= listed
    assert f"pip install pyspark=={releases.TESTED}" in guide


def test_the_environment_of_the_connectors_has_the_tested_release() -> None:
    lock = (ROOT / "requirements-connectors.lock").read_text()
    assert f"\npyspark=={releases.TESTED}\n" in lock
    assert releases.delta_package(releases.TESTED) is not None


@pytest.mark.parametrize("version", ["3.5.1", "3.5.0.dev1", "2.4.8"])
def test_an_older_spark_is_refused(version: str) -> None:
    with pytest.raises(FreshviewError, match=rf"pyspark {version} .*4\.0 or later; pip install"):
        releases.check_release(version)


@pytest.mark.parametrize("version", ["4.0.0", "4.3.0", "4.10.0.dev2"])
def test_a_later_spark_is_taken(version: str) -> None:
    releases.check_release(version)


@pytest.mark.parametrize("package", ["x", "x:y", "a:b:c:d", "", "::", "a:b:"])
def test_what_is_no_package_is_refused(package: str) -> None:
    with pytest.raises(FreshviewError, match="is not a package; use kafka, delta, or"):
        releases.coordinates([package], "4.0.0")


def test_names_are_looked_up_for_the_release() -> None:
    assert releases.coordinates(["Kafka", " delta "], "4.2.1") == [
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.1",
        "io.delta:delta-spark_4.2_2.13:4.4.0",
    ]
    with pytest.raises(
        FreshviewError, match=r"no Delta is known for Spark 4\.9\.0.*4\.0, 4\.1, 4\.2"
    ):
        releases.coordinates(["delta"], "4.9.0")


@pytest.mark.parametrize(
    ("connector", "version", "said"),
    [
        ("Kafka", "4.0.0", r"Spark has no Kafka here; .*kafka-0-10_2\.13:4\.0\.0\)"),
        ("Kafka", "4.1.1", r"kafka-0-10_2\.13:4\.1\.1\).* none for 4\.1\.1, use pyspark 4\.0\.0"),
        ("Delta", "4.1.1", r"Spark has no Delta here; .*delta-spark_4\.1_2\.13:4\.4\.0\)"),
        ("Delta", "4.9.0", r"built for Spark 4\.0, 4\.1, 4\.2, this is 4\.9\.0: pip install"),
    ],
)
def test_a_missing_connector_is_named(connector: Connector, version: str, said: str) -> None:
    spark: Any = SimpleNamespace(version=version)
    error = RuntimeError("[DATA_SOURCE_NOT_FOUND] Failed to find the data source: x\nat line 1")
    with pytest.raises(FreshviewError, match=said) as e, needs(connector, "it is needed", spark):
        raise error
    assert "\n" not in str(e.value)


def test_other_errors_are_left_alone() -> None:
    spark: Any = SimpleNamespace(version="4.0.0")
    with pytest.raises(RuntimeError, match=r"^no broker$"), needs("Kafka", "it is needed", spark):
        raise RuntimeError("no broker")


@pytest.mark.parametrize("closes", [True, False])
def test_a_job_is_collected_as_the_release_serves_it(
    closes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of later releases it is a context, of 4.0 the items themselves."""
    import pyspark.util

    events: list[str] = []

    @contextmanager
    def later(served: Any, reads: Any) -> Any:
        yield iter(served)
        events.append("closed")

    def earlier(served: Any, reads: Any) -> Any:
        return iter(served)

    monkeypatch.setattr(pyspark.util, "_load_from_socket", later if closes else earlier)
    reads: Any = None
    assert releases.collected([1, 2], reads) == [1, 2]
    assert events == ["closed"] * closes
