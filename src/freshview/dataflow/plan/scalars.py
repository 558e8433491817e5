"""Scalars over the columns of a plan: names bound, types inferred, meaning given by the calculus.

A list of expressions over columns is lowered as SELECT ... FROM one relation that has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from freshview.calculus.schema import Column, Query, Relation
from freshview.dataflow.plan.terms import BadPlan, Field
from freshview.errors import AmbiguousName, UnknownName
from freshview.sql.catalog import Catalog
from freshview.sql.lower.view import lower
from freshview.sql.statements import CreateView
from freshview.sql.terms import (
    ExistsQuery,
    Item,
    Name,
    Quantified,
    Scalar,
    ScalarQuery,
    Select,
    Table,
)
from freshview.sql.walk import inside, rewrite

ROWS = "rows"
"""What the relation is called."""


def bind(e: Scalar, over: Sequence[Field]) -> Scalar:
    """The expression with each column named by its table as well."""
    for part in inside(e):
        if isinstance(part, ScalarQuery | ExistsQuery | Quantified):
            raise BadPlan(
                "a plan has no SELECT inside an expression",
                instead="declare the query with freshview.connect(), whose views may have them",
                at=part.at,
            )

    def rule(part: Scalar) -> Scalar | None:
        if not isinstance(part, Name):
            return None
        match = find(part, over)
        return replace(part, name=match.name, table=match.table)

    return rewrite(e, rule)


def find(name: Name, over: Sequence[Field]) -> Field:
    """The column that a name means."""
    title, table = name.name.lower(), name.table.lower() if name.table else None
    fitting = [f for f in over if f.name.lower() == title and table in (None, f.table.lower())]
    shown = f"{name.table}.{name.name}" if name.table else name.name
    if not fitting:
        known = ", ".join(map(str, over))
        raise UnknownName(
            f"there is no column '{shown}'", instead=f"the columns here are {known}", at=name.at
        )
    if len(fitting) > 1:
        raise AmbiguousName(
            f"column '{shown}' is in more than one table here",
            instead=f"write {' or '.join(map(str, fitting))}",
            at=name.at,
        )
    return fitting[0]


def labels(over: Sequence[Field]) -> tuple[str, ...]:
    """A name for each column that no other one has, in SQL and elsewhere.

    >>> from freshview.calculus.types import INT
    >>> labels([Field("a", "b_c", INT), Field("a_b", "c", INT), Field("a", "t", INT)])
    ('a_b_c', 'a_b_c_2', 'a_t')
    """
    used: dict[str, None] = {}
    for f in over:
        word = "".join(c if c.isalnum() else "_" for c in f"{f.table}_{f.name}".lower())
        label, number = word, 2
        while label in used:
            label, number = f"{word}_{number}", number + 1
        used[label] = None
    return tuple(used)


def relation_of(over: Sequence[Field], name: str = ROWS) -> Relation:
    """The columns as a relation."""
    both = zip(labels(over), over, strict=True)
    return Relation(name, tuple(Column(label, f.type) for label, f in both))


def relabelled(e: Scalar, over: Sequence[Field]) -> Scalar:
    """A bound expression in the names of the columns' relation."""
    known = {(f.table, f.name): label for f, label in zip(over, labels(over), strict=True)}

    def rule(part: Scalar) -> Scalar | None:
        if not isinstance(part, Name):
            return None
        return Name(known[part.table or "", part.name], None, part.at)

    return rewrite(e, rule)


def select(
    over: Sequence[Field],
    items: Sequence[Item],
    *,
    where: Scalar | None = None,
    group: Sequence[Scalar] = (),
    name: str = "result",
) -> Query:
    """SELECT items FROM the columns' relation WHERE ... GROUP BY ..., as a term."""
    relation = relation_of(over)
    query = Select(
        tuple(replace(i, expr=relabelled(i.expr, over)) for i in items),
        (Table(relation.name, relation.name),),
        None if where is None else relabelled(where, over),
        tuple(relabelled(k, over) for k in group),
    )
    catalog = Catalog().with_relation(relation)
    return lower(CreateView(name, (), query), catalog, distinct=False)


def titled(items: Sequence[Item]) -> tuple[Item, ...]:
    """Each item under a name of its own.

    >>> [i.name for i in titled([Item(Name("a")), Item(Name("a", "t")), Item(Name("b"), "c")])]
    ['a', 'a_2', 'c']
    """
    used: set[str] = set()
    titles = []
    for item in items:
        word = item.name or (item.expr.name if isinstance(item.expr, Name) else _plain(item.expr))
        title, number = word, 2
        while title.lower() in used:
            title, number = f"{word}_{number}", number + 1
        used.add(title.lower())
        titles.append(replace(item, name=title))
    return tuple(titles)


def _plain(e: Scalar) -> str:
    fn = getattr(e, "fn", "")
    return fn if isinstance(fn, str) and fn else "value"
