"""Window functions of a SELECT with GROUPING SETS: over the rows of all its groupings.

    SELECT a, SUM(x) AS s, RANK() OVER (ORDER BY SUM(x)) AS n FROM r GROUP BY ROLLUP (a)

is SELECT a, s, RANK() OVER (ORDER BY s) AS n over a subquery that has the groupings. What has no
window function in it is a column of the subquery.
"""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.types import INT
from freshview.errors import UnsupportedSql
from freshview.sql.lower.select_list import default_name
from freshview.sql.terms import Derived, Item, Literal, Name, Over, Scalar, Select, Star
from freshview.sql.walk import inside, parts, with_parts

_NOTHING = Literal(0, INT)


def over_groupings(query: Select) -> Select | None:
    """The windows of the query over a subquery with its groupings; None if it has no window."""
    asked = [i.expr for i in query.items if isinstance(i, Item)]
    asked += [k.expr for k in query.order]
    if query.qualify is None and not any(_has_window(e) for e in asked):
        return None
    below = _Below(query)
    items = tuple(below.shown(i, n) for n, i in enumerate(query.items))
    qualify = None if query.qualify is None else below.column(query.qualify)
    order = tuple(replace(k, expr=below.key(k.expr)) for k in query.order)
    inner = replace(
        query,
        items=tuple(below.items),
        qualify=None,
        distinct=False,
        order=(),
        limit=None,
        offset=0,
        ctes=(),
        final=False,
        ignored=(),
    )
    names = tuple(_name(n) for n in range(len(below.items)))
    return Select(
        items=items,
        sources=(Derived(inner, "#groups", names, query.at),),
        qualify=qualify,
        distinct=query.distinct,
        order=order,
        limit=query.limit,
        offset=query.offset,
        ctes=query.ctes,
        final=query.final,
        ignored=query.ignored,
        at=query.at,
    )


def _has_window(e: Scalar) -> bool:
    return any(isinstance(x, Over) for x in inside(e))


def _name(position: int) -> str:
    return f"#{position}"


class _Below:
    """The list of the subquery: first what the query lists, so that its keys may name it."""

    def __init__(self, query: Select) -> None:
        self.items: list[Item] = []
        self.positions: dict[Scalar, int] = {}
        self.aliases: set[str] = set()
        self.listed: set[str] = set()
        keys = {k.name.lower() for k in query.keys if isinstance(k, Name)}
        for item in query.items:
            if isinstance(item, Star):
                raise UnsupportedSql(
                    "* beside window functions of GROUPING SETS is not supported",
                    instead="name the columns",
                    at=item.at,
                )
            if item.name:
                self.listed.add(item.name.lower())
            if not self._has_window(item.expr):
                self.positions.setdefault(item.expr, len(self.items))
                self.items.append(item)
                continue
            self.items.append(Item(_NOTHING, None, item.at))
            if item.name and item.name.lower() not in keys:
                self.aliases.add(item.name.lower())

    def shown(self, item: Item | Star, position: int) -> Item:
        """An item of the query, over the columns of the subquery."""
        assert isinstance(item, Item)
        name = item.name or default_name(item.expr, position + 1, self.listed)
        self.listed.add(name.lower())
        return Item(self.column(item.expr), name, item.at)

    def key(self, e: Scalar) -> Scalar:
        """An expression of ORDER BY: positions and aliases stay what they are."""
        if isinstance(e, Literal):
            return e
        if isinstance(e, Name) and e.table is None and e.name.lower() in self.listed:
            return e
        return self.column(e)

    def column(self, e: Scalar) -> Scalar:
        """The expression over columns of the subquery; constants need none."""
        if isinstance(e, Literal):
            return e
        if self._has_window(e):
            return e if isinstance(e, Name) else with_parts(e, tuple(map(self.column, parts(e))))
        if e not in self.positions:
            self.positions[e] = len(self.items)
            self.items.append(Item(e, None))
        return Name(_name(self.positions[e]))

    def _has_window(self, e: Scalar) -> bool:
        """Whether a window function is in it, or the alias of what has one."""
        names = {x.name.lower() for x in inside(e) if isinstance(x, Name) and x.table is None}
        return _has_window(e) or not names.isdisjoint(self.aliases)
