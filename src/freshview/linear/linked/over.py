"""Matrix programs over the views of a database, and their results as views.

A view with row, column and value is a matrix. When a result is read, what the views have changed by
since the last time becomes one factored update of all the inputs at once: the results are those of
one version of the database, and a batch that nobody reads between costs nothing here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from freshview.errors import FreshviewError
from freshview.linear.execute.program import Program
from freshview.linear.execute.report import Report
from freshview.linear.kernels.semiring import Array
from freshview.linear.kernels.semiring import semiring as semiring_of
from freshview.linear.language.expression import Matrix
from freshview.linear.language.sizes import Size
from freshview.linear.language.source import source_of
from freshview.linear.language.terms import Source
from freshview.linear.linked import labels as labelled
from freshview.linear.linked.cells import Cells, Columns, cells, changed, columns, dense
from freshview.linear.linked.labels import Labels

if TYPE_CHECKING:
    import pyarrow as pa


class View(Protocol):
    """What is needed of a view."""

    def to_arrow(self) -> pa.Table:
        """The rows."""

    def subscribe(self, callback: Callable[[int, pa.Table], object]) -> Callable[[], None]:
        """Call a function after every change, until the function that this gives is called."""


class Database(Protocol):
    """What is needed of a database."""

    def view(self, name: str) -> View:
        """The view of a name."""

    def still(self) -> AbstractContextManager[int]:
        """While this lasts, nothing changes; gives the version."""


def over(
    db: Database,
    what: str | Source | Matrix | Mapping[str, Matrix],
    inputs: Mapping[str, object],
    *,
    labels: Mapping[str, int | Sequence[object]] | None = None,
    eager: bool = False,
    **options: Any,
) -> Linked:
    """A matrix program over views: `inputs` are the names of views, or arrays that stay.

    `labels` tells those of a named size, in order, or how many places it has: then rows and columns
    of other names are refused. Otherwise they are the labels that occur in the views; where one
    comes or goes, the matrices change their shape, and the program is made anew.

    With `eager`, every change of the views is followed at once, and not when a result is read.
    `options` are those of a `Program`.
    """
    return Linked(db, what, inputs, dict(labels or {}), eager, options)


class Linked:
    """A matrix program whose inputs are views; results are as of the last version when read."""

    def __init__(
        self,
        db: Database,
        what: str | Source | Matrix | Mapping[str, Matrix],
        inputs: Mapping[str, object],
        labels: Mapping[str, int | Sequence[object]],
        eager: bool,
        options: Mapping[str, Any],
    ) -> None:
        self._db = db
        self._options = {k: v for k, v in options.items() if k != "semiring"}
        self._source = source_of(what, options.get("semiring", ""))
        self._ring = semiring_of(self._source.semiring)
        self._views = {n: v for n, v in inputs.items() if isinstance(v, str)}
        self._arrays = {n: v for n, v in inputs.items() if not isinstance(v, str)}
        self._inputs = {i.name: i for i in self._source.inputs if i.name in self._views}
        self._fixed = {size: labelled.fixed_labels(size, keys) for size, keys in labels.items()}
        self._labels: dict[str, Labels] = {}
        self._types: dict[str, object] = {}
        self._cells: dict[str, Cells] = {}
        self._lock = threading.Lock()
        self._version = -1
        self._check()
        self.program: Program
        self.refresh()
        self._ends: list[Callable[[], None]] = []
        if eager:
            followed = dict.fromkeys(self._views.values())
            self._ends = [db.view(v).subscribe(lambda *_: self.refresh()) for v in followed]

    def _check(self) -> None:
        """Sizes that views tell must be names, for they get labels, or numbers."""
        if not self._views:
            raise FreshviewError(
                "no input comes from a view", instead="use Program for arrays alone"
            )
        for name in self._views:
            if name not in self._inputs:
                known = ", ".join(i.name for i in self._source.inputs)
                raise FreshviewError(f"there is no input {name}", instead=f"there is {known}")
        for i in self._inputs.values():
            for s in (i.rows, i.cols):
                if not s.name and s.number is None:
                    raise FreshviewError(
                        f"{i.name} has {s} rows or columns, which have no labels of their own",
                        instead="give that size a name",
                    )

    # -- changes -----------------------------------------------------------------------------------

    def refresh(self) -> int:
        """Follow the views to the last version, which this gives; on an error nothing changes."""
        with self._db.still() as version:
            if version == self._version:
                return version
            tables = {n: self._db.view(v).to_arrow() for n, v in self._views.items()}
        with self._lock:
            if version > self._version:  # no other thread has read later ones
                self._follow(tables)
                self._version = version
        return version

    def _follow(self, tables: Mapping[str, pa.Table]) -> None:
        read = {
            n: columns(self._views[n], tables[n], i, self._ring) for n, i in self._inputs.items()
        }
        labels = self._index(read)
        new = {
            n: cells(c, self._of(i.rows, labels), self._of(i.cols, labels))
            for n, c in read.items()
            if (i := self._inputs[n])
        }
        if labels != self._labels:
            self._make(labels, new)
        else:
            changes = {}
            for n, c in new.items():
                width = len(self._of(self._inputs[n].cols, labels).keys)
                changes[n] = changed(self._cells[n], c, width, self._ring)
            self.program.change(assign={n: {"cells": c} for n, c in changes.items() if c})
        self._labels, self._cells = labels, new

    def _index(self, read: Mapping[str, Columns]) -> dict[str, Labels]:
        """The labels of all named sizes: those that are declared, or those that occur."""
        occur: dict[str, list[tuple[str, pa.ChunkedArray]]] = {}
        for n, c in read.items():
            i = self._inputs[n]
            for s, column in ((i.rows, c.row), (i.cols, c.column)):
                if s.name and column is not None:
                    occur.setdefault(s.name, []).append((c.view, column))
                    self._types.setdefault(s.name, column.type)
        return {
            size: self._fixed.get(size) or labelled.collected(size, columns)
            for size, columns in occur.items()
        }

    def _of(self, s: Size, known: Mapping[str, Labels]) -> Labels:
        if s.name in known:
            return known[s.name]
        return labelled.fixed_labels(str(s), s.number or 0)

    def _make(self, known: Mapping[str, Labels], new: Mapping[str, Cells]) -> None:
        """The program with matrices of the right shapes; its report stays as it is."""
        values = dict(self._arrays)
        for n, c in new.items():
            i = self._inputs[n]
            shape = (len(self._of(i.rows, known).keys), len(self._of(i.cols, known).keys))
            try:
                values[n] = dense(c, shape, self._ring)
            except MemoryError:
                raise FreshviewError(
                    f"{n} would have {shape[0]:,} x {shape[1]:,} cells, which do not fit in memory",
                    instead="let the view give fewer rows and columns",
                ) from None
        sizes = {s: len(k.keys) for s, k in known.items()}
        program = Program(self._source, values, sizes=sizes, **self._options)
        if self._labels:
            moved = [s for s in known if known[s] != self._labels.get(s)]
            report = self.program.report
            report.updates += 1
            report.reevaluated(f"labels of {', '.join(moved)} came or went")
            report.rounds = program.report.rounds
            program.report = report
        self.program = program

    # -- results -----------------------------------------------------------------------------------

    @property
    def version(self) -> int:
        """The version of the database that the results are of."""
        return self._version

    @property
    def report(self) -> Report:
        """What the program has done so far."""
        return self.program.report

    def __getitem__(self, name: str) -> Array:
        """A result, an input, or any matrix between, as of the last version."""
        self.refresh()
        return self.program[name]

    def labels(self, name: str) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """What the rows and the columns of a matrix are called."""
        self.refresh()
        rows, cols = self._sides(name, self.program[name].shape)
        return rows.keys, cols.keys

    def _sides(self, name: str, shape: tuple[int, ...]) -> tuple[Labels, Labels]:
        m = self.program.normal.scope[name]
        rows, cols = (
            self._labels.get(s.name) or self._fixed.get(s.name) or labelled.fixed_labels(str(s), n)
            for s, n in zip((m.rows, m.cols), shape, strict=True)
        )
        return rows, cols

    def view(self, name: str) -> ResultView:
        """A result as a view: the cells that are not zero, with their labels."""
        self.program[name]  # raises if there is none
        return ResultView(self, name)

    def to_arrow(self, name: str) -> pa.Table:
        """The cells of a matrix that are not zero: row, column and value."""
        import pyarrow as pa

        self.refresh()
        with self._lock:
            matrix = self.program.ring.host(self.program[name])
            rows, cols = self._sides(name, matrix.shape)
        i, j = np.nonzero(matrix != self._ring.zero)
        sides = [
            pa.array(side.keys, self._types.get(side.size)).take(pa.array(at))
            for side, at in ((rows, i), (cols, j))
        ]
        return pa.table({"row": sides[0], "column": sides[1], "value": pa.array(matrix[i, j])})

    def close(self) -> None:
        """Do not follow the views any more by itself."""
        for end in self._ends:
            end()
        self._ends = []


@dataclass(frozen=True)
class ResultView:
    """A matrix of a program as a view; every read is as of the last version."""

    source: Linked
    name: str

    def to_arrow(self) -> pa.Table:
        """The cells that are not zero: row, column and value."""
        return self.source.to_arrow(self.name)

    def rows(self) -> list[tuple[Any, Any, Any]]:
        """The cells that are not zero, as tuples."""
        table = self.to_arrow()
        return list(zip(*(c.to_pylist() for c in table.columns), strict=True))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The cells as a stream of Arrow's C interface: other tools read the result."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)
