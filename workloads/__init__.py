"""The queries and data that Freshview is tested and measured on.

Each workload is a folder of SQL (a schema and one file per query, named as the view) with a
generator whose rows sit on both sides of every predicate, so that a few hundred live rows keep
every view filled and changing. See `events` for how the rows become a stream of batches.

    from workloads import WORKLOADS

    tpch = WORKLOADS["tpch"]
    static = tpch.tables(seed=1)
    for batch in tpch.stream(seed=1, batches=30, live=500):
        for relation, row, multiplicity in batch:
            ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from workloads import (
    events,
    finance_data,
    housing_data,
    mddb_data,
    nexmark_data,
    retailer_data,
    tpcds_data,
    tpch_data,
)
from workloads.events import Batch, Event, Relation, Row, Sizes, Tables, Value

__all__ = ["NEXMARK", "WORKLOADS", "Batch", "Event", "Row", "Sizes", "Tables", "Value", "Workload"]

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Workload:
    """A schema, its queries and its data."""

    name: str
    make_tables: Callable[[int, float], Tables]
    make_relations: Callable[[int, float], tuple[Relation, ...]]
    spell: Callable[[str], str] = str

    @property
    def folder(self) -> Path:
        """Where the SQL files are."""
        return _HERE / self.name

    @property
    def schema(self) -> Path:
        """The DDL that every query of the folder needs."""
        return self.folder / "schema.sql"

    def queries(self) -> dict[str, Path]:
        """View name to query file, in order of name."""
        files = sorted(self.folder.glob("*.sql"))
        return {f.stem: f for f in files if f != self.schema}

    def tables(self, seed: int = 0, scale: float = 1.0) -> Tables:
        """Make the rows of the static tables, under the schema's table names."""
        return {self.spell(n): rows for n, rows in self.make_tables(seed, scale).items()}

    def stream(
        self,
        seed: int = 0,
        batches: int | None = 30,
        sizes: Sizes | None = None,
        live: int = 500,
        *,
        max_size: int = 1000,
        scale: float = 1.0,
    ) -> Iterator[Batch]:
        """Batches that keep at most `live` rows in each stream relation.

        Sizes are log-uniform in 1..max_size unless `sizes` draws them. `seed` and `scale` must
        be those of `tables` for foreign keys into static tables to match.
        """
        drawn = events.stream(
            self.make_relations(seed, scale),
            seed=seed,
            batches=batches,
            sizes=sizes or events.log_uniform(max_size),
            live=live,
        )
        for batch in drawn:
            yield [(self.spell(name), row, sign) for name, row, sign in batch]


NEXMARK = Workload("nexmark", nexmark_data.tables, nexmark_data.relations)
"""An auction house, whose queries are about windows of time: DuckDB is asked in other words."""

WORKLOADS: dict[str, Workload] = {
    w.name: w
    for w in (
        Workload("tpch", tpch_data.tables, tpch_data.relations),
        Workload("tpch_papers", tpch_data.tables, tpch_data.relations, str.capitalize),
        Workload("finance", finance_data.tables, finance_data.relations),
        Workload("mddb", mddb_data.tables, mddb_data.relations),
        Workload("tpcds", tpcds_data.tables, tpcds_data.relations),
        Workload("housing", housing_data.tables, housing_data.relations),
        Workload("retailer", retailer_data.tables, retailer_data.relations),
    )
}
