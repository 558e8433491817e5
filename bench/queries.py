"""Queries of the workloads as running native engines, and events given to them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, pairwise

import numpy as np
import pyarrow as pa

from bench.data import Exported, Stream, Window, one_batch
from freshview.calculus.schema import Query
from freshview.codegen.kernel.source import write
from freshview.codegen.library.compiler import Flags
from freshview.codegen.library.engine import KernelEngine
from freshview.codegen.options import USUAL_PASSES, KernelPasses
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions, Mode
from freshview.plan import options as plan
from freshview.plan.compile import compile_queries as choose_and_compile
from freshview.program.terms import Program
from freshview.runtime.compile.kernel_engine import kernel_engine
from freshview.sql.catalog import Catalog
from freshview.sql.load import load
from workloads import WORKLOADS


@cache
def catalog_of(workload: str) -> Catalog:
    """The relations of a workload."""
    path = WORKLOADS[workload].schema
    return load(path.read_text(), str(path))[0]


STRATEGIES = {
    "higher-order": DeltaOptions(),
    "cyclic": DeltaOptions(cyclic=True),
    "project": DeltaOptions(depth=1, project=True),
}
"""How views may be maintained, by name; "auto" chooses by estimated cost."""


@cache
def program_of(
    workload: str, name: str, mode: Mode, strategy: str = "auto"
) -> tuple[Program, Catalog]:
    """A query's program, and the catalog with its functions."""
    path = WORKLOADS[workload].queries()[name]
    catalog, queries = load(path.read_text(), str(path), catalog_of(workload), default_name=name)
    [query] = [q for q in queries if q.name == name]
    return _compiled(catalog, query, mode, strategy), catalog


def program_from(sql: str, name: str, mode: Mode) -> tuple[Program, Catalog]:
    """The program of a script that declares streams and ends in one query."""
    catalog, [query] = load(sql, name, default_name=name)
    return _compiled(catalog, query, mode), catalog


def _compiled(catalog: Catalog, query: Query, mode: Mode, strategy: str = "auto") -> Program:
    """The program that the database would run.

    For batches, too, that of single rows, unless a statement of it walks through all the data.
    """
    one_by_one = _planned(catalog, query, "tuple", strategy)
    if mode == "tuple" or not write(one_by_one, catalog.functions).scans:
        return one_by_one
    return _planned(catalog, query, "batch", strategy)


def _planned(catalog: Catalog, query: Query, mode: Mode, strategy: str) -> Program:
    relations = list(catalog.relations.values())
    if strategy == "auto":
        chosen = plan.PlanOptions(mode=mode, caches=False)
        return choose_and_compile([query], relations, chosen, catalog.functions)
    options = replace(STRATEGIES[strategy], mode=mode)
    return compile_queries([query], relations, options, catalog.functions)


def waits(program: Program, catalog: Catalog, mode: Mode) -> bool:
    """Whether some maps are not as fresh as a reader after each event (or batch) must find them.

    Those are recomputed when they are read, or, for single rows, once for all that come together.
    """
    kernel = write(program, catalog.functions)
    return bool(kernel.deferred) or (mode == "tuple" and bool(kernel.late))


def streams_of(program: Program) -> set[str]:
    """The relations whose changes matter to a program."""
    return {t.relation for t in program.triggers if t.event != "ready" and t.statements}


def static_of(workload: str) -> set[str]:
    """The tables of a workload that are loaded before the changes."""
    return {r.name for r in catalog_of(workload).relations.values() if r.static}


KernelBatch = tuple[int, Exported, np.ndarray]
"""A window as a kernel takes it: the number of the relation, its rows, their counts."""


@dataclass(slots=True)
class Running:
    """A kernel that has its static tables, ready for windows of events."""

    engine: KernelEngine
    name: str

    def ready(self, runs: Sequence[Sequence[Window]]) -> list[list[KernelBatch]]:
        """Runs of windows as the kernel takes them."""
        kernel = self.engine.kernel
        number = {r.name: i for i, r in enumerate(kernel.relations)}
        schema = {w.relation: w.rows.schema for run in runs for w in run}
        capsule = {name: s.__arrow_c_schema__() for name, s in schema.items()}
        return [
            [(number[w.relation], Exported(w.rows, capsule[w.relation]), w.counts) for w in run]
            for run in runs
        ]

    def feeder(self) -> Callable[[Sequence[Window]], None]:
        """A function that gives a run of windows to the kernel, from pyarrow's batches."""
        kernel, instance = self.engine.kernel, self.engine.instance
        number = {r.name: i for i, r in enumerate(kernel.relations)}

        def feed(run: Sequence[Window]) -> None:
            for w in run:
                instance.apply_arrow(number[w.relation], w.rows, w.counts)

        return feed

    def read(self) -> pa.RecordBatch:
        """The view as Arrow."""
        frame = self.engine.instance.read_arrow(self.engine.kernel.query(self.name))
        return pa.record_batch(frame)

    def close(self) -> None:
        """Give the memory back."""
        self.engine.instance.close()


def start(
    program: Program,
    catalog: Catalog,
    static: dict[str, pa.Table],
    flags: Flags | None = None,
    passes: KernelPasses = USUAL_PASSES,
) -> Running:
    """An engine with its static tables loaded."""
    engine = kernel_engine(program, catalog.functions, flags, passes=passes)
    known = {r.name for r in engine.kernel.relations}
    for name, table in static.items():
        if name in known:
            engine.instance.load_static(engine.kernel.relation(name), one_batch(table))
    engine.instance.ready()
    engine.loaded = True
    return Running(engine, program.queries[0].name)


@dataclass(frozen=True, slots=True)
class Rate:
    """Events given in CPU seconds of this process; `whole` if the stream came to its end."""

    events: int
    seconds: float
    whole: bool

    @property
    def per_second(self) -> float:
        """Events per CPU second."""
        return self.events / self.seconds if self.seconds else 0.0


def drive(
    running: Running, runs: Sequence[Sequence[Window]], limit: float, reading: bool = False
) -> Rate:
    """Give all the runs, or as many as fit into `limit` CPU seconds; maybe read after each."""
    instance, query = running.engine.instance, running.engine.kernel.query(running.name)
    prepared = running.ready(runs)
    done, used, step = 0, 0.0, 1
    began = time.process_time()
    while done < len(runs) and used <= limit:
        for run in prepared[done : done + step]:
            for relation, rows, counts in run:
                instance.apply_arrow(relation, rows, counts)
            if reading:
                instance.read_arrow(query)
        done = min(done + step, len(runs))
        used = time.process_time() - began
        step = max(1, int(done * limit / used / 100))  # a hundredth of the limit, then look again
    events = sum(len(w) for run in runs[:done] for w in run)
    return Rate(events, used, done == len(runs))


def row_calls(
    running: Running, stream: Stream, first: int, end: int
) -> list[tuple[Callable[..., None], tuple[object, ...]]]:
    """A part of a stream as calls for single rows, each with the row that it takes."""
    kernel, instance = running.engine.kernel, running.engine.instance
    calls = []
    for w in chain.from_iterable(stream.windows(1, first, end)):
        change = instance.insert_row if w.counts[0] > 0 else instance.delete_row
        row = tuple(c[0].as_py() for c in w.rows.columns)
        calls.append((change(kernel.relation(w.relation)), row))
    return calls


def fresh(running: Running, stream: Stream, limit: float) -> Rate:
    """Single rows from Python, the view read after each, at twenty places along a stream.

    What lies between is given, but not measured; so the rate is that of the whole stream.
    """
    instance, query = running.engine.instance, running.engine.kernel.query(running.name)
    feed = running.feeder()
    events, used = 0, 0.0
    places = [*range(0, len(stream), max(100, len(stream) // 20)), len(stream)]
    for place, end in pairwise(places):
        calls = row_calls(running, stream, place, min(place + 100, end))
        began, done = time.process_time(), 0
        for call, row in calls:
            call(*row)
            instance.read_arrow(query)
            done += 1
            if time.process_time() - began > limit / 20:
                break
        used += time.process_time() - began
        events += done
        for run in stream.windows(10_000, place + done, end):
            feed(run)
    return Rate(events, used, True)
