"""Kernels in this process: loading a compiled one, giving it rows, reading its views."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from freshview.algebra.cofactor import Watch
from freshview.calculus.functions import BUILTINS
from freshview.calculus.rows import Row, RowLike
from freshview.calculus.schema import Relation
from freshview.calculus.types import Value
from freshview.codegen.library.host import host_of
from freshview.codegen.library.problems import handle_problem
from freshview.codegen.library.tables import Table, number_of, read_columns
from freshview.errors import (
    BadRow,
    BuildProblem,
    OutOfMemory,
    ProgramProblem,
    SnapshotProblem,
)
from freshview.files import draft_of, sync_folder

Sign = Literal[1, -1]
RowCall: TypeAlias = Callable[..., None]
Chain: TypeAlias = list[Callable[..., object]]

MAGIC = b"freshview kernel 1"
STAMP = 16
"""Where the file of a state has eight bytes for its owner: `Book` of arena.hpp."""


@dataclass(frozen=True, slots=True)
class Stats:
    """How large a kernel's state is, and how much it did so far."""

    bytes: int
    visits: int
    writes: int
    sizes: Mapping[str, int]


class Kernel:
    """A compiled kernel, loaded into this process; `open` starts as many as are wanted.

    A library stays loaded until the process ends.
    """

    def __init__(self, path: Path) -> None:
        if "t" in sys.abiflags:
            raise BuildProblem(
                "kernels do not run in a free-threaded Python",
                instead="use the usual build, or the reference engine",
            )
        try:
            start = ctypes.PyDLL(str(path)).freshview_functions
        except (OSError, AttributeError) as e:
            raise BuildProblem(f"{path} cannot be loaded as a kernel: {e}") from e
        start.restype = ctypes.py_object
        self.calls: dict[str, Callable[..., Any]] = {f.__name__: f for f in start()}
        self.program, relations, queries, maps, self.slots = self.calls["describe"]()
        self.relations = tuple(
            Relation(name, read_columns(columns), bool(static))
            for name, columns, static in relations
        )
        self.queries = tuple(
            Table(name, read_columns(columns), tuple(key), bool(collected))
            for name, columns, key, collected in queries
        )
        self.maps = tuple(Table(name, read_columns(columns)) for name, columns in maps)
        self.columns: tuple[tuple[str, int, int, int, int, int], ...] | None = None
        """What a library that is for any relation is told of its columns (`row_store.py`)."""
        self.functions = BUILTINS  # what its code may call in Python

    def open(self, state: Path | None = None) -> Instance:
        """A running kernel, with empty maps, or with those in a file, which is made if need be.

        Several processes may have the same file open, but only one of them at a time may call.
        """
        if state is None:
            return Instance(self)
        fd = os.open(state, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            return Instance(self, fd)
        finally:
            os.close(fd)

    def relation(self, name: str) -> int:
        """The number of a relation."""
        return number_of("relation", name, [r.name for r in self.relations])

    def query(self, name: str) -> int:
        """The number of a query."""
        return number_of("query", name, [q.name for q in self.queries])

    def map(self, name: str) -> int:
        """The number of a map."""
        return number_of("map", name, [m.name for m in self.maps])


class Instance:
    """One running kernel: static tables first, then changes; views can be read at any time.

    Relations, queries and maps go by the numbers that the kernel gives them. A call that fails
    changes nothing. Any number of threads may call: one change or read happens at a time, and
    Python's global lock is free during the long ones.
    """

    def __init__(self, kernel: Kernel, file: int = -1) -> None:
        self.kernel = kernel
        self._calls = kernel.calls
        self._schemas: dict[int, tuple[object, object]] = {}
        self.wrapped = False  # whether a number left its range in the last `wrapping`
        raised = partial(handle_problem, kernel)  # a method would hold this object
        try:
            self._state = self._calls["open"](raised, file, kernel.columns, host_of(kernel))
        except MemoryError as e:
            what, instead = "not enough memory for another kernel", "close one, or raise the limit"
            raise OutOfMemory(what, instead=instead) from e

    def insert_row(
        self, relation: int, instead: RowCall | None = None, chain: Chain | None = None
    ) -> RowCall:
        """A fast function that takes the values of one row, which is one more then.

        While the relation is diverted, it gives them to `instead`. With a `chain`, the row goes on
        to the functions at its end, and to `instead` where one of them refuses it or the list is
        empty. Such a list begins with what acquires and releases a lock, and with a function that
        takes the row back: it gets the number of functions that have taken it, and the row.
        """
        return self._row(relation, 1, instead, chain)

    def delete_row(
        self, relation: int, instead: RowCall | None = None, chain: Chain | None = None
    ) -> RowCall:
        """A fast function that takes the values of one row, which is one less then."""
        return self._row(relation, -1, instead, chain)

    def divert(self, relation: int, on: bool) -> int:
        """How many single rows of a relation came since the last call; from now on they go.

        Only the first 64 relations of a kernel can be diverted.
        """
        single_rows: int = self._calls["divert"](self._state, relation, int(on))
        return single_rows

    def apply_rows(
        self,
        relation: int,
        rows: Iterable[RowLike],
        counts: Iterable[int] | None = None,
        sign: Sign = 1,
    ) -> None:
        """A batch of rows; row i is inserted `sign * counts[i]` times, or deleted as often."""
        self._calls["apply_rows"](self._state, relation, rows, counts, sign)

    def apply_arrow(
        self, relation: int, table: Any, counts: Iterable[int] | None = None, sign: Sign = 1
    ) -> None:
        """A batch from anything that speaks Arrow's C interface; columns are found by name.

        A stream of tables is one change: it is held in memory, and applied when it has ended.
        """
        kind = type(table)
        way = _INTERFACES.get(kind) or _INTERFACES.setdefault(kind, _arrow_interface(kind))
        if way == "batch":
            schema = self._schema(relation, table)
            export = table._export_to_c
            self._calls["apply_exported"](self._state, relation, schema, export, counts, sign)
        elif way == "array":
            schema, array = table.__arrow_c_array__()
            self._calls["apply_array"](self._state, relation, schema, array, counts, sign)
        elif way == "stream":
            stream = table.__arrow_c_stream__()
            self._calls["apply_stream"](self._state, relation, stream, counts, sign)
        else:
            raise BadRow(
                f"'{type(table).__name__}' is not an Arrow table",
                instead="give a pyarrow or polars table, or rows",
            )

    def _schema(self, relation: int, batch: Any) -> object:
        """The schema of a batch for the kernel: mostly that of the batch before."""
        known = self._schemas.get(relation)
        if known is None or not batch.schema.equals(known[0]):
            known = self._schemas[relation] = (batch.schema, batch.schema.__arrow_c_schema__())
        return known[1]

    def apply_columns(
        self,
        relation: int,
        columns: Mapping[str, object],
        counts: Iterable[int] | None = None,
        sign: Sign = 1,
    ) -> None:
        """A batch of columns by name: numpy arrays, or lists of values."""
        import pyarrow as pa

        try:
            table = pa.RecordBatch.from_pydict({name: pa.array(c) for name, c in columns.items()})
        except (pa.ArrowException, TypeError, ValueError) as e:
            name = self.kernel.relations[relation].name
            raise BadRow(f"these are not columns of '{name}': {e}") from e
        self.apply_arrow(relation, table, counts, sign)

    @contextmanager
    def wrapping(self) -> Iterator[None]:
        """Let numbers leave their range on the way to where they are in it again.

        Whoever says so must know that: a batch is taken back, or another engine has found that
        all the numbers are in their range after it. Wrapped integers of one width are a ring, so
        what comes out is exact; where widths are mixed it must be compared.
        """
        self._calls["wrapping"](self._state, 1)
        try:
            yield
        finally:
            self.wrapped = bool(self._calls["wrapping"](self._state, 0))

    def load_static(self, relation: int, rows: Any) -> None:
        """Rows of a static table: tuples, or an Arrow table."""
        name = self.kernel.relations[relation].name
        if not self.kernel.relations[relation].static:
            raise ProgramProblem(f"'{name}' is a stream", instead="apply its rows")
        if hasattr(rows, "__arrow_c_array__") or hasattr(rows, "__arrow_c_stream__"):
            self.apply_arrow(relation, rows)
        else:
            self.apply_rows(relation, rows)

    def ready(self) -> None:
        """All the static tables are loaded; the first change or read says the same."""
        self._calls["ready"](self._state)

    def read_rows(self, query: int) -> list[tuple[Row, int]]:
        """The rows of a query, each with how often it counts."""
        rows: list[tuple[Row, int]] = self._calls["read_rows"](self._state, 0, query)
        return rows

    def find_rows(self, query: int, values: Sequence[Value]) -> list[tuple[Row, int]] | None:
        """The rows of a query whose key columns have these values, with how often each counts.

        None where a value does not belong to its column. The cost is that of a look-up.
        """
        rows: list[tuple[Row, int]] | None = self._calls["find_rows"](self._state, query, values)
        return rows

    def read_map(self, index: int) -> list[tuple[Row, int]]:
        """The rows of a map: keys, then the payload; each counts once."""
        rows: list[tuple[Row, int]] = self._calls["read_rows"](self._state, 1, index)
        return rows

    def read_arrow(self, query: int) -> Frame:
        """The rows of a query as Arrow columns, each as often as it counts."""
        return Frame(self.kernel, self._calls["read_frame"](self._state, 0, query))

    def collect(self, query: int, on: bool = True) -> None:
        """Collect the changes of a query from now on, or no more; only of one that says it can."""
        self._calls["collect"](self._state, query, int(on))

    def changed_rows(self, query: int) -> list[tuple[Row, int]]:
        """What changed of a query since this was last asked: rows, and how often each came."""
        rows: list[tuple[Row, int]] = self._calls["changed_rows"](self._state, query)
        return [(row[:-1], row[-1]) for row, _ in rows]  # type: ignore[misc]

    def changed_arrow(self, query: int) -> Frame:
        """The same as Arrow columns; the last one, `__count`, is negative for rows that went."""
        return Frame(self.kernel, self._calls["changed_frame"](self._state, query))

    def map_arrow(self, index: int) -> Frame:
        """The rows of a map as Arrow columns: keys, then the payload."""
        return Frame(self.kernel, self._calls["read_frame"](self._state, 1, index))

    def watch(self) -> Watch:
        """What was lifted of the continuous variables of cofactors so far."""
        gone, seen = self._calls["watch"](self._state)
        named = list(zip(self.kernel.slots, seen, strict=True))
        centre, low, high = ({slot: ends[i] for slot, ends in named} for i in range(3))
        return Watch(centre, low, high, gone)

    def centre(self, values: Mapping[str, float]) -> None:
        """Take these numbers from all the values of variables that are lifted; none is yet."""
        for at, slot in enumerate(self.kernel.slots):
            if slot in values:
                self._calls["put_centre"](self._state, at, values[slot])

    def stats(self) -> Stats:
        """What the state takes, and the work done; work is counted if compiled with `count`."""
        size, visits, writes, sizes = self._calls["stats"](self._state)
        names = (m.name for m in self.kernel.maps)
        return Stats(size, visits, writes, dict(zip(names, sizes, strict=True)))

    def save(self, path: Path) -> None:
        """Write everything to a file, which is the old one until the new one is complete."""
        try:
            with draft_of(path, private=True) as draft, draft.open("r+b", buffering=0) as out:
                self._write(out.fileno())
                os.fsync(out.fileno())
        except OSError as e:
            raise SnapshotProblem(
                f"the snapshot cannot be written to {path}: {e.strerror or e}",
                instead="what was there before is still there",
            ) from e
        with suppress(OSError):  # where the system can
            sync_folder(path.parent)

    def snapshot(self) -> bytes:
        """Everything, as the bytes that `save` writes to a file."""
        from tempfile import TemporaryFile

        try:
            with TemporaryFile(buffering=0) as out:
                self._write(out.fileno())
                out.seek(0)
                return out.read()
        except OSError as e:
            raise SnapshotProblem(f"the snapshot cannot be written: {e.strerror or e}") from e

    def _write(self, fd: int) -> None:
        head = MAGIC + bytes.fromhex(self.kernel.program)
        code = self._calls["save"](self._state, fd, head + b"empty\n", head + b"ready\n")
        if code:
            raise OSError(code, os.strerror(code))

    def restore(self, path: Path) -> None:
        """Everything as it was when the file was saved; a file that does not fit is refused."""
        try:
            fd = os.open(path, os.O_RDONLY)
        except OSError as e:
            raise SnapshotProblem(f"{path} cannot be read: {e.strerror}") from e
        try:
            self._read(fd, str(path))
        finally:
            os.close(fd)

    def restore_snapshot(self, snapshot: bytes) -> None:
        """Everything as it was at a snapshot; one that does not fit is refused."""
        from tempfile import TemporaryFile

        with TemporaryFile(buffering=0) as file:
            file.write(snapshot)
            file.seek(0)
            self._read(file.fileno(), "this")

    def _read(self, fd: int, name: str) -> None:
        """Read what `_write` wrote to a file; `name` is what errors call it."""
        magic, program = os.read(fd, len(MAGIC)), os.read(fd, 32)
        loaded = {b"ready\n": 1, b"empty\n": 0}.get(os.read(fd, 6), -1)
        if magic != MAGIC or loaded < 0:
            raise SnapshotProblem(f"{name} is not a snapshot, or it is damaged")
        if program != bytes.fromhex(self.kernel.program):
            raise SnapshotProblem(
                f"{name} is a snapshot of another program",
                instead="restore it with the views it was saved with, or load the data again",
            )
        if not self._calls["restore"](self._state, fd, loaded):
            raise SnapshotProblem(f"{name} is damaged", instead="restore an older snapshot")

    def close(self) -> None:
        """Give the memory back; further calls are refused."""
        self._calls["close"](self._state)

    def _row(
        self, relation: int, sign: Sign, instead: RowCall | None, chain: Chain | None
    ) -> RowCall:
        call: RowCall = self._calls["entry"](self._state, relation, sign, instead, chain)
        return call


class Frame:
    """A result as Arrow columns: pyarrow, polars and others take it as a table, without copying."""

    def __init__(self, kernel: Kernel, frame: object) -> None:
        self._export = kernel.calls["export_frame"]
        self._frame = frame

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """The capsules of Arrow's C interface; `requested_schema` is ignored."""
        schema, array = self._export(self._frame)
        return schema, array


_INTERFACES: dict[type, str] = {}
"""What `_arrow_interface` said of the classes so far."""


def _arrow_interface(kind: type) -> str:
    """How a table of a class is taken: as a batch of pyarrow, an array, a stream, or not at all."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and issubclass(kind, pyarrow.RecordBatch):
        return "batch"  # its schema need not be exported with each of them
    ways = ("array", "stream")
    return next((way for way in ways if hasattr(kind, f"__arrow_c_{way}__")), "")
