"""Variance, correlation, regression, skewness and kurtosis: of sums of powers of the values.

The values are taken as doubles, as Spark takes them. All the sums of a moment meet within one term,
and terms are computed in the arithmetic of sums, which has twice the digits of a double: what
n * SUM(x * x) - SUM(x) * SUM(x) leaves is right to the last digits of a double as long as the
values differ in their first fifteen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from freshview.calculus.build import ONE, const, mul, sub
from freshview.calculus.terms import Apply, Expr, Var
from freshview.calculus.types import DOUBLE, INT
from freshview.errors import TypeProblem
from freshview.sql.lower.aggregates.group import Computed, Group, present
from freshview.sql.lower.val import Val
from freshview.sql.lower.values.coerce import coerce


@dataclass
class Moments(Computed):
    """Sums over the rows in which no argument is NULL, and what is computed of them in order."""

    arguments: tuple[Val, ...]
    guards: tuple[Expr, ...]

    def power(self, *exponents: int) -> Expr:
        """The sum of x ** i, or of x ** i * y ** j; without exponents, how many rows there are."""
        values = (v.term for v, n in zip(self.arguments, exponents, strict=False) for _ in range(n))
        return self.group.total(*self.guards, *values)

    def apply(self, fn: str, *args: Expr) -> Var:
        """A variable with the value of a function."""
        return self.let(fn, Apply(fn, args))

    def of(self, *chosen: int) -> list[int]:
        """Exponents: how often each argument stands among the chosen ones."""
        return [chosen.count(k) for k in range(len(self.arguments))]

    def count(self) -> Var:
        """How many rows there are."""
        return self.let("count", self.power())

    def spread(self, i: int, j: int) -> Var:
        """The sum of products of two deviations from the mean, times the number of rows."""
        products = mul(self.power(*self.of(i, j)), self.power())
        means = mul(self.power(*self.of(i)), self.power(*self.of(j)))
        spread = self.let("spread", sub(products, means))
        return spread if i != j else self.apply("greatest", spread, const(0.0))


def _mean(m: Moments, *exponents: int) -> Var:
    return m.apply("div", m.let("sum", m.power(*exponents)), m.count())


def _covariance(m: Moments, i: int, j: int, *, sample: bool) -> Var:
    """The spread over n * n, or over n * (n - 1) for a sample; NULL where that is zero."""
    n = m.count()
    pairs = m.let("pairs", mul(n, sub(n, ONE)) if sample else mul(n, n))
    return m.apply("div", m.spread(i, j), pairs)


def _deviation(m: Moments, *, sample: bool) -> Var:
    return m.apply("sqrt", _covariance(m, 0, 0, sample=sample))


def _correlation(m: Moments) -> Var:
    ratio = m.apply("div", m.spread(0, 1), m.apply("sqrt", m.spread(0, 0)))
    return m.apply("div", ratio, m.apply("sqrt", m.spread(1, 1)))


def _mean_spread(m: Moments, i: int, j: int) -> Var:
    return m.apply("div", m.spread(i, j), m.count())


def _slope(m: Moments) -> Var:
    """Of y, the first argument, over x, the second one."""
    return m.apply("div", m.spread(0, 1), m.spread(1, 1))


def _intercept(m: Moments) -> Var:
    """(SUM(y) * SUM(x * x) - SUM(x) * SUM(x * y)) / the spread of x."""
    left, right = mul(m.power(1, 0), m.power(0, 2)), mul(m.power(0, 1), m.power(1, 1))
    return m.apply("div", m.let("intercept", sub(left, right)), m.spread(1, 1))


def _determination(m: Moments) -> Var:
    """The square of the correlation; 1 if y does not vary, NULL if x does not."""
    x, y, both = m.spread(1, 1), m.spread(0, 0), m.spread(0, 1)
    explained = m.apply("div", m.let("both", mul(both, both)), m.let("each", mul(x, y)))
    return m.apply("coalesce", explained, m.apply("when", x, const(1.0)))


def _skewness(m: Moments) -> Var:
    """The sum of cubes of deviations, times n * n, over the spread to the power of 1.5."""
    s1, s2, s3 = m.power(1), m.power(2), m.power(3)
    negative = sub(mul(const(3), m.power(1), s2, m.power()), mul(s3, m.power(), m.power()))
    cubes = m.let("cubes", sub(mul(const(2), s1, m.power(1), m.power(1)), negative))
    spread = m.spread(0, 0)
    return m.apply("div", m.apply("div", cubes, spread), m.apply("sqrt", spread))


def _kurtosis(m: Moments) -> Var:
    """The sum of fourth powers of deviations, times n ** 3, over the spread squared."""
    s1, s2, s3, s4 = (m.power(k) for k in (1, 2, 3, 4))
    high = sub(
        mul(s4, m.power(), m.power(), m.power()), mul(const(4), s3, s1, m.power(), m.power())
    )
    squares = (m.power(1), m.power(1))
    low = sub(
        mul(const(3), *squares, m.power(1), m.power(1)),
        mul(const(6), m.power(1), m.power(1), s2, m.power()),
    )
    fourths = m.let("fourths", sub(high, low))
    spread = m.spread(0, 0)
    return m.apply("div", m.apply("div", fourths, spread), spread)


_OF_ONE: Mapping[str, Callable[[Moments], Var]] = {
    **dict.fromkeys(("stddev", "stddev_samp", "std"), lambda m: _deviation(m, sample=True)),
    **dict.fromkeys(("variance", "var_samp"), lambda m: _covariance(m, 0, 0, sample=True)),
    "stddev_pop": lambda m: _deviation(m, sample=False),
    "var_pop": lambda m: _covariance(m, 0, 0, sample=False),
    "skewness": _skewness,
    "kurtosis": _kurtosis,
}
_OF_TWO: Mapping[str, Callable[[Moments], Var]] = {
    "covar_pop": lambda m: _covariance(m, 0, 1, sample=False),
    "covar_samp": lambda m: _covariance(m, 0, 1, sample=True),
    "corr": _correlation,
    "regr_count": Moments.count,
    "regr_avgx": lambda m: _mean(m, 0, 1),
    "regr_avgy": lambda m: _mean(m, 1, 0),
    "regr_sxx": lambda m: _mean_spread(m, 1, 1),
    "regr_syy": lambda m: _mean_spread(m, 0, 0),
    "regr_sxy": lambda m: _mean_spread(m, 0, 1),
    "regr_slope": _slope,
    "regr_intercept": _intercept,
    "regr_r2": _determination,
}
STATISTICS = {**dict.fromkeys(_OF_ONE, 1), **dict.fromkeys(_OF_TWO, 2)}
"""How many arguments each of them has."""


def coefficient(arguments: list[Val], group: Group) -> Val:
    """One number of REGR_MODEL(y, x1, ...): the last argument says which."""
    *variables, place = arguments
    m = _moments("regr_model", variables, group)
    every = range(len(variables))
    n = m.count()
    sums = [m.let("sum", m.power(*m.of(i))) for i in every]
    spreads = [m.apply("div", m.spread(i, j), n) for i in every for j in every if i <= j]
    var = m.apply("regr_coefficient_of", place.term, n, *sums, *spreads)
    return Val(var, DOUBLE.or_null(), tuple(m.prefix), (var.name,))


def _moments(fn: str, arguments: list[Val], group: Group) -> Moments:
    for v in arguments:
        if not v.type.is_numeric:
            raise TypeProblem(f"{fn.upper()} needs numbers, not {v.type.kind}")
    return Moments(group, tuple(coerce(v, DOUBLE) for v in arguments), present(arguments))


def moment(fn: str, arguments: list[Val], group: Group) -> Val:
    """One of `STATISTICS` of a group; NULL where it is not defined, as for no rows."""
    moments = _moments(fn, arguments, group)
    var = {**_OF_ONE, **_OF_TWO}[fn](moments)
    if fn == "regr_count":
        return Val(var, INT, tuple(moments.prefix))
    term = sub(var, const(3.0)) if fn == "kurtosis" else var  # that of a normal distribution is 3
    return Val(term, DOUBLE.or_null(), tuple(moments.prefix), (var.name,))
