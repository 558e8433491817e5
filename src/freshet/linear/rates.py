"""How fast this machine multiplies: an estimate in seconds, beside the count of operations.

A count takes all operations for alike; but a product of whole matrices runs at the speed of BLAS on
all cores, an update in place at that of small panels, and a narrow factor at that of memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import assert_never

import numpy as np

from freshet.linear.cost import Sizes, chain, dims
from freshet.linear.meta import Scope, infer
from freshet.linear.semiring import REAL
from freshet.linear.show import Tree
from freshet.linear.terms import (
    Above,
    Add,
    Beside,
    Expr,
    Identity,
    Inverse,
    Iterate,
    Let,
    Mul,
    Ones,
    Scale,
    Transpose,
    Var,
    Zero,
)
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
def measured() -> Rates:
    """The rates of this machine, measured once, in about a tenth of a second."""
    random = np.random.default_rng(0)
    n, k = 512, 32
    a, b = random.standard_normal((2, n, n))
    u, v = random.standard_normal((2, n, k))
    product = n**3 / _least(lambda: a @ b)
    one = _least(lambda: REAL.accumulate(a, u[:, :2], v[:, :2]))
    many = _least(lambda: REAL.accumulate(a, u, v))
    return Rates(
        product=product,
        update=max(n * n * (k - 2) / max(many - one, 1e-9), product / SLOWEST),
        memory=n * n / one,
        inverse=n**3 / _least(lambda: np.linalg.inv(a + n * np.eye(n))),
    )


def _least(work: Callable[[], object]) -> float:
    found = []
    for _ in range(6):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return min(found)


def trigger_seconds(t: Trigger, sizes: Sizes, rates: Rates) -> float:
    """How long a trigger takes for an update of the rank that `sizes` tell."""
    spent = sum(seconds(s.term, t.scope, sizes, rates) for s in (*t.assignments, *t.again))
    for u in t.updates:
        m = t.scope[u.view]
        cells = m.rows.at(sizes) * m.cols.at(sizes)
        spent += cells / rates.memory
        if not isinstance(u.change, Dense):
            rank = infer(u.change.left, t.scope).cols.at(sizes)
            spent += cells * rank / rates.update
    return spent


def seconds(e: Expr, scope: Scope, sizes: Sizes, rates: Rates) -> float:
    """How long a term takes."""

    def inside(*parts: Expr) -> float:
        return sum(seconds(p, scope, sizes, rates) for p in parts)

    def cells() -> float:
        m = infer(e, scope)
        return m.rows.at(sizes) * m.cols.at(sizes) / rates.memory

    match e:
        case Var() | Zero() | Ones() | Identity():
            return 0.0
        case Transpose(body):
            return inside(body)
        case Scale(_, body):
            return inside(body) + cells()
        case Inverse(body):
            return inside(body) + infer(body, scope).rows.at(sizes) ** 3 / rates.inverse
        case Add(terms):
            return inside(*terms) + cells() * (len(terms) - 1)
        case Beside(parts) | Above(parts):
            return inside(*parts) + cells()
        case Mul(factors):
            along = dims(factors, scope)
            at = [d.at(sizes) for d in along]
            return inside(*factors) + _products(chain(along, sizes)[1], at, rates)[2]
        case Let(name, value, body):
            inner = {**scope, name: infer(value, scope)}
            return inside(value) + seconds(body, inner, sizes, rates)
        case Iterate(count, start, name, body):
            inner = {**scope, name: infer(start, scope)}
            return inside(start) + count * seconds(body, inner, sizes, rates)
        case _:
            assert_never(e)


def _products(tree: Tree, at: list[float], rates: Rates) -> tuple[int, int, float]:
    """The first and last factor of a product, and how long it takes."""
    if isinstance(tree, int):
        return tree, tree, 0.0
    (first, middle, a), (_, last, b) = (_products(side, at, rates) for side in tree)
    n, m, p = at[first], at[middle + 1], at[last + 1]
    moved = (n * m + m * p + n * p) / (2 * rates.memory)  # an update reads and writes each cell
    return first, last, a + b + n * m * p / rates.product + moved
