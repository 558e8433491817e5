"""A view of a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa  # type: ignore[import-untyped]

from freshet.calculus.rows import Row
from freshet.calculus.schema import Column, Query
from freshet.spark.io.sinks import frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Owner(Protocol):
    """The pipeline as its views see it."""

    @property
    def spark(self) -> SparkSession:
        """The session."""

    def read(self, name: str) -> tuple[int, pa.Table]:
        """A view, and the version of which it is."""

    def rows(self, name: str) -> tuple[int, list[Row]]:
        """The same as Python values."""


class PipelineView:
    """A view of a pipeline: its name, its columns, and its rows as they are now."""

    def __init__(self, owner: Owner, query: Query) -> None:
        self._owner = owner
        self._query = query

    @property
    def name(self) -> str:
        """The name of the view."""
        return self._query.name

    @property
    def schema(self) -> tuple[Column, ...]:
        """The columns of the view."""
        return self._query.columns

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(c.name for c in self._query.columns)

    def read(self) -> tuple[int, pa.Table]:
        """The version, and the rows at it."""
        return self._owner.read(self.name)

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table, in the order of the view's ORDER BY."""
        return self.read()[1]

    def to_df(self) -> DataFrame:
        """The rows at the current version as a Spark DataFrame."""
        made: DataFrame = frame(self._owner.spark, self.to_arrow())
        return made

    def rows(self) -> list[Row]:
        """The rows as Python values."""
        return self._owner.rows(self.name)[1]

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as mappings from column names to values."""
        found: list[dict[str, Any]] = self.to_arrow().to_pylist()
        return found
