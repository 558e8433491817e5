"""Aggregates of Spark in the words of DuckDB, where the names or their meanings differ."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

AGGREGATES = (
    *(
        exp.Quantile,
        exp.ApproxQuantile,
        exp.ApproxDistinct,
        exp.Skewness,
        exp.Kurtosis,
        exp.CountIf,
    ),
    *(exp.ArgMin, exp.ArgMax, exp.First, exp.Last, exp.AnyValue, exp.Mode, exp.Anonymous),
)
_NAMES = {"some": "bool_or", "any": "bool_or", "every": "bool_and", "std": "stddev", "mean": "avg"}
_SKEWNESS = (
    "(AVG({x}::DOUBLE ** 3) - 3 * AVG({x}::DOUBLE ** 2) * AVG({x}) + 2 * AVG({x}) ** 3)"
    " / NULLIF(VAR_POP({x}), 0) ** 1.5"
)
"""DuckDB has that of a sample, and Spark that of a population."""


def in_duckdb(e: exp.Expression) -> exp.Expression:
    """The same aggregate; what needs nothing is answered as it is."""
    if isinstance(e, exp.Anonymous):
        name = _NAMES.get(str(e.this).lower())
        return exp.Anonymous(this=name, expressions=e.expressions) if name else e
    x = e.this.sql(dialect="duckdb")
    match e:
        case exp.ApproxQuantile():
            return _read(f"QUANTILE_DISC({x}, {e.args['quantile'].sql()})")
        case exp.Quantile():
            return _read(f"QUANTILE_CONT({x}, {e.args['quantile'].sql()})")
        case exp.ApproxDistinct():
            return _read(f"COUNT(DISTINCT {x})")
        case exp.CountIf():
            distinct = "DISTINCT " if isinstance(e.this, exp.Distinct) else ""
            return _read(f"COUNT({distinct}CASE WHEN {x.removeprefix('DISTINCT ')} THEN 1 END)")
        case exp.Skewness():
            return _read(_SKEWNESS.format(x=x))
        case exp.Kurtosis():
            return _read(f"KURTOSIS_POP({x})")
        case exp.ArgMin() | exp.ArgMax():
            by = e.expression.sql(dialect="duckdb")
            direction = "ASC" if isinstance(e, exp.ArgMin) else "DESC"
            order = f"{by} {direction} NULLS LAST, {x} NULLS FIRST"
            return _read(f"FIRST({x} ORDER BY {order}) FILTER (WHERE {by} IS NOT NULL)")
        case exp.First() | exp.AnyValue():
            return _read(f"MIN({x})")
        case exp.Last():
            return _read(f"MAX({x})")
        case exp.Mode():
            return _read(_MODE.format(x=x))
    raise AssertionError(e)


_MODE = (
    "LIST_MIN(LIST_FILTER(LIST_DISTINCT(LIST({x})), v -> LEN(LIST_FILTER(LIST({x}), w -> w = v)) ="
    " LIST_MAX([LEN(LIST_FILTER(LIST({x}), w -> w = u)) FOR u IN LIST({x}) IF u IS NOT NULL])))"
)


def _read(text: str) -> exp.Expression:
    return exp.Paren(this=sqlglot.parse_one(text, dialect="duckdb"))
