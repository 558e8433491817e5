"""The cofactor ring: count, sums and products of variables, all that a regression needs.

The degree-m matrix ring of F-IVM 2018 (Def. 6.2), kept sparse: a payload knows only the variables
that were lifted into it, and of the symmetric matrix only one triangle. A variable is named by a
slot: its name, or a category of it (`categorical.py`), so that both kinds share this algebra.

Values are lifted without rounding (`real.py`), so this is a ring for doubles, too. What users and
models read of an element is in `reading.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeAlias, TypeVar

from freshview.algebra.categorical import Category
from freshview.algebra.element import Element
from freshview.algebra.real import Real

Slot: TypeAlias = str | Category
Amount: TypeAlias = int | float | Real
Block: TypeAlias = tuple[Slot, Slot]
E = TypeVar("E")


class Cofactor(Element):
    """(c, s, Q): how many rows, the sum of each variable, the sum of each product of two.

    (c, s, Q) * (d, t, P) = (c*d, d*s + c*t, d*Q + c*P + s*t' + t*s'): polynomials in the
    variables, cut after degree two. What is not listed is zero.

    >>> x = Cofactor.of("x", 3) * Cofactor.of("y", 5)
    >>> x.count, x.sums, x.products[("x", "y")]
    (1, {'x': 3, 'y': 5}, 15)
    >>> (x + x.scaled(-1)).is_zero()
    True
    """

    __slots__ = ("behind", "count", "products", "sums")
    behind: Behind
    """What an element that was read was rounded from; elements of an engine have none."""

    def __init__(
        self,
        count: int = 0,
        sums: Mapping[Slot, Amount] | None = None,
        products: Mapping[Block, Amount] | None = None,
    ) -> None:
        self.count = count
        self.sums: dict[Slot, Amount] = {k: x for k, x in (sums or {}).items() if x}
        self.products: dict[Block, Amount] = {}
        for (a, b), x in (products or {}).items():
            if x:
                self.products[block(a, b)] = x

    @classmethod
    def whole(cls, n: int) -> Cofactor:
        """N rows without variables."""
        return cls(n)

    @classmethod
    def of(cls, slot: Slot, value: Amount | Decimal) -> Cofactor:
        """One row in which a variable has this value: the lifting function g_X(x)."""
        x = Real.of(value) if isinstance(value, float | Decimal) else value
        return cls(1, {slot: x}, {(slot, slot): x * x})

    def plus(self, other: Cofactor) -> Cofactor:
        """Component by component."""
        out = Cofactor(self.count + other.count)
        out.sums = _added(self.sums, other.sums)
        out.products = _added(self.products, other.products)
        return out

    def times(self, other: Cofactor) -> Cofactor:
        """Join: each row of one side meets each row of the other."""
        out = Cofactor(self.count * other.count)
        out.sums = _added(_scaled(self.sums, other.count), _scaled(other.sums, self.count))
        products = _added(_scaled(self.products, other.count), _scaled(other.products, self.count))
        for a, x in self.sums.items():
            for b, y in other.sums.items():
                # s*t' + t*s' holds the product of two variables twice; the diagonal too.
                at, xy = block(a, b), x * y
                xy = xy + xy if a == b else xy
                products[at] = products[at] + xy if at in products else xy
        out.products = {k: x for k, x in products.items() if x}
        return out

    def scaled(self, n: int) -> Cofactor:
        """N copies."""
        out = Cofactor(n * self.count)
        out.sums, out.products = _scaled(self.sums, n), _scaled(self.products, n)
        return out

    def shifted(self, by: Mapping[Slot, Amount]) -> Cofactor:
        """The cofactor of the same rows where some of their variables are larger by a number.

        >>> (Cofactor.of("x", 3) + Cofactor.of("x", 4)).shifted({"x": -3}).sums
        {'x': 1}
        """
        n, s = self.count, self.sums
        sums, products = dict(s), dict(self.products)
        for a, more in by.items():
            for b in {*s, *by}:
                if b not in by or rank(b) >= rank(a):
                    gained = more * s.get(b, 0)
                    if b in by:
                        gained = gained + by[b] * s.get(a, 0) + n * more * by[b]
                    products[block(a, b)] = self.product(a, b) + gained
            sums[a] = s.get(a, 0) + n * more
        return Cofactor(n, sums, products)

    def is_zero(self) -> bool:
        """Nothing there and nothing owed."""
        return not self.count and not self.sums and not self.products

    def product(self, a: Slot, b: Slot) -> Amount:
        """The sum of the products of two variables."""
        return self.products.get(block(a, b), 0)

    def slots(self) -> list[Slot]:
        """The variables and categories that are there, in order."""
        return sorted(self.sums.keys() | {s for pair in self.products for s in pair}, key=rank)

    def dense(self, slots: Sequence[Slot]) -> list[list[Amount]]:
        """The whole cofactor matrix over a constant 1 and these variables, for any model.

        >>> (Cofactor.of("x", 3) + Cofactor.of("x", 1)).dense(["x"])
        [[2, 4], [4, 10]]
        """
        first: list[Amount] = [self.count, *(self.sums.get(s, 0) for s in slots)]
        rest = [[self.sums.get(a, 0), *(self.product(a, b) for b in slots)] for a in slots]
        return [first, *rest]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cofactor):
            return NotImplemented
        same = self.count == other.count and self.sums == other.sums
        return same and self.products == other.products

    def __hash__(self) -> int:
        parts = frozenset(self.sums.items()), frozenset(self.products.items())
        return hash((self.count, *parts))

    def __repr__(self) -> str:
        return f"Cofactor({self.count}, {self.sums}, {self.products})"


@dataclass(frozen=True, slots=True)
class Watch:
    """What a kernel saw since it was filled.

    `low` and `high` are the ends of each variable's values, as they came. `gone` is how many rows
    were deleted: what was large among them has left its rounding error in the sums.
    """

    centre: Mapping[Slot, float]
    low: Mapping[Slot, float]
    high: Mapping[Slot, float]
    gone: float = 0.0


@dataclass(frozen=True, slots=True)
class Behind:
    """A cofactor of variables from which a centre was taken; `watch` if it is not exact."""

    element: Cofactor
    centre: Mapping[Slot, float] = field(default_factory=dict)
    watch: Watch | None = None


def rank(slot: Slot) -> tuple[str, str]:
    """An order of slots: by name, then by how the category is written."""
    return (slot, "") if isinstance(slot, str) else (slot.name, repr(slot.value))


def block(a: Slot, b: Slot) -> Block:
    """Where the product of two variables is kept: in the upper triangle."""
    if isinstance(a, str) and isinstance(b, str):
        return (a, b) if a <= b else (b, a)
    return (a, b) if rank(a) <= rank(b) else (b, a)


def _added(a: dict[E, Amount], b: dict[E, Amount]) -> dict[E, Amount]:
    out = dict(a)
    for k, x in b.items():
        total = out[k] + x if k in out else x
        if total:
            out[k] = total
        else:
            out.pop(k, None)
    return out


def _scaled(a: dict[E, Amount], n: int) -> dict[E, Amount]:
    if n == 1:
        return dict(a)
    return {k: x * n for k, x in a.items()} if n else {}
