"""What is declared: relations with their sources, views, and functions; a value, never edited."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from freshview.calculus.check import Schema
from freshview.calculus.clock import CLOCK, progress_of
from freshview.calculus.functions import BUILTINS, Function, Functions, lifting
from freshview.calculus.schema import Query, Relation, row_types
from freshview.calculus.scope import base_relations, relations
from freshview.calculus.terms import Expr
from freshview.errors import AmbiguousName, UnknownName

if TYPE_CHECKING:
    from freshview.sql.cpp_header import Header
    from freshview.sql.sql_function import SqlFunction


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Source:
    """Where the rows of a relation come from, kept as data for those who read them.

    `FROM FILE 'r.csv' LINE DELIMITED CSV (delimiter := '|')` has the kind `file`, the argument
    `r.csv`, the framing `line`, the format `csv` and one option.
    """

    kind: str
    arguments: tuple[str | int, ...] = ()
    framing: str = ""
    format: str = ""
    options: tuple[tuple[str, str | int], ...] = ()


@dataclass(frozen=True)
class Catalog:
    """Relations, views, sources and functions by name; names do not tell case apart.

    >>> from freshview.calculus.schema import Column
    >>> from freshview.calculus.types import INT
    >>> catalog = Catalog().with_relation(Relation("Orders", (Column("id", INT),)))
    >>> catalog.relation("ORDERS").name, Catalog().has("orders")
    ('Orders', False)
    """

    relations: Mapping[str, Relation] = field(default_factory=dict)
    views: Mapping[str, Query] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)
    functions: Functions = BUILTINS
    types: Mapping[str, Header] = field(default_factory=dict)
    sql_functions: Mapping[str, SqlFunction] = field(default_factory=dict)
    """What CREATE FUNCTION has declared."""
    written_out: bool = True
    """Whether a view that a query reads is replaced by its definition, or read as a relation."""

    def has(self, name: str) -> bool:
        """Whether a relation or a view has this name."""
        return name.lower() in self.relations or name.lower() in self.views

    def names(self) -> set[str]:
        """The names of all relations, views and their parts."""
        return {r.name for r in self.relations.values()} | self._derived().keys()

    def declared_as(self, path: str) -> str:
        """The name under which something is declared: the whole path, or what stands at its end.

        Nothing is declared under one that is not known.
        """
        name = path
        while not self.has(name) and "." in name:
            name = name.partition(".")[2]
        return name if self.has(name) else path

    def relation(self, name: str) -> Relation:
        """The base relation of this name."""
        if str(name).lower() not in self.relations:
            raise UnknownName(
                f"there is no table or stream '{name}'",
                instead="declare it with CREATE STREAM or CREATE TABLE",
            )
        return self.relations[str(name).lower()]

    def view(self, name: str) -> Query:
        """The view of this name."""
        if name.lower() not in self.views:
            raise UnknownName(f"there is no view '{name}'", instead="declare it with CREATE VIEW")
        return self.views[name.lower()]

    def with_relation(self, relation: Relation, source: Source | None = None) -> Catalog:
        """The catalog with one more relation."""
        self._refuse_second(relation.name)
        key = relation.name.lower()
        sources = self.sources if source is None else {**self.sources, key: source}
        return replace(
            self,
            relations=MappingProxyType({**self.relations, key: relation}),
            sources=MappingProxyType(dict(sources)),
        )

    def with_parts(self, parts: Iterable[Query]) -> Catalog:
        """The catalog with parts of a query that is on its way."""
        return replace(self, views={**self.views, **{q.name: q for q in parts}})

    def with_clock(self, query: Query) -> Catalog:
        """The catalog with the clock and the progress of streams, where a query reads them."""
        timed = (progress_of(r) for r in self.relations.values() if r.time is not None)
        read, out = base_relations(query), self
        for relation in (CLOCK, *timed):
            if relation.name in read and not self.has(relation.name):
                out = out.with_relation(relation)
        return out

    def with_view(self, query: Query) -> Catalog:
        """The catalog with one more view."""
        self._refuse_second(query.name)
        return replace(self, views=MappingProxyType({**self.views, query.name.lower(): query}))

    def without_view(self, name: str) -> Catalog:
        """The catalog without a view of this name, if there was one; no other view may read it."""
        key = name.lower()
        if key not in self.views:
            return self
        for query in self.views.values():
            if key in (over.name.lower() for over in query.over):
                raise AmbiguousName(
                    f"the view '{query.name}' reads '{self.views[key].name}'",
                    instead=f"replace '{query.name}' first, or choose another name",
                )
        return self.without([key])

    def dropped(self, kind: str, name: str, if_exists: bool) -> Catalog:
        """The catalog without a view, a table or a stream of this name; nobody may read it."""
        key = name.lower()
        if kind == "VIEW":
            if if_exists and key not in self.views:
                return self
            self.view(name)
            return self.without_view(name)
        if if_exists and key not in self.relations:
            return self
        relation = self.relation(name)
        for query in self.views.values():
            if relation.name in base_relations(query):
                raise AmbiguousName(
                    f"the view '{query.name}' reads '{relation.name}'",
                    instead=f"drop '{query.name}' first",
                )
        return self.without([key])

    def without(self, names: Collection[str]) -> Catalog:
        """The catalog without relations and views of these names, in lower case."""
        if not names:
            return self
        return replace(
            self,
            relations=_without(self.relations, names),
            views=_without(self.views, names),
            sources=_without(self.sources, names),
        )

    def with_sql_function(self, function: SqlFunction) -> Catalog:
        """The catalog with one more function with a body in SQL, or another one of its name."""
        functions = {**self.sql_functions, function.name: function}
        return replace(self, sql_functions=MappingProxyType(functions))

    def without_sql_function(self, name: str, if_exists: bool) -> Catalog:
        """The catalog without a function; views that call it go on with what it was."""
        if name.lower() not in self.sql_functions and not if_exists:
            raise UnknownName(
                f"there is no function '{name}' to drop",
                instead="name one that CREATE FUNCTION has declared",
            )
        functions = _without(self.sql_functions, [name.lower()])
        return replace(self, sql_functions=functions)

    def refuse_second_function(self, name: str) -> None:
        """A function of this name must not be there yet."""
        if name in self.sql_functions or name in self.functions:
            raise AmbiguousName(
                f"there is a function '{name}'",
                instead="write CREATE OR REPLACE FUNCTION, or choose another name",
            )

    def with_function(self, function: Function) -> Catalog:
        """The catalog with one more scalar function, or another one of that name."""
        return replace(self, functions=self.functions.with_(function))

    def with_type(self, header: Header) -> Catalog:
        """The catalog with one more ring of payloads, and the functions that lift into it."""
        name = header.name
        if name in self.types or name in self.functions.rings:
            raise AmbiguousName(f"the type '{name}' is already declared", instead="rename it")
        functions = self.functions.with_header(header.ring)
        for fn, arity in header.functions:
            functions = functions.with_(lifting(fn, name, header.refuse, arity))
        return replace(
            self, functions=functions, types=MappingProxyType({**self.types, name: header})
        )

    def views_read(self, term: Expr) -> tuple[Query, ...]:
        """The views that a term reads as relations, each behind those that it reads itself."""
        derived = self._derived()
        over: dict[str, Query] = {}

        def add(e: Expr) -> None:
            for name in sorted(relations(e) & derived.keys() - over.keys()):
                add(derived[name].term)
                over[name] = derived[name]

        add(term)
        return tuple(over.values())

    def _derived(self) -> dict[str, Query]:
        """The views and their parts: what a term may read beside base relations."""
        views = self.views.values()
        parts = {p.name: p for q in views for p in q.over}
        return parts | {q.name: replace(q, over=(), order=()) for q in views}

    def schema(self) -> Schema:
        """The column types of all relations, and of views read as such, for type inference."""
        timed = (progress_of(r) for r in self.relations.values() if r.time is not None)
        types = row_types((CLOCK, *timed, *self.relations.values()), self._derived().values())
        return Schema(types, functions=self.functions)

    def _refuse_second(self, name: str) -> None:
        if self.has(name) or name in self._derived():
            raise AmbiguousName(f"'{name}' is already declared", instead="choose another name")


def _without(named: Mapping[str, T], names: Collection[str]) -> Mapping[str, T]:
    return MappingProxyType({k: x for k, x in named.items() if k not in names})
