"""FROM items that are joined."""

from __future__ import annotations

from dataclasses import dataclass, replace

from freshview.calculus.terms import Expr
from freshview.calculus.types import Type
from freshview.sql.lower.scope import Bound, FromItem, Scope


@dataclass(frozen=True)
class Joined:
    """Some FROM items joined: factors, the items, and what unqualified names see."""

    factors: tuple[Expr, ...]
    items: tuple[FromItem, ...]
    plain: tuple[Bound, ...]

    @property
    def vars(self) -> tuple[str, ...]:
        """All the variables that the rest of the query can see."""
        seen = [c.var for item in self.items for c in item.columns]
        return tuple(dict.fromkeys([*seen, *(c.var for c in self.plain)]))

    def scope(self, outer: Scope) -> Scope:
        """The names that a condition over these items may use."""
        return Scope(self.items, self.plain, outer)

    def nullable(self) -> Joined:
        """The same columns on the side of an outer join that may be missing."""

        def loose(columns: tuple[Bound, ...]) -> tuple[Bound, ...]:
            return tuple(replace(c, type=c.type.or_null()) for c in columns)

        items = tuple(replace(i, columns=loose(i.columns), key=()) for i in self.items)
        return replace(self, items=items, plain=loose(self.plain))

    def types(self) -> dict[str, Type]:
        """The types of the variables, in their order."""
        columns = [*(c for item in self.items for c in item.columns), *self.plain]
        return {c.var: c.type for c in columns}
