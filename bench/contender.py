"""One side of `bench.against`: the queries of a checkout, prepared and run when asked.

`python bench/contender.py CHECKOUT` reads requests, a JSON object a line, and answers
each with one line. It uses the benchmark modules of that checkout, so it measures that package,
whatever it is called.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

PACKAGES = ("freshview", "freshet")
"""What the package has been called, the newest name first."""

WORKLOADS = {"tpch_papers": ("tpch_papers", "tpch_seed"), "finance": ("finance",)}
"""What the workloads have been called, by their newest names."""

PLANS = 3
"""How often a query is planned; the best counts."""

PLACES, READ = 20, 500
"""Where rows come one by one: so many places along a stream, so many rows at each."""


class Contender:
    """The queries of one checkout."""

    def __init__(self, checkout: Path) -> None:
        sys.path[:0] = [str(checkout), str(checkout / "src")]
        name = next(p for p in PACKAGES if (checkout / "src" / p).is_dir())
        self.package = import_module(name)
        self.native = import_module("bench.native")
        self.queries = import_module("bench.queries")
        self.workloads = import_module("workloads").WORKLOADS
        self._run: Callable[[str], float] = lambda _: 0.0
        self._waits = ""
        self._cache = TemporaryDirectory()

    def names(self) -> list[tuple[str, str]]:
        """The queries that can be asked for."""
        return [(w, q) for w in WORKLOADS for q in self.workloads[self._name(w)].queries()]

    def wording(self, workload: str, query: str) -> str:
        """The text of a query without its comments and line breaks."""
        text = self.workloads[self._name(workload)].queries()[query].read_text()
        return " ".join(word for line in text.splitlines() for word in line.split("--")[0].split())

    def _name(self, workload: str) -> str:
        """What this checkout calls a workload."""
        return next(name for name in WORKLOADS[workload] if name in self.workloads)

    def prepare(
        self, workload: str, query: str, mode: str, scale: float, door: bool, book: str
    ) -> float:
        """Plan a query and build its kernel; the CPU seconds that planning takes at best.

        Through the door these are the seconds from the view's text to its kernel.
        """
        q, workload = self.queries, self._name(workload)
        plan = self._load if door else self._plan
        planned = min(plan(workload, query, mode) for _ in range(PLANS))
        program, catalog = q.program_of(workload, query, mode)
        stream = self._stream(workload, q.streams_of(program), scale, book)
        tables = {n: self.native.tables(scale)[n] for n in q.static_of(workload)}
        kernel = q.write(program, catalog.functions)
        if mode == "tuple" and not door:
            self._waits = "read" if kernel.deferred else "rows" if kernel.late else ""
        if door:
            windows = list(stream.windows(1000))
            self._run = lambda _: self._through_the_door(workload, query, tables, windows)
        else:
            begin = partial(q.start, program, catalog, tables)
            runs = self.native.runs_of(stream, mode)
            self._run = lambda fresh: self._in_the_kernel(begin, runs, stream, fresh)
        self._run("")  # builds the kernel
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

    def _load(self, workload: str, query: str, _: str) -> float:
        """The CPU seconds from a view's text to its loaded kernel, once its library is compiled.

        Of what was kept on disk only libraries stay.
        """
        cache = user_cache()
        os.environ["XDG_CACHE_HOME"] = self._cache.name
        seconds = []
        for _ in range(2):  # the first one compiles, if no other has
            for kept in Path(self._cache.name).glob("*/*"):
                if kept.name != "kernels":
                    shutil.rmtree(kept)
            db = self.package.connect(engine="native")
            db.execute(self.workloads[workload].schema.read_text())
            gc.collect()
            began = time.process_time()
            db.execute(self._text(workload, query))
            db.views[-1].to_arrow()
            seconds.append(time.process_time() - began)
        os.environ["XDG_CACHE_HOME"] = cache
        return seconds[-1]

    def _text(self, workload: str, query: str) -> str:
        """The statements that declare a query's view, which comes last."""
        text: str = self.workloads[workload].queries()[query].read_text()
        return text

    def _stream(self, workload: str, names: set[str], scale: float, book: str) -> Any:
        """The events; of a growing book, no order goes."""
        if workload == "finance" and book == "growing":
            data = self.native.data
            return data.only(data.order_book(int(200_000 * scale), steps=0), names)
        return self.native.stream_for(workload, names, scale, 0.1)

    def waits(self) -> str:
        """What makes a view of single rows fresh after each: a call for it alone, or a read."""
        return self._waits

    def run(self, fresh: str = "") -> float:
        """The CPU seconds of one run over the whole stream.

        If `fresh` says how, those of single rows, each of which leaves a fresh view.
        """
        return self._run(fresh)

    def _in_the_kernel(self, begin: Callable[[], Any], runs: Any, stream: Any, fresh: str) -> float:
        running = begin()
        if fresh:
            seconds = self._fresh(running, stream, fresh == "read")
        else:
            seconds = float(self.queries.drive(running, runs, 60.0).seconds)
        running.close()
        return seconds

    def _fresh(self, running: Any, stream: Any, read: bool) -> float:
        """The CPU seconds of single rows, maybe each with a read, at places along a stream."""
        instance, query = running.engine.instance, running.engine.kernel.query(running.name)
        feed = running.feeder()
        seconds = 0.0
        places = [*range(0, len(stream), max(READ, len(stream) // PLACES)), len(stream)]
        for place, end in pairwise(places):
            stop = min(place + READ, end)
            calls = self.queries.row_calls(running, stream, place, stop)
            began = time.process_time()
            for call, row in calls:
                call(*row)
                if read:
                    instance.read_arrow(query)
            seconds += time.process_time() - began
            for run in stream.windows(10_000, stop, end):
                feed(run)
        return seconds

    def _through_the_door(self, workload: str, query: str, tables: Any, windows: Any) -> float:
        """`connect()` with defaults, batches over several streams, the view read at the end."""
        db = self.package.connect()
        db.execute(self.workloads[workload].schema.read_text())
        db.execute(self._text(workload, query))
        for name, table in tables.items():
            db.load(name, table)
        began = time.process_time()
        for run in windows:
            db.apply({w.relation: _counted(w) for w in run})
        db.views[-1].to_arrow()
        return time.process_time() - began


def user_cache() -> str:
    """Where this user's caches are."""
    return os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))


def _counted(window: Any) -> Any:
    """The rows of a window with how often each comes."""
    rows = window.rows
    return rows.append_column("__count", import_module("pyarrow").array(window.counts))


def main() -> None:
    """Answer requests until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed is not an answer
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
