"""Matrix programs followed by deltas beside the same programs computed anew, on the same BLAS.

Every figure is a ratio within one run: the time to compute the views anew, over the time of an
update. Memory is what the views beside the inputs and the result take.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np

from bench.report import show, times, write
from freshview import linear
from freshview.linear import Program
from freshview.linear.compile.options import Strategy
from freshview.linear.kernels.boolean import counted
from freshview.linear.kernels.semiring import BOOLEAN

Array = np.ndarray[Any, Any]
BARS = {"A^16": {4000: 10.0}, "OLS": {2000: 20.0, 6000: 50.0}, "descent": {2000: 6.0}}
BARS["paths"] = {2000: 23.0}
"""How many times as fast as computing anew an update is wanted to be."""


def least(count: int, work: Callable[[], object]) -> float:
    """The shortest of some runs, in seconds."""
    seconds = []
    for _ in range(count):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def middle(count: int, work: Callable[[], object]) -> float:
    """The median of some runs, in seconds."""
    return median(least(1, work) for _ in range(count))


def a16(n: int) -> tuple[Program, Callable[[Program], object]]:
    """The sixteenth power of a matrix of which one row changes."""
    random = np.random.default_rng(n)
    a = linear.matrix("A", "n")
    start = random.standard_normal((n, n)) / (2 * n**0.5)
    p = Program({"P": linear.powers(a, 16, "exponential")}, A=start, strategy="incremental")
    return p, lambda q: q.update("A", rows=[1], v=0.01 * random.standard_normal((1, n)))


def ols(n: int) -> tuple[Program, Callable[[Program], object]]:
    """Square least squares: X, Y and beta are n x n, one row of X changes."""
    random = np.random.default_rng(n)
    x, y = linear.matrix("X", "n"), linear.matrix("Y", "n", dynamic=False)
    start = random.standard_normal((n, n)) + 3 * n**0.5 * np.eye(n)
    values = {"X": start, "Y": random.standard_normal((n, n))}
    p = Program({"beta": linear.ols(x, y)}, values, strategy="incremental")
    return p, lambda q: q.update("X", rows=[1], v=0.01 * random.standard_normal((1, n)))


def descent(n: int) -> tuple[Program, Callable[[Program], object]]:
    """Sixteen rounds of gradient descent, the parameters n x n."""
    random = np.random.default_rng(n)
    x, y = linear.matrix("X", "n"), linear.matrix("Y", "n", dynamic=False)
    values = {"X": random.standard_normal((n, n)), "Y": random.standard_normal((n, n))}
    theta = linear.gradient_descent(x, y, linear.zeros("n", "n"), 16, 0.1 / n, "exponential")
    p = Program({"theta": theta}, values, strategy="incremental")
    return p, lambda q: q.update("X", rows=[1], v=0.01 * random.standard_normal((1, n)))


def paths(n: int, edges: float = 8.0) -> tuple[Program, Callable[[Program], object]]:
    """Shortest paths of four hops over so many edges a node; one is added, or gets shorter."""
    random = np.random.default_rng(n)
    there = random.random((n, n)) < edges / n
    graph = np.where(there, random.random((n, n)), np.inf)
    g = linear.matrix("G", "n")
    p = Program(
        {"D": linear.shortest_paths(g, 4)}, G=graph, semiring="min-plus", strategy="incremental"
    )

    def change(q: Program) -> None:
        i, j = (int(x) for x in random.integers(0, n, 2))
        q.update("G", cells=[(i, j, 0.01)])

    return p, change


def full_paths(n: int) -> tuple[Program, Callable[[Program], object]]:
    """The same over a graph that has all the edges."""
    return paths(n, float(n))


PROGRAMS = {
    "A^16": a16,
    "OLS": ols,
    "descent": descent,
    "paths": full_paths,
    "paths, 8 edges a node": paths,
}


def ratios(name: str, sizes: list[int]) -> list[dict[str, Any]]:
    """One program at rising sizes."""
    rows = []
    for n in sizes:
        p, change = PROGRAMS[name](n)
        change(p)  # what is measured is the second update and later ones
        # Updates of paths differ, and the cheapest is not typical. Those of the others do the same
        # work every time: what one takes longer than another is another process's doing.
        typical = middle if name.startswith("paths") else least
        update = typical(15, partial(change, p))
        anew = least(3 if n < 3000 else 2, p.reevaluate)
        apart = {i.name for i in p.normal.inputs} | set(p.normal.outputs)
        beside = sum(v.nbytes for k, v in p.values.items() if k not in apart)
        rows.append(
            {
                "program": name,
                "n": n,
                "anew": anew,
                "update": update,
                "ratio": anew / update,
                "wanted": BARS.get(name, {}).get(n),
                "MiB": beside / 2**20,
            }
        )
    return rows


def powers_by(n: int, seed: int) -> tuple[np.random.Generator, dict[str, Program]]:
    """A^16 by deltas, anew, and as `auto` decides."""
    random = np.random.default_rng(seed)
    a = linear.matrix("A", "n")
    start = random.standard_normal((n, n)) / (2 * n**0.5)
    ways: tuple[Strategy, ...] = ("incremental", "reevaluate", "auto")
    program = {"P": linear.powers(a, 16, "exponential")}
    return random, {s: Program(program, A=start, strategy=s) for s in ways}


def zipf(n: int, rows: int, exponents: list[float]) -> list[dict[str, Any]]:
    """Batches of rows drawn by Zipf's law: the steeper, the fewer distinct ones."""
    random, programs = powers_by(n, 1)
    anew = least(3, programs["reevaluate"].reevaluate)
    measured = []
    for z in exponents:
        weights = np.arange(1.0, n + 1) ** -z
        places = random.choice(n, rows, p=weights / weights.sum())
        rank = len(np.unique(places))
        v = random.standard_normal((rows, n)) * 1e-4
        programs["incremental"].choice("A", rank)
        spent = least(2, partial(programs["incremental"].update, "A", rows=places, v=v))
        chosen = programs["auto"].choice("A", rank).strategy
        best = "incremental" if spent < anew else "reevaluate"
        measured.append(
            {
                "exponent": z,
                "rank": rank,
                "incremental": spent,
                "reevaluate": anew,
                "auto": chosen,
                "best": best,
            }
        )
    return measured


def crossover(n: int) -> dict[str, Any]:
    """From which rank on `auto` computes anew, and from which rank on that is faster."""
    random, programs = powers_by(n, 2)
    low, high = 1, n
    while low < high:
        rank = (low + high) // 2
        if programs["auto"].choice("A", rank).strategy == "reevaluate":
            high = rank
        else:
            low = rank + 1
    points = []
    for share in (0.5, 0.65, 0.8, 0.9, 1.0, 1.12, 1.25, 1.6, 2.0):
        rank = max(1, min(n, round(low * share)))
        v = 1e-4 * random.standard_normal((rank, n))
        spent = []
        for s in ("incremental", "reevaluate"):
            programs[s].choice("A", rank)
            spent.append(least(3, partial(programs[s].update, "A", rows=np.arange(rank), v=v)))
        points.append((rank, spent[0] / spent[1]))
    return {"auto": low, "true": _meets(points), "points": points}


def _meets(points: list[tuple[int, float]]) -> float | None:
    """Where a rising ratio passes 1, between the points; None if it does not there."""
    for (r, x), (q, y) in pairwise(points):
        if x <= 1 < y:
            return r + (q - r) * (1 - x) / (y - x)
    return None


def hops(graph: Array, product: Callable[[Array, Array], Array]) -> Array:
    """Which node reaches which in four hops."""
    eye = np.eye(len(graph), dtype=bool)
    reached = eye
    for _ in range(4):
        reached = product(graph, reached) | eye
    return reached


def bits(n: int) -> list[dict[str, Any]]:
    """Four hops of reachability by unions of packed rows, and by counting ways with BLAS.

    The graph goes both ways: what is reached is symmetric, and half of it can be computed.
    """
    random = np.random.default_rng(n)
    rows = []
    for edges in (4, 16, 64):
        graph = random.random((n, n)) < edges / 2 / n
        graph |= graph.T
        ways = {"dense": counted, "packed": BOOLEAN.product, "half": BOOLEAN.mirrored}
        results = [hops(graph, product) for product in ways.values()]
        assert all(np.array_equal(results[0], r) for r in results[1:])
        spent = {name: least(3, partial(hops, graph, p)) for name, p in ways.items()}
        rows.append({"edges": edges, **spent})
    return rows


SIZES: dict[str, tuple[list[int], list[int]]] = {
    "A^16": ([500, 1000], [500, 1000, 2000, 4000]),
    "OLS": ([500, 1000], [1000, 2000, 6000]),
    "descent": ([500], [1000, 2000]),
    "paths": ([200, 400], [500, 1000, 2000]),
    "paths, 8 edges a node": ([200, 400], [500, 1000, 2000]),
}
"""Of each program, sizes for a first look, and all of them."""


def show_ratios(name: str, quick: bool) -> list[dict[str, Any]]:
    """Measure one program and show it."""
    figures = ratios(name, SIZES[name][0 if quick else 1])
    rows = [
        (
            str(r["n"]),
            f"{1e3 * r['anew']:.1f} ms",
            f"{1e3 * r['update']:.2f} ms",
            times(r["ratio"]),
            times(r["wanted"]),
            f"{r['MiB']:.0f} MiB",
        )
        for r in figures
    ]
    show(name, ("n", "anew", "update", "ratio", "wanted", "views beside"), rows)
    return figures


def show_zipf(n: int) -> dict[str, Any]:
    """Batches, and the rank at which the two ways break even."""
    batches = zipf(n, 1000, [5, 4, 3, 2, 1.5, 1, 0.5, 0])
    show(
        f"A^16, n = {n}: batches of 1,000 rows by Zipf's law",
        ("exponent", "rank", "incremental", "anew", "auto", "best"),
        [
            (
                str(b["exponent"]),
                b["rank"],
                f"{1e3 * b['incremental']:.1f} ms",
                f"{1e3 * b['reevaluate']:.1f} ms",
                b["auto"],
                b["best"],
            )
            for b in batches
        ],
    )
    met = crossover(n)
    off = None if met["true"] is None else met["auto"] / met["true"] - 1
    show(
        f"A^16, n = {n}: the rank from which computing anew is faster",
        ("", "rank"),
        [
            ("auto computes anew from", str(met["auto"])),
            ("it is faster from", "-" if met["true"] is None else f"{met['true']:.0f}"),
            ("auto is off by (wanted: within 20%)", "-" if off is None else f"{off:+.0%}"),
        ],
        "incremental over anew: " + ", ".join(f"rank {r} {x:.2f}" for r, x in met["points"]),
    )
    return {"batches": batches, "crossover": met}


def show_bits(n: int) -> list[dict[str, Any]]:
    """Boolean kernels beside counting."""
    rows = bits(n)
    show(
        f"Reachability in four hops, n = {n}: packed rows beside counting with BLAS",
        ("edges a node", "dense", "packed", "ratio", "wanted", "symmetric", "ratio"),
        [
            (
                str(b["edges"]),
                f"{1e3 * b['dense']:.1f} ms",
                f"{1e3 * b['packed']:.1f} ms",
                times(b["dense"] / b["packed"]),
                times(3.0),
                f"{1e3 * b['half']:.1f} ms",
                times(b["dense"] / b["half"]),
            )
            for b in rows
        ],
    )
    return rows


def main() -> None:
    """Measure, show, and keep the numbers."""
    parts = [*PROGRAMS, "zipf", "bits"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument(
        "--part", action="append", choices=parts, help="this; more than once for more"
    )
    args = parser.parse_args()
    wanted = args.part or parts
    n = 500 if args.quick else 2000
    results: dict[str, Any] = {}
    for part in wanted:
        if part in PROGRAMS:
            results[part] = show_ratios(part, args.quick)
        else:
            results[part] = show_zipf(n) if part == "zipf" else show_bits(n)
    write("linear" if not args.part else "linear-" + "-".join(args.part), results)


if __name__ == "__main__":
    main()
