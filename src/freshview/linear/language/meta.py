"""What is known of a matrix without computing it: shape, symmetry, form and rank (Lago, A.3-A.7).

The shapes are checked on the way, symbolically: sizes are equal when they are the same polynomial.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import assert_never

from freshview.errors import FreshviewError, UnknownName
from freshview.linear.language.build import transpose
from freshview.linear.language.show import show
from freshview.linear.language.sizes import Size, total
from freshview.linear.language.terms import (
    Above,
    Add,
    Beside,
    Binder,
    Expr,
    Identity,
    Input,
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


class ShapeProblem(FreshviewError):
    """Matrices whose sizes do not go together."""


@dataclass(frozen=True, slots=True)
class Meta:
    """A shape and what else is known; `rank` is an upper bound, None where only the shape is.

    `of` names the symmetric matrix that this one is a polynomial of, "" if of any: polynomials of
    one matrix commute, so that their products are symmetric too.
    """

    rows: Size
    cols: Size
    symmetric: bool = False
    lower: bool = False
    upper: bool = False
    rank: Size | None = None
    of: str | None = None

    @property
    def diagonal(self) -> bool:
        """Whether everything beside the diagonal is zero."""
        return self.lower and self.upper

    def __str__(self) -> str:
        return f"{self.rows} x {self.cols}"


Scope = Mapping[str, Meta]


def input_meta(i: Input) -> Meta:
    """What an input's declaration says."""
    diagonal = "diagonal" in i.traits
    symmetric = diagonal or "symmetric" in i.traits
    if i.traits and i.rows != i.cols:
        raise ShapeProblem(
            f"{i.name} is declared {', '.join(sorted(i.traits))}, but is {i.rows} x {i.cols}",
            instead="such a matrix must be square",
        )
    return Meta(
        i.rows,
        i.cols,
        symmetric=symmetric,
        lower=diagonal or "lower" in i.traits,
        upper=diagonal or "upper" in i.traits,
        of=i.name if symmetric else None,
    )


def infer(e: Expr, scope: Scope) -> Meta:
    """The meta-information of a term; an error tells which part does not fit."""
    match e:
        case Var(name):
            if name not in scope:
                raise UnknownName(f"there is no matrix {name}", instead="declare it as an input")
            return scope[name]
        case Zero(rows, cols):
            square = rows == cols
            of = "" if square else None
            return Meta(rows, cols, square, square, square, rank=Size(()), of=of)
        case Ones(rows, cols):
            one = Size((((), 1),))
            return Meta(rows, cols, symmetric=rows == cols, rank=one)
        case Identity(n):
            return Meta(n, n, True, True, True, of="")
        case Scale(_, body):
            return infer(body, scope)
        case Transpose(body):
            m = infer(body, scope)
            return Meta(m.cols, m.rows, m.symmetric, m.upper, m.lower, m.rank, m.of)
        case Inverse(body):
            return _inverse(e, infer(body, scope))
        case Add(terms):
            return _sum(e, [infer(t, scope) for t in terms])
        case Mul(factors):
            return _product(e, factors, [infer(f, scope) for f in factors], scope)
        case Beside(parts):
            metas = [infer(p, scope) for p in parts]
            _same(e, [m.rows for m in metas], "rows")
            return Meta(metas[0].rows, total(m.cols for m in metas), rank=_ranks(metas))
        case Above(parts):
            metas = [infer(p, scope) for p in parts]
            _same(e, [m.cols for m in metas], "columns")
            return Meta(total(m.rows for m in metas), metas[0].cols, rank=_ranks(metas))
        case Let(name, value, body):
            return infer(body, {**scope, name: infer(value, scope)})
        case Iterate(_, start, name, body) | Until(_, start, name, body):
            return _iterate(e, infer(start, scope), name, body, scope)
        case _:
            assert_never(e)


def bound(e: Binder, value: Meta) -> Meta:
    """What is known inside of the matrix that a term binds; of rounds, only the shape."""
    return value if isinstance(e, Let) else Meta(value.rows, value.cols)


def shape(e: Expr, scope: Scope) -> tuple[Size, Size]:
    """Rows and columns."""
    m = infer(e, scope)
    return m.rows, m.cols


def _inverse(e: Expr, m: Meta) -> Meta:
    if m.rows != m.cols:
        raise ShapeProblem(
            f"{show(e)} inverts a matrix of {m}", instead="only square matrices have an inverse"
        )
    return replace(m, rank=None)


def _sum(e: Expr, metas: list[Meta]) -> Meta:
    first = metas[0]
    for m in metas[1:]:
        if (m.rows, m.cols) != (first.rows, first.cols):
            raise ShapeProblem(
                f"{show(e)} adds {first} and {m}", instead="their shapes must be equal"
            )
    return Meta(
        first.rows,
        first.cols,
        all(m.symmetric for m in metas),
        all(m.lower for m in metas),
        all(m.upper for m in metas),
        _ranks(metas),
        _of(metas),
    )


def _product(e: Expr, factors: tuple[Expr, ...], metas: list[Meta], scope: Scope) -> Meta:
    for left, right in pairwise(metas):
        if left.cols != right.rows:
            raise ShapeProblem(
                f"{show(e)} multiplies {left} by {right}",
                instead="the columns of a factor must be the rows of the next",
            )
    of = _of(metas)
    bounds = [m.rank for m in metas if m.rank is not None]
    bounds += [m.cols for m in metas[:-1] if m.cols.number is not None]
    return Meta(
        metas[0].rows,
        metas[-1].cols,
        of is not None or _palindrome(factors, scope) or all(m.diagonal for m in metas),
        all(m.lower for m in metas),
        all(m.upper for m in metas),
        min(bounds, key=lambda s: s.at({})) if bounds else None,
        of,
    )


def _of(metas: list[Meta]) -> str | None:
    """The one symmetric matrix that all are polynomials of."""
    names = {m.of for m in metas} - {""}
    if len(names) > 1:
        return None
    return names.pop() if names else ""


def _palindrome(factors: tuple[Expr, ...], scope: Scope) -> bool:
    """Whether a product is its own transpose, factor by factor: A' * S * A."""

    def same(a: Expr, b: Expr) -> bool:
        return transpose(a) == b or (a == b and infer(a, scope).symmetric)

    half = (len(factors) + 1) // 2
    return all(same(factors[i], factors[-1 - i]) for i in range(half))


def _ranks(metas: list[Meta]) -> Size | None:
    ranks = [m.rank for m in metas]
    return total(r for r in ranks if r is not None) if None not in ranks else None


def _iterate(e: Expr, start: Meta, name: str, body: Expr, scope: Scope) -> Meta:
    plain = Meta(start.rows, start.cols)
    after = infer(body, {**scope, name: plain})
    if (after.rows, after.cols) != (start.rows, start.cols):
        raise ShapeProblem(
            f"{show(e)} starts from {start} and makes {after} of it",
            instead="an iteration must keep the shape",
        )
    return plain


def _same(e: Expr, sizes: list[Size], what: str) -> None:
    for s in sizes[1:]:
        if s != sizes[0]:
            raise ShapeProblem(f"{show(e)} stacks {sizes[0]} and {s} {what}")
