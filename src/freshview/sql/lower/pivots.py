"""PIVOT and UNPIVOT as the SELECTs that they are short for."""

from __future__ import annotations

from collections.abc import Iterable

from freshview.calculus.types import INT, STRING
from freshview.errors import UnknownName, UnsupportedSql
from freshview.sql.terms import (
    Aggregate,
    And,
    Case,
    Combined,
    Compare,
    IsNull,
    Item,
    Literal,
    Name,
    Not,
    Or,
    Pivot,
    Same,
    Scalar,
    Select,
    Star,
    Unpivot,
)
from freshview.sql.walk import inside, only_where, rewrite


def pivoted(p: Pivot, columns: Iterable[str]) -> Select:
    """GROUP BY what is neither aggregated nor pivoted, an aggregate of some rows for each value.

    SUM(x) FOR k IN (1, 2) is SUM(CASE WHEN k <=> 1 THEN x END) and the same with 2. An aggregate
    over no rows is NULL, COUNT too.
    """
    names = list(columns)
    used = {n.name.lower() for n in p.columns}
    for aggregate, _ in p.aggregates:
        used |= {x.name.lower() for x in inside(aggregate) if isinstance(x, Name)}
        if not any(isinstance(x, Aggregate) for x in inside(aggregate)):
            raise UnsupportedSql(
                "PIVOT without an aggregate is not supported", instead="write SUM(x)", at=p.at
            )
    _check_columns(used, names, p)
    keys = [Name(c, at=p.at) for c in names if c.lower() not in used]
    items = [Item(k, k.name, p.at) for k in keys]
    for values, label in p.values:
        tests = tuple(Same(c, v, p.at) for c, v in zip(p.columns, values, strict=True))
        test = tests[0] if len(tests) == 1 else And(tests, p.at)
        for aggregate, name in p.aggregates:
            title = f"{label}_{name}" if name else label
            items.append(Item(_only(aggregate, test), title, p.at))
    return Select(tuple(items), (p.source,), group=tuple(keys), at=p.at)


def _check_columns(used: set[str], names: list[str], p: Pivot | Unpivot) -> None:
    missing = sorted(used - {n.lower() for n in names})
    if missing:
        raise UnknownName(
            f"there is no column '{missing[0]}'",
            instead="the columns here are " + ", ".join(names),
            at=p.at,
        )


_NULL_OF_NONE = ("sum", "avg", "min", "max")


def _only(e: Scalar, test: Scalar) -> Scalar:
    """An aggregate of the rows that meet a test; NULL if there are none."""

    def filtered(x: Scalar) -> Scalar | None:
        if not isinstance(x, Aggregate):
            return None
        return only_where(x, test)

    whole = rewrite(e, filtered)
    if isinstance(e, Aggregate) and e.fn in _NULL_OF_NONE:
        return whole
    there = Aggregate("count", (Case(((test, Literal(1, INT, e.at)),), None, e.at),), False, e.at)
    return Case(((Compare(">", there, Literal(0, INT, e.at), e.at), whole),), None, e.at)


def unpivoted(u: Unpivot, columns: Iterable[str]) -> Select:
    """A SELECT for each of the columns, one after the other."""
    names = list(columns)
    used = {n.name.lower() for group, _ in u.sets for n in group}
    _check_columns(used, names, u)
    others = [Item(Name(c, at=u.at), c, u.at) for c in names if c.lower() not in used]
    arms = []
    for group, label in u.sets:
        values = [Item(n, title, u.at) for n, title in zip(group, u.values, strict=True)]
        items = (*others, Item(Literal(label, STRING, u.at), u.name, u.at), *values)
        there = tuple(Not(IsNull(n, u.at), u.at) for n in group)
        kept = there[0] if len(there) == 1 else Or(there, u.at)
        arms.append(Select(items, (u.source,), None if u.include_nulls else kept, at=u.at))
    whole = Combined("union", True, tuple(arms), u.alias, u.at)
    return arms[0] if len(arms) == 1 else Select((Star(None, at=u.at),), (whole,), at=u.at)
