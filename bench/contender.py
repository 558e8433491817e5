"""One side of `bench.against`: the queries of a checkout, prepared and run when asked.

`python bench/contender.py CHECKOUT` reads requests, a JSON object a line, and answers
each with one line. It uses the benchmark modules of that checkout, so it measures that package,
whatever it is called.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

PACKAGES = ("freshview", "freshet")
"""What the package has been called, the newest name first."""

WORKLOADS = {"tpch_papers": ("tpch_papers", "tpch_seed"), "finance": ("finance",)}
"""What the workloads have been called, by their newest names."""

PLANS = 3
"""How often a query is planned; the best counts."""


class Contender:
    """The queries of one checkout."""

    def __init__(self, checkout: Path) -> None:
        sys.path[:0] = [str(checkout), str(checkout / "src")]
        name = next(p for p in PACKAGES if (checkout / "src" / p).is_dir())
        self.package = import_module(name)
        self.native = import_module("bench.native")
        self.queries = import_module("bench.queries")
        self.workloads = import_module("workloads").WORKLOADS
        self._run: Callable[[], float] = lambda: 0.0

    def names(self) -> list[tuple[str, str]]:
        """The queries that can be asked for."""
        return [(w, q) for w in WORKLOADS for q in self.workloads[self._name(w)].queries()]

    def _name(self, workload: str) -> str:
        """What this checkout calls a workload."""
        return next(name for name in WORKLOADS[workload] if name in self.workloads)

    def prepare(self, workload: str, query: str, mode: str, scale: float, door: bool) -> float:
        """Plan a query and build its kernel; the CPU seconds that planning takes at best."""
        q, workload = self.queries, self._name(workload)
        planned = min(self._plan(workload, query, mode) for _ in range(PLANS))
        program, catalog = q.program_of(workload, query, mode)
        names = q.streams_of(program)
        stream = self.native.stream_for(workload, names, scale, 0.1)
        tables = {n: self.native.tables(scale)[n] for n in q.static_of(workload)}
        if door:
            windows = list(stream.windows(1000))
            self._run = lambda: self._through_the_door(workload, query, tables, windows)
        else:
            runs = self.native.runs_of(stream, mode)
            self._run = lambda: self._in_the_kernel(program, catalog, tables, runs)
        self._run()  # builds the kernel
        return planned

    def _plan(self, workload: str, query: str, mode: str) -> float:
        """The CPU seconds of planning a query, without those of collecting garbage."""
        self.queries.program_of.cache_clear()
        gc.collect()
        gc.disable()
        began = time.process_time()
        self.queries.program_of(workload, query, mode)
        planned = time.process_time() - began
        gc.enable()
        return planned

    def run(self) -> float:
        """The CPU seconds of one run over the whole stream."""
        return self._run()

    def _in_the_kernel(self, program: Any, catalog: Any, tables: Any, runs: Any) -> float:
        running = self.queries.start(program, catalog, tables)
        rate = self.queries.drive(running, runs, 60.0)
        running.close()
        return float(rate.seconds)

    def _through_the_door(self, workload: str, query: str, tables: Any, windows: Any) -> float:
        """`connect()` with defaults, batches over several streams, the view read at the end."""
        db = self.package.connect()
        db.execute(self.workloads[workload].schema.read_text())
        text = self.workloads[workload].queries()[query].read_text()
        db.execute(f"CREATE VIEW {query} AS {text}" if "CREATE VIEW" not in text.upper() else text)
        for name, table in tables.items():
            if name in {r.name for r in db.view(query).relations}:
                db.insert(name, table)
        began = time.process_time()
        for run in windows:
            db.apply({w.relation: _counted(w) for w in run})
        db.view(query).to_arrow()
        return time.process_time() - began


def _counted(window: Any) -> Any:
    """The rows of a window with how often each comes."""
    rows = window.rows
    return rows.append_column("__count", import_module("pyarrow").array(window.counts))


def main() -> None:
    """Answer requests until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed is no answer
    contender = Contender(Path(sys.argv[1]).resolve())
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(contender, request.pop("do"))(**request)
            reply = {"answer": answer}
        except Exception as e:
            reply = {"problem": f"{type(e).__name__}: {e}"}
        print(json.dumps(reply), file=answers, flush=True)


if __name__ == "__main__":
    main()
