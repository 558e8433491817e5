"""The catalog of a pipeline: its declared streams, tables and views, and how they are read."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from freshview.calculus.rows import Row
from freshview.calculus.schema import Query
from freshview.calculus.types import Type
from freshview.distributed.terms import Distributed
from freshview.errors import (
    FreshviewError,
    UnknownName,
)
from freshview.pipelines.contract import Contract
from freshview.pipelines.flow import Flow
from freshview.pipelines.view import PipelineView
from freshview.plan.options import Strategy
from freshview.program.abbreviate import abbreviate_program
from freshview.program.text import show_program
from freshview.runtime.functions import from_python
from freshview.runtime.ingest.columns import arranged, rows_of
from freshview.runtime.settings import EngineName
from freshview.runtime.views.payloads import Payloads, variables_of
from freshview.spark.io.sinks import Delta, Sink
from freshview.spark.nodes.elements import rows_with_elements
from freshview.sql import Catalog
from freshview.sql.load import load

if TYPE_CHECKING:
    from freshview.spark.types import SparkSession


class PipelineCatalog(ABC):
    """Streams, tables and views by their names; the views at the version of the flow."""

    def __init__(self) -> None:
        self.catalog = Catalog()
        self.queries: dict[str, Query] = {}
        self._flow: Flow | None = None
        self._contract = Contract()
        self._lock = threading.RLock()

    @property
    @abstractmethod
    def spark(self) -> SparkSession:
        """The session."""

    @abstractmethod
    def changes(self, view: str, since: int) -> pa.Table:
        """What changed in a view after a version."""

    @abstractmethod
    def subscribe(
        self, view: str, function: Callable[[int, pa.Table], object]
    ) -> Callable[[], None]:
        """Call a function with the changes of a view."""

    # -- before the start --------------------------------------------------------------------------

    def declare(self, sql: str, file: str = "<text>") -> None:
        """Declare more streams, tables and views, before the start."""
        self._refuse_late()
        catalog, queries = load(sql, file, self.catalog)
        for query in queries:
            if query.factorized:
                raise FreshviewError(
                    f"'{query.name}' is factorized, and a pipeline keeps no factorized views",
                    instead="declare it with CREATE VIEW, or in a database of this process",
                )
        self.catalog = catalog
        known = self.queries | {q.name.lower(): q for q in queries}
        self.queries = {name: q for name, q in known.items() if name in catalog.views}

    def define(
        self, query: Query, strategy: Strategy, *, order: str = "", reference: str = ""
    ) -> PipelineView:
        """Declare a view by its term, before the start.

        All the views of a pipeline are one program: the pipeline's strategy maintains them, not
        `strategy`, and it finds variable orders itself.
        """
        self._refuse_late()
        if order:
            raise FreshviewError(
                f"'{query.name}' comes with a variable order, and a pipeline finds its own",
                instead="leave the order out",
            )
        self.catalog = self.catalog.with_view(query)
        self.queries[query.name.lower()] = query
        return self.view(query.name)

    def register_function(
        self,
        name: str,
        function: Callable[..., object],
        result: Type | str,
        *,
        vectorized: bool = False,
    ) -> None:
        """Make a Python function known to SQL, before the views that call it.

        Workers call it: it is sent to them as Spark sends its own functions. After a restart it is
        registered again, before the start. The rest is as in a database of this process.
        """
        self._refuse_late()
        known = from_python(name, function, result, vectorized=vectorized)
        self.catalog = self.catalog.with_function(known)

    def _refuse_late(self) -> None:
        if self._flow is not None:
            raise FreshviewError(
                "the pipeline runs already", instead="declare everything before the start"
            )

    # -- reading -----------------------------------------------------------------------------------

    def view(self, name: str) -> PipelineView:
        """The view of a name."""
        return PipelineView(self, self._query(name))

    @property
    def views(self) -> tuple[PipelineView, ...]:
        """All the views, in the order of their declaration."""
        return tuple(PipelineView(self, q) for q in self.queries.values())

    @property
    def version(self) -> int:
        """The version of the views: how many batches are in them."""
        return self._running_flow().version

    @contextmanager
    def still(self) -> Iterator[int]:
        """Block changes while this lasts; yields the version, 0 before the start."""
        with self._lock:
            yield 0 if self._flow is None else self._flow.catch_up()

    def read(self, name: str) -> tuple[int, pa.Table]:
        """A version, and the rows of a view at it."""
        with self._lock:
            return self._running_flow().catch_up(), self._read(self._query(name).name)

    def rows(self, name: str) -> tuple[int, list[Row]]:
        """A version, and the rows of a view at it as Python values, elements of rings whole."""
        with self._lock:
            query, payloads = self._query(name), self._payloads(name)
            version = self._running_flow().catch_up()
            if payloads:
                return version, self._elements(query, payloads)
            return version, rows_of(self._read(query.name))

    def _read(self, name: str) -> pa.Table:
        query, payloads = self._query(name), self._payloads(name)
        if payloads:
            return payloads.table(self._elements(query, payloads))
        return arranged(self._running_flow().read(name), query)

    def _elements(self, query: Query, payloads: Payloads) -> list[Row]:
        table = self._running_flow().read(query.name)
        return payloads.elements(rows_with_elements(query.columns, table))

    def _payloads(self, name: str) -> Payloads:
        """The layout of a view's ring elements in Arrow columns; empty without any."""
        query, catalog = self._query(name), self.catalog
        declared = catalog.relations.values()
        return Payloads(query, variables_of(query, declared, catalog.functions))

    def _check_sink_columns(self, name: str, sink: Sink) -> None:
        """Sinks receive Arrow tables: refuse rings without columns, and changes of nested lists."""
        payloads = self._payloads(name)
        if payloads:
            _ = payloads.parts  # refuses what has no columns
        if isinstance(sink, Delta):
            sink.check([c.name for c in self._query(name).columns])
        if sink.changes and payloads.nested:
            raise FreshviewError(
                f"the changes of '{name}' cannot be sent, since it has categories",
                instead="subscribe to the whole view instead (changes=False)",
            )

    @property
    def engine(self) -> EngineName:
        """The engine on the workers: native kernels, or Python."""
        return "native" if self._running_flow().work.kernels else "reference"

    def explain(self) -> str:
        """The placement of each map with its reason, and the program of all the views."""
        distributed = self._running_flow().work.distributed
        words = distributed.placement.words or [
            f"{n}: {at}" for n, at in distributed.placement.maps.items()
        ]
        parts = [["== checks", *self._contract.words()], ["== placement", *words]]
        changes = [*distributed.change_words, *self._not_asked(distributed)]
        if changes:
            parts.insert(1, ["== changes", *changes])
        parts.append(["== program", _program_text(distributed)])
        return "\n\n".join("\n".join(part) for part in parts)

    @abstractmethod
    def _not_asked(self, distributed: Distributed) -> list[str]:
        """What is said of views whose changes nobody asked for when the checkpoint began."""

    def _query(self, name: str) -> Query:
        query = self.queries.get(name.lower())
        if query is None:
            known = ", ".join(q.name for q in self.queries.values()) or "none yet"
            raise UnknownName(f"there is no view '{name}'", instead=f"the views are: {known}")
        return query

    def _running_flow(self) -> Flow:
        if self._flow is None:
            raise FreshviewError("the pipeline does not run", instead="call start()")
        return self._flow


def _program_text(distributed: Distributed) -> str:
    """The program of the views, without the maps that only check batches."""
    guards, p = distributed.guards, distributed.program
    own = {g.source for g in guards} | {name for g in guards for name in g.kept}
    maps = tuple(m for m in p.maps if m.name not in own)
    relations = tuple(r for r in p.relations if r.name not in own)
    return show_program(abbreviate_program(replace(p, maps=maps, relations=relations))).rstrip()
