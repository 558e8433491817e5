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
from freshet import linear
from freshet.linear import Program
from freshet.linear.bits import _counted, some

Array = np.ndarray[Any, Any]
BARS = {"A^16": {4000: 10.0}, "OLS": {2000: 20.0, 6000: 50.0}, "descent": {2000: 6.0}}
BARS["paths"] = {2000: 23.0}
"""How many times as fast as computing anew an update is wanted to be."""


def least(count: int, work: Callable[[], object]) -> float:
    """The shortest of some runs, in seconds."""
    found = []
    for _ in range(count):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return min(found)


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


def paths(n: int) -> tuple[Program, Callable[[Program], object]]:
    """Shortest paths of four hops; an edge is added."""
    random = np.random.default_rng(n)
    graph = np.where(random.random((n, n)) < 8 / n, random.random((n, n)), np.inf)
    g = linear.matrix("G", "n")
    p = Program(
        {"D": linear.shortest_paths(g, 4)}, G=graph, semiring="min-plus", strategy="incremental"
    )

    def change(q: Program) -> None:
        i, j = (int(x) for x in random.integers(0, n, 2))
        q.update("G", cells=[(i, j, 0.01)])

    return p, change


PROGRAMS = {"A^16": a16, "OLS": ols, "descent": descent, "paths": paths}


def ratios(name: str, sizes: list[int]) -> list[dict[str, Any]]:
    """One program at rising sizes."""
    found = []
    for n in sizes:
        p, change = PROGRAMS[name](n)
        change(p)  # what is measured is the second update and later ones
        update = middle(7, partial(change, p))  # updates differ: the cheapest one is not typical
        anew = least(2 if n < 3000 else 1, p.reevaluate)
        apart = {i.name for i in p.normal.inputs} | set(p.normal.outputs)
        beside = sum(v.nbytes for k, v in p.values.items() if k not in apart)
        found.append(
            {
                "program": name,
                "n": n,
                "anew": anew,
                "update": update,
                "ratio": anew / update,
                "wanted": BARS[name].get(n),
                "MiB": beside / 2**20,
            }
        )
    return found


def zipf(n: int, rows: int, exponents: list[float]) -> list[dict[str, Any]]:
    """Batches of rows drawn by Zipf's law: the steeper, the fewer distinct ones."""
    random = np.random.default_rng(1)
    a = linear.matrix("A", "n")
    start = random.standard_normal((n, n)) / (2 * n**0.5)
    both = {
        s: Program({"P": linear.powers(a, 16, "exponential")}, A=start, strategy=s)  # type: ignore[arg-type]
        for s in ("incremental", "reevaluate", "auto")
    }
    found = []
    for z in exponents:
        weights = np.arange(1.0, n + 1) ** -z
        places = random.choice(n, rows, p=weights / weights.sum())
        rank = len(np.unique(places))
        v = random.standard_normal((rows, n)) * 1e-4
        spent = {}
        for s in ("incremental", "reevaluate"):
            both[s].choice("A", rank)
            spent[s] = least(2, partial(both[s].update, "A", rows=places, v=v))
        chosen = both["auto"].choice("A", rank).strategy
        best = "incremental" if spent["incremental"] < spent["reevaluate"] else "reevaluate"
        found.append({"exponent": z, "rank": rank, **spent, "auto": chosen, "best": best})
    return found


def crossover(n: int) -> dict[str, Any]:
    """From which rank on `auto` computes anew, and from which rank on that is faster."""
    random = np.random.default_rng(2)
    a = linear.matrix("A", "n")
    start = random.standard_normal((n, n)) / (2 * n**0.5)
    made = {
        s: Program({"P": linear.powers(a, 16, "exponential")}, A=start, strategy=s)  # type: ignore[arg-type]
        for s in ("incremental", "reevaluate", "auto")
    }
    low, high = 1, n
    while low < high:
        rank = (low + high) // 2
        if made["auto"].choice("A", rank).strategy == "reevaluate":
            high = rank
        else:
            low = rank + 1
    points = []
    for share in (0.5, 0.65, 0.8, 1.0, 1.25, 1.6, 2.0):
        rank = max(1, min(n, round(low * share)))
        v = 1e-4 * random.standard_normal((rank, n))
        spent = []
        for s in ("incremental", "reevaluate"):
            made[s].choice("A", rank)
            spent.append(middle(3, partial(made[s].update, "A", rows=np.arange(rank), v=v)))
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
    """Four hops of reachability by unions of packed rows, and by counting ways with BLAS."""
    random = np.random.default_rng(n)
    found = []
    for edges in (4, 16, 64):
        graph = random.random((n, n)) < edges / n
        assert np.array_equal(hops(graph, some), hops(graph, _counted))
        packed, dense = (
            least(3, partial(hops, graph, some)),
            least(2, partial(hops, graph, _counted)),
        )
        found.append({"edges": edges, "packed": packed, "dense": dense, "ratio": dense / packed})
    return found


def main() -> None:
    """Measure, show, and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    quick = parser.parse_args().quick
    sizes = {
        "A^16": [500, 1000] if quick else [500, 1000, 2000, 4000],
        "OLS": [500, 1000] if quick else [1000, 2000, 6000],
        "descent": [500] if quick else [1000, 2000],
        "paths": [200, 400] if quick else [500, 1000, 2000],
    }
    results: list[dict[str, Any]] = []
    for name, at in sizes.items():
        results += ratios(name, at)
        rows = [
            (
                str(r["n"]),
                f"{1e3 * r['anew']:.1f} ms",
                f"{1e3 * r['update']:.2f} ms",
                times(r["ratio"]),
                times(r["wanted"]),
                f"{r['MiB']:.0f} MiB",
            )
            for r in results
            if r["program"] == name
        ]
        show(name, ("n", "anew", "update", "ratio", "wanted", "views beside"), rows)
    n = 500 if quick else 2000
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
    packed = bits(n)
    show(
        f"Reachability in four hops, n = {n}: packed rows beside counting with BLAS",
        ("edges a node", "dense", "packed", "ratio", "wanted"),
        [
            (
                str(b["edges"]),
                f"{1e3 * b['dense']:.1f} ms",
                f"{1e3 * b['packed']:.1f} ms",
                times(b["ratio"]),
                times(3.0),
            )
            for b in packed
        ],
    )
    write("linear", {"programs": results, "zipf": batches, "crossover": met, "bits": packed})


if __name__ == "__main__":
    main()
