"""How fast this machine multiplies: an estimate in seconds, beside the count of operations.

A count takes all operations for alike; but a product of whole matrices runs at the speed of BLAS on
all cores, an update in place at that of small panels, and a narrow factor at that of memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np

from freshet.linear.cost import Sizes, Work, work
from freshet.linear.meta import infer
from freshet.linear.semiring import REAL, Array, Semiring
from freshet.linear.trigger import Dense, Trigger

SLOWEST = 8.0
"""How many times as slow as a product an update may seem: more is another process at work."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Multiplications a second in a product and in an update, cells a second through memory."""

    product: float
    update: float
    memory: float
    inverse: float


@cache
def measured(ring: Semiring = REAL) -> Rates:
    """The rates of this machine, measured once, in about a tenth of a second."""
    random = np.random.default_rng(0)
    n, k = 512, 32
    a, b = (ring.put(x) for x in random.standard_normal((2, n, n)))
    u, v = (ring.put(x) for x in random.standard_normal((2, n, k)))
    well = ring.on_diagonal(ring.copy(a), float(n))

    def least(work: Callable[[], Array]) -> float:
        found = []
        for _ in range(6):
            began = time.perf_counter()
            ring.wait(work())
            found.append(time.perf_counter() - began)
        return min(found)

    product = n**3 / least(lambda: a @ b)
    one = least(lambda: ring.accumulate(a, u[:, :2], v[:, :2]))
    many = least(lambda: ring.accumulate(a, u, v))
    return Rates(
        product=product,
        update=max(n * n * (k - 2) / max(many - one, 1e-9), product / SLOWEST),
        memory=n * n / one,
        inverse=n**3 / least(lambda: ring.inverse(well)),
    )


def trigger_seconds(t: Trigger, sizes: Sizes, rates: Rates) -> float:
    """How long a trigger takes for an update of the rank that `sizes` tell."""
    statements = (*t.assignments, *t.again)
    spent = sum(seconds(w, sizes, rates) for s in statements for w in work(s.term, t.scope, sizes))
    for u in t.updates:
        m = t.scope[u.view]
        cells = m.rows.at(sizes) * m.cols.at(sizes)
        spent += cells / rates.memory
        if not isinstance(u.change, Dense):
            rank = infer(u.change.left, t.scope).cols.at(sizes)
            spent += cells * rank / rates.update
    return spent


def seconds(w: Work, sizes: Sizes, rates: Rates) -> float:
    """How long a piece of work takes."""
    at = [s.at(sizes) for s in w.along]
    if w.kind == "cells":
        return w.times * prod(at) / rates.memory
    if w.kind == "inverse":
        return w.times * prod(at) / rates.inverse
    n, m, p = at
    moved = (n * m + m * p + n * p) / (2 * rates.memory)  # an update reads and writes each cell
    return w.times * (n * m * p / rates.product + moved)
