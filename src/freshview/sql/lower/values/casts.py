"""CAST, and the texts and dates that are cast because of what stands beside them."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from freshview.calculus.build import const
from freshview.calculus.builtin.zones import to_utc
from freshview.calculus.casts import CASTS, MOST_DIGITS, NARROW_BITS, SOURCES, never_fails
from freshview.calculus.terms import Const
from freshview.calculus.timestamps import read_timestamp, show_moment
from freshview.calculus.types import DOUBLE, INT, NUMERIC, TIMESTAMP, Kind, Type, decimal
from freshview.errors import UnsupportedSql
from freshview.sql.lower.env import Env
from freshview.sql.lower.val import Val
from freshview.sql.lower.values.apply import apply
from freshview.sql.lower.values.coerce import coerce, text_literal


def cast(v: Val, to: Type, env: Env, digits: int = MOST_DIGITS, *, tried: bool = False) -> Val:
    """CAST(v AS to), or TRY_CAST: one function of the calculus, for constants and for rows.

    `digits` is how many a decimal has, or how many bits an integer, where they are 8, 16 or 32.
    """
    source = v.type
    if source.span and to.span != source.span:
        raise UnsupportedSql(
            f"CAST from INTERVAL to {to.kind.upper()} is not supported",
            instead="EXTRACT its parts, or subtract UNIX_TIMESTAMP(...) of both moments",
        )
    if "timestamp" in (source.kind, to.kind) and {source.kind, to.kind} & set(NUMERIC):
        return _of_epoch(v, to, env, digits, tried=tried)
    if source.kind == "null":
        return replace(v, type=to.or_null())
    if source.kind not in SOURCES[to.kind]:
        raise UnsupportedSql(
            f"there is no CAST from {source.kind.upper()} to {to.kind.upper()}",
            instead=_remedy(source.kind, to.kind),
        )
    v = _in_utc(v) if to.kind == "timestamp" else v
    bits = digits if to.kind == "int" and digits in NARROW_BITS else 0
    if source.kind == to.kind != "decimal" and not bits:
        return v
    if to.kind == "string" and source.kind in ("decimal", "double"):
        # A number of rows may be written otherwise than its type says: a sum of none is 0.
        v = cast(v, source, env) if source.kind == "decimal" else as_double(v, env)
    risk = "" if never_fails(source, to, digits) else "try_" if tried else "cast_"
    shape: list[Val] = []
    if to.kind == "decimal":
        like = Const(Decimal(0).scaleb(-to.scale), to.not_null())
        shape = [Val(const(digits), INT), Val(like, like.type)]
    if bits and risk:
        shape = [Val(const(bits), INT)]
    return apply(risk + to.kind, [v, *shape], env)


_ZONED = re.compile(
    r"(.*:\d{1,2}(?:\.\d+)?) ?((?:UTC|GMT|UT)?[+-]\d{1,2}(?::?\d{2})?|[A-Z][A-Za-z]+/[A-Za-z_/]+)",
    re.ASCII,
)


def _in_utc(v: Val) -> Val:
    """A constant text of a moment in some zone as that of the moment in UTC, as Spark reads it."""
    match = _ZONED.fullmatch((text_literal(v) or "").strip())
    if match is None:
        return v
    moment = const(show_moment(to_utc(read_timestamp(match[1]), match[2])))
    return replace(v, term=moment)


def _of_epoch(v: Val, to: Type, env: Env, digits: int, *, tried: bool) -> Val:
    """A timestamp as the seconds since 1970 in UTC, or the other way round, as in Spark."""
    if to.kind == "timestamp":
        if v.type.kind == "int" and not tried:
            return apply("timestamp_seconds", [v], env)
        word = "TRY_CAST" if tried else "CAST"
        raise UnsupportedSql(
            f"{word} from {v.type.kind.upper()} to TIMESTAMP is not supported",
            instead="write TIMESTAMP_SECONDS(...), in a CASE that tests its range",
        )
    if to.kind == "int":
        return cast(apply("unix_seconds", [v], env), to, env, digits, tried=tried)
    micros = apply("unix_micros", [v], env)
    million = const(1_000_000)
    seconds = apply("div", [micros, Val(million, million.type)], env)
    return seconds if to.kind == "double" else cast(seconds, to, env, digits, tried=tried)


def as_double(v: Val, env: Env) -> Val:
    """A number as a double."""
    return apply(DOUBLE.kind, [v], env)


def rounded(v: Val, digits: int, env: Env) -> Val:
    """A decimal with at most so many digits after the point, halves away from zero."""
    return v if digits >= v.type.scale else cast(v, decimal(digits), env)


def _remedy(source: Kind, to: Kind) -> str:
    if "date" in (source, to):
        return "subtract DATE '1970-01-01', or add days to it"
    return "store the value in the type that you compare it with"


def as_time(v: Val, kind: Kind) -> Val:
    """A string constant beside a date or timestamp as one; other values as they are."""
    text = text_literal(v)
    if text is None:
        return v
    moment = const(CASTS[kind](text_literal(_in_utc(v)) if kind == "timestamp" else text))
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
