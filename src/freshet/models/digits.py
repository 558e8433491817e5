"""How many digits of a variance a kernel still has, and what to do where they are gone.

A kernel adds doubles up: sums of squares about a centre have an error of about EPSILON * sqrt(n)
times themselves, and rows that were deleted have left one of EPSILON times their own squares. Where
a variance is so small beside these that it has lost digits, the kernel is filled anew from the rows
that are kept, about the means. What that does not help is told, or refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isfinite, log10, sqrt

from freshet.algebra import Cofactor as Element
from freshet.algebra.cofactor import Slot
from freshet.algebra.reading import Behind, Watch, behind, rounded, watched
from freshet.models.moments import EPSILON, LOST, is_constant, scatter_of

KEPT = 1e-10
"""The error of a variance, as a share of it, up to which a kernel goes on as it is."""
TOLD = 1e-8
"""The error that users are warned of, if nothing helps."""
REFUSED = 0.1
"""The error with which not one digit is left."""


def total(elements: Iterable[Element]) -> Element:
    """The sum of elements that were read together."""
    found = [behind(x) for x in elements]
    whole = Element()
    for part in found:
        whole = whole.plus(part.element)
    watch = found[0].watch if found else None
    return rounded(whole) if watch is None else watched(whole, watch)


def errors(element: Element) -> dict[Slot, float]:
    """The error of the variance of each column of a kernel, as a share of it.

    >>> watch = Watch({"x": 0.0}, {"x": 1e6}, {"x": 1e6 + 2})
    >>> x = Element(2, {"x": 2e6 + 2}, {("x", "x"): 2e12 + 4e6 + 4})
    >>> round(errors(watched(x, watch))["x"], 4)
    0.0003
    """
    found = behind(element)
    if found.watch is None or not element.count:
        return {}
    return {slot: _error(found, found.watch, slot) for slot in found.watch.centre}


def _error(found: Behind, watch: Watch, slot: Slot) -> float:
    x, n = found.element, found.element.count
    if watch.low[slot] == watch.high[slot]:
        return 0.0
    peak = max(watch.high[slot] - watch.centre[slot], watch.centre[slot] - watch.low[slot])
    if n == 1:  # there is no variance: it is about the value
        value = abs(float(x.sums.get(slot, 0)))
        return _share(4 * EPSILON * peak, value) if watch.gone else 0.0
    noise = EPSILON * sqrt(n) * float(x.product(slot, slot))
    if watch.gone:
        noise = max(noise, 4 * EPSILON * (n + sqrt(watch.gone)) * peak * peak)
    if not watch.gone and is_constant(found, slot) and _is_fine(found, slot):
        return 0.0
    return _share(noise, scatter_of(x, slot))


def _share(noise: float, whole: float) -> float:
    if noise == 0.0:
        return 0.0
    return noise / whole if whole > 0 else inf


def looks_constant(element: Element, slot: Slot) -> bool:
    """Whether a variance is within the rounding errors of rows that are all there."""
    found = behind(element)
    if found.watch is None or found.watch.gone:
        return False
    x = found.element
    return scatter_of(x, slot) <= max(LOST, EPSILON * sqrt(x.count)) * float(x.product(slot, slot))


def is_short(element: Element, slot: Slot) -> bool:
    """Whether all the values of a variable can be one number of few digits, as a price is."""
    found = behind(element)
    x, centre = found.element, found.centre.get(slot, 0.0)
    total = float(x.sums.get(slot, 0))
    value = float(f"{centre + total / x.count:.12g}")
    rest = abs(x.count * (value - centre) - total)
    return rest <= 8 * EPSILON * sqrt(x.count) * max(abs(total), abs(x.count * value))


def _is_fine(found: Behind, slot: Slot) -> bool:
    """Whether what looks constant is: it does so at a centre that is as near as doubles are."""
    finest = 8 * EPSILON * abs(found.centre.get(slot, 0.0))
    return float(found.element.product(slot, slot)) <= found.element.count * finest * finest


def better_centre(whole: Element) -> dict[str, float] | None:
    """Where to take the variables from, if a kernel that is filled anew would have more digits.

    It would if rows have gone, or if the means of all the rows are away from the centre.
    """
    found = behind(whole)
    x, watch = found.element, found.watch
    if watch is None or not x.count:
        return None
    centre: dict[str, float] = {}
    moved = bool(watch.gone)
    for slot, old in watch.centre.items():
        off = float(x.sums.get(slot, 0)) / x.count
        new = old + off
        good = isinstance(slot, str) and isfinite(new)
        spread = sqrt(max(scatter_of(x, slot), 0.0) / x.count)
        moved = moved or (good and abs(off) > spread and new != old)
        centre[str(slot)] = new if good else old
    return centre if moved else None


def digits(error: float) -> int:
    """How many digits are right with an error of this share."""
    return max(0, int(-log10(error))) if error > 0 else 16
