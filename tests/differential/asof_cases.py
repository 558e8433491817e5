"""ASOF JOIN over the tables of `sql_cases`; t has a key, so the nearest of its rows is one."""

from __future__ import annotations

ASOF_CASES: tuple[str, ...] = (
    "SELECT r.a, r.c, t.k FROM r ASOF JOIN t ON r.c >= t.k",
    "SELECT r.a, r.c, t.k, t.name FROM r ASOF LEFT JOIN t ON r.a = t.a AND r.c >= t.k",
    "SELECT r.a, r.c, t.price FROM r ASOF JOIN t ON r.a = t.a AND r.c < t.k",
    "SELECT r.a, r.c, t.k FROM r ASOF LEFT JOIN t ON t.k > r.c WHERE r.b > 0",
    "SELECT s.d, u.f FROM s ASOF LEFT JOIN u ON s.d >= u.a",
    "SELECT r.a, COUNT(*) AS n, SUM(t.price) AS p FROM r ASOF JOIN t ON r.c >= t.k GROUP BY r.a",
)
"""What DuckDB writes in the same way."""
