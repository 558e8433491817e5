"""Aggregates beyond SUM, COUNT, AVG, MIN and MAX, over the tables of `sql_cases`."""

from __future__ import annotations

AGGREGATE_CASES: tuple[str, ...] = (
    "SELECT a, STDDEV(b), VAR_POP(c), VARIANCE(b), STDDEV_POP(DISTINCT b) FROM r GROUP BY a",
    "SELECT STDDEV_SAMP(b), VAR_SAMP(b), STD(c), COVAR_POP(b, c), COVAR_SAMP(a, c) FROM r",
    "SELECT a, CORR(b, c), REGR_SLOPE(b, c), REGR_INTERCEPT(b, c), REGR_R2(b, c) FROM r GROUP BY a",
    "SELECT REGR_COUNT(b, c), REGR_AVGX(b, c), REGR_AVGY(b, c), REGR_SXX(b, c), REGR_SYY(b, c), "
    "REGR_SXY(b, c) FROM r",
    "SELECT a, SKEWNESS(c), KURTOSIS(c) FROM r GROUP BY a",
    "SELECT name, STDDEV(price), CORR(price, w), SKEWNESS(w) FROM t GROUP BY name",
    "SELECT a, COUNT_IF(b > 1), COUNT_IF(DISTINCT b > 1), BOOL_AND(b > 1), EVERY(c > 1), "
    "BOOL_OR(b = 1), SOME(b = c) FROM r GROUP BY a",
    "SELECT BOOL_AND(flag), BOOL_OR(flag), COUNT_IF(flag) FROM t",
    "SELECT a, SUM(c) FILTER (WHERE b > 1), STDDEV(c) FILTER (WHERE b > 1), "
    "COUNT(DISTINCT c) FILTER (WHERE b > 0), BOOL_OR(b = c) FILTER (WHERE c > 1) "
    "FROM r GROUP BY a",
    "SELECT MEDIAN(b), PERCENTILE(c, 0.3), MEDIAN(DISTINCT c) FROM r",
    "SELECT a, MEDIAN(c), PERCENTILE_CONT(0.2) WITHIN GROUP (ORDER BY b DESC), "
    "PERCENTILE_DISC(0.7) WITHIN GROUP (ORDER BY b), "
    "PERCENTILE_DISC(0.7) WITHIN GROUP (ORDER BY b DESC) FROM r GROUP BY a",
    "SELECT PERCENTILE_DISC(0) WITHIN GROUP (ORDER BY c), "
    "PERCENTILE_DISC(1) WITHIN GROUP (ORDER BY c), PERCENTILE(c, 0), PERCENTILE(c, 1) FROM r",
    "SELECT name, MEDIAN(price), PERCENTILE_APPROX(w, 0.9) FROM t GROUP BY name",
    "SELECT a FROM r GROUP BY a HAVING MEDIAN(c) > 1 AND STDDEV(c) IS NOT NULL",
    "SELECT r.a, MEDIAN(s.d * r.c) FROM r JOIN s ON r.a = s.a GROUP BY r.a",
    "SELECT a, MODE(b), MODE(c) FROM r GROUP BY a",
    "SELECT MODE(name), MODE(price) FROM t",
    "SELECT a, MIN_BY(b, c), MAX_BY(b, c), MIN_BY(c, b) FROM r GROUP BY a",
    "SELECT MAX_BY(name, price), MIN_BY(k, day) FROM t",
    "SELECT a, FIRST(c), LAST(b), ANY_VALUE(b) FROM r GROUP BY a",
    "SELECT FIRST(name), LAST(day) FROM t",
    "SELECT a, APPROX_COUNT_DISTINCT(b), MEAN(b) FROM r GROUP BY a",
    "SELECT a FROM r WHERE c >= (SELECT MEDIAN(d) FROM s WHERE s.a = r.a)",
    "SELECT a, BIT_XOR(b * 1000003) FROM r GROUP BY a",
    "SELECT BIT_AND(c - 2) FROM r",
    "SELECT a, BIT_OR(c) FILTER (WHERE b > 1) FROM r GROUP BY a",
    "SELECT m, COUNT(*) FROM (SELECT MAX_BY(b, c) AS m FROM r GROUP BY a) x GROUP BY m",
)
"""What is put together from sums of powers, ordered values and counts of values."""
