"""What lowering passes along: names of locals, the variables that are bound, what comes next."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from freshview.calculus.terms import Apply, Expr, Var
from freshview.calculus.types import Type
from freshview.codegen.cpp.code import identifier
from freshview.codegen.cpp.ring_types import CofactorType
from freshview.codegen.loops.parts import Weight
from freshview.codegen.loops.terms import Stmt

NUMBERED = re.compile(r"_\d+$")
"""What tells a variable from another one of the same column."""


@dataclass
class Names:
    """Fresh names of locals. What computes a local has a numbering of its own.

    So two computations that do the same look the same, wherever they stand.
    """

    depth: int = 0
    count: int = 0

    def fresh(self, kind: str) -> str:
        """A name that no other local has.

        >>> names = Names()
        >>> names.fresh("row"), names.inside().fresh("row"), names.fresh("sum_1")
        ('row_1', 'row_a1', 'sum_2')
        """
        self.count += 1
        plain = NUMBERED.sub("", identifier(kind)).strip("_")
        plain = plain if plain[:1].isalpha() else f"x{plain}"
        family = "a" * self.depth if self.depth < 4 else f"a{self.depth}a"
        return f"{plain}_{family}{self.count}"

    def after(self, variable: str) -> str:
        """A name after a variable; what computes a local does not depend on that."""
        return self.fresh("x" if self.depth or not variable[:1].isalpha() else variable)

    def inside(self) -> Names:
        """The names of what computes a local."""
        return Names(self.depth + 1)


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
    """What a row counts for: a product, and whether that is a cofactor."""

    weight: Weight = ()
    cofactor: bool = False
    copies: int = 1
    """How often what follows is written: once for each combination of addends before it."""

    def times(self, value: Expr, t: Type | None = None) -> Count:
        """The product with a value, or with a number of a type."""
        lifted = isinstance(value, Apply) and value.ring == "Cofactor"
        cofactor = self.cofactor or lifted or isinstance(t, CofactorType)
        return replace(self, weight=(*self.weight, value), cofactor=cofactor)


ONE = Count()

Bound: TypeAlias = Mapping[str, Local]
"""Where every variable that is bound is found."""

Next: TypeAlias = Callable[[Bound, Count], list[Stmt]]
"""What follows, with what is bound and the multiplicity so far."""
