"""A whole script: declarations go into the catalog, queries come out; all or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from freshview.calculus.schema import Query, Relation
from freshview.errors import FreshviewError, UnsupportedSql
from freshview.sql.catalog import Catalog
from freshview.sql.cpp_header import read_header
from freshview.sql.lower.view import check_function, lower
from freshview.sql.parse.statements import parse
from freshview.sql.statements import (
    CreateFunction,
    CreateRelation,
    CreateType,
    CreateView,
    Drop,
    Statement,
)

EMPTY = Catalog()


def load(
    text: str, file: str = "<text>", catalog: Catalog = EMPTY, *, default_name: str = "query"
) -> tuple[Catalog, list[Query]]:
    """Execute the declarations of a script.

    Bare SELECTs are named `default_name`, or `default_name`_1, _2 ... if there are several, or if
    the catalog knows that name. The catalog that was passed in stays as it is, so an error leaves
    nothing half-created.

    >>> catalog, queries = load("CREATE STREAM r (a INT); SELECT COUNT(*) FROM r; SELECT a FROM r")
    >>> [q.name for q in queries], catalog.relation("R").columns[0].name
    (['query_1', 'query_2'], 'a')
    """
    statements = parse(text, file)
    bare = sum(isinstance(s, CreateView) and s.name is None for s in statements)
    loading = _Loading(file, catalog, _free_names(default_name, bare, catalog))
    for statement in statements:
        try:
            loading.execute(statement)
        except FreshviewError as problem:
            raise problem.located(statement.at) from None
    return loading.catalog, loading.queries


def _free_names(default_name: str, bare: int, catalog: Catalog) -> Iterator[str]:
    """Names for SELECTs by themselves that the catalog does not know."""
    if bare == 1 and not catalog.has(default_name):
        yield default_name
    yield from (n for i in count(1) if not catalog.has(n := f"{default_name}_{i}"))


@dataclass
class _Loading:
    """A script on its way: what is declared so far, and the queries."""

    file: str
    catalog: Catalog
    names: Iterator[str]
    queries: list[Query] = field(default_factory=list)
    dropped: dict[str, Relation] = field(default_factory=dict)
    """The relations that this script has dropped, by their names."""

    def execute(self, statement: Statement) -> None:
        """Take over what a statement declares."""
        if isinstance(statement, CreateRelation):
            self._relation(statement)
        elif isinstance(statement, CreateType):
            header = read_header(statement.path, statement.name, self.file)
            self.catalog = self.catalog.with_type(header)
        elif isinstance(statement, CreateFunction):
            self._function(statement)
        elif isinstance(statement, CreateView):
            self._view(statement, statement.name or next(self.names))
        elif isinstance(statement, Drop):
            self._drop(statement.kind, statement.name, statement.if_exists)
        else:
            what = type(statement).__name__.upper()
            raise UnsupportedSql(
                f"{what} is not supported among declarations",
                instead="execute it in a database of this process, with execute() or sql()",
            )

    def _relation(self, statement: CreateRelation) -> None:
        relation = statement.relation
        if statement.if_missing and self.catalog.has(relation.name):
            return
        if statement.replaces:
            self._drop("STREAM", relation.name, True)
        before = self.dropped.get(relation.name.lower())
        if before is not None:
            relation = replace(relation, generation=before.generation + 1)
        self.catalog = self.catalog.with_relation(relation, statement.source)

    def _function(self, statement: CreateFunction) -> None:
        function = statement.function
        if statement.if_missing and function.name in self.catalog.sql_functions:
            return
        if not statement.replaces:
            self.catalog.refuse_second_function(function.name)
        check_function(function, self.catalog)
        self.catalog = self.catalog.with_sql_function(function)

    def _drop(self, kind: str, name: str, if_exists: bool) -> None:
        if kind == "FUNCTION":
            self.catalog = self.catalog.without_sql_function(name, if_exists)
            return
        self.dropped.update({k: r for k, r in self.catalog.relations.items() if k == name.lower()})
        self.catalog = self.catalog.dropped(kind, name, if_exists)
        self._forget(name)

    def _view(self, statement: CreateView, name: str) -> None:
        if statement.if_missing and self.catalog.has(name):
            return
        if statement.replaces:
            self.catalog = self.catalog.without_view(name)
            self._forget(name)
        query = lower(statement, self.catalog, name)
        self.catalog = self.catalog.with_clock(query).with_view(query)
        self.queries.append(query)

    def _forget(self, name: str) -> None:
        """Leave out a view of this very script, if there is one of this name."""
        self.queries = [q for q in self.queries if q.name.lower() != name.lower()]
