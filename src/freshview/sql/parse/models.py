"""REGR_MODEL(y, x1, ...): a struct of the intercept and a coefficient for each x."""

from __future__ import annotations

from dataclasses import replace

from freshview.calculus.types import INT
from freshview.errors import UnknownName, UnsupportedSql
from freshview.sql.parse.time_windows import FIELD, field_name
from freshview.sql.terms import Aggregate, Call, Item, Literal, Name, Scalar, Select, Star
from freshview.sql.walk import inside, rewrite

MODEL = "regr_model"
COEFFICIENT = "regr_coefficient"
"""The aggregate of one number of a model: of y, of every x, and of the number's place from 0."""


def with_models(query: Select) -> Select:
    """The SELECT with the numbers of every model as columns."""
    every = (i.expr for i in query.items if isinstance(i, Item))
    clauses = (query.having, query.qualify, *(k.expr for k in query.order))
    if not any(_is_model(x) for e in (*every, *clauses) if e is not None for x in inside(e)):
        return query
    return replace(
        query,
        items=tuple(x for i in query.items for x in _items(i)),
        having=None if query.having is None else _numbers(query.having),
        qualify=None if query.qualify is None else _numbers(query.qualify),
        order=tuple(replace(k, expr=_numbers(k.expr)) for k in query.order),
    )


def _is_model(e: Scalar) -> bool:
    return isinstance(e, Aggregate) and e.fn == MODEL


def _items(item: Item | Star) -> tuple[Item | Star, ...]:
    if isinstance(item, Star):
        return (item,)
    if not isinstance(item.expr, Aggregate) or not _is_model(item.expr):
        name = item.name or field_name(item.expr)
        return (replace(item, expr=_numbers(item.expr), name=name),)
    title, model = item.name or MODEL, item.expr
    return tuple(
        Item(_number(model, i), f"{title}.{field}", item.at)
        for i, field in enumerate(_fields(model))
    )


def _fields(model: Aggregate) -> list[str]:
    """The intercept, and of each x its name, or its place where it has none or shares it."""
    names = [e.name.lower() if isinstance(e, Name) else "" for e in model.args[1:]]
    shown = [
        n if n and n != "intercept" and names.count(n) == 1 else f"x{i}"
        for i, n in enumerate(names, 1)
    ]
    return ["intercept", *shown]


def _number(model: Aggregate, place: int) -> Aggregate:
    return replace(model, fn=COEFFICIENT, args=(*model.args, Literal(place, INT, model.at)))


def _numbers(e: Scalar) -> Scalar:
    """An expression with the fields of models as aggregates of their own."""

    def rule(x: Scalar) -> Scalar | None:
        match x:
            case Call(fn, (Aggregate() as model, Literal(str() as field))) if (
                fn == FIELD and _is_model(model)
            ):
                fields = _fields(model)
                if field not in fields:
                    raise UnknownName(
                        f"this model has no field '{field}'",
                        instead=f"it has {', '.join(fields)}",
                        at=x.at,
                    )
                return _number(model, fields.index(field))
            case Aggregate() if _is_model(x):
                raise UnsupportedSql(
                    "REGR_MODEL inside of an expression is not supported",
                    instead="name one of its fields, as in REGR_MODEL(y, x).intercept",
                    at=x.at,
                )
            case _:
                return None

    return rewrite(e, rule)
