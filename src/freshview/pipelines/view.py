"""A view of a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from freshview.calculus.rows import Row
from freshview.calculus.schema import Column, Query, Relation
from freshview.calculus.scope import base_relations
from freshview.calculus.types import Value
from freshview.errors import UnknownName
from freshview.runtime.settings import EngineName
from freshview.spark.io.sinks import frame
from freshview.sql import Catalog

if TYPE_CHECKING:
    from freshview.spark.types import DataFrame, SparkSession


class Owner(Protocol):
    """The interface of a pipeline to its views."""

    catalog: Catalog

    @property
    def spark(self) -> SparkSession:
        """The session."""

    @property
    def engine(self) -> EngineName:
        """What keeps the maps on the workers."""

    def read(self, name: str) -> tuple[int, pa.Table]:
        """A version, and the rows of a view at it."""

    def rows(self, name: str) -> tuple[int, list[Row]]:
        """The same as Python values."""

    def changes(self, view: str, since: int) -> pa.Table:
        """What changed in a view after a version."""

    def subscribe(
        self, view: str, function: Callable[[int, pa.Table], object]
    ) -> Callable[[], None]:
        """Call a function with the changes of a view."""

    def explain(self) -> str:
        """How its views are maintained."""


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

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The streams and tables that the view reads."""
        read = base_relations(self._query)
        return tuple(r for r in self._owner.catalog.relations.values() if r.name in read)

    @property
    def engine(self) -> EngineName:
        """What keeps the maps on the workers: "native" kernels or the "reference" engine."""
        return self._owner.engine

    def refill(self, centre: Mapping[str, float]) -> bool:
        """Nothing to do: cofactors of a pipeline are exact."""
        return False

    def exact_rows(self, most: int) -> list[Row] | None:
        """The rows: they are exact."""
        return self.rows()

    def explain(self) -> str:
        """How this view is maintained, together with the others of its pipeline."""
        return self._owner.explain()

    def read(self) -> tuple[int, pa.Table]:
        """The version, and the rows at it."""
        return self._owner.read(self.name)

    def changes(self, since: int) -> pa.Table:
        """What changed after a version: the rows that came and, with a negative `__count`, went.

        The last 100 versions are kept, if the pipeline was created with `changes=[...]` for it.
        """
        return self._owner.changes(self.name, since)

    def subscribe(self, function: Callable[[int, pa.Table], object]) -> Callable[[], None]:
        """Call a function with the version and its changes, whenever it changes; returns the end.

        The first changes are all the rows. After a restart, it is called with what it has missed
        once it subscribes again.
        """
        return self._owner.subscribe(self.name, function)

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table, in the order of the view's ORDER BY."""
        return self.read()[1]

    def to_df(self) -> DataFrame:
        """The rows at the current version as a Spark DataFrame."""
        df: DataFrame = frame(self._owner.spark, self.to_arrow())
        return df

    def rows(self) -> list[Row]:
        """The rows as Python values."""
        return self._owner.rows(self.name)[1]

    def lookup(self, **key: Value) -> list[Row]:
        """The rows whose columns have the given values; None finds NULL."""
        names = [c.lower() for c in self.columns]
        for name in key:
            if name.lower() not in names:
                known = ", ".join(self.columns)
                raise UnknownName(
                    f"'{self.name}' has no column '{name}'", instead=f"its columns are {known}"
                )
        wanted = [(names.index(name.lower()), value) for name, value in key.items()]
        return [row for row in self.rows() if all(row[i] == value for i, value in wanted)]

    def to_pylist(self) -> list[dict[str, Value]]:
        """The rows as mappings from column names to values."""
        rows: list[dict[str, Value]] = self.to_arrow().to_pylist()
        return rows
