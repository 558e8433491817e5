"""A program as the papers list it: statements that run one after the other.

Each works on what those before it have written: other than in the programs of `terms.py`, a delta
is a map of its own. `show_m3` and `read_m3` turn listings into text and back.
"""

from __future__ import annotations

from dataclasses import dataclass

from freshview.calculus.schema import Relation
from freshview.calculus.terms import View
from freshview.calculus.types import DOUBLE, INT, Type
from freshview.program.terms import Map, Trigger

WORDS = {"int": INT, "long": INT, "short": INT, "char": INT, "float": DOUBLE, "double": DOUBLE}
"""Its names of numbers, and our types."""


@dataclass(frozen=True)
class Listing:
    """A program of statements that run in order; `queries` names the maps that are results."""

    types: tuple[tuple[str, str], ...]
    relations: tuple[Relation, ...]
    maps: tuple[Map, ...]
    queries: tuple[tuple[str, View], ...]
    triggers: tuple[Trigger, ...]

    def payloads(self) -> dict[str, Type]:
        """The types of the maps' payloads."""
        return {m.name: m.payload for m in self.maps}
