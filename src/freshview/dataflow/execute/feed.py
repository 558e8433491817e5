"""Rows of a plan's streams from where their declarations say, read as a database reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from freshview.calculus.rows import Row
from freshview.calculus.schema import Relation
from freshview.dataflow.plan.terms import Scan
from freshview.runtime.ingest.sources import feed
from freshview.sql.catalog import Catalog


class Fed(Protocol):
    """What takes rows."""

    def push(self, rows: Mapping[str, object]) -> Mapping[str, object]:
        """Insert rows, by stream."""
        ...


class PlanTarget:
    """The streams and tables of a plan that have a source: what `feed` fills."""

    def __init__(self, flow: Fed, scans: Iterable[Scan]) -> None:
        self._flow = flow
        declared = {s.relation.name.lower(): s for s in scans if s.source is not None}
        relations = {name: s.relation for name, s in declared.items()}
        sources = {name: s.source for name, s in declared.items() if s.source is not None}
        self.catalog = Catalog(relations=relations, sources=sources)

    @property
    def relations(self) -> Sequence[Relation]:
        """See `Reading`."""
        return tuple(self.catalog.relations.values())

    @property
    def views(self) -> Sequence[PlanTarget]:
        """See `Target`: the plan reads all of them."""
        return (self,)

    def load(self, relation: str, rows: Iterable[Row]) -> int:
        """See `Target`."""
        every = list(rows)
        self._flow.push({relation: every})
        return len(every)

    def insert(self, relation: str, rows: Iterable[Row]) -> None:
        """See `Target`."""
        self._flow.push({relation: list(rows)})


def rows_of_sources(
    flow: Fed, scans: Iterable[Scan], folder: Path, batch: int
) -> Iterator[tuple[str, int]]:
    """Push what the sources have, in turns; the stream and the number of rows of each step."""
    return feed(PlanTarget(flow, scans), folder, batch)
