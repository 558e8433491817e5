"""A running kernel behind the protocol of all engines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from freshview.calculus.rows import Row
from freshview.calculus.schema import Relation
from freshview.codegen.library.load import Frame, Instance, Kernel
from freshview.errors import ProgramProblem, StateLost
from freshview.program.engine import Batch, Changes, Multiset, ShownRows, Tables, added


class KernelChange(Protocol):
    """A change of a relation that a kernel takes: rows or columns, whichever it consists of."""

    def apply(self, instance: Instance, index: int, back: bool = False) -> None:
        """Give the rows to a running kernel, or take them back."""


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows of one relation in a batch, in the form that a kernel takes."""

    relation: int
    rows: list[Row]
    counts: list[int]

    @classmethod
    def of(cls, relation: int, changes: Changes) -> _Part:
        pairs = list(changes.items() if isinstance(changes, Mapping) else changes)
        return cls(relation, [tuple(row) for row, _ in pairs], [m for _, m in pairs])

    def apply(self, instance: Instance) -> None:
        instance.apply_rows(self.relation, self.rows, self.counts)

    def take_back(self, instance: Instance) -> None:
        """From the last row to the first: by states that the kernel has not refused."""
        instance.apply_rows(self.relation, self.rows[::-1], self.counts[::-1], -1)


class KernelEngine:
    """A program in a kernel, as a `ProgramEngine`; relations, queries and maps go by their names.

    A kernel checks every number as it changes: it may refuse a batch whose numbers leave their
    range only on the way, which the reference engine takes.
    """

    def __init__(self, kernel: Kernel, instance: Instance | None = None) -> None:
        self.kernel = kernel
        self.instance: Instance = kernel.open() if instance is None else instance
        self.index = {r.name: i for i, r in enumerate(kernel.relations)}
        self.loaded = False
        self._shown = ShownRows()
        self._untold: dict[str, Multiset] = {}
        """Of the queries whose changes are collected: what changed otherwise, and is not told."""

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The relations that it takes changes of."""
        return self.kernel.relations

    def load(self, tables: Tables | None = None) -> None:
        """See `ProgramEngine`."""
        if self.loaded:
            raise ProgramProblem("the static tables are loaded already", instead="make an engine")
        for name, rows in (tables or {}).items():
            self.instance.load_static(self.kernel.relation(name), [tuple(row) for row in rows])
        self.instance.ready()
        self.loaded = True

    def apply(self, changes: Batch) -> None:
        """See `ProgramEngine`."""
        if not self.loaded:
            self.load()
        parts = [_Part.of(self.kernel.relation(name), rows) for name, rows in changes.items()]
        done: list[_Part] = []
        try:
            for part in parts:
                part.apply(self.instance)
                done.append(part)
        except BaseException:
            if done:
                self._take_back(done)
            raise

    def _take_back(self, parts: Sequence[_Part]) -> None:
        """Take back the parts of a batch that another part of it is refused with."""
        with self.instance.wrapping():
            for part in reversed(parts):
                part.take_back(self.instance)
        if self.instance.wrapped and self._mixes_widths():
            raise StateLost(
                "a batch was refused, and its first relations cannot be taken back exactly",
                instead="restore a snapshot, or load the data again",
            )

    def _mixes_widths(self) -> bool:
        """Whether wrapped numbers need not come back: see `Instance.wrapping`."""
        return any(m.columns[-1].type.kind == "decimal" for m in self.kernel.maps)

    def give(self, relation: str, change: KernelChange, back: bool = False) -> None:
        """Apply one part of a batch in the form that it has, or take it back."""
        change.apply(self.instance, self.index[relation], back)

    def apply_arrow(self, relation: str, rows: Any, counts: Iterable[int] | None = None) -> None:
        """Apply a batch of one relation from Arrow columns; row i comes `counts[i]` times."""
        self.instance.apply_arrow(self.index[relation], rows, counts)

    def check(self) -> None:
        """A kernel looks at every number as it changes."""

    def read(self, query: str) -> Multiset:
        """See `ProgramEngine`."""
        rows: Multiset = {}
        for row, count in self.instance.read_rows(self.kernel.query(query)):
            rows[row] = rows.get(row, 0) + count
        return rows

    def changes(self, query: str) -> Multiset:
        """See `ProgramEngine`: collected while they are made, where the kernel can do that."""
        number = self.kernel.query(query)
        if not self.kernel.queries[number].collected:
            return self._shown.changes(query, self.read(query))
        if query not in self._untold:
            rows = self.read(query)
            self.instance.collect(number)
        else:
            rows = added(self._untold[query], self.instance.changed_rows(number))
        self._untold[query] = {}
        return rows

    def snapshot(self) -> bytes:
        """See `ProgramEngine`: what `Instance.save` writes to a file."""
        return self.instance.snapshot()

    def restore(self, snapshot: bytes) -> None:
        """See `ProgramEngine`."""
        before = {query: self.read(query) for query in self._untold}
        changed = {query: self.changes(query) for query in self._untold}
        try:
            self.instance.restore_snapshot(snapshot)
        finally:
            for query, rows in before.items():
                self.instance.collect(self.kernel.query(query))
                delta = added(changed[query], self.read(query).items())
                self._untold[query] = added(delta, ((row, -m) for row, m in rows.items()))

    def contents(self, name: str) -> Multiset:
        """The rows of a map, with their payloads."""
        rows = self.instance.read_map(self.kernel.map(name))
        return {row[:-1]: row[-1] for row, _ in rows}  # type: ignore[misc]

    def read_arrow(self, query: str) -> Frame:
        """The rows of a query as Arrow columns, each as often as it counts."""
        return self.instance.read_arrow(self.kernel.query(query))

    def map_arrow(self, name: str) -> Frame:
        """The rows of a map as Arrow columns: keys, then the payload."""
        return self.instance.map_arrow(self.kernel.map(name))

    def sizes(self) -> Mapping[str, int]:
        """How many rows every map holds."""
        return self.instance.stats().sizes

    def costs(self) -> tuple[int, int, int]:
        """Bytes of the whole state, rows looked at and rows written (if they are counted)."""
        stats = self.instance.stats()
        return stats.bytes, stats.visits, stats.writes

    @property
    def work(self) -> int:
        """Rows looked at or written, if the kernel was built to count them."""
        _, visits, writes = self.costs()
        return visits + writes

    def close(self) -> None:
        """Give the memory back; further calls are refused."""
        self.instance.close()
