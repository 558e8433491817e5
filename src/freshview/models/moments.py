"""From a cofactor to matrices: the means and the centred products of some of its columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from freshview.algebra import Category, Real
from freshview.algebra import Cofactor as Element
from freshview.algebra.cofactor import Behind, Slot
from freshview.algebra.reading import behind, rounded

Vector: TypeAlias = npt.NDArray[np.float64]
Matrix: TypeAlias = npt.NDArray[np.float64]

EPSILON = float(np.finfo(np.float64).eps)
LOST = 1e-13
"""A variance below this share of the mean square is rounding: the column is constant."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A column of a cofactor: a number, or a category."""

    name: str
    categorical: bool = False


@dataclass(frozen=True, eq=False)
class Moments:
    """The count, the means, and the sums of products of deviations from them."""

    count: int
    slots: tuple[Slot, ...]
    mean: Vector
    scatter: Matrix

    def correlation(self) -> Matrix:
        """The matrix of correlations; NaN where a column is constant."""
        spread = np.sqrt(np.diag(self.scatter))
        with np.errstate(divide="ignore", invalid="ignore"):
            matrix: Matrix = self.scatter / np.outer(spread, spread)
        return np.clip(matrix, -1.0, 1.0)


def categories(element: Element, name: str) -> list[Any]:
    """The values of a categorical column that are there, in order.

    >>> x = Element.of(Category("c", "b"), 1) + Element.of(Category("c", "a"), 1)
    >>> categories(x, "c")
    ['a', 'b']
    """
    values = {s.value for s in element.sums if isinstance(s, Category) and s.name == name}
    return sorted(values)


def slots_of(
    element: Element, features: Iterable[Feature], *, drop_first: bool = False
) -> tuple[Slot, ...]:
    """The variables of features: those of a categorical one are its categories.

    With `drop_first` the first category is what the others are compared with.
    """
    slots: list[Slot] = []
    for f in features:
        if not f.categorical:
            slots.append(f.name)
            continue
        values = categories(element, f.name)
        slots += [Category(f.name, x) for x in (values[1:] if drop_first else values)]
    return tuple(slots)


def title(slot: Slot) -> str:
    """What a variable is called.

    >>> title("price"), title(Category("city", "Rome"))
    ('price', 'city=Rome')
    """
    return slot if isinstance(slot, str) else f"{slot.name}={slot.value}"


def cofactor_matrix(element: Element, slots: Sequence[Slot]) -> Matrix:
    """The sums of products of a constant 1 and some variables, as `Element.dense` has them.

    >>> cofactor_matrix(Element.of("x", 3) * Element.of("y", 5), ["y", "x"])
    array([[ 1.,  5.,  3.],
           [ 5., 25., 15.],
           [ 3., 15.,  9.]])
    """
    at = {slot: i for i, slot in enumerate(slots, 1)}
    dense = np.zeros((len(slots) + 1, len(slots) + 1))
    dense[0, 0] = element.count
    for slot, x in element.sums.items():
        if slot in at:
            dense[0, at[slot]] = dense[at[slot], 0] = x
    for (a, b), x in element.products.items():
        if a in at and b in at:
            dense[at[a], at[b]] = dense[at[b], at[a]] = x
    return dense


def moments(element: Element, slots: Sequence[Slot]) -> Moments:
    """The moments of some variables of a cofactor that has rows.

    They are computed about a centre near the mean, from what is behind the numbers that were read.

    >>> x = Element.of("x", 1e9 + 1.0) + Element.of("x", 1e9 + 3.0)
    >>> m = moments(x, ["x"])
    >>> m.mean - 1e9, m.scatter
    (array([2.]), array([[2.]]))
    """
    centred = about_mean(behind(element), slots)
    dense = cofactor_matrix(centred.element, slots)
    n = centred.element.count
    off = dense[0, 1:] / n
    scatter = dense[1:, 1:] - np.outer(dense[0, 1:], off)
    scatter = (scatter + scatter.T) / 2
    constant = np.array([is_constant(centred, s) for s in slots], dtype=bool)
    scatter[constant, :] = 0.0
    scatter[:, constant] = 0.0
    mean = off + np.array([centred.centre.get(s, 0.0) for s in slots])
    return Moments(n, tuple(slots), mean, scatter)


def scatter_of(element: Element, slot: Slot) -> float:
    """The sum of the squares of a variable's deviations from its mean."""
    total = float(element.sums.get(slot, 0))
    return float(element.product(slot, slot)) - total * total / element.count


def is_constant(centred: Behind, slot: Slot) -> bool:
    """Whether a variable does not vary, as far as doubles tell.

    A kernel knows the ends of its values. Besides, deviations that the doubles at the centre cannot
    have are rounding, and so is a variance that is nothing beside the mean square.
    """
    x, watch = centred.element, centred.watch
    square = float(x.product(slot, slot))
    if watch is not None and watch.low.get(slot, 0.0) == watch.high.get(slot, 1.0):
        return True
    finest = 8 * EPSILON * abs(centred.centre.get(slot, 0.0))
    share = max(LOST, EPSILON * x.count**0.5)
    return square <= x.count * finest * finest or scatter_of(x, slot) <= share * square


def about_mean(centred: Behind, slots: Sequence[Slot]) -> Behind:
    """Some variables of an exact element about their means, in doubles; of others as they are."""
    x = centred.element
    if any(isinstance(amount, float) for amount in (*x.sums.values(), *x.products.values())):
        return centred
    wanted = set(slots)
    part = Element(
        x.count,
        {s: amount for s, amount in x.sums.items() if s in wanted},
        {p: amount for p, amount in x.products.items() if wanted.issuperset(p)},
    )
    centre: dict[Slot, float] = {
        s: float(Real.of(amount)) / x.count for s, amount in part.sums.items() if isinstance(s, str)
    }
    about = part.shifted({s: -Real.of(c) for s, c in centre.items()})
    return Behind(rounded(about), centre)
