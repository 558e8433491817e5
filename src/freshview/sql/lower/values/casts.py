"""CAST, and the texts and dates that are cast because of what stands beside them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from freshview.calculus.build import const
from freshview.calculus.casts import CASTS, MOST_DIGITS, SOURCES, never_fails
from freshview.calculus.terms import Const
from freshview.calculus.types import DOUBLE, INT, TIMESTAMP, Kind, Type, decimal
from freshview.errors import UnsupportedSql
from freshview.sql.lower.env import Env
from freshview.sql.lower.val import Val
from freshview.sql.lower.values.apply import apply
from freshview.sql.lower.values.coerce import coerce, text_literal


def cast(v: Val, to: Type, env: Env, digits: int = MOST_DIGITS, *, tried: bool = False) -> Val:
    """CAST(v AS to), or TRY_CAST: one function of the calculus, for constants and for rows."""
    source = v.type
    if source.kind == "null":
        return replace(v, type=to.or_null())
    if source.kind not in SOURCES[to.kind]:
        raise UnsupportedSql(
            f"there is no CAST from {source.kind.upper()} to {to.kind.upper()}",
            instead=_remedy(source.kind, to.kind),
        )
    if source.kind == to.kind != "decimal":
        return v
    if to.kind == "string" and source.kind in ("decimal", "double"):
        # A number of rows may be written otherwise than its type says: a sum of none is 0.
        v = cast(v, source, env) if source.kind == "decimal" else as_double(v, env)
    risk = "" if never_fails(source, to, digits) else "try_" if tried else "cast_"
    shape: list[Val] = []
    if to.kind == "decimal":
        like = Const(Decimal(0).scaleb(-to.scale), to.not_null())
        shape = [Val(const(digits), INT), Val(like, like.type)]
    return apply(risk + to.kind, [v, *shape], env)


def as_double(v: Val, env: Env) -> Val:
    """A number as a double."""
    return apply(DOUBLE.kind, [v], env)


def rounded(v: Val, digits: int, env: Env) -> Val:
    """A decimal with at most so many digits after the point, halves away from zero."""
    return v if digits >= v.type.scale else cast(v, decimal(digits), env)


def _remedy(source: Kind, to: Kind) -> str:
    if "timestamp" in (source, to) and "bool" not in (source, to):
        return "timestamps have no zone, and so are not a number of seconds; keep one beside it"
    if "date" in (source, to):
        return "subtract DATE '1970-01-01', or add days to it"
    return "store the value in the type that you compare it with"


def as_time(v: Val, kind: Kind) -> Val:
    """A string constant beside a date or timestamp as one; other values as they are."""
    text = text_literal(v)
    if text is None:
        return v
    moment = const(CASTS[kind](text))
    return Val(moment, moment.type)


def by_its_form(v: Val) -> Val:
    """A string constant that stands alone: a timestamp if it has a time, else a date."""
    text = text_literal(v)
    if text is None:
        return v
    return as_time(v, "timestamp" if ":" in text else "date")


def as_timestamp(v: Val) -> Val:
    """A date as the timestamp of its midnight."""
    return coerce(v, TIMESTAMP) if v.type.kind == "date" else v
