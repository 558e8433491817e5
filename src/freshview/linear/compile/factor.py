"""Factorization (Lago's third phase): every delta as U * V', both narrow.

A delta is multiplied out to a sum of products, each product is cut in two, and cuts with a common
side are one. All the ways to cut are compared: least rank first, then least cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Literal

from freshview.linear.cost.operations import Sizes, cost, dims
from freshview.linear.language.build import (
    above,
    add,
    beside,
    identity,
    inverse,
    mul,
    scale,
    split,
    transpose,
)
from freshview.linear.language.meta import Scope, infer, shape
from freshview.linear.language.sizes import total
from freshview.linear.language.terms import Above, Add, Beside, Expr, Inverse, Mul, Scale, Zero
from freshview.linear.language.walk import map_children

Side = Literal["left", "right"]
WAYS = 256
"""How many ways to cut the products of one delta are compared."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One block of a factored delta: left * right."""

    left: Expr
    right: Expr


def products(e: Expr, scope: Scope) -> list[Expr]:
    """A term multiplied out: the products whose sum it is."""
    match e:
        case Add(terms):
            return [p for t in terms for p in products(t, scope)]
        case Scale(by, body):
            return [scale(by, p) for p in products(body, scope)]
        case Mul(factors):
            expanded = [products(f, scope) for f in factors]
            return [mul(*chosen) for chosen in product(*expanded)]
        case Beside(parts):
            return list(_stacked(parts, scope, sideways=True))
        case Above(parts):
            return list(_stacked(parts, scope, sideways=False))
        case _:
            return [e]


def _stacked(parts: Sequence[Expr], scope: Scope, *, sideways: bool) -> Iterator[Expr]:
    """[P * Q, 0] => P * [Q, 0], and [P * Q; 0] => [P; 0] * Q, part by part."""
    for i, part in enumerate(parts):
        if isinstance(part, Zero):
            continue
        for term in products(part, scope):
            by, factors = split(term)
            kept = factors[-1] if sideways else factors[0]
            blocks: list[Expr] = []
            for j, other in enumerate(parts):
                rows, cols = shape(other, scope)
                if j == i:
                    blocks.append(kept)
                elif sideways:
                    blocks.append(Zero(shape(kept, scope)[0], cols))
                else:
                    blocks.append(Zero(rows, shape(kept, scope)[1]))
            if sideways:
                yield scale(by, mul(*factors[:-1], beside(*blocks)))
            else:
                yield scale(by, mul(above(*blocks), *factors[1:]))


def solved(e: Expr, views: Mapping[Expr, Expr], scope: Scope) -> Expr:
    """Woodbury's formula for inv(M + P * Q') - inv(M), with the view that holds inv(M).

    The change of an inverse is -W * P * inv(I + Q' * W * P) * Q' * W, where W is the view.
    """
    match e:
        case Add((Inverse(Add((old, change))), Scale(-1.0, Inverse(same)))) if old == same:
            w = views[Inverse(old)]
            by, factors = split(change)
            if len(factors) < 2:  # the change is one whole matrix
                return add(inverse(add(old, change)), scale(-1.0, w))
            p, q = scale(by, factors[0]), factors[1]
            k = shape(q, scope)[0]
            small = inverse(add(identity(k), mul(q, w, p)))
            return mul(scale(-1.0, w), p, small, q, w)
        case _:
            return map_children(e, lambda c: solved(c, views, scope))


def cuts(e: Expr, scope: Scope, sizes: Sizes, side: Side) -> list[Pair]:
    """The ways to cut a product in two where it is narrower than its ends, the preferred first."""
    by, factors = split(e)
    at = [d.at(sizes) for d in dims(factors, scope)]
    inner = range(1, len(factors))
    narrow = [i for i in inner if at[i] < min(at[0], at[-1])]
    narrow = narrow or [min(inner, key=lambda i: at[i])]
    order = narrow if side == "left" else narrow[::-1]
    return [Pair(scale(by, mul(*factors[:i])), mul(*factors[i:])) for i in order]


def merged(pairs: Sequence[Pair]) -> list[Pair]:
    """Pairs with a common side are one: P * Q + P * R => P * (Q + R)."""
    merged_pairs = list(pairs)
    while True:
        for i, a in enumerate(merged_pairs):
            for j in range(i + 1, len(merged_pairs)):
                b = merged_pairs[j]
                if a.left == b.left:
                    one = Pair(a.left, add(a.right, b.right))
                elif a.right == b.right:
                    one = Pair(add(a.left, b.left), a.right)
                else:
                    continue
                merged_pairs[i] = one
                del merged_pairs[j]
                break
            else:
                continue
            break
        else:
            return merged_pairs


def factor(terms: Sequence[Expr], scope: Scope, sizes: Sizes, side: Side) -> list[Pair]:
    """The blocks of a sum of products: of least total rank, then of least cost."""
    options = [cuts(t, scope, sizes, side) for t in terms]

    def price(pairs: list[Pair]) -> tuple[float, float]:
        rank = total(infer(p.left, scope).cols for p in pairs).at(sizes)
        sides = [s for p in pairs for s in (p.left, p.right)]
        return rank, total(cost(s, scope, sizes) for s in sides).at(sizes)

    ways = (merged(chosen) for chosen in islice(product(*options), WAYS))
    return min(ways, key=price)


def sides(pairs: Sequence[Pair]) -> tuple[Expr, Expr]:
    """U and V of blocks: the left sides beside each other, and so the transposed right ones."""
    return beside(*(p.left for p in pairs)), beside(*(transpose(p.right) for p in pairs))
