"""The meaning of distributed programs: a driver and P workers, each with plain dictionaries.

The oracle of this room. Every step runs literally, on the reference engine's stores; the same
blocks on a cluster must leave the same rows at the same locations.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import assert_never

from freshview.algebra import EXACT, Number
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.rows import Row
from freshview.distributed.changes.show import change_of
from freshview.distributed.partition import worker
from freshview.distributed.terms import (
    Block,
    Compute,
    Dist,
    Distributed,
    Everywhere,
    Local,
    Location,
    MapPlacement,
    Random,
    Replicated,
    Slice,
    Transfer,
)
from freshview.errors import SnapshotProblem
from freshview.program.engine import Batch, Multiset, ShownRows, Tables, added
from freshview.reference.engine.rows import check_changes, check_row
from freshview.reference.engine.scope import Work
from freshview.reference.engine.statements import compile_statement
from freshview.reference.engine.store import Journal, Store, Stores, picker


@dataclass(frozen=True)
class ClusterSnapshot:
    """The static tables and maps of the driver and then of each worker, by name."""

    tables: tuple[Mapping[str, Multiset], ...]
    maps: tuple[Mapping[str, Multiset], ...]
    split: int


class Simulation:
    """Runs a distributed program on `workers` simulated ones, as a `ProgramEngine`.

    Numbers may be of any size: what leaves the domain of values is refused by nodes only.
    """

    def __init__(self, program: Distributed, workers: int, functions: Functions = BUILTINS) -> None:
        self.program = program
        self.functions = functions
        self.relations = {r.name: r for r in program.program.relations}
        self.loaded = False
        self._journal = Journal()
        self._shown = ShownRows()
        self.changed: dict[str, Multiset] = {}
        """What changed since it was asked for, by the maps of parts of queries."""
        self.gathered = 0
        """How many rows the workers have sent to the driver."""
        self.work = Work()
        """What all the nodes have looked at and written."""
        self.driver = self._node()
        self.workers = [self._node() for _ in range(workers)]
        self._split = 0

    def _node(self) -> Stores:
        journal, program = self._journal, self.program.program
        static = {r.name: Store(journal=journal) for r in program.relations if r.static}
        return Stores(static, {}, {m.name: Store(journal=journal) for m in program.maps})

    @property
    def _all(self) -> list[Stores]:
        return [self.driver, *self.workers]

    def load(self, tables: Tables | None = None) -> None:
        """Load the static tables on every node, and run the `ready` routine."""
        with self._all_or_nothing():
            for name, rows in (tables or {}).items():
                for number, row in enumerate(rows, 1):
                    checked = check_row(self.relations[name], row, number)
                    for node in self._all:
                        node.relations[name].add(checked, 1)
            self._run(self.program.ready.blocks, self.program.ready.maps)
        self.loaded = True

    def apply(self, changes: Batch) -> None:
        """See `ProgramEngine`: batches of some relations, as one change."""
        self._start()
        routine = self.program.routine(*changes)
        batches = {
            name: check_changes(self.relations[name], changes.get(name, []))
            for name in routine.relations
        }
        with self._all_or_nothing():
            for name, batch in batches.items():
                self._arrive(name, batch)
            self._run(routine.blocks, routine.maps)
        for name in routine.changes:
            rows = self.driver.map(name).rows
            self.changed[name] = added(self.changed.get(name, {}), rows.items())

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Undo on every node what a change did that fails; batches are gone in any case."""
        split = self._split
        try:
            yield
        except BaseException:
            self._journal.rollback()
            self._split = split
            raise
        finally:
            for node in self._all:
                for store in node.deltas.values():
                    store.replace({})
        self._journal.commit()

    def _start(self) -> None:
        if not self.loaded:
            self.load()

    def read(self, query: str) -> Multiset:
        """The rows of a query."""
        self._start()
        [readout] = [r for r in self.program.readouts if r.query.name == query]
        self._run(readout.blocks, readout.maps)
        columns = list(dict.fromkeys(readout.query.vars))
        pick = picker([columns.index(v) for v in readout.query.vars])
        rows = self.driver.map(readout.result).rows
        return {pick(row): m for row, m in rows.items()}

    def changes(self, query: str) -> Multiset:
        """See `ProgramEngine`."""
        return self._shown.changes(query, self.read(query))

    def collected(self, query: str) -> Multiset:
        """What changed in a query since this was last asked, as its batches have collected it."""
        rows = {p.map: self.changed.pop(p.map, {}) for p in self.program.changes}
        return change_of(query, self.program.changes, rows, self.functions)

    def snapshot(self) -> ClusterSnapshot:
        """See `ProgramEngine`: the rows of every node, without temporary maps."""
        self._start()
        names = [m.name for m in self.program.program.maps]
        tables = ({t: dict(s.rows) for t, s in node.relations.items()} for node in self._all)
        maps = ({name: dict(node.map(name).rows) for name in names} for node in self._all)
        return ClusterSnapshot(tuple(tables), tuple(maps), self._split)

    def restore(self, snapshot: ClusterSnapshot) -> None:
        """See `ProgramEngine`; it must be of as many workers."""
        names = {m.name for m in self.program.program.maps}
        if len(snapshot.maps) != len(self._all) or snapshot.maps[0].keys() != names:
            raise SnapshotProblem("this is a snapshot of another program, or of other workers")
        for node, tables, maps in zip(self._all, snapshot.tables, snapshot.maps, strict=True):
            for name, rows in tables.items():
                node.relations[name].replace(rows)
            for name, rows in maps.items():
                node.map(name).replace(rows)
        self._split, self.loaded = snapshot.split, True
        self._journal.commit()

    def contents(self, placement: MapPlacement) -> Multiset:
        """The rows of a map, wherever they are."""
        match placement.at:
            case Local() | Everywhere():
                return dict(self.driver.map(placement.name).rows)
            case Replicated():
                return dict(self.workers[0].map(placement.name).rows)
            case Dist() | Random():
                return _added([w.map(placement.name).rows for w in self.workers])
            case Slice():
                firsts = [w for i, w in enumerate(self.workers) if placement.at.sends(i)]
                return _added([w.map(placement.name).rows for w in firsts])
            case _:
                assert_never(placement.at)

    def misplaced(self) -> list[str]:
        """The maps with rows at a wrong location, in words."""
        problems = []
        for placement in self.program.maps:
            on_driver = self.driver.map(placement.name).rows
            on_workers = [w.map(placement.name).rows for w in self.workers]
            match placement.at:
                case Local():
                    wrong = any(on_workers)
                case Everywhere():
                    wrong = any(rows != on_driver for rows in on_workers)
                case Replicated():
                    wrong = bool(on_driver) or any(rows != on_workers[0] for rows in on_workers)
                case Dist():
                    home = self._home(placement.by)
                    astray = any(home(r) != i for i, rows in enumerate(on_workers) for r in rows)
                    wrong = bool(on_driver) or astray
                case Slice():
                    parts = self._lines(placement.at, placement.by, self.contents(placement))
                    wrong = bool(on_driver) or parts != on_workers
                case Random():
                    wrong = bool(on_driver)
                case _:
                    assert_never(placement.at)
            if wrong:
                problems.append(f"{placement.name} is not where {placement.at} puts it")
        return problems

    def _home(self, by: tuple[int, ...]) -> Callable[[Row], int]:
        pick = picker(by)
        return lambda row: worker(pick(row), len(self.workers))

    def _lines(self, at: Slice, by: tuple[int, ...], rows: Multiset) -> list[Multiset]:
        """What each worker has of rows in the lines of a grid."""
        pick = picker(by)
        line = {row: worker(pick(row), at.lines) for row in rows}
        return [
            {row: m for row, m in rows.items() if line[row] == at.line(i)}
            for i in range(len(self.workers))
        ]

    def _arrive(self, name: str, batch: Mapping[Row, Number]) -> None:
        """Put a batch at its location; `Random` means row by row, round-robin."""
        at = self.program.placement.batches.get(name, Random())
        for node in self._all:
            node.delta(name).replace({})
        for row, m in batch.items():
            match at:
                case Local():
                    self.driver.delta(name).add(row, m)
                case Replicated():
                    for node in self.workers:
                        node.delta(name).add(row, m)
                case Dist(keys):
                    columns = [c.name for c in self.relations[name].columns]
                    home = self._home(tuple(columns.index(k) for k in keys))
                    self.workers[home(row)].delta(name).add(row, m)
                case Slice(keys):
                    columns = [c.name for c in self.relations[name].columns]
                    by = tuple(columns.index(k) for k in keys)
                    for node, mine in zip(self.workers, self._lines(at, by, {row: m}), strict=True):
                        for r, n in mine.items():
                            node.delta(name).add(r, n)
                case Random(whole):
                    for part in (m,) if whole else _split(m):
                        self._split += 1
                        self.workers[self._split % len(self.workers)].delta(name).add(row, part)
                case _:
                    raise AssertionError(f"no batch arrives at {at}")

    def _run(self, blocks: Iterable[Block], temporaries: Iterable[MapPlacement]) -> None:
        for placement in temporaries:
            for node in self._all:
                node.maps[placement.name] = Store()
        with decimal.localcontext(EXACT):
            for block in blocks:
                for step in block.steps:
                    if isinstance(step, Transfer):
                        self._transfer(step)
                    else:
                        self._compute(step)

    def _compute(self, step: Compute) -> None:
        for node in self._nodes(step.at):
            compile_statement(step.statement, (), node, self.functions, self.work)(())

    def _nodes(self, at: Location) -> list[Stores]:
        match at:
            case Local():
                return [self.driver]
            case Everywhere():
                return [self.driver, *self.workers]
            case Dist() | Slice() | Random() | Replicated():
                return self.workers
            case _:
                assert_never(at)

    def _transfer(self, step: Transfer) -> None:
        senders = [w for i, w in enumerate(self.workers) if step.sends(i)]
        parts = [w.map(step.source).rows for w in senders]
        match step.kind:
            case "scatter":
                sent: Mapping[Row, Number] = self.driver.map(step.source).rows
            case "repart":
                sent = _added(parts)
            case "gather" | "keep":
                sent = _added(parts)
        home = self._home(step.by)
        lines = self._lines(step.to, step.by, dict(sent)) if isinstance(step.to, Slice) else []
        for i, node in enumerate(self.workers):
            match step.to:
                case Replicated():
                    node.map(step.target).replace(sent)
                case Dist():
                    node.map(step.target).replace({r: m for r, m in sent.items() if home(r) == i})
                case Slice():
                    node.map(step.target).replace(lines[i])
                case Local():
                    pass
                case _:
                    raise AssertionError(f"nothing is moved to {step.to}")
        if isinstance(step.to, Local):
            self.gathered += len(sent)
            self.driver.map(step.target).replace(sent)


def _split(m: Number) -> tuple[Number, ...]:
    """A multiplicity in parts for different workers, as updates of a row may be."""
    return (m + 1, -1) if isinstance(m, int) else (m,)


def _added(parts: Iterable[Mapping[Row, Number]]) -> Multiset:
    """The sum of the rows of several workers."""
    total = Store()
    for rows in parts:
        for row, m in rows.items():
            total.add(row, m)
    return total.rows
