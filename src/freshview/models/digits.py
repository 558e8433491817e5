"""How many digits of a variance a kernel still has, and what to do where they are gone.

A kernel adds doubles up: sums of squares about a centre have an error of about EPSILON * sqrt(n)
times themselves, and rows that were deleted have left one of EPSILON times their own squares. Where
a variance is so small beside these that it has lost digits, the kernel is filled anew from the rows
that are kept, about the means. Where that does not help, there is a warning or an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import floor, inf, isfinite, log2, log10, sqrt

from freshview.algebra import Cofactor as Element
from freshview.algebra.cofactor import Behind, Slot, Watch
from freshview.algebra.reading import behind, rounded, watched
from freshview.models.moments import EPSILON, LOST, scatter_of

ACCEPTED_ERROR = 1e-10
"""The error of a variance, as a share of it, up to which a kernel goes on as it is."""
WARNED_ERROR = 1e-8
"""The error that users are warned of, where filling the kernel anew does not help."""
REFUSED_ERROR = 0.1
"""The error with which not one digit is left."""


def total(elements: Iterable[Element]) -> Element:
    """The sum of elements that were read together."""
    parts = [behind(x) for x in elements]
    whole = Element()
    for part in parts:
        whole = whole.plus(part.element)
    watch = parts[0].watch if parts else None
    return rounded(whole) if watch is None else watched(whole, watch)


def errors(element: Element) -> dict[Slot, float]:
    """The error of the variance of each column of a kernel, as a share of it.

    >>> watch = Watch({"x": 0.0}, {"x": 1e6}, {"x": 1e6 + 2})
    >>> x = Element(2, {"x": 2e6 + 2}, {("x", "x"): 2e12 + 4e6 + 4})
    >>> round(errors(watched(x, watch))["x"], 4)
    0.0003
    """
    centred = behind(element)
    if centred.watch is None or not element.count:
        return {}
    return {slot: _error(centred, centred.watch, slot) for slot in centred.watch.centre}


def _error(centred: Behind, watch: Watch, slot: Slot) -> float:
    x, n = centred.element, centred.element.count
    if watch.low[slot] == watch.high[slot] or is_short(centred, slot):
        return 0.0
    peak = max(watch.high[slot] - watch.centre[slot], watch.centre[slot] - watch.low[slot])
    if n == 1:  # there is no variance: it is about the value
        value = abs(float(x.sums.get(slot, 0)))
        return _share(4 * EPSILON * peak, value) if watch.gone else 0.0
    noise = EPSILON * sqrt(n) * float(x.product(slot, slot))
    if watch.gone:
        noise = max(noise, 4 * EPSILON * (n + sqrt(watch.gone)) * peak * peak)
    if not watch.gone and _is_fine(centred, slot):
        return 0.0
    return _share(noise, scatter_of(x, slot))


def _share(noise: float, whole: float) -> float:
    if noise == 0.0:
        return 0.0
    return noise / whole if whole > 0 else inf


def looks_constant(element: Element, slot: Slot) -> bool:
    """Whether a variance is within the rounding errors of rows that are all there."""
    centred = behind(element)
    if centred.watch is None or centred.watch.gone:
        return False
    x = centred.element
    return scatter_of(x, slot) <= max(LOST, EPSILON * sqrt(x.count)) * float(x.product(slot, slot))


def is_short(centred: Behind, slot: Slot) -> bool:
    """Whether all the values of a variable are one number of few digits near the centre, as 4.99.

    Sum and squares must agree on it: rounding errors would not. Deviations that these do not tell
    from none are a thousandth of the number's last place at most.
    """
    x, centre = centred.element, centred.centre.get(slot, 0.0)
    total, square = float(x.sums.get(slot, 0)), float(x.product(slot, slot))
    text = f"{centre + total / x.count:.12g}"
    value = float(text)
    off = value - centre
    if "e" in text or abs(off) > 1e4 * 0.1 ** len(text.partition(".")[2]):
        return False
    share = 8 * EPSILON * sqrt(x.count)
    near = abs(x.count * off - total) <= share * x.count * max(abs(off), EPSILON * abs(value))
    return near and abs(x.count * off * off - square) <= share * max(square, x.count * off * off)


def _is_fine(centred: Behind, slot: Slot) -> bool:
    """Whether what looks constant is: it does so at a centre that is as near as doubles are."""
    finest = 8 * EPSILON * abs(centred.centre.get(slot, 0.0))
    return float(centred.element.product(slot, slot)) <= centred.element.count * finest * finest


def better_centre(whole: Element) -> dict[str, float] | None:
    """Where to take the variables from, if a kernel that is filled anew would have more digits.

    It would if rows have gone, or if the means of all the rows are away from the centre.
    """
    centred = behind(whole)
    x, watch = centred.element, centred.watch
    if watch is None or not x.count:
        return None
    centre: dict[str, float] = {}
    moved = bool(watch.gone)
    for slot, old in watch.centre.items():
        off = float(x.sums.get(slot, 0)) / x.count
        spread = sqrt(max(scatter_of(x, slot), 0.0) / x.count)
        new = _rounded(old + off, spread)
        if not isfinite(new):
            new = old
        moved = moved or (abs(off) > spread and new != old)
        centre[str(slot)] = new
    return centre if moved else None


def _rounded(mean: float, spread: float) -> float:
    """A number near the mean with few bits, so that values with few bits keep that.

    >>> _rounded(1000.123, 2.0), _rounded(0.3, 1.0)
    (1000.0, 0.25)
    """
    if not (spread > 0.0 and isfinite(spread) and isfinite(mean)):
        return mean
    step = 2.0 ** floor(log2(spread / 4))
    return round(mean / step) * step if step and abs(mean) < 2**53 * step else mean


def digits(error: float) -> int:
    """How many digits are right with an error of this share."""
    return max(0, int(-log10(error))) if error > 0 else 16
