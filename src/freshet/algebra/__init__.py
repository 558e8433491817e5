"""Rings and their laws: what a payload must do so that deltas can maintain it."""

from freshet.algebra.categorical import Category
from freshet.algebra.cofactor import Cofactor
from freshet.algebra.countsum import CountSum, CountSumRing
from freshet.algebra.element import Element, ElementRing
from freshet.algebra.gmr import Gmr
from freshet.algebra.laws import broken_law
from freshet.algebra.matrix import Matrix
from freshet.algebra.numeric import DECIMALS, DOUBLES, EXACT, INTEGERS, NUMBERS, Number
from freshet.algebra.pair import Pair
from freshet.algebra.real import Real
from freshet.algebra.relational import Relational
from freshet.algebra.ring import Ring

__all__ = [
    "DECIMALS",
    "DOUBLES",
    "EXACT",
    "INTEGERS",
    "NUMBERS",
    "Category",
    "Cofactor",
    "CountSum",
    "CountSumRing",
    "Element",
    "ElementRing",
    "Gmr",
    "Matrix",
    "Number",
    "Pair",
    "Real",
    "Relational",
    "Ring",
    "broken_law",
]
