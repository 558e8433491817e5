"""What cofactors need of a database of this process, or of a pipeline on Spark."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from freshview.calculus.rows import Row
from freshview.calculus.schema import Query, Relation
from freshview.calculus.types import Value
from freshview.plan.options import Strategy
from freshview.runtime.settings import EngineName
from freshview.sql import Catalog

if TYPE_CHECKING:
    import pyarrow as pa


class HostedView(Protocol):
    """A view, as its model reads it."""

    @property
    def name(self) -> str:
        """The name of the view."""

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The streams and tables that it reads."""

    @property
    def engine(self) -> EngineName:
        """Which engine maintains it."""

    def rows(self) -> list[Row]:
        """The rows now, with elements of rings among their values."""

    def lookup(self, **key: Value) -> list[Row]:
        """The rows with these values."""

    def to_arrow(self) -> pa.Table:
        """The rows as Arrow columns."""

    def refill(self, centre: Mapping[str, float]) -> bool:
        """Fill a kernel anew, with cofactors about this centre; tells whether it was."""

    def exact_rows(self, most: int) -> list[Row] | None:
        """The rows, computed anew without rounding, from at most so many; None if they are not."""

    def explain(self) -> str:
        """How it is maintained."""


class CofactorHost(Protocol):
    """Streams, and views that are declared by their terms."""

    @property
    def catalog(self) -> Catalog:
        """What is declared."""

    @property
    def version(self) -> int:
        """How many changes there were."""

    def still(self) -> AbstractContextManager[int]:
        """While this lasts, nothing changes; gives the version."""

    def define(
        self, query: Query, strategy: Strategy, *, order: str = "", reference: str = ""
    ) -> HostedView:
        """Declare a view by its term."""

    def view(self, name: str) -> HostedView:
        """The view of a name."""
