"""Linear regression of a few variables, by the sums of squares and products around their means."""

from __future__ import annotations

from math import isfinite, sqrt

from freshview.calculus.builtin.entry import Entry, entry

DEPENDENT = 1e-10
"""What is left of the square of a column, relative to it, where others say the rest of it."""


def coefficient(place: int, n: int, *numbers: float) -> float | None:
    """The intercept (place 0) or the coefficient of a variable of y = a + b1 * x1 + ...

    The numbers are the sums of y, x1, ..., and then, of each pair of these in order, the sum of
    products of their deviations from the mean. NULL where some x is determined by the others.
    """
    count = next(k for k in range(1, len(numbers)) if k + k * (k + 1) // 2 == len(numbers))
    sums, products = numbers[:count], iter(numbers[count:])
    spread = [[0.0] * count for _ in range(count)]
    for i in range(count):
        for j in range(i, count):
            spread[i][j] = spread[j][i] = next(products)
    slopes = _solved([row[1:] for row in spread[1:]], [row[0] for row in spread[1:]])
    if n == 0 or slopes is None:
        return None
    intercept = (sums[0] - sum(b * s for b, s in zip(slopes, sums[1:], strict=True))) / n
    answer = [intercept, *slopes][place]
    return answer + 0.0 if isfinite(answer) else None


def _solved(a: list[list[float]], b: list[float]) -> list[float] | None:
    """The solution of normal equations by Cholesky's factors, each variable scaled to one."""
    if any(not row[i] > 0 for i, row in enumerate(a)):
        return None
    scale = [1 / sqrt(row[i]) for i, row in enumerate(a)]
    low: list[list[float]] = []
    y: list[float] = []
    for i, row in enumerate(a):
        own: list[float] = []
        for j in range(i + 1):
            other = own if j == i else low[j]
            rest = row[j] * scale[i] * scale[j] - sum(
                p * q for p, q in zip(own, other, strict=False)
            )
            if j < i:
                own.append(rest / low[j][j])
            elif rest > DEPENDENT:
                own.append(sqrt(rest))
            else:
                return None
        low.append(own)
        y.append((b[i] * scale[i] - sum(p * q for p, q in zip(own, y, strict=False))) / own[i])
    for i in reversed(range(len(y))):
        rest = y[i] - sum(low[k][i] * y[k] for k in range(i + 1, len(y)))
        y[i] = rest / low[i][i]
    return [x * s for x, s in zip(y, scale, strict=True)]


ENTRIES: tuple[Entry, ...] = (
    entry("regr_coefficient_of", "int, long, double... -> double?", coefficient),
)
