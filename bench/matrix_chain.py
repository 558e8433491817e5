"""A product of three matrices as a view: rank-1 changes as factors, as rows, and by NumPy.

The matrices are relations of entries, (row, column, value), and their product is a query:

    SELECT x1, x4, SUM(p1 * p2 * p3) FROM A1 NATURAL JOIN A2 NATURAL JOIN A3 GROUP BY x1, x4

A1 and A3 stay, and A2 changes, one row of it at a time, or by u * v' with dense u and v. Given as
factors, either costs the square of n; given as rows to first-order maintenance, a row costs its
cube. The crossover rank is that from which on it is quicker to compute the view anew than to apply
so many products: by the same kernel, which is given all the rows of A2; or by NumPy, which has
dense arrays.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a kernel has one, too

import numpy as np
import pyarrow as pa

from bench.apart import apart
from bench.report import show, times, write
from freshview.factorized import options as factorized
from freshview.factorized.compile import compile_queries as factorized_compile
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.program.terms import Program
from freshview.runtime.compile.kernel_engine import kernel_engine
from freshview.sql.load import load

BAR = 28.0
"""How many times as fast as first-order maintenance factors are wanted to be at n = 256."""
PIECE = 16
"""Entries of a row that first-order maintenance is given at once: it looks at the clock between."""


SCRIPT = """
CREATE TABLE A1 (x1 INT NOT NULL, x2 INT NOT NULL, p1 DOUBLE NOT NULL);
CREATE STREAM A2 (x2 INT NOT NULL, x3 INT NOT NULL, p2 DOUBLE NOT NULL);
CREATE TABLE A3 (x3 INT NOT NULL, x4 INT NOT NULL, p3 DOUBLE NOT NULL);
CREATE VIEW q AS SELECT x1, x4, SUM(p1 * p2 * p3) AS entry
  FROM A1 NATURAL JOIN A2 NATURAL JOIN A3 GROUP BY x1, x4;
"""


def program(way: str) -> Program:
    """A view tree whose middle matrix also changes by products; or the delta over base relations.

    Both keep, beside the sum of each group, the number of its rows, as SQL needs it.
    """
    catalog, [query] = load(SCRIPT, "matrix_chain")
    matrices = tuple(catalog.relations.values())
    if way == "first-order":
        return compile_queries([query], matrices, DeltaOptions(mode="batch", depth=1))
    groups = {"A2": (("x2", "p2"), ("x3", "p2"))}
    options = factorized.ViewTreeOptions(products=groups)
    return factorized_compile([query], matrices, options)


def entries(number: int, m: np.ndarray, rows: np.ndarray | None = None) -> pa.RecordBatch:
    """A matrix, or some rows of one, as rows of its relation."""
    row = np.arange(len(m)) if rows is None else rows
    i, j = np.repeat(row, m.shape[1]), np.tile(np.arange(m.shape[1]), len(m))
    return pa.record_batch({f"x{number}": i, f"x{number + 1}": j, f"p{number}": m.ravel()})


class Chain:
    """A running program for A1 * A2 * A3, and the dense matrices beside it; A2 starts as zero."""

    def __init__(self, program: Program, n: int) -> None:
        self.engine = kernel_engine(program)
        self.n = n
        self.rng = np.random.default_rng(n)
        self.left, self.right = self.rng.random((n, n)), self.rng.random((n, n))
        self.middle = np.zeros((n, n))
        for number, m in ((1, self.left), (3, self.right)):
            at = self.engine.kernel.relation(f"A{number}")
            self.engine.instance.load_static(at, entries(number, m))
        self.engine.instance.ready()

    def give(self, relation: str, rows: pa.RecordBatch) -> float:
        """CPU seconds of a batch."""
        at = self.engine.kernel.relation(relation)
        began = time.process_time()
        self.engine.instance.apply_arrow(at, rows)
        return time.process_time() - began

    def product(self, rows: np.ndarray, u: np.ndarray, v: np.ndarray) -> float:
        """A2 += u * v' as two factors, u with entries at some rows only."""
        spent = self.give("A2_1", pa.record_batch({"x2": rows, "p2": u}))
        spent += self.give("A2_2", pa.record_batch({"x3": np.arange(self.n), "p2": v}))
        self.middle[rows] += np.outer(u, v)
        return spent

    def row_as_product(self) -> float:
        """A row of A2, chosen at random, changes."""
        return self.product(self.rng.integers(self.n, size=1), np.ones(1), self.rng.random(self.n))

    def dense_product(self) -> float:
        """All of A2 changes by a product of two dense vectors."""
        return self.product(np.arange(self.n), self.rng.random(self.n), self.rng.random(self.n))

    def row_listed(self, piece: int, limit: float) -> float:
        """A row as rows, some entries at a time; seconds of the whole one by those in the limit."""
        row, v = int(self.rng.integers(self.n)), self.rng.random(self.n)
        done, spent = 0, 0.0
        while done < self.n and spent <= limit:
            part = entries(2, v[None, done : done + piece], np.array([row]))
            columns = pa.array(np.arange(done, min(done + piece, self.n)))
            spent += self.give("A2", part.set_column(1, "x3", columns))
            self.middle[row, done : done + piece] += v[done : done + piece]
            done += piece
        return spent * self.n / min(done, self.n)

    def recomputed(self) -> float:
        """CPU seconds of NumPy for the whole product."""
        began = time.process_time()
        self.left @ self.middle @ self.right
        return time.process_time() - began

    def check(self) -> None:
        """The view is the product of the matrices as they are now."""
        rows = pa.record_batch(self.engine.instance.read_arrow(self.engine.kernel.query("q")))
        product = np.zeros((self.n, self.n))
        product[rows["x1"].to_numpy(), rows["x4"].to_numpy()] = rows["entry"].to_numpy()
        np.testing.assert_allclose(product, self.left @ self.middle @ self.right, rtol=1e-9)


def measure(way: str, n: int, args: argparse.Namespace) -> dict[str, float]:
    """CPU seconds a change, each the median of some, and the bytes of the state."""
    chain = Chain(program(way), n)
    kinds: dict[str, Callable[[], float]]
    if way == "first-order":
        kinds = {"row": lambda: chain.row_listed(PIECE, args.limit)}
    else:
        kinds = {
            "row": chain.row_as_product,
            "rows of the tree": lambda: chain.row_listed(n, args.limit),
            "rank 1": chain.dense_product,
            "numpy": chain.recomputed,
        }
    times = {kind: _median(call, args) for kind, call in kinds.items()}
    times["bytes"] = chain.engine.instance.stats().bytes
    chain.check()
    chain.engine.instance.close()
    return times


def _median(call: Callable[[], float], args: argparse.Namespace) -> float:
    """One call to warm up, then some, as long as they stay within the limit."""
    spent = [call()]
    for _ in range(args.repeat if spent[0] < args.limit / args.repeat else 0):
        spent.append(call())
    return float(np.median(spent[1:] or spent))


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.matrix_chain", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 512, 1024])
    parser.add_argument("--whole", action="store_true", help="sizes up to 4,096: 5 GB of memory")
    parser.add_argument("--limit", type=float, default=20, help="CPU seconds of one measurement")
    parser.add_argument("--repeat", type=int, default=5, help="changes, whose median counts")
    parser.add_argument("--quick", action="store_true", help="small matrices, short runs")
    args = parser.parse_args()
    if args.whole:
        args.sizes = [256, 512, 1024, 2048, 4096]
    if args.quick:
        args.sizes, args.limit = [128, 256], 2.0
    results: dict[int, Any] = {}
    lines: list[list[object]] = []
    for n in args.sizes:
        medians: dict[str, dict[str, float]] = {}
        for way in ("factors", "first-order"):
            answer, problem = apart(measure, way, n, args, limit=3600)
            if problem:
                print(n, way, problem)
                continue
            medians[way] = answer
        results[n] = medians
        if len(medians) == 2:
            lines.append(_line(n, medians["factors"], medians["first-order"]))
    show(
        "A1 * A2 * A3: milliseconds of CPU a change of A2; the views are equal to NumPy's product",
        (
            "n",
            "row",
            "listed",
            "first-order",
            "row is",
            "bar",
            "rank 1",
            "crossover",
            "NumPy",
            "its",
        ),
        lines,
        "row, rank 1: by factors. listed: a row as rows, on the same view tree. crossover: the "
        "rank from which on the kernel recomputes faster; its: NumPy.",
    )
    write("matrix_chain", results)


def _line(n: int, ours: dict[str, float], others: dict[str, float]) -> list[object]:
    ms = [f"{1000 * t:,.1f}" for t in (ours["row"], ours["rows of the tree"], others["row"])]
    bar = f"{BAR:g}x" if n == 256 else "-"
    again = n * ours["rows of the tree"], ours["numpy"]
    crossover, its = (f"{t / ours['rank 1']:,.1f}" for t in again)
    rank_1, numpy = (f"{1000 * ours[kind]:,.1f}" for kind in ("rank 1", "numpy"))
    ratio = times(others["row"] / ours["row"])
    return [f"{n:,}", *ms, ratio, bar, rank_1, crossover, numpy, its]


if __name__ == "__main__":
    main()
