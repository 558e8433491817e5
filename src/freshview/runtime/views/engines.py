"""The engine of a view: the reference engine or a kernel, behind the same calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, TypeAlias

from freshview.algebra.cofactor import Watch
from freshview.calculus.functions import Functions
from freshview.calculus.rows import Row, as_declared, left_range, repeated
from freshview.calculus.schema import Query
from freshview.calculus.types import INT, Value
from freshview.codegen.library.load import Instance
from freshview.program.terms import Program
from freshview.reference.engine.run import Engine
from freshview.reference.engine.store import Bounds
from freshview.reference.top import arrange
from freshview.runtime.compile.kernels import BuiltKernel
from freshview.runtime.ingest.change import Change
from freshview.runtime.ingest.columns import table_of
from freshview.runtime.ingest.products import Combined
from freshview.runtime.relations.stored_base import AnyBase, StatelessBase
from freshview.runtime.settings import EngineName
from freshview.runtime.views.payloads import Payloads

if TYPE_CHECKING:
    import pyarrow as pa
else:
    from freshview.runtime.ingest.lazy_imports import pa


class ReferenceViewEngine:
    """A program on plain dictionaries."""

    name: EngineName = "reference"

    def __init__(
        self,
        query: Query,
        program: Program,
        functions: Functions,
        bases: Iterable[AnyBase],
        payloads: Payloads,
    ) -> None:
        self.query = query
        self.payloads = payloads
        self.engine = Engine(program, functions)
        bases = list(bases)
        tables = {b.relation.name: b.rows for b in bases if b.relation.static}
        self.engine.load(tables, check=False)
        for base in bases:
            if not base.relation.static and base.size:
                self.engine.apply(base.relation.name, base.rows, check=False)

    def apply(self, change: Change, back: bool = False) -> None:
        """Follow a change, or take it back; numbers may leave their range until `check`."""
        if isinstance(change, Combined) and change.follow(
            self.engine.program.relations, self._give, back
        ):
            return
        self._give(change.relation.name, change, back)

    def follow(self, change: Change) -> None:
        """Follow a change that is all there is to come; one that is refused leaves no trace."""
        if isinstance(change, Combined):
            self.apply(change)
        elif net := change.net():
            self.engine.apply(change.relation.name, net)

    def check(self) -> None:
        """Refuse numbers that are outside of the domain of values."""
        self.engine.check()

    def _give(self, stream: str, change: Change, back: bool) -> None:
        net = change.net()
        if back:
            net = {row: -count for row, count in net.items()}
        if net:
            self.engine.apply(stream, net, check=False)

    def table(self) -> pa.Table:
        """The rows as Arrow columns."""
        if self.payloads:
            return self.payloads.table(self.rows())
        return table_of(self.query.columns, self.rows(), self.query.name)

    def rows(self) -> list[Row]:
        """The rows, each as often as it counts, in order."""
        rows = self.engine.rows(self.query.name)
        if self.payloads:
            return self.payloads.elements(rows)
        bounds = Bounds.of(self.query.columns, INT)
        if not all(bounds.holds(row, 1) for row in rows):
            raise left_range(self.query.name)
        return as_declared(self.query.columns, rows)

    def sizes(self) -> Mapping[str, int]:
        """How many rows every map holds."""
        return self.engine.state()

    def costs(self) -> tuple[int, int, int]:
        """Bytes (which nobody counts here), rows looked at and rows written."""
        return 0, self.engine.counters.visits, self.engine.counters.writes


class KernelViewEngine:
    """A kernel."""

    name: EngineName = "native"

    def __init__(
        self,
        query: Query,
        built: BuiltKernel,
        bases: Iterable[AnyBase],
        payloads: Payloads,
        state: Instance | None = None,
        wraps: bool = False,
        centre: Mapping[str, float] | None = None,
    ) -> None:
        self.query = query
        self.payloads = payloads
        self.kernel = built.kernel
        self.instance: Instance = state or built.kernel.open()
        self.index = {r.name: i for i, r in enumerate(self.kernel.relations)}
        self._query = self.kernel.query(query.name)
        if state is None:
            self.instance.centre(centre or {})
            with self.instance.wrapping() if wraps else nullcontext():
                self._fill(bases)

    def _fill(self, bases: Iterable[AnyBase]) -> None:
        bases = list(bases)
        for base in sorted(bases, key=lambda b: not b.relation.static):
            if base.size:
                base.fill(self.instance, self.index[base.relation.name])
        if not any(isinstance(base, StatelessBase) for base in bases):
            self.instance.ready()  # what static tables take out of its range shows now

    def apply(self, change: Change, back: bool = False) -> None:
        """Follow a change, or take it back; also the rows of a static table, before the others."""
        if back:  # what was in its range comes back there, whatever happens on the way
            with self.instance.wrapping():
                self._apply(change, back)
        else:
            self._apply(change, back)

    follow = apply

    def check(self) -> None:
        """A kernel looks at every number as it changes."""

    def _apply(self, change: Change, back: bool) -> None:
        relations = self.kernel.relations
        if not (isinstance(change, Combined) and change.follow(relations, self._give, back)):
            self._give(change.relation.name, change, back)

    def _give(self, stream: str, change: Change, back: bool) -> None:
        change.apply(self.instance, self.index[stream], back)

    def table(self) -> pa.Table:
        """The rows as Arrow columns; nothing is done per row in Python."""
        table = pa.table(self.instance.read_arrow(self._query))
        return self.payloads.in_order(table, self._watch()) if self.payloads else table

    def rows(self) -> list[Row]:
        """The rows, each as often as it counts, in order."""
        if self.payloads:
            rows = [row for row, _ in self.instance.read_rows(self._query)]
            return self._gathered(rows)
        counts: dict[Row, int] = {}
        for row, count in self.instance.read_rows(self._query):
            counts[row] = counts.get(row, 0) + count
        order = arrange(list(counts), self.query.vars, self.query.order)
        return repeated(self.query.name, order, counts)

    def find(self, values: Mapping[int, Value]) -> list[Row] | None:
        """The rows with these values by column, by a look-up; None where that is not enough."""
        key = self.kernel.queries[self._query].key
        if not key or not set(key) <= values.keys():
            return None
        matches = self.instance.find_rows(self._query, [values[i] for i in key])
        if matches is None:
            return None
        if self.payloads:
            return self._gathered([row for row, _ in matches])
        rest = [(i, value) for i, value in values.items() if i not in key]
        counts: dict[Row, int] = {}
        for row, n in matches:
            if all(row[i] == value for i, value in rest):
                counts[row] = counts.get(row, 0) + n
        return repeated(self.query.name, counts, counts)

    def _gathered(self, rows: list[Row]) -> list[Row]:
        """The rows with elements of a ring put together, in order; each comes once."""
        names = [c.name for c in self.kernel.queries[self._query].columns]
        elements = self.payloads.gathered(names, rows, self._watch())
        return arrange(elements, self.query.vars, self.query.order)

    def _watch(self) -> Watch | None:
        """What is known of the values that elements were made of."""
        return self.instance.watch() if self.kernel.slots else None

    def sizes(self) -> Mapping[str, int]:
        """How many rows every map holds."""
        return self.instance.stats().sizes

    def costs(self) -> tuple[int, int, int]:
        """Bytes of the whole state, rows looked at and rows written (if they are counted)."""
        stats = self.instance.stats()
        return stats.bytes, stats.visits, stats.writes


ViewEngine: TypeAlias = ReferenceViewEngine | KernelViewEngine
