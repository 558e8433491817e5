"""How far event time has come: watermarks, and the rows that come too late for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freshview.temporal.terms import Mask, Time, Times


@dataclass(frozen=True, slots=True)
class Watermark:
    """A promise about one input: from now on no row is earlier than `at`.

    It follows the latest time that was seen, `delay` behind, or what the input says itself. It
    never goes back. None promises nothing.
    """

    delay: Time | None = None
    at: Time | None = None

    def observe(self, time: Times) -> Watermark:
        """The watermark after rows of these times.

        >>> Watermark(delay=5).observe(np.array([3, 12, 7])).at
        7
        >>> Watermark(delay=5, at=30).observe(np.array([12])).at
        30
        """
        if self.delay is None or not len(time):
            return self
        return self.advance(time.max().item() - self.delay)

    def advance(self, to: Time) -> Watermark:
        """The watermark after the input promised that it has passed `to`."""
        return self if self.at is not None and self.at >= to else Watermark(self.delay, to)

    def is_late(self, time: Times) -> Mask:
        """Which of these times the promise excludes.

        >>> Watermark(at=10).is_late(np.array([9, 10])).tolist()
        [True, False]
        """
        if self.at is None:
            return np.zeros(len(time), np.bool_)
        return np.asarray(time < self.at)


def earliest(*watermarks: Watermark) -> Time | None:
    """What holds for several inputs together; None if one of them promises nothing.

    >>> earliest(Watermark(at=4), Watermark(at=2)), earliest(Watermark(at=4), Watermark())
    (2, None)
    """
    times = [w.at for w in watermarks]
    known = [t for t in times if t is not None]
    return min(known) if known and len(known) == len(times) else None
