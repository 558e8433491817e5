"""How far hashing is from a grid where suppliers are skewed, by counts: no row is joined.

What the fullest joiner stores of EQ7 (all suppliers, all line items) by the hash of the supplier,
as a multiple of what it stores on the best grid. Two ways to draw the suppliers of line items:

    by supplier  Zipf's law over the suppliers themselves; the benchmark on Spark has these rows
    by part      Zipf's law over the parts, of which each has four suppliers that share its lines
                 evenly: what the generator does that the thesis names (Chaudhuri and Narasayya)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.report import show
from freshview.theta import Sizes
from freshview.theta.grid import load_factor, optimal
from freshview.theta.local.common_kind import combine, hash_values
from freshview.theta.placement import addresses
from freshview.theta.terms import HashPlacement

SUPPLIERS, PARTS, LINES = 10_000, 200_000, 6_000_000
"""Of TPC-H at scale 1."""
SUPPLIERS_OF_A_PART = 4


def zipf(count: int, values: int, z: float, rng: Any) -> Any:
    """Numbers below `values`, of which the k-th is k^-z times as frequent as the first."""
    shares = np.cumsum(np.arange(1, values + 1, dtype=float) ** -z)
    return np.searchsorted(shares / shares[-1], rng.random(count)).astype(np.int64)


def by_supplier(z: float, rng: Any) -> Any:
    """The suppliers of all line items, drawn themselves."""
    return zipf(LINES, SUPPLIERS, z, rng)


def by_part(z: float, rng: Any) -> Any:
    """The suppliers of all line items: one of the four of a part, as TPC-H spreads them."""
    names = rng.permutation(PARTS)
    part = names[zipf(LINES, PARTS, z, rng)]
    one = rng.integers(0, SUPPLIERS_OF_A_PART, LINES)
    return (part + one * (SUPPLIERS // SUPPLIERS_OF_A_PART + part // SUPPLIERS)) % SUPPLIERS


def fullest(suppliers: Any, joiners: int) -> float:
    """What the fullest joiner stores by hash, to the load of the best grid."""
    placement = HashPlacement(tuple(range(joiners)))
    counts = np.zeros(joiners, np.int64)
    for keys in (suppliers, np.arange(SUPPLIERS)):
        hashes = combine(np.zeros(len(keys), np.uint64), hash_values(keys, "int"))
        counts += np.bincount(addresses(placement, "S", hashes, hashes), minlength=joiners)
    sizes = Sizes(SUPPLIERS, len(suppliers))
    return float(counts.max() / load_factor(optimal(joiners, sizes), sizes))


def skew() -> dict[str, float]:
    """The table; at z = 1 the frequent suppliers are a tenth and less of all line items."""
    ways: dict[str, Callable[[float, Any], Any]] = {"supplier": by_supplier, "part": by_part}
    results: dict[str, float] = {}
    rows = []
    for name, draw in ways.items():
        for z in (0.0, 0.25, 0.5, 0.75, 1.0, 2.0, 4.0):
            suppliers = draw(z, np.random.default_rng(7))
            share = np.bincount(suppliers).max() / LINES
            ratios = [fullest(suppliers, joiners) for joiners in (16, 64)]
            rows.append([f"by {name}", f"{z:g}", f"{share:.1%}", *(f"{r:.2f}" for r in ratios)])
            results[f"by {name}, z = {z:g}"] = ratios[0]
    names = ["suppliers", "z", "largest", "16 joiners", "64 joiners"]
    show("the fullest joiner by hash, to the best grid", names, rows, "by counts")
    return results


if __name__ == "__main__":
    skew()
