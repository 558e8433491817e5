"""Signal queries between the views of a pipeline: views in by their changes, a view out.

The groups of a query are hashed over partitions of Spark. Behind each version that changes its
inputs comes one with the change of its result. The state of the query is not a part of the
checkpoint: at a start it is computed from the views, and the view of the result is brought up to
what the query says.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import pyarrow as pa

from freshview.calculus.schema import Query
from freshview.errors import FreshviewError, FreshviewWarning
from freshview.pipelines.ingest import PipelineIngest
from freshview.signal.execute.events import Events
from freshview.signal.language.events import EventOperators
from freshview.signal.linked.over import Linked, sources_of
from freshview.signal.linked.tables import check_sizes, columns_of, net
from freshview.spark.signal.query import SparkSignalQuery

Changed = Callable[[int, pa.Table], object]

_TIMES = {"timestamp": pa.timestamp("us"), "date": pa.date32()}


class SignalView:
    """A signal query that follows views of a pipeline; its result is the view `name`."""

    def __init__(
        self,
        flow: PipelineIngest,
        plan: EventOperators,
        inputs: str | Mapping[str, str],
        name: str,
        options: Mapping[str, Any],
    ) -> None:
        self.name = name
        self._plan, self._options = plan, dict(options)
        self._stream = f"{name}_events"
        described = plan.query(keep_result=False)
        check_sizes(described)
        self._inputs = sources_of(described, inputs)
        source, view = next(iter(self._inputs.items()))
        time = described.declared(source).time
        kinds = {c.name: c.type.kind for c in flow.view(view).schema}
        columns = ", ".join(map(str, columns_of(described, _TIMES.get(kinds.get(time, "")))))
        flow.declare(
            f"CREATE STREAM `{self._stream}` ({columns});"
            f"CREATE VIEW `{name}` AS SELECT * FROM `{self._stream}`;"
        )
        self._host = _Host(flow, list(dict.fromkeys(self._inputs.values())))
        self._query: SparkSignalQuery | None = None
        self._link: Linked | None = None

    def begin(self, spark: Any) -> None:
        """Follow the views from now on; the pipeline calls this when it starts."""
        self._query = SparkSignalQuery(self._plan, spark=spark, **self._options)
        shown = self._host.view(self.name).to_arrow()
        self._link = Linked(self._host, self._plan, self._inputs, self._stream, shown, self._query)

    def result(self) -> Events:
        """All that the query says, as of the last version."""
        if self._link is None:
            raise FreshviewError(
                f"the pipeline of '{self.name}' does not run", instead="start it first"
            )
        return self._link.result()

    @property
    def problem(self) -> FreshviewError | None:
        """Why the result does not follow, if it does not."""
        return None if self._link is None else self._link.problem

    def close(self) -> None:
        """Do not follow any more; the pipeline calls this when it stops."""
        if self._link is not None:
            self._link.close()
        if self._query is not None:
            self._query.close()
        self._link = self._query = None


class _Host:
    """A pipeline as what a link needs of a database."""

    def __init__(self, flow: PipelineIngest, inputs: list[str]) -> None:
        self._flow = flow
        self._parts: dict[str, list[tuple[int, pa.Table]]] = {name: [] for name in inputs}
        self._callbacks: dict[str, list[Changed]] = {name: [] for name in inputs}
        for name in inputs:
            flow.on_version(name, partial(self._record, name), changes=True)
        flow.on_progress(lambda progress: self._deliver(progress.version))

    def _record(self, name: str, version: int, part: pa.Table) -> None:
        if len(part):
            self._parts[name].append((version, part))

    def _deliver(self, version: int) -> None:
        """Tell who follows of the changes up to a version, which is in all the views.

        They may be of an earlier one: what another query made of that is a version already.
        """
        changed = {n: parts[0][0] for n, parts in self._parts.items() if parts}
        for callback in dict.fromkeys(c for n in changed for c in self._callbacks[n]):
            try:
                callback(min(changed.values()), pa.table({}))
            except FreshviewError as e:
                message = f"a signal does not follow version {version} of its views: {e}"
                warnings.warn(message, FreshviewWarning, stacklevel=2)
        for name in self._parts:
            self._parts[name] = [p for p in self._parts[name] if p[0] > version]

    def execute(self, sql: str) -> None:
        """Declare streams and views."""
        self._flow.declare(sql)

    def apply(self, batch: Mapping[str, object]) -> None:
        """Change streams, as a version of its own."""
        self._flow.push(batch)

    def view(self, name: str) -> _Input:
        """What a link needs of a view."""
        return _Input(self._flow, name, self._parts, self._callbacks)

    @property
    def views(self) -> tuple[Query, ...]:
        """The views, each with its name."""
        return tuple(self._flow.queries.values())

    @contextmanager
    def still(self) -> Iterator[int]:
        """While this lasts, nothing changes; gives the version."""
        with self._flow.still() as version:
            yield version


class _Input:
    """A view of a pipeline, with the changes that nobody has seen."""

    def __init__(
        self,
        flow: PipelineIngest,
        name: str,
        parts: Mapping[str, list[tuple[int, pa.Table]]],
        callbacks: Mapping[str, list[Changed]],
    ) -> None:
        self._view = flow.view(name)
        self._name, self._parts, self._callbacks = name, parts, callbacks

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._view.columns

    def to_arrow(self) -> pa.Table:
        """The rows."""
        return self._view.to_arrow()

    def changes(self, since: int) -> pa.Table:
        """What changed after a version, with a column `__count`."""
        later = [part for version, part in self._parts[self._name] if version > since]
        if later:
            return net(later)
        none = self.to_arrow().slice(0, 0)
        return none.append_column("__count", pa.array([], pa.int64()))

    def subscribe(self, callback: Changed) -> Callable[[], None]:
        """Call a function after every change, until the function that this gives is called."""
        self._callbacks[self._name].append(callback)
        return partial(self._callbacks[self._name].remove, callback)
