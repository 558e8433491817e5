"""Rings and their laws: what a payload must do so that deltas can maintain it."""

from freshview.algebra.categorical import Category
from freshview.algebra.cofactor import Cofactor
from freshview.algebra.element import Element, ElementRing
from freshview.algebra.gmr import Gmr
from freshview.algebra.laws import broken_law
from freshview.algebra.matrix import Matrix
from freshview.algebra.numeric import DECIMALS, DOUBLES, EXACT, INTEGERS, NUMBERS, Number
from freshview.algebra.pair import Pair
from freshview.algebra.real import Real
from freshview.algebra.relational import Relational
from freshview.algebra.ring import Ring

__all__ = [
    "DECIMALS",
    "DOUBLES",
    "EXACT",
    "INTEGERS",
    "NUMBERS",
    "Category",
    "Cofactor",
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
