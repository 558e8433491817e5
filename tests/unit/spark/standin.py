"""A flow on the in-process engine, with a log: what Spark does is not its business.

It keeps the promises of `Flow`: a batch is written down before it is applied, a restart applies
what was written down, and a note comes back with the last batch. Tests can let it fail between
the two.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

import freshet
from freshet.runtime.columns import rows_of
from freshet.spark.run.flow import BatchStats, Flow, StageStats
from freshet.spark.terms import Distributed


class Crash(Exception):
    """The driver dies here."""


class StandIn(Flow):
    """A flow without Spark; `script` is what it runs, since it has its own compiler."""

    script = ""
    crash = ""
    """`before` or `after` the engine has the next batch."""

    def __init__(self, made: Distributed, folder: Path) -> None:
        super().__init__(made)
        self.folder = folder
        self.db = freshet.connect(engine="reference")
        self.db.execute(type(self).script)
        self._stats: list[BatchStats] = []

    @classmethod
    def start(
        cls, made: Distributed, spark: Any, *, checkpoint: Any, tables: Any = None, **_: Any
    ) -> StandIn:  # type: ignore[override]
        flow = cls(made, Path(checkpoint))
        (flow.folder / "log").mkdir(parents=True)
        for name, table in (tables or {}).items():
            flow._write(flow.folder / f"{name}.table", table)
        flow._load()
        return flow

    @classmethod
    def restart(  # type: ignore[override]
        cls, made: Distributed, spark: Any, *, checkpoint: Any, **_: Any
    ) -> StandIn:
        flow = cls(made, Path(checkpoint))
        flow._load()
        for path in sorted((flow.folder / "log").iterdir()):
            note = json.loads((path / "note.json").read_text())
            flow._apply({p.stem: flow._read(p) for p in path.glob("*.arrow")}, note)
        return flow

    @staticmethod
    def exists(checkpoint: Any) -> bool:
        return Path(checkpoint).exists()

    def apply(self, changes: Mapping[str, Any], note: Mapping[str, Any] | None = None) -> int:
        part = self.folder / "part"
        part.mkdir()
        for name, table in changes.items():
            self._write(part / f"{name}.arrow", table)
        (part / "note.json").write_text(json.dumps(note or {}))
        part.rename(self.folder / "log" / f"{self.version + 1:06d}")
        if self.crash == "before":
            raise Crash
        version = self._apply(changes, note or {})
        if self.crash == "after":
            raise Crash
        return version

    def _apply(self, changes: Mapping[str, Any], note: Mapping[str, Any]) -> int:
        self.db.apply(dict(changes))
        self.version += 1
        self.note = note
        rows = sum(t.num_rows for t in changes.values())
        self._stats.append(BatchStats(self.version, rows, 0.0, 1, (StageStats(0.0, 0),), 64))
        return self.version

    def read(self, query: str) -> pa.Table:
        return self.db.view(query).to_arrow()

    @property
    def stats(self) -> tuple[BatchStats, ...]:
        return tuple(self._stats)

    def checkpoint(self) -> int:
        (self.folder / "checkpointed").touch()
        return self.version

    def close(self, *, forget: bool = True) -> None:
        pass

    def rows(self, query: str) -> list[Any]:
        return rows_of(self.read(query))

    def _load(self) -> None:
        for path in self.folder.glob("*.table"):
            self.db.load(path.stem, self._read(path))

    def _write(self, path: Path, table: pa.Table) -> None:
        with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table)

    def _read(self, path: Path) -> pa.Table:
        with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
            return reader.read_all()
