"""Which SELECTs may stand in CREATE FACTORIZED VIEW: joins, tests of rows, and columns."""

from __future__ import annotations

from collections.abc import Iterator

from freshview.errors import Place, UnsupportedSql
from freshview.sql.terms import (
    Aggregate,
    Combined,
    Derived,
    ExistsQuery,
    From,
    Item,
    Join,
    Over,
    Pivot,
    Quantified,
    Scalar,
    ScalarQuery,
    Select,
    Unpivot,
    Values,
)
from freshview.sql.walk import inside


def check_conjunctive(s: Select) -> None:
    """Refuse a SELECT whose rows are not those of an inner join, with the place that says so."""
    for written, what, at in (
        (bool(s.group or s.keys), "GROUP BY", s.at),
        (s.having is not None, "HAVING", s.at),
        (s.qualify is not None, "QUALIFY", s.at),
        (s.distinct, "DISTINCT", s.at),
        (bool(s.order), "ORDER BY", s.at),
        (s.limit is not None, "LIMIT", s.at),
        (s.offset > 0, "OFFSET", s.at),
    ):
        if written:
            raise _refused(what, at)
    for e in (x for scalar in _scalars(s) for x in inside(scalar)):
        if isinstance(e, Aggregate | Over):
            raise _refused(f"{e.fn.upper()}()", e.at)
        if isinstance(e, ScalarQuery | ExistsQuery | Quantified):
            raise _refused("a subquery in an expression", e.at)
    for source in s.sources:
        _check_source(source)
    for cte in s.ctes:
        check_conjunctive(cte.query)


def _check_source(source: From) -> None:
    if isinstance(source, Join):
        if source.kind != "inner" or source.asof:
            word = "ASOF" if source.asof else source.kind.upper()
            raise _refused(f"{word} JOIN", source.at)
        _check_source(source.left)
        _check_source(source.right)
    elif isinstance(source, Combined | Values | Pivot | Unpivot):
        word = source.op if isinstance(source, Combined) else type(source).__name__
        raise _refused(word.upper(), source.at)
    elif isinstance(source, Derived):
        if source.lateral:
            raise _refused("LATERAL", source.at)
        check_conjunctive(source.query)


def _scalars(s: Select) -> Iterator[Scalar]:
    """All that a SELECT computes itself."""
    yield from (item.expr for item in s.items if isinstance(item, Item))
    if s.where is not None:
        yield s.where
    for source in s.sources:
        yield from _conditions(source)


def _conditions(source: From) -> Iterator[Scalar]:
    if isinstance(source, Join):
        if source.on is not None:
            yield source.on
        yield from _conditions(source.left)
        yield from _conditions(source.right)


def _refused(what: str, at: Place) -> UnsupportedSql:
    return UnsupportedSql(
        f"{what} cannot stand in a factorized view, which keeps the rows of an inner join",
        instead="declare it with CREATE VIEW",
        at=at,
    )
