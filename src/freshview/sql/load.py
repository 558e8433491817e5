"""A whole script: declarations go into the catalog, queries come out; all or nothing."""

from __future__ import annotations

from freshview.calculus.schema import Query
from freshview.errors import FreshviewError
from freshview.sql.catalog import Catalog
from freshview.sql.cpp_header import read_header
from freshview.sql.lower.view import lower
from freshview.sql.parse.statements import parse
from freshview.sql.statements import CreateRelation, CreateType, CreateView

EMPTY = Catalog()


def load(
    text: str, file: str = "<text>", catalog: Catalog = EMPTY, *, default_name: str = "query"
) -> tuple[Catalog, list[Query]]:
    """Execute the statements of a script.

    Bare SELECTs are named `default_name`, or `default_name`_1, _2 ... if there are several. The
    catalog that was passed in stays as it is, so an error leaves nothing half-created.

    >>> catalog, queries = load("CREATE STREAM r (a INT); SELECT COUNT(*) FROM r; SELECT a FROM r")
    >>> [q.name for q in queries], catalog.relation("R").columns[0].name
    (['query_1', 'query_2'], 'a')
    """
    statements = parse(text, file)
    bare = [s for s in statements if isinstance(s, CreateView) and s.name is None]
    queries: list[Query] = []
    for statement in statements:
        try:
            if isinstance(statement, CreateRelation):
                if statement.if_missing and catalog.has(statement.relation.name):
                    continue
                catalog = catalog.with_relation(statement.relation, statement.source)
                continue
            if isinstance(statement, CreateType):
                header = read_header(statement.path, statement.name, file)
                catalog = catalog.with_type(header)
                continue
            name = statement.name
            if name is None:
                number = "" if len(bare) == 1 else f"_{bare.index(statement) + 1}"
                name = default_name + number
            if statement.if_missing and catalog.has(name):
                continue
            if statement.replaces:
                catalog = catalog.without_view(name)
                queries = [q for q in queries if q.name.lower() != name.lower()]
            query = lower(statement, catalog, name)
            catalog = catalog.with_view(query)
            queries.append(query)
        except FreshviewError as problem:
            raise problem.located(statement.at) from None
    return catalog, queries
