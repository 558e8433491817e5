"""Cofactors as they are read: numbers for users, and what is behind them for models.

A variance is a small difference of large numbers. Rounded to doubles, these have lost it where the
mean is large beside the deviation, so models do not start from what users are shown. The reference
engine has elements without any rounding. Kernels add doubles up, but about a centre that can be put
near the mean, and they watch what was lifted, so that it is known which digits are noise.
"""

from __future__ import annotations

from collections.abc import Mapping

from freshview.algebra.cofactor import Amount, Behind, Cofactor, E, Watch
from freshview.algebra.real import Real


def rounded(element: Cofactor) -> Cofactor:
    """An exact element in doubles, and whole numbers where it has them; it knows the exact one.

    >>> x = rounded(Cofactor.of("x", 0.1) + Cofactor.of("x", 0.2))
    >>> x.sums, behind(x).element.sums
    ({'x': 0.30000000000000004}, {'x': Real.of(0.30000000000000004)})
    """
    out = Cofactor(element.count)
    out.sums, out.products = _doubles(element.sums), _doubles(element.products)
    out.behind = Behind(element)
    return out


def watched(element: Cofactor, watch: Watch) -> Cofactor:
    """An element of a kernel with its centre added to the variables again; it knows the first one.

    >>> w = Watch({"x": 10.0}, {"x": 10.0}, {"x": 12.0})
    >>> watched(Cofactor(2, {"x": 2.0}, {("x", "x"): 4.0}), w)
    Cofactor(2, {'x': 22.0}, {('x', 'x'): 244.0})
    """
    centre = {s: c for s, c in watch.centre.items() if c}
    out = Cofactor(element.count)
    if centre and element.count:
        out = element.shifted(centre)
    else:
        out.sums, out.products = element.sums, element.products
    out.behind = Behind(element, watch.centre, watch)
    return out


def behind(element: Cofactor) -> Behind:
    """What an element was made of; one that was not read from anywhere is taken as it is."""
    origin: Behind | None = getattr(element, "behind", None)
    return origin or Behind(element)


def _doubles(numbers: Mapping[E, Amount]) -> dict[E, Amount]:
    return {k: float(x) if isinstance(x, Real) else x for k, x in numbers.items()}
