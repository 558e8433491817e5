"""Matrix expressions in Python: `A @ B + C.T`, `2 * A - B`, `inverse(A)`, `iterate(...)`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from freshview.errors import FreshviewError
from freshview.linear.language import build
from freshview.linear.language.meta import Meta, infer, input_meta
from freshview.linear.language.show import show
from freshview.linear.language.sizes import Size, size
from freshview.linear.language.terms import (
    TRAITS,
    Expr,
    Input,
    Iterate,
    Let,
    Ones,
    Until,
    Var,
    Zero,
)
from freshview.linear.language.walk import Names, binders

Extent: TypeAlias = "Size | int | str"


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix expression: a term, and the inputs that it reads. Shapes are checked at once.

    >>> A, B = matrix("A", "n", "m"), matrix("B", "n", "m")
    >>> print(2 * A.T @ B - identity("m"))
    2 * A' * B - eye(m)
    >>> A @ B
    Traceback (most recent call last):
        ...
    freshview.linear.language.meta.ShapeProblem: A * B multiplies n x m by n x m; the columns ...
    """

    term: Expr
    inputs: Mapping[str, Input] = field(default_factory=dict)
    bound: Mapping[str, Meta] = field(default_factory=dict)

    __array_ufunc__ = None  # so that NumPy leaves `2.0 * A` to this class

    def __post_init__(self) -> None:
        infer(self.term, self.scope)

    @property
    def scope(self) -> dict[str, Meta]:
        """What is known of the names that occur."""
        return {**{n: input_meta(i) for n, i in self.inputs.items()}, **self.bound}

    @property
    def rows(self) -> Size:
        """How many rows there are."""
        return infer(self.term, self.scope).rows

    @property
    def cols(self) -> Size:
        """How many columns there are."""
        return infer(self.term, self.scope).cols

    @property
    def T(self) -> Matrix:
        """The transpose."""
        return Matrix(build.transpose(self.term), self.inputs, self.bound)

    def __matmul__(self, other: Matrix) -> Matrix:
        return _join(build.mul, self, other)

    def __add__(self, other: Matrix) -> Matrix:
        return _join(build.add, self, other)

    def __sub__(self, other: Matrix) -> Matrix:
        return _join(build.add, self, -other)

    def __neg__(self) -> Matrix:
        return self * -1.0

    def __mul__(self, by: float) -> Matrix:
        if isinstance(by, Matrix):
            raise FreshviewError("cells are not multiplied one by one", instead="A @ B multiplies")
        return Matrix(build.scale(_number(by), self.term), self.inputs, self.bound)

    __rmul__ = __mul__

    def __truediv__(self, by: float) -> Matrix:
        if not _number(by):
            raise FreshviewError("a matrix is divided by 0", instead="use another number")
        return self * (1.0 / by)

    def __str__(self) -> str:
        return show(self.term)

    def __repr__(self) -> str:
        return f"<{self.rows} x {self.cols}: {self}>"


def _number(by: object) -> float:
    """A number to multiply a matrix by."""
    try:
        number = float(by)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(by, str | bytes) or not math.isfinite(number):
        raise FreshviewError(
            f"a matrix is multiplied by {by!r}", instead="use a finite real number, or A @ B"
        )
    return number


def _join(make: Callable[..., Expr], *parts: Matrix) -> Matrix:
    inputs: dict[str, Input] = {}
    bound: dict[str, Meta] = {}
    if not parts:
        raise FreshviewError("there is no matrix to join", instead="give a matrix expression")
    for p in parts:
        if not isinstance(p, Matrix):
            raise FreshviewError(
                f"{p!r} is not a matrix expression",
                instead="declare an input for it, or use fill, diag and identity",
            )
        for name, i in p.inputs.items():
            if inputs.setdefault(name, i) != i:
                raise FreshviewError(f"{name} is declared twice, and differently")
        bound.update(p.bound)
    return Matrix(make(*(p.term for p in parts)), inputs, bound)


def matrix(
    name: str, rows: Extent, cols: Extent | None = None, *traits: str, dynamic: bool = True
) -> Matrix:
    """An input; square if it has only rows. Traits: symmetric, diagonal, lower, upper."""
    for t in traits:
        if t not in TRAITS:
            raise FreshviewError(f"{t!r} is not a trait", instead=f"use {', '.join(TRAITS)}")
    r = size(rows)
    declared = Input(name, r, r if cols is None else size(cols), dynamic, frozenset(traits))
    return Matrix(Var(name), {name: declared})


def inverse(a: Matrix) -> Matrix:
    """The inverse of a square matrix."""
    return _join(build.inverse, a)


def beside(*parts: Matrix) -> Matrix:
    """Matrices left to right: [A, B]."""
    return _join(build.beside, *parts)


def above(*parts: Matrix) -> Matrix:
    """Matrices top to bottom: [A; B]."""
    return _join(build.above, *parts)


def identity(n: Extent) -> Matrix:
    """Ones on the diagonal."""
    return Matrix(build.identity(n))


def zeros(rows: Extent, cols: Extent) -> Matrix:
    """The zero of the semiring everywhere."""
    return Matrix(Zero(size(rows), size(cols)))


def ones(rows: Extent, cols: Extent) -> Matrix:
    """The one of the semiring everywhere."""
    return Matrix(Ones(size(rows), size(cols)))


def fill(rows: Extent, cols: Extent, by: float) -> Matrix:
    """The same number everywhere."""
    return Matrix(build.fill(rows, cols, _number(by)))


def diag(n: Extent, by: float) -> Matrix:
    """The same number all along the diagonal."""
    return Matrix(build.diag(n, _number(by)))


class Bindings:
    """Names for matrices on the way to a result: what has a name is computed once, as it stands.

    >>> a, names = matrix("A", "n"), Bindings()
    >>> square = names.bind("B", a @ a)
    >>> print(names.close(square @ square))
    let B = A * A in B * B
    """

    def __init__(self) -> None:
        self.bindings: list[tuple[str, Matrix]] = []

    def bind(self, hint: str, value: Matrix) -> Matrix:
        """A name for a matrix, unless it is a bare name already."""
        if isinstance(value.term, Var):
            return value
        used = {n for n, _ in self.bindings}.union(*(m.inputs for _, m in self.bindings))
        name = Names(used | set(value.inputs) | set(value.bound)).fresh(hint)
        self.bindings.append((name, value))
        return Matrix(
            Var(name), value.inputs, {**value.bound, name: infer(value.term, value.scope)}
        )

    def close(self, result: Matrix) -> Matrix:
        """The result with its names inside."""
        for name, value in reversed(self.bindings):

            def let(v: Expr, body: Expr, name: str = name) -> Expr:
                return Let(name, v, body)

            result = _bound(name, let, value, result)
        return result


def _bound(name: str, make: Callable[[Expr, Expr], Expr], value: Matrix, body: Matrix) -> Matrix:
    """A binder of a name over a body: outside, the name is not known any more."""
    inputs = {**value.inputs, **body.inputs}
    for n, i in value.inputs.items():
        if inputs[n] != i:
            raise FreshviewError(f"{n} is declared twice, and differently")
    bound = {n: m for n, m in {**body.bound, **value.bound}.items() if n != name}
    return Matrix(make(value.term, body.term), inputs, bound)


def iterate(count: int, start: Matrix, step: Callable[[Matrix], Matrix]) -> Matrix:
    """`count` times from `start` on: x becomes step(x).

    >>> print(iterate(3, matrix("A", "n"), lambda x: x @ x))
    iterate(3, A, x => x * x)
    """
    if not isinstance(count, int) or count < 0:
        raise FreshviewError("an iteration runs 0 times or more")
    return _rounds(start, step, lambda first, x, body: Iterate(count, first, x, body))


def until(
    tolerance: float, start: Matrix, step: Callable[[Matrix], Matrix], *, unit: bool = False
) -> Matrix:
    """From `start` on x becomes step(x), until |step(x) - x| <= tolerance * |step(x)|.

    With `unit`, x is divided by its length after every round, its largest cell made positive. In a
    semiring other than the reals it goes on until nothing changes. An update goes on from the
    last result: the iteration must lead to the same one from anywhere, as a contraction does.

    >>> print(until(1e-9, matrix("s", "n", 1), lambda x: 0.5 * x))
    until(1e-09, s, x => 0.5 * x)
    """
    if not 0 <= tolerance < 1:
        raise FreshviewError(f"a tolerance cannot be {tolerance}", instead="use 1e-10 or so")

    def make(first: Expr, x: str, body: Expr) -> Expr:
        return Until(float(tolerance), first, x, body, unit)

    return _rounds(start, step, make)


def _rounds(
    start: Matrix,
    step: Callable[[Matrix], Matrix],
    make: Callable[[Expr, str, Expr], Expr],
) -> Matrix:
    """An iteration with a name for the matrix of a round that nothing else has."""
    plain = Meta(start.rows, start.cols)
    name = "x"
    while True:
        after = step(Matrix(Var(name), {}, {name: plain}))
        if not isinstance(after, Matrix):
            raise FreshviewError(
                f"the step of an iteration gives {after!r}", instead="give a matrix expression"
            )
        used = start.scope.keys() | after.inputs.keys() | binders(after.term)
        if name not in used:
            break
        name += "x"  # the step reads a matrix of this name, or binds it
    return _bound(name, lambda first, body: make(first, name, body), start, after)
