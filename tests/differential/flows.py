"""A flow beside the reference engine: fed with the same batches, every view must be the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from freshview.distributed.compile import distribute
from freshview.distributed.options import LEVELS
from freshview.distributed.terms import Distributed
from freshview.durable.settings import FlowSettings
from freshview.ivm.options import DeltaOptions
from freshview.pipelines.flow import Flow
from freshview.reference.engine.run import Engine
from freshview.runtime.ingest.columns import COUNT, rows_of, table_of
from tests.differential.harness import case, compiled, grouped, same


def table(relation: Any, changes: Any) -> pa.Table:
    """Changes as an Arrow table with counts."""
    rows = table_of(relation.columns, [r for r, _ in changes], relation.name)
    return rows.append_column(COUNT, pa.array([n for _, n in changes], pa.int64()))


class Beside:
    """A flow of a workload query, and the reference engine."""

    def __init__(
        self,
        workload: str,
        name: str,
        workers: int,
        folder: Path,
        runner: Any,
        level: str = "shared",
        settings: FlowSettings | None = None,
        seed: int = 6,
    ) -> None:
        self.case = case(workload, name)
        program = compiled(self.case, DeltaOptions())
        functions = self.case.catalog.functions
        self.distributed: Distributed = distribute(program, None, LEVELS[level], functions)
        self.relations = {r.name: r for r in program.relations}
        self.order = [t.relation for t in program.triggers if t.event == "batch"]
        tables = self.case.workload.tables(seed=seed)
        tables = {n: t for n, t in tables.items() if n in self.relations}
        self.engine = Engine(program, functions)
        self.engine.load(tables)
        self.folder, self.runner, self.settings = folder, runner, settings or FlowSettings()
        self.functions = functions
        static_rows = {
            n: table_of(self.relations[n].columns, list(t), n) for n, t in tables.items()
        }
        self.flow = Flow.start(
            self.distributed,
            runner,
            workers=workers,
            checkpoint=folder,
            tables=static_rows,
            functions=functions,
            settings=self.settings,
        )
        self.name = f"{workload}/{name}, {level}, {workers} workers"

    def restart(self, runner: Any = None) -> None:
        """Go on with another driver."""
        self.flow = Flow.restart(
            self.distributed,
            runner or self.runner,
            checkpoint=self.folder,
            functions=self.functions,
            settings=self.settings,
        )

    def stream(self, batches: int, max_size: int = 60, live: int = 100, seed: int = 6) -> Any:
        """Batches by relation, as the views wait for them."""
        stream = self.case.workload.stream(seed=seed, batches=batches, max_size=max_size, live=live)
        for batch in stream:
            changes = dict(grouped(batch))
            yield {n: changes[n] for n in self.order if n in changes}

    def count_changes(self, changes: Mapping[str, Any]) -> None:
        """Let the reference engine know of a batch."""
        for name, rows in changes.items():
            self.engine.apply(name, rows)

    def tables(self, changes: Mapping[str, Any]) -> dict[str, pa.Table]:
        """The batch as Arrow tables."""
        return {n: table(self.relations[n], rows) for n, rows in changes.items()}

    def apply(self, changes: Mapping[str, Any]) -> None:
        """A batch for both."""
        self.count_changes(changes)
        self.flow.apply(self.tables(changes))

    def check(self, where: str = "") -> None:
        """Every view is the same."""
        for readout in self.distributed.readouts:
            name = readout.query.name
            actual = Counter(rows_of(self.flow.read(name)))
            wanted = Counter(self.engine.rows(name))
            assert same(actual, wanted), f"{self.name} {where}: {actual - wanted} {wanted - actual}"
