"""Connectors that are not part of Spark: the error where one is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypeAlias

from freshview.errors import FreshviewError
from freshview.spark.releases import advise_delta, advise_kafka

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Connector: TypeAlias = Literal["Kafka", "Delta"]

_ADVICE = {"Kafka": advise_kafka, "Delta": advise_delta}
_MISSING = re.compile(
    r"DATA_SOURCE_NOT_FOUND|Failed to find data source|ClassNotFoundException", re.IGNORECASE
)


@contextmanager
def needs(connector: Connector, what: str, spark: SparkSession) -> Iterator[None]:
    """If Spark lacks a connector, raise an error: `what` needs it, and which package has it."""
    try:
        yield
    except Exception as e:
        if not _MISSING.search(str(e)):
            raise
        raise FreshviewError(
            f"{what}, and Spark has no {connector} here", instead=_ADVICE[connector](spark.version)
        ) from e
