"""Engines of views: what a database adds to the reference engine or to a kernel.

Both run the program of a group of views behind the same protocol (`program/engine.py`). A database
gives them changes in the form in which they came and fills them from base rows, once a group; what
reads a view shows its rows in order, and collects its changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from freshview.algebra.cofactor import Watch
from freshview.calculus.functions import Functions
from freshview.calculus.rows import Row, as_declared, left_range, repeated
from freshview.calculus.schema import Query
from freshview.calculus.types import INT, Value
from freshview.codegen.library.engine import KernelEngine
from freshview.codegen.library.load import Instance
from freshview.program.terms import Program
from freshview.reference.top import arrange
from freshview.runtime.compile.kernels import BuiltKernel
from freshview.runtime.ingest.change import Change
from freshview.runtime.ingest.columns import COUNT, table_of, with_intervals
from freshview.runtime.ingest.products import Combined
from freshview.runtime.relations.stored_base import AnyBase, is_lost
from freshview.runtime.settings import EngineName
from freshview.runtime.views.payloads import Payloads

if TYPE_CHECKING:
    import pyarrow as pa

    from freshview.reference.engine.engine import ReferenceEngine
else:
    from freshview.runtime.ingest.lazy_imports import pa

EngineKind = TypeVar("EngineKind", "ReferenceEngine", KernelEngine)


class _GroupEngine(Generic[EngineKind]):
    """What is the same for both engines of a group."""

    def __init__(self, engine: EngineKind) -> None:
        self.engine: EngineKind = engine

    def check(self) -> None:
        """Refuse numbers that are outside of the domain of values."""
        self.engine.check()

    def _give(self, change: Change, back: bool) -> None:
        """Give a change to the engine, as products where its program takes the factors."""
        engine = self.engine
        if isinstance(change, Combined) and change.follow(engine.relations, engine.give, back):
            return
        engine.give(change.relation.name, change, back)


class ReferenceGroupEngine(_GroupEngine["ReferenceEngine"]):
    """A program on plain dictionaries."""

    def __init__(self, program: Program, functions: Functions, bases: Iterable[AnyBase]) -> None:
        from freshview.reference.engine.engine import ReferenceEngine

        super().__init__(ReferenceEngine(program, functions))
        self.program = program
        self._readers: dict[str, ReferenceViewEngine] = {}
        bases = list(bases)
        tables = {b.relation.name: b.rows for b in bases if b.relation.static}
        self.engine.load(tables, check=False)
        for base in bases:
            if not base.relation.static and base.size:
                self.engine.apply({base.relation.name: base.rows}, check=False)

    def apply(self, change: Change, back: bool = False) -> None:
        """Follow a change, or take it back; numbers may leave their range until `check`."""
        self._give(change, back)

    def follow(self, change: Change) -> None:
        """Follow a change that is all there is to come; one that is refused leaves no trace."""
        if isinstance(change, Combined):
            self.apply(change)
        elif net := change.net():
            self.engine.apply({change.relation.name: net})

    def reader(self, query: Query, payloads: Payloads) -> ReferenceViewEngine:
        """What reads a view, always the same: it may be collecting the changes of the view."""
        if query.name not in self._readers:
            self._readers[query.name] = ReferenceViewEngine(query, payloads, self)
        return self._readers[query.name]


class KernelGroupEngine(_GroupEngine[KernelEngine]):
    """A kernel."""

    def __init__(
        self,
        built: BuiltKernel,
        bases: Iterable[AnyBase],
        state: Instance | None = None,
        wraps: bool = False,
        centre: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(KernelEngine(built.kernel, state))
        self._readers: dict[str, KernelViewEngine] = {}
        self.instance = self.engine.instance
        self.index = self.engine.index
        if state is None:
            self.instance.centre(centre or {})
            with self.instance.wrapping() if wraps else nullcontext():
                self._fill(bases)

    def _fill(self, bases: Iterable[AnyBase]) -> None:
        bases = list(bases)
        for base in sorted(bases, key=lambda b: not b.relation.static):
            if base.size:
                base.fill(self.instance, self.index[base.relation.name])
        if not any(is_lost(base) for base in bases):
            self.instance.ready()  # what static tables take out of its range shows now

    def apply(self, change: Change, back: bool = False) -> None:
        """Follow a change, or take it back; also the rows of a static table, before the others."""
        if back:  # what was in its range comes back there, whatever happens on the way
            with self.instance.wrapping():
                self._give(change, back)
        else:
            self._give(change, back)

    follow = apply

    def reader(self, query: Query, payloads: Payloads) -> KernelViewEngine:
        """What reads a view, always the same: it may be collecting the changes of the view."""
        if query.name not in self._readers:
            self._readers[query.name] = KernelViewEngine(query, payloads, self)
        return self._readers[query.name]


GroupEngine: TypeAlias = ReferenceGroupEngine | KernelGroupEngine


class _ViewEngine(Generic[EngineKind]):
    """What is the same for both engines of a view."""

    def __init__(self, query: Query, payloads: Payloads, shared: _GroupEngine[EngineKind]) -> None:
        self.query = query
        self.payloads = payloads
        self.engine: EngineKind = shared.engine

    def _rows_in_order(self) -> list[Row]:
        """The rows as the engine has them, each as often as it counts, in order."""
        counts = self.engine.read(self.query.name)
        order = arrange(list(counts), self.query.vars, self.query.order)
        return repeated(self.query.name, order, counts)

    def sizes(self) -> Mapping[str, int]:
        """How many rows every map of the program holds."""
        return self.engine.sizes()

    def costs(self) -> tuple[int, int, int]:
        """Bytes of the state, rows looked at and rows written, as far as they are counted."""
        return self.engine.costs()


class ReferenceViewEngine(_ViewEngine["ReferenceEngine"]):
    """A view of a program on plain dictionaries."""

    name: EngineName = "reference"

    @property
    def change_source(self) -> ReferenceViewEngine | None:
        """What collects the changes of the view while they are made, if its maps have its key."""
        return self if not self.payloads and self.engine.collects(self.query.name) else None

    def collect(self) -> None:
        """Collect the changes of the view from now on."""
        self.engine.collect(self.query.name)

    def changes(self) -> pa.Table:
        """What changed since this was last asked, with a column `__count`."""
        delta = self.engine.changes(self.query.name)
        rows = self._in_range(list(delta))
        table = table_of(self.query.columns, rows, self.query.name)
        counts = pa.array(list(delta.values()), pa.int64())
        return table.append_column(COUNT, counts)

    def table(self) -> pa.Table:
        """The rows as Arrow columns."""
        if self.payloads:
            return self.payloads.table(self.rows())
        return table_of(self.query.columns, self.rows(), self.query.name)

    def rows(self) -> list[Row]:
        """The rows, each as often as it counts, in order."""
        rows = self._rows_in_order()
        return self.payloads.elements(rows) if self.payloads else self._in_range(rows)

    def _in_range(self, rows: list[Row]) -> list[Row]:
        """Rows as the columns write their numbers; those that they cannot hold are refused."""
        from freshview.reference.engine.store import Bounds

        bounds = Bounds.of(self.query.columns, INT)
        if not all(bounds.holds(row, 1) for row in rows):
            raise left_range(self.query.name)
        return as_declared(self.query.columns, rows)


class KernelViewEngine(_ViewEngine[KernelEngine]):
    """A view of a kernel."""

    name: EngineName = "native"

    def __init__(self, query: Query, payloads: Payloads, shared: KernelGroupEngine) -> None:
        super().__init__(query, payloads, shared)
        self.instance = shared.instance
        self._number = self.engine.kernel.query(query.name)
        self._table = self.engine.kernel.queries[self._number]
        self._spans = [replace(c, type=c.type if c.type.span else INT) for c in query.columns]
        """The columns of intervals; a kernel writes all the others as they are declared."""

    def table(self) -> pa.Table:
        """The rows as Arrow columns; nothing is done per row in Python."""
        table = pa.table(self.instance.read_arrow(self._number))
        if self.payloads:
            return self.payloads.in_order(table, self._watch())
        return with_intervals(self.query.columns, table)

    @property
    def change_source(self) -> KernelViewEngine | None:
        """What collects the changes of the view while they are made, if the kernel can do that."""
        return self if self._table.collected and not self.payloads else None

    def collect(self) -> None:
        """Collect the changes of the view from now on."""
        self.instance.collect(self._number)

    def changes(self) -> pa.Table:
        """What changed since this was last asked, with a column `__count`."""
        table = pa.table(self.instance.changed_arrow(self._number))
        return with_intervals(self.query.columns, table)

    def rows(self) -> list[Row]:
        """The rows, each as often as it counts, in order."""
        if self.payloads:
            return self._gathered([row for row, _ in self.instance.read_rows(self._number)])
        return as_declared(self._spans, self._rows_in_order())

    def find(self, values: Mapping[int, Value]) -> list[Row] | None:
        """The rows with these values by column, by a look-up; None where that is not enough."""
        key = self._table.key
        if not key or not set(key) <= values.keys():
            return None
        matches = self.instance.find_rows(self._number, [values[i] for i in key])
        if matches is None:
            return None
        if self.payloads:
            return self._gathered([row for row, _ in matches])
        rest = [(i, value) for i, value in values.items() if i not in key]
        counts: dict[Row, int] = {}
        for row, n in matches:
            if all(row[i] == value for i, value in rest):
                counts[row] = counts.get(row, 0) + n
        return as_declared(self._spans, repeated(self.query.name, counts, counts))

    def _gathered(self, rows: list[Row]) -> list[Row]:
        """The rows with elements of a ring put together, in order; each comes once."""
        names = [c.name for c in self._table.columns]
        elements = self.payloads.gathered(names, rows, self._watch())
        return arrange(elements, self.query.vars, self.query.order)

    def _watch(self) -> Watch | None:
        """What is known of the values that elements were made of."""
        return self.instance.watch() if self.engine.kernel.slots else None


ViewEngine: TypeAlias = ReferenceViewEngine | KernelViewEngine
