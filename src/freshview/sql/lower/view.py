"""A view's SELECT as a query of the calculus."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from freshview.calculus.build import NULL, ONE, ZERO, is_zero, mul
from freshview.calculus.check import check_bound, infer
from freshview.calculus.domain import DIGITS
from freshview.calculus.schema import Column, Query
from freshview.calculus.scope import relations
from freshview.calculus.terms import Cmp, Lift
from freshview.calculus.types import NULL as NULL_TYPE
from freshview.calculus.walk import Names, size
from freshview.depth import deep
from freshview.errors import AmbiguousName, FreshviewError, Place, TooDeep, TypeProblem
from freshview.sql.catalog import Catalog
from freshview.sql.lower.conjunctive import check_conjunctive
from freshview.sql.lower.cut import Cut
from freshview.sql.lower.env import Rows
from freshview.sql.lower.parts import Parts
from freshview.sql.lower.select import rows as select_rows
from freshview.sql.lower.translate import environment
from freshview.sql.sql_function import SqlFunction
from freshview.sql.statements import CreateView
from freshview.sql.terms import Call, Cast, Item, Literal, Name, Select

MOST_VARIABLES = 20_000
"""Variables of a query, copies of its parts included: conditions inside conditions multiply."""

LARGEST = 250
"""Nodes of a query with all its views written out. The largest of TPC-H has 400, and takes a
second to plan. An outer join writes each side twice, an aggregate its input for every column: of
views over views, every level has several times the nodes of the one below."""

MOST_NODES = 2_000
"""Nodes of a query whose own parts are written out. The largest of TPC-H has 400."""

MOST_WRITTEN_OUT = 2_000
"""Variables with which a query with its views written out is surely larger than that."""


@deep
def lower(
    statement: CreateView, catalog: Catalog, name: str | None = None, *, distinct: bool = True
) -> Query:
    """The meaning of a view: column variables, and the term that binds them.

    >>> from freshview.calculus.text import show
    >>> from freshview.sql.load import load
    >>> _, [query] = load("CREATE STREAM r (a INT NOT NULL, b INT NOT NULL);"
    ...                   "SELECT a, SUM(b) AS total FROM r GROUP BY a")
    >>> print(show(query.term))
    Exists(Sum[r_a](r(r_a, r_b))) * (sum := Sum[r_a](r(r_a, r_b_1) * r_b_1))
    """
    try:
        if statement.factorized:
            check_conjunctive(statement.query)
        title = name or statement.name or "query"
        rows, notes, catalog, parts = _rows(statement, catalog, title)
        ignored = (f"{c} of '{statement.name}' is ignored" for c in statement.ignored)
        notes = (*notes, *ignored)
        check_bound(rows.term)
        known = catalog.with_parts(parts.queries).schema()
        for term in (rows.term, *(q.term for q in parts.queries)):
            infer(term, known)
    except FreshviewError as problem:
        raise problem.located(statement.at) from None
    # A query that never has a row still says which columns it has.
    term = mul(Cmp("=", ONE, ZERO), *(Lift(b.var, NULL) for b in rows.columns))
    term = term if is_zero(rows.term) else rows.term
    columns = tuple(Column(b.name, b.type) for b in rows.columns)
    if statement.columns:
        if len(statement.columns) != len(columns):
            raise TypeProblem(
                f"the view has {len(columns)} columns, {len(statement.columns)} names are given",
                instead="give every column a name",
                at=statement.at,
            )
        columns = tuple(replace(c, name=n) for c, n in zip(columns, statement.columns, strict=True))
    if distinct:
        columns = _numbered(columns) if statement.name is None else columns
        _check_distinct(columns, statement)
    _check_digits(columns, statement)
    vars = tuple(b.var for b in rows.columns)
    how = (statement.factorized, (), notes, statement.policy)
    query, asked = parts.pruned(Query(title, columns, vars, term, rows.order, *how))
    return replace(query, over=catalog.with_parts(asked).views_read(query.term))


_Lowered: TypeAlias = tuple[Rows, tuple[str, ...], Catalog, Parts]
"""Rows, what is to be said of them, the catalog with the views that they read, and their parts."""


def check_function(function: SqlFunction, catalog: Catalog) -> None:
    """Refuse a function whose body has no meaning, now and not with its first call."""
    nulls = tuple(
        Cast(Literal(None, NULL_TYPE), p.type.type, p.type.digits) for p in function.parameters
    )
    query = Select((Item(Call(function.name, nulls, function.at)),), at=function.at)
    lower(CreateView(None, (), query, function.at), catalog.with_sql_function(function))


def _rows(statement: CreateView, catalog: Catalog, name: str) -> _Lowered:
    """The rows of a view.

    The views that it reads are written out, unless that is too large; and so are its own parts.
    """
    if statement.factorized or not catalog.views:
        return _whole(statement, catalog, name)
    try:
        whole = _as_written(statement, catalog, MOST_WRITTEN_OUT, name)
        if size(whole[0].term) <= LARGEST:
            return whole
    except TooDeep:
        pass
    apart = _whole(statement, replace(catalog, written_out=False), name)
    named = {q.name for q in catalog.views.values()}
    return apart if named & relations(apart[0].term) else _whole(statement, catalog, name)


def _as_written(statement: CreateView, catalog: Catalog, most: int, name: str) -> _Lowered:
    parts = Parts(name, Names(catalog.names()))
    env = environment(catalog, Names(most=most), None if statement.factorized else parts)
    rows = select_rows(statement.query, env, top=True)
    return rows, tuple(env.notes), catalog, parts


def _whole(statement: CreateView, catalog: Catalog, name: str) -> _Lowered:
    """The rows of a query as one term; where that is too large, of one over its parts."""
    whole: _Lowered | None = None
    try:
        whole = _as_written(statement, catalog, MOST_VARIABLES, name)
        if statement.factorized or size(whole[0].term) <= MOST_NODES:
            return whole
    except TooDeep:
        if statement.factorized:
            raise
    cut = Cut(name, catalog, lower)
    over = replace(statement, query=cut.query(statement.query))
    if cut.names:
        return _as_written(over, cut.catalog, MOST_VARIABLES, name)
    return whole or _as_written(statement, catalog, MOST_VARIABLES, name)


def _numbered(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns of a SELECT by itself: the second `name` is name_2, and so on."""
    original = {c.name.lower() for c in columns}
    seen: set[str] = set()
    named: list[Column] = []
    for c in columns:
        name, number = c.name, 2
        while name.lower() in seen or (name != c.name and name.lower() in original):
            name, number = f"{c.name}_{number}", number + 1
        seen.add(name.lower())
        named.append(replace(c, name=name))
    return tuple(named)


def _check_distinct(columns: tuple[Column, ...], statement: CreateView) -> None:
    """The columns of a view are told apart by their names."""
    seen: set[str] = set()
    for column in columns:
        name = column.name.lower()
        if name in seen:
            raise AmbiguousName(
                f"the view has two columns '{column.name}'",
                instead="rename one with AS, or name all the columns behind the view's name",
                at=_place(name, statement),
            )
        seen.add(name)


def _check_digits(columns: tuple[Column, ...], statement: CreateView) -> None:
    """No decimal that is shown has more digits after the point than there may be in all."""
    for column in columns:
        if column.type.kind == "decimal" and column.type.scale > DIGITS:
            raise TypeProblem(
                f"the column '{column.name}' has {column.type.scale} digits after the point",
                instead=f"decimals have {DIGITS} in all; round it with ROUND(x, 10)",
                at=_place(column.name.lower(), statement),
            )


def _place(name: str, statement: CreateView) -> Place:
    """Where the last column of a name is selected: by itself, or by a star."""
    if statement.columns:
        return statement.at
    for item in reversed(statement.query.items):
        if not isinstance(item, Item):
            return item.at
        called = item.name or (item.expr.name if isinstance(item.expr, Name) else "")
        if called.lower() == name:
            return item.at
    return statement.at
