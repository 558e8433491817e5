"""What lowering passes along: names of locals, the variables that are bound, what comes next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from freshview.calculus.terms import Apply, Expr, Var
from freshview.calculus.types import Type
from freshview.codegen.loops.parts import Weight
from freshview.codegen.loops.terms import Stmt


@dataclass
class Names:
    """Fresh names of locals. What computes a local has a numbering of its own.

    So two computations that do the same look the same, wherever they stand.
    """

    family: str = ""
    count: int = 0

    def fresh(self, kind: str) -> str:
        """A name that no other local has."""
        self.count += 1
        return f"{kind}{self.family}{self.count}"

    def inside(self) -> Names:
        """The names of what computes a local."""
        return Names(self.family + "_")


@dataclass(frozen=True, slots=True)
class Local:
    """A bound variable: the local or the column that holds its value, and its type."""

    name: str
    type: Type
    table: str = ""
    """If it is a key column of a record at hand: the table."""

    @property
    def value(self) -> Expr:
        """Its value."""
        return Var(self.name)


@dataclass(frozen=True, slots=True)
class Count:
    """What a row counts for: a product, and whether that is an element of a ring."""

    weight: Weight = ()
    ring: bool = False

    def times(self, value: Expr, t: Type | None = None) -> Count:
        """The product with a value, or with a number of a type."""
        ring = isinstance(value, Apply) and bool(value.ring)
        ring = ring or (t is not None and t.kind == "ring")
        return Count((*self.weight, value), self.ring or ring)


ONE = Count()

Bound: TypeAlias = Mapping[str, Local]
"""Where every variable that is bound is found."""

Next: TypeAlias = Callable[[Bound, Count], list[Stmt]]
"""What follows, with what is bound and the multiplicity so far."""
