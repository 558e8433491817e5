"""Rings and their laws: what a payload must do so that deltas can maintain it."""

from freshet.algebra.countsum import CountSum, CountSumRing
from freshet.algebra.gmr import Gmr
from freshet.algebra.numeric import DECIMALS, DOUBLES, EXACT, INTEGERS, NUMBERS, Number
from freshet.algebra.ring import Ring

__all__ = [
    "DECIMALS",
    "DOUBLES",
    "EXACT",
    "INTEGERS",
    "NUMBERS",
    "CountSum",
    "CountSumRing",
    "Gmr",
    "Number",
    "Ring",
]
