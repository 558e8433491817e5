"""A node on the reference engine's stores: for tests, and without a compiler."""

from __future__ import annotations

import decimal
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from freshview.algebra import EXACT, Number, Real
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.rows import Row
from freshview.calculus.schema import Column
from freshview.calculus.types import STRING, Type
from freshview.distributed.terms import Block, Compute, Distributed, Everywhere, Local, MapPlacement
from freshview.durable.storage.blocks import pack_large, unpack
from freshview.durable.storage.files import load_whole, save_whole
from freshview.durable.work import Role
from freshview.errors import Overflow, SnapshotProblem
from freshview.reference.engine.rows import check_row
from freshview.reference.engine.run import out_of_range
from freshview.reference.engine.scope import Rows, Work
from freshview.reference.engine.statements import Step, compile_statement
from freshview.reference.engine.store import Bounds, Store, Stores
from freshview.runtime.ingest.columns import COUNT, arrow_type, rows_of
from freshview.spark.nodes.elements import encoded, is_element, values_of
from freshview.spark.nodes.node import PAYLOAD, READY, change_routine, read_routine

ROW_BYTES = 200
"""An estimate of the bytes of a row in a dictionary."""


class ReferenceNode:
    """A `ProgramNode` that keeps its maps in dictionaries, within one process."""

    shared = False

    def stamp(self) -> None:
        """See `DurableNode`: there is no file."""

    def __init__(
        self, distributed: Distributed, role: Role, functions: Functions = BUILTINS
    ) -> None:
        self.role = role
        self.functions = functions
        self.relations = {r.name: r for r in distributed.program.relations}
        self.static = {r.name: Store() for r in distributed.program.relations if r.static}
        self.deltas: dict[str, Store] = {}
        self.maps = {placement.name: _store(placement) for placement in distributed.maps}
        self._placements = {placement.name: placement for placement in distributed.maps}
        self._routines = {READY: self._routine(distributed.ready.blocks, distributed.ready.maps)}
        for i, r in enumerate(distributed.routines):
            self._routines[change_routine(i)] = self._routine(r.blocks, r.maps)
        for readout in distributed.readouts:
            prepared = self._routine(readout.blocks, readout.maps)
            self._routines[read_routine(readout.query.name)] = prepared

    def _routine(self, blocks: Iterable[Block], temporaries: Iterable[MapPlacement]) -> _Routine:
        temporary = {placement.name: placement for placement in temporaries}
        maps = {**self.maps, **{name: _store(placement) for name, placement in temporary.items()}}
        stores = Stores(self.static, self.deltas, maps)
        return _Routine(tuple(blocks), temporary, stores)

    def load(self, table: str, rows: pa.RecordBatch) -> None:
        """See `ProgramNode`."""
        relation = self.relations[table]
        for number, row in enumerate(rows_of(pa.table(rows)), 1):
            self.static[table].add(check_row(relation, row, number), 1)

    def begin(self, routine: str) -> None:
        """See `ProgramNode`."""
        prepared = self._routines[routine]
        for name in prepared.temporary:
            prepared.stores.maps[name].replace({})
        self.take_over()

    def take_over(self) -> None:
        """See `ProgramNode`."""
        for store in self.deltas.values():
            store.replace({})

    def add_batch(self, relation: str, rows: pa.RecordBatch) -> None:
        """See `ProgramNode`."""
        store = self.deltas.setdefault(relation, Store())
        table = pa.table(rows)
        counts = [1] * rows.num_rows
        if COUNT in table.column_names:
            counts = table.column(COUNT).to_pylist()
            table = table.drop_columns([COUNT])
        declared = self.relations[relation]
        for number, (row, m) in enumerate(zip(rows_of(table), counts, strict=True), 1):
            store.add(check_row(declared, row, number), m)

    def receive(self, routine: str, target: str, rows: pa.RecordBatch) -> None:
        """See `ProgramNode`."""
        store = self._routines[routine].stores.map(target)
        placement = self._routines[routine].temporary[target]
        *keys, payload = _cells(rows, placement)
        with decimal.localcontext(EXACT):
            for *row, m in zip(*keys, payload, strict=True):
                store.add(tuple(row), m)

    def run(self, routine: str, block: int) -> None:
        """See `ProgramNode`."""
        prepared = self._routines[routine]
        try:
            with decimal.localcontext(EXACT):
                for step in self._steps(prepared, block):
                    step(())
        except (decimal.DecimalException, OverflowError) as e:
            raise out_of_range(str(e)) from e
        for name, store in prepared.stores.maps.items():
            if store.outside:
                raise out_of_range(f"in the map '{name}'")

    def _steps(self, routine: _Routine, block: int) -> list[Step]:
        if block not in routine.steps:
            routine.steps[block] = [
                compile_statement(s.statement, (), routine.stores, self.functions, Work())
                for s in routine.blocks[block].steps
                if isinstance(s, Compute) and self._is_mine(s)
            ]
        return routine.steps[block]

    def _is_mine(self, s: Compute) -> bool:
        if self.role == "driver":
            return isinstance(s.at, Local | Everywhere)
        return not isinstance(s.at, Local)

    def send(self, routine: str, source: str) -> pa.RecordBatch:
        """See `ProgramNode`."""
        prepared = self._routines[routine]
        placement = prepared.temporary.get(source) or self._placements[source]
        return batch_of(placement, prepared.stores.map(source).rows)

    def save(self, path: Path) -> None:
        """See `ProgramNode`."""
        try:
            maps = {n: [batch_of(self._placements[n], s.rows)] for n, s in self.maps.items()}
        except Overflow as e:
            raise SnapshotProblem(f"the snapshot cannot be written: {e}") from e
        save_whole(path, *pack_large(maps))

    def restore(self, path: Path) -> None:
        """See `ProgramNode`."""
        saved = unpack(load_whole(path))
        for name, store in self.maps.items():
            rows: Rows = {}
            for batch in saved.get(name, ()):
                *at, cells = _cells(batch, self._placements[name])
                rows |= dict(zip(zip(*at, strict=True) if at else [()], cells, strict=True))
            store.replace(rows)

    @property
    def bytes(self) -> int:
        """See `ProgramNode`."""
        return ROW_BYTES * sum(len(store.rows) for store in self.maps.values())

    def close(self) -> None:
        """See `ProgramNode`."""


def _store(placement: MapPlacement) -> Store:
    return Store(bounds=Bounds.of(placement.keys, placement.payload))


class _Routine:
    """The blocks of a routine over its temporary maps and the others."""

    def __init__(
        self, blocks: tuple[Block, ...], temporary: dict[str, MapPlacement], stores: Stores
    ) -> None:
        self.blocks = blocks
        self.temporary = temporary
        self.stores = stores
        self.steps: dict[int, list[Step]] = {}


def _columns(placement: MapPlacement) -> list[Column]:
    return [*placement.keys, Column(PAYLOAD, _as_sent(placement.payload))]


def _cells(rows: pa.RecordBatch, placement: MapPlacement) -> list[list[Any]]:
    """The columns of a map's rows, its payload last."""
    columns = _columns(placement)
    cells = [values_of(cell, c.type) for cell, c in zip(rows.columns, columns, strict=True)]
    if placement.payload.kind == "double":
        cells[-1] = [Real.read(text) for text in cells[-1]]
    return cells


def batch_of(placement: MapPlacement, rows: Mapping[Row, Number]) -> pa.RecordBatch:
    """The rows of a map as an Arrow batch: its columns, then `PAYLOAD`."""
    columns = _columns(placement)
    cells: list[tuple[object, ...]] = [()] * len(placement.keys)
    if rows and placement.keys:
        cells = list(zip(*rows, strict=True))
    numbers: Iterable[object] = rows.values()
    if placement.payload.kind == "double":
        numbers = (Real.of(m).text() for m in rows.values())
    cells.append(tuple(numbers))
    try:
        arrays = [_array(c, k.type) for c, k in zip(cells, columns, strict=True)]
    except (pa.ArrowInvalid, OverflowError) as e:
        raise Overflow(f"a number of '{placement.name}' leaves its range") from e
    return pa.RecordBatch.from_arrays(arrays, [c.name for c in columns])


def _as_sent(payload: Type) -> Type:
    """The type in which a payload is sent: exact sums of doubles are text."""
    return STRING if payload.kind == "double" else payload


def _array(cells: Iterable[Any], t: Type) -> pa.Array:
    if is_element(t):
        return encoded(cells)
    if t.kind == "double":
        cells = [None if v is None else float(v) for v in cells]
    elif t.kind == "int":
        cells = [None if v is None else int(v) for v in cells]
    elif t.kind == "decimal":
        cells = [None if v is None else decimal.Decimal(v) for v in cells]
    return pa.array(cells, arrow_type(t))
