"""A query in parts: WITH queries and subqueries in FROM as views that it reads by their changes.

Written out, every reader has a copy of them, and copies multiply: a sum of sums over a union has
the tables once for each pair of sums. Read as relations they are there once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from freshview.calculus.schema import Query
from freshview.sql.catalog import Catalog
from freshview.sql.lower.cardinality import is_one_row
from freshview.sql.statements import CreateView
from freshview.sql.terms import (
    Combined,
    Cte,
    Derived,
    From,
    Join,
    Pivot,
    Select,
    Star,
    Table,
    Unpivot,
    Values,
)

Lower = Callable[[CreateView, Catalog], Query]


@dataclass
class Cut:
    """A query that is being cut: the catalog with its parts, and how a part is lowered."""

    name: str
    catalog: Catalog
    lower: Lower
    names: set[str] = field(default_factory=set)
    values: list[Cte] = field(default_factory=list)
    """WITH queries of one row, which are no views; the parts behind them may read them."""

    def query(self, query: Select) -> Select:
        """The query over its parts."""
        for cte in query.ctes:
            if is_one_row(cte.query):  # it may be read as a value
                self.values.append(replace(cte, query=self.query(cte.query)))
            else:
                self._part(cte.name, cte.query, cte.columns)
        sources = tuple(map(self._source, query.sources))
        return replace(query, ctes=tuple(self.values), sources=sources)

    def _source(self, source: From) -> From:
        match source:
            case Derived(inner, alias, columns, at, lateral):
                if lateral or not _is_worth_a_view(inner):
                    return source
                key = f"{self.name} {alias}"
                return Table(self._part(key, inner, columns), alias, (), at)
            case Combined(arms=arms):
                return replace(source, arms=tuple(map(self._arm, arms)))
            case Join(left=left, right=right):
                return replace(source, left=self._source(left), right=self._source(right))
            case Pivot(source=inner) | Unpivot(source=inner):
                return replace(source, source=self._source(inner))
            case Table() | Values():
                return source

    def _arm(self, arm: Select) -> Select:
        if not _is_worth_a_view(arm):
            return arm
        key = self._part(f"{self.name} {arm.at.line}:{arm.at.column}", arm, ())
        return Select((Star(at=arm.at),), (Table(key, key, (), arm.at),), at=arm.at)

    def _part(self, key: str, query: Select, columns: tuple[str, ...]) -> str:
        """Let the catalog know a part as a view, under the name by which the query reads it."""
        name = key if key.startswith(f"{self.name} ") else f"{self.name} {key}"
        known = {n.lower() for n in self.catalog.names()}
        while name.lower() in self.names | known:
            name += "'"
        self.names.add(name.lower())
        query = replace(query, ctes=(*self.values, *query.ctes))
        lowered = self.lower(CreateView(name, columns, query, query.at), self.catalog)
        key = name if key.startswith(f"{self.name} ") else key
        views = MappingProxyType({**self.catalog.views, key.lower(): lowered})
        self.catalog = replace(self.catalog, views=views, written_out=False)
        return key


def _is_worth_a_view(query: Select) -> bool:
    """Whether it is more than columns and rows of one table."""
    return bool(
        query.group
        or query.keys
        or query.ctes
        or query.distinct
        or query.limit is not None
        or len(query.sources) > 1
        or any(not isinstance(s, Table) for s in query.sources)
    )
