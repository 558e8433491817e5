"""The meaning of terms on arrays; products in the order that the sizes make cheapest."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import assert_never

from freshview.errors import FreshviewError
from freshview.linear.cost.operations import chain
from freshview.linear.kernels.semiring import Array, Semiring
from freshview.linear.language.show import Tree, show
from freshview.linear.language.sizes import Size, size
from freshview.linear.language.terms import (
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
    Until,
    Var,
    Zero,
)


class Singular(FreshviewError):
    """A matrix that has no inverse, or almost none."""


class NotConverged(FreshviewError):
    """An iteration to a tolerance that does not come to an end."""


TRUSTED = 1e15
"""The condition number up to which an inverse is trusted."""

MOST_ROUNDS = 10_000
"""After how many rounds an iteration to a tolerance is given up."""


def evaluate(
    e: Expr,
    values: Mapping[str, Array],
    ring: Semiring,
    sizes: Mapping[str, float],
    limit: float = math.inf,
    *,
    mirrored: Callable[[Expr], bool] | None = None,
    on_rounds: Callable[[int], None] | None = None,
) -> Array:
    """The matrix that a term denotes; it may be one of `values` itself, or a view of one.

    `limit` bounds how much an inverse of I + ... may magnify: beyond, `Singular` is raised.
    `mirrored` says which products are known to be symmetric; `on_rounds` hears after how many
    rounds an iteration ended.
    """
    return _Evaluation(values, ring, sizes, limit, mirrored, on_rounds).term(e)


@dataclass(frozen=True)
class _Evaluation:
    values: Mapping[str, Array]
    ring: Semiring
    sizes: Mapping[str, float]
    limit: float
    mirrored: Callable[[Expr], bool] | None
    on_rounds: Callable[[int], None] | None

    def term(self, e: Expr) -> Array:
        ring = self.ring
        match e:
            case Var(name):
                return self.values[name]
            case Zero(rows, cols):
                return ring.full(self.at(rows), self.at(cols), ring.zero)
            case Ones(rows, cols):
                return ring.full(self.at(rows), self.at(cols), ring.one)
            case Identity(n):
                return ring.identity(self.at(n))
            case Scale(by, body):
                return by * self.term(body)
            case Transpose(body):
                return self.term(body).T
            case Inverse(body):
                return self.invert(self.term(body), e)
            case Add(terms):
                return self.sum(terms)
            case Mul(factors):
                arrays = [self.term(f) for f in factors]
                if len(arrays) == 2 and self.mirrored is not None and self.mirrored(e):
                    return ring.mirrored(*arrays)
                dims = (arrays[0].shape[0], *(f.shape[1] for f in arrays))
                return self.multiply(arrays, _order(dims))
            case Beside(parts):
                return ring.beside([self.term(p) for p in parts])
            case Above(parts):
                return ring.above([self.term(p) for p in parts])
            case Let(name, value, body):
                return self.with_value(name, self.term(value)).term(body)
            case Iterate(count, start, name, body):
                current = self.term(start)
                for _ in range(count):
                    current = self.with_value(name, current).term(body)
                return current
            case Until():
                return self.until(e)
            case _:
                assert_never(e)

    def with_value(self, name: str, value: Array) -> _Evaluation:
        return replace(self, values={**self.values, name: value})

    def at(self, s: Size) -> int:
        unknown = {v for m, _ in s.terms for v in m} - self.sizes.keys()
        if unknown:
            raise FreshviewError(f"the size {min(unknown)} is not known", instead="give its value")
        return int(s.at(self.sizes))

    def multiply(self, arrays: list[Array], tree: Tree) -> Array:
        if isinstance(tree, int):
            return arrays[tree]
        return self.ring.product(*(self.multiply(arrays, side) for side in tree))

    def sum(self, terms: tuple[Expr, ...]) -> Array:
        """A sum; what is subtracted is, and an identity only touches the diagonal."""
        first, *rest = sorted(terms, key=_is_multiple_of_identity)
        total = self.ring.copy(self.term(first))
        for t in rest:
            if _is_multiple_of_identity(t):
                by = t.by if isinstance(t, Scale) else self.ring.one
                total = self.ring.on_diagonal(total, by)
            elif isinstance(t, Scale) and t.by == -1:
                total = self.ring.added(total, self.term(t.body), -1)
            else:
                total = self.ring.added(total, self.term(t))
        return total

    def invert(self, a: Array, e: Expr) -> Array:
        """The inverse; refuses a matrix that is singular to working precision."""
        inverse = self.ring.inverse(a)
        size_of, size_of_inverse = self.ring.norm(a), self.ring.norm(inverse)
        condition, magnified = size_of * size_of_inverse, max(size_of, 1.0) * size_of_inverse
        if not math.isfinite(condition) or condition > TRUSTED or magnified > self.limit:
            raise Singular(f"{show(e)} does not exist: the matrix is singular, or nearly so")
        return inverse

    def until(self, e: Until) -> Array:
        """Rounds until two of them are as good as equal."""
        ring = self.ring
        old = self.term(e.start)
        for rounds in range(1, MOST_ROUNDS + 1):
            new = self.with_value(e.name, old).term(e.body)
            if not ring.is_ring:
                near = ring.equal(new, old)
            else:
                length = ring.length(new)
                if e.unit and length:
                    new = (ring.sign(new) / length) * new
                    length = 1.0
                if not math.isfinite(length):
                    break
                near = ring.length(new - old) <= e.tolerance * length
            if near:
                if self.on_rounds is not None:
                    self.on_rounds(rounds)
                return new
            old = new
        raise NotConverged(
            f"{show(e)} does not converge: it "
            + ("still changes" if rounds == MOST_ROUNDS else "grows beyond all bounds")
            + f" after {rounds:,} rounds",
            instead="an iteration must be a contraction, and its tolerance not below rounding",
        )


def _is_multiple_of_identity(e: Expr) -> bool:
    return isinstance(e.body if isinstance(e, Scale) else e, Identity)


@lru_cache(maxsize=4096)
def _order(dims: tuple[int, ...]) -> Tree:
    return chain([size(d) for d in dims], {})[1]
