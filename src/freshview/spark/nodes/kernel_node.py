"""A node whose maps are in a kernel."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

import pyarrow as pa

from freshview.calculus.functions import BUILTINS, Functions
from freshview.codegen.cpp.functions import SUM_OF
from freshview.codegen.kernel.source import emit
from freshview.codegen.library.calling import calling
from freshview.codegen.library.compiler import USUAL_FLAGS, CppCompiler, Flags, find_compiler
from freshview.codegen.library.engine import KernelEngine
from freshview.codegen.library.load import STAMP, Kernel
from freshview.codegen.library.toolchain import build
from freshview.codegen.options import KernelPasses
from freshview.distributed.terms import Distributed
from freshview.durable.work import Role
from freshview.runtime.ingest.columns import COUNT
from freshview.spark.nodes.elements import refuse_elements
from freshview.spark.nodes.node import READY
from freshview.spark.nodes.node_program import NodeProgram, node_program, payload_columns

PASSES = KernelPasses(derive=False, defer=False, wide=True, parts=True)
"""Every map is stored and up to date, since its rows are sent to other nodes. Decimals are wide,
since a node cannot be refilled from base rows."""


def kernel_of(
    d: Distributed,
    role: Role,
    functions: Functions = BUILTINS,
    flags: Flags = USUAL_FLAGS,
    compiler: CppCompiler | None = None,
) -> tuple[NodeProgram, Path]:
    """The program of a node, and its compiled kernel, which any process may load."""
    refuse_elements(d, role)
    program = node_program(d, role)
    source = emit(program.program, functions.with_(SUM_OF), PASSES)
    return program, build(source, compiler=compiler or find_compiler(), flags=flags)


class KernelNode:
    """The maps of a worker, or of the driver, in a kernel.

    With a `state`, a file in shared memory, they survive this process, and another one can attach.
    """

    def __init__(
        self,
        program: NodeProgram,
        library: Path,
        state: Path | None = None,
        functions: Functions = BUILTINS,
    ) -> None:
        self._program = program
        kernel = calling(Kernel(library), functions)
        self._engine = KernelEngine(kernel, kernel.open(state))
        self._instance = self._engine.instance
        self.shared = state is not None
        self._file = state
        self._batches: dict[str, list[pa.RecordBatch]] = defaultdict(list)
        self._columns = {r.name: [c.name for c in r.columns] for r in program.program.relations}

    def load(self, table: str, rows: pa.RecordBatch) -> None:
        """Load rows of a static table, before anything else."""
        self._instance.load_static(self._engine.kernel.relation(table), rows)

    def begin(self, routine: str) -> None:
        """Empty the temporary maps of a routine, and the batches of its relations."""
        self._batches.clear()
        if routine == READY:
            self._instance.ready()
        self._start(self._program.begins[routine])

    def add_batch(self, relation: str, rows: pa.RecordBatch) -> None:
        """Add rows of a batch: the columns of the relation, and maybe `COUNT`."""
        self._batches[relation].append(rows)

    def take_over(self) -> None:
        """Forget the batches: another process has changed the maps since."""
        self._batches.clear()

    def receive(self, routine: str, target: str, rows: pa.RecordBatch) -> None:
        """Add rows from another node to a temporary map; equal rows add up."""
        if rows.num_rows:
            name = self._program.receives[routine, target]
            # Columns are matched by position: their names are those of the sender's map.
            there = rows.rename_columns(self._columns[name])
            self._engine.apply_arrow(name, there)

    def run(self, routine: str, block: int) -> None:
        """Run this node's statements of a block of the routine, in order."""
        for run in self._program.runs[routine, block]:
            if run.reads is None:
                self._start(run.starts)
                continue
            rows = self._batch(run.reads)
            if rows is None or not rows.num_rows:
                if not run.delta_bound:
                    self._instance.apply_rows(self._engine.index[run.starts], [])
                continue
            counts = None
            if COUNT in rows.schema.names:
                counts = rows.column(COUNT).cast(pa.int64()).to_numpy(zero_copy_only=False)
                rows = rows.drop_columns([COUNT])
            self._engine.apply_arrow(run.starts, rows, counts)

    def _batch(self, relation: str) -> pa.RecordBatch | None:
        """The batch of a relation in one piece: statements may not be linear in it."""
        pieces = self._batches[relation]
        if len(pieces) > 1:
            pieces[:] = pa.Table.from_batches(pieces).combine_chunks().to_batches()
        return pieces[0] if pieces else None

    def send(self, routine: str, source: str) -> pa.RecordBatch:
        """The rows of a map of the routine, temporary or not."""
        name = self._program.maps[routine, source]
        rows = pa.record_batch(self._engine.map_arrow(name))
        [stored] = [m for m in self._program.program.maps if m.name == name]
        keys = rows.schema.names[: len(stored.keys)]
        return rows.rename_columns([*keys, *(c.name for c in payload_columns(stored))])

    def save(self, path: Path) -> None:
        """Write all the maps to a file."""
        self._instance.save(path)

    def restore(self, path: Path) -> None:
        """Load the maps from a file that `save` wrote for the same program and role."""
        self._instance.restore(path)

    def stamp(self) -> None:
        """Write eight random bytes to the stamp of the state: no older copy has them."""
        assert self._file is not None
        fd = os.open(self._file, os.O_WRONLY)
        try:
            os.pwrite(fd, os.urandom(8), STAMP)
        finally:
            os.close(fd)

    @property
    def bytes(self) -> int:
        """The bytes of the maps."""
        size, _, _ = self._engine.costs()
        return size

    def close(self) -> None:
        """Give the memory back."""
        self._engine.close()

    def _start(self, relation: str) -> None:
        self._instance.apply_rows(self._engine.index[relation], [()])
