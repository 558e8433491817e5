"""Differences between the releases of Spark: calls, settings, and connectors.

Freshview runs on Spark 4.0 and later. Code that depends on the release is here, and nowhere else.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from freshview.errors import FreshviewError

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject
    from pyspark.serializers import Serializer

OLDEST = (4, 0)

TESTED = "4.0.0"
"""The release with which the tests run the connectors against a broker and a Delta table."""

SCALA = "2.13"

DELTA = "4.4.0"
DELTA_BUILDS = ("4.0", "4.1", "4.2")
"""The releases of Spark that Delta of this version is built for."""


def installed() -> str:
    """The version of Spark that is installed.

    >>> release(installed()) >= OLDEST
    True
    """
    import pyspark

    return str(pyspark.__version__)


def release(version: str) -> tuple[int, int]:
    """The first two numbers of a version.

    >>> release("4.1.0.dev3")
    (4, 1)
    """
    major, minor, *_ = version.split(".")
    return int(major), int(minor)


def check_release(version: str) -> None:
    """Refuse a Spark that is too old, before anything of it is called."""
    if release(version) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise FreshviewError(
            f"pyspark {version} is installed, and Freshview runs on {oldest} or later",
            instead=f"pip install 'pyspark>={oldest},<5'",
        )


def local_sockets() -> Mapping[str, str]:
    """The setting that lets tasks use local sockets instead of TCP; Spark 4.0 ignores it."""
    # Over TCP every task waits 40 ms: Nagle's algorithm on one side, late ACKs on the other.
    return {"spark.python.unix.domain.socket.enabled": str(hasattr(socket, "AF_UNIX")).lower()}


def collected(served: JavaObject, reads: Serializer) -> list[Any]:
    """All the items of a job; in later releases the reader closes the socket."""
    from pyspark.util import _load_from_socket

    items: Any = _load_from_socket(served, reads)
    if isinstance(items, AbstractContextManager):
        with items as open_items:
            return list(open_items)
    return list(items)


def kafka_package(version: str) -> str:
    """The Maven coordinates of Spark's Kafka connector: it has the version of Spark.

    >>> kafka_package("4.0.0")
    'org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0'
    """
    return f"org.apache.spark:spark-sql-kafka-0-10_{SCALA}:{version}"


def delta_package(version: str) -> str | None:
    """The Maven coordinates of Delta for a version of Spark; None where there is no build for it.

    >>> delta_package("4.1.2"), delta_package("4.9.0")
    ('io.delta:delta-spark_4.1_2.13:4.4.0', None)
    """
    minor = ".".join(map(str, release(version)))
    return f"io.delta:delta-spark_{minor}_{SCALA}:{DELTA}" if minor in DELTA_BUILDS else None


def coordinates(packages: Sequence[str], version: str) -> list[str]:
    """Maven coordinates, with those for this Spark in place of the names `kafka` and `delta`.

    >>> coordinates(["kafka", "org.x:y:1"], "4.0.0")
    ['org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0', 'org.x:y:1']
    """
    return [_coordinates(package.strip(), version) for package in packages]


def _coordinates(package: str, version: str) -> str:
    match package.lower():
        case "kafka":
            return kafka_package(version)
        case "delta":
            delta = delta_package(version)
            if delta is None:
                raise FreshviewError(
                    f"no Delta is known for Spark {version}", instead=_delta(version)
                )
            return delta
    if package.count(":") != 2 or not all(package.split(":")):
        raise FreshviewError(
            f"'{package}' is not a package", instead="use kafka, delta, or GROUP:NAME:VERSION"
        )
    return package


def advise_kafka(version: str) -> str:
    """Advice where Spark has no Kafka connector."""
    return (
        f"give a new session the package kafka ({kafka_package(version)}): --package kafka, "
        f"or packages=['kafka']{_other(version)}"
    )


def advise_delta(version: str) -> str:
    """Advice where Spark has no Delta connector."""
    package = delta_package(version)
    if package is None:
        return _delta(version)
    return (
        f"give a new session the package delta ({package}): --package delta, or packages=['delta']"
    )


def advise_unresolved(version: str) -> str:
    """Advice where Maven cannot find a package."""
    return (
        "check its name and version, and that Maven can be reached: a mirror is named by "
        f"DEFAULT_ARTIFACT_REPOSITORY or spark.jars.ivySettings{_other(version)}"
    )


def _delta(version: str) -> str:
    return (
        f"Delta {DELTA} is built for Spark {', '.join(DELTA_BUILDS)}, this is {version}: "
        f"pip install pyspark=={TESTED}, or name a build for {version} by its Maven coordinates"
    )


def _other(version: str) -> str:
    """Connectors may be released later than Spark, so name a release that has them."""
    return "" if version == TESTED else f"; if there is none for {version}, use pyspark {TESTED}"
