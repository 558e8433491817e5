"""Where an expression is lowered, and the parts of the translation that it may call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from freshview.calculus.terms import Expr, Order
from freshview.calculus.walk import Names
from freshview.sql.catalog import Catalog
from freshview.sql.lower.parts import Parts
from freshview.sql.lower.scope import Bound, Scope
from freshview.sql.lower.val import Val
from freshview.sql.terms import Cte, Name, Ref, Scalar, Select
from freshview.sql.walk import rewrite

Want = bool | None
"""Which part is asked for: true, false, or (None) unknown."""


@dataclass(frozen=True)
class Rows:
    """A SELECT, lowered: `order` arranges the rows and is empty if nobody asked."""

    term: Expr
    columns: tuple[Bound, ...]
    order: tuple[Order, ...] = ()


@dataclass(frozen=True)
class Translation:
    """The parts of the translation that call one another: values, conditions, subqueries."""

    value: Callable[[Scalar, Env], Val]
    condition: Callable[[Scalar, Env, Want], Expr]
    rows: Callable[[Select, Env], Rows]
    count: Callable[[Select, Env], Expr]
    scalar: Callable[[Select, Env], Val]


@dataclass(frozen=True)
class Env:
    """Where an expression is lowered: names in scope, and expressions whose value is known.

    `known` holds GROUP BY expressions and aggregates once they are bound to variables. Values,
    conditions and subqueries nest in one another; each reaches the others through `translation`.
    """

    catalog: Catalog
    names: Names
    translation: Translation
    scope: Scope = field(default_factory=Scope)
    known: Mapping[Scalar, Val] = field(default_factory=dict)
    ctes: Mapping[str, tuple[Cte, Env]] = field(default_factory=dict)
    parts: Parts | None = None
    """Where parts of the query are put; None where all of it is written out."""
    notes: dict[str, None] = field(default_factory=dict)
    """What `explain` says of the translation, each sentence once; one for a whole query."""

    def value(self, e: Scalar) -> Val:
        """What a scalar expression is worth in a row."""
        return self.translation.value(e, self)

    def condition(self, e: Scalar, want: Want) -> Expr:
        """1 in the rows where the condition is `want`, else 0."""
        return self.translation.condition(e, self, want)

    def rows(self, query: Select) -> Rows:
        """The rows of a subquery."""
        return self.translation.rows(query, self)

    def count(self, query: Select) -> Expr:
        """How many rows a subquery has."""
        return self.translation.count(query, self)

    def scalar(self, query: Select) -> Val:
        """The value of a subquery of one column and at most one row."""
        return self.translation.scalar(query, self)

    def resolve(self, e: Scalar) -> Scalar:
        """The expression with every name replaced by the column that it means."""

        def rule(e: Scalar) -> Scalar | None:
            if not isinstance(e, Name):
                return None
            bound = self.scope.find(e)
            return Ref(bound.var, bound.type, bound.name, e.at)

        return rewrite(e, rule)
