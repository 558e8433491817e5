"""The meaning of terms on NumPy arrays; products in the order that the sizes make cheapest."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import assert_never

import numpy as np

from freshet.errors import FreshetError
from freshet.linear.cost import chain
from freshet.linear.semiring import Array, Semiring
from freshet.linear.show import Tree, show
from freshet.linear.sizes import Size, size
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


class Singular(FreshetError):
    """A matrix that has no inverse, or almost none."""


TRUSTED = 1e15
"""The condition number up to which an inverse is trusted."""


def evaluate(
    e: Expr,
    values: Mapping[str, Array],
    ring: Semiring,
    sizes: Mapping[str, float],
    limit: float = math.inf,
) -> Array:
    """The matrix that a term denotes; it may be one of `values` itself, or a view of one.

    `limit` bounds how much an inverse of I + ... may magnify: beyond, `Singular` is raised.
    """

    def go(t: Expr) -> Array:
        return evaluate(t, values, ring, sizes, limit)

    match e:
        case Var(name):
            return values[name]
        case Zero(rows, cols):
            return np.full((_at(rows, sizes), _at(cols, sizes)), ring.zero, dtype=ring.dtype)
        case Ones(rows, cols):
            return np.full((_at(rows, sizes), _at(cols, sizes)), ring.one, dtype=ring.dtype)
        case Identity(n):
            return ring.identity(_at(n, sizes))
        case Scale(by, body):
            return by * go(body)
        case Transpose(body):
            return go(body).T
        case Inverse(body):
            return invert(go(body), e, limit)
        case Add(terms):
            return _sum(terms, go, ring)
        case Mul(factors):
            found = [go(f) for f in factors]
            dims = (found[0].shape[0], *(f.shape[1] for f in found))
            return _multiply(found, _order(dims), ring)
        case Beside(parts):
            return np.hstack([go(p) for p in parts])
        case Above(parts):
            return np.vstack([go(p) for p in parts])
        case Let(name, value, body):
            return evaluate(body, {**values, name: go(value)}, ring, sizes, limit)
        case Iterate(count, start, name, body):
            current = go(start)
            for _ in range(count):
                current = evaluate(body, {**values, name: current}, ring, sizes, limit)
            return current
        case _:
            assert_never(e)


def invert(a: Array, e: Expr, limit: float = math.inf) -> Array:
    """The inverse; refuses a matrix that is singular to working precision."""
    if a.shape == (1, 1):
        found: Array = 1.0 / a if a[0, 0] else np.full((1, 1), np.inf)
    else:
        try:
            found = np.linalg.inv(a)
        except np.linalg.LinAlgError:
            found = np.full(a.shape, np.inf)
    size_of, size_of_inverse = _norm(a), _norm(found)
    condition, magnified = size_of * size_of_inverse, max(size_of, 1.0) * size_of_inverse
    if not math.isfinite(condition) or condition > TRUSTED or magnified > limit:
        raise Singular(f"{show(e)} does not exist: the matrix is singular, or nearly so")
    return found


def _norm(a: Array) -> float:
    return float(np.abs(a).sum(axis=0).max(initial=0.0))


def _sum(terms: Sequence[Expr], go: Callable[[Expr], Array], ring: Semiring) -> Array:
    """A sum; what is subtracted is, and an identity only touches the diagonal."""
    ordered = sorted(terms, key=_is_multiple_of_identity)
    total: Array = np.array(go(ordered[0]), dtype=ring.dtype, order="C", copy=True)
    for t in ordered[1:]:
        if _is_multiple_of_identity(t):
            by = t.by if isinstance(t, Scale) else ring.one
            i = np.arange(total.shape[0])
            total[i, i] = ring.plus(total[i, i], by)
        elif isinstance(t, Scale) and t.by == -1:
            np.subtract(total, go(t.body), out=total)
        else:
            ring.plus(total, go(t), out=total)
    return total


def _is_multiple_of_identity(e: Expr) -> bool:
    return isinstance(e.body if isinstance(e, Scale) else e, Identity)


def _multiply(found: list[Array], tree: Tree, ring: Semiring) -> Array:
    if isinstance(tree, int):
        return found[tree]
    return ring.product(_multiply(found, tree[0], ring), _multiply(found, tree[1], ring))


@lru_cache(maxsize=4096)
def _order(dims: tuple[int, ...]) -> Tree:
    return chain([size(d) for d in dims], {})[1]


def _at(s: Size, sizes: Mapping[str, float]) -> int:
    unknown = {v for m, _ in s.terms for v in m} - sizes.keys()
    if unknown:
        raise FreshetError(f"the size {min(unknown)} is not known", instead="give its value")
    return int(s.at(sizes))
