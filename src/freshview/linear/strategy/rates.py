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

from freshview.linear.compile.trigger import Dense, Trigger
from freshview.linear.cost.operations import Sizes, Work, work
from freshview.linear.kernels.semiring import REAL, Array, Semiring
from freshview.linear.language.meta import infer

WHOLE, WIDE, RANK = 768, 1536, 32
"""The sides of what is multiplied whole and of what is updated (larger than a cache); its rank."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Multiplications a second in a product and in an update, cells a second through memory."""

    product: float
    update: float
    memory: float
    inverse: float


@cache
def measured(ring: Semiring = REAL) -> Rates:
    """The rates of this machine, measured once, in about a quarter of a second.

    Each is the best of several: other processes make a machine seem slower, never faster. Nor is an
    update ever faster than a product, or slower than its rank in passes over memory.
    """
    random = np.random.default_rng(0)
    a, b = (ring.put(x) for x in random.standard_normal((2, WHOLE, WHOLE)))
    into = ring.put(random.standard_normal((WIDE, WIDE)))
    u, v = (ring.put(x) for x in 1e-3 * random.standard_normal((2, WIDE, RANK)))
    thin = [ring.copy(x[:, :1]) for x in (u, v)]
    well = ring.on_diagonal(ring.copy(a), float(WHOLE))

    def least(work: Callable[[], Array]) -> float:
        seconds = []
        for _ in range(6):
            began = time.perf_counter()
            ring.wait(work())
            seconds.append(time.perf_counter() - began)
        return min(seconds)

    product = WHOLE**3 / least(lambda: a @ b)
    one = least(lambda: ring.accumulate(into, *thin))
    many = least(lambda: ring.accumulate(into, u, v))
    memory = WIDE**2 / one
    update = WIDE**2 * (RANK - 1) / max(many - one, 1e-9)
    return Rates(
        product=product,
        update=max(min(update, product), min(memory, product)),
        memory=memory,
        inverse=WHOLE**3 / least(lambda: ring.inverse(well)),
    )


@dataclass(frozen=True, slots=True)
class SecondsModel:
    """Triggers by how long they take, for updates of the rank that `sizes` tell."""

    sizes: Sizes
    rates: Rates

    def cost(self, plan: Trigger, /) -> float:
        """The seconds that a trigger takes."""
        sizes, rates = self.sizes, self.rates
        terms = [s.term for s in (*plan.assignments, *plan.again)]
        spent = sum(seconds(w, sizes, rates) for e in terms for w in work(e, plan.scope, sizes))
        for u in plan.updates:
            m = plan.scope[u.view]
            cells = m.rows.at(sizes) * m.cols.at(sizes)
            spent += cells / rates.memory
            if not isinstance(u.change, Dense):
                rank = infer(u.change.left, plan.scope).cols.at(sizes)
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
