"""Views over views: written out where that is small, else read by their changes.

A query over a view is most often its definition in place of its name: one program then keeps it,
and nothing of the view between needs to be stored. But definitions multiply. An outer join writes
each of its sides twice, an aggregate its input once for every column, and a query over three
levels of both has thousands of nodes, which take minutes to plan. Past `LARGEST` nodes the views
that a query names are relations of their own, and what changes in them is a change of these.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from freshview.calculus.schema import Query
from freshview.calculus.scope import relations
from freshview.calculus.terms import Expr
from freshview.calculus.walk import children
from freshview.errors import TooDeep
from freshview.sql.catalog import Catalog
from freshview.sql.lower.view import lower
from freshview.sql.terms import CreateView

LARGEST = 600
"""Nodes of a term with all views written out. The largest query of TPC-H has 400, and takes a
second to plan; a thousand nodes take several."""


def lower_over_views(statement: CreateView, catalog: Catalog, name: str) -> tuple[Query, Catalog]:
    """The query of a statement, and the catalog with the relations that it reads.

    >>> from freshview.sql.parse.statements import parse
    >>> [v] = parse("CREATE VIEW v AS SELECT 1 AS x")
    >>> lower_over_views(v, Catalog(), "v")[0].name
    'v'
    """
    if not catalog.views or statement.factorized:
        return lower(statement, catalog, name), catalog
    try:
        query = lower(statement, catalog, name)
        if size(query.term) <= LARGEST:
            return query, catalog
    except TooDeep:
        query = None
    listed = {n for n, q in catalog.views.items() if _has_rows(q)}
    apart = lower(statement, replace(catalog.with_derived(listed), writes_out=False), name)
    read = relations(apart.term)
    used = {n for n in listed if catalog.views[n].name in read}
    if query is not None and not used:
        return query, catalog
    return apart, catalog.with_derived(used)


def _has_rows(query: Query) -> bool:
    """Whether a view has rows of plain values, which may be those of a relation."""
    return not query.factorized and all(c.type.kind != "ring" for c in query.columns)


@lru_cache(maxsize=1 << 14)
def size(e: Expr) -> int:
    """The nodes of a term, common parts as often as they stand there.

    >>> from freshview.calculus.text import read
    >>> size(read("R(a) * (x := a + 1)"))
    6
    """
    return 1 + sum(map(size, children(e)))
