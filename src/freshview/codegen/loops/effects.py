"""What loops do to the state and for their callers: statements that hold no others.

A scope of `terms.py` holds a block of statements; an effect is what happens inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from freshview.calculus.types import Type
from freshview.codegen.loops.parts import Values, Weight


@dataclass(frozen=True, slots=True)
class Yield:
    """A row of a statement's right side, before it is known where that goes."""

    keys: Values
    weight: Weight


@dataclass(frozen=True, slots=True)
class Tally:
    """Add to the total around."""

    weight: Weight


@dataclass(frozen=True, slots=True)
class Gain:
    """Add to a payload column of the record at hand."""

    row: str
    table: str
    payload: int
    weight: Weight


@dataclass(frozen=True, slots=True)
class Assign:
    """Set a payload column of the record at hand."""

    row: str
    table: str
    payload: int
    weight: Weight


@dataclass(frozen=True, slots=True)
class Answer:
    """The condition holds."""


@dataclass(frozen=True, slots=True)
class Clear:
    """Empty a table."""

    table: str


@dataclass(frozen=True, slots=True)
class Stale:
    """These maps have to be recomputed before they are read; or after the rows, if `late`."""

    maps: tuple[str, ...]
    late: bool = False


@dataclass(frozen=True, slots=True)
class Release:
    """Give back the memory of the transient tables of this row."""


@dataclass(frozen=True, slots=True)
class Call:
    """Run another function of the kernel."""

    function: str


@dataclass(frozen=True, slots=True)
class Output:
    """A row of a query, if it counts for more than nothing."""

    query: str
    values: Values
    types: tuple[Type, ...]
    weight: Weight


@dataclass(frozen=True, slots=True)
class Touch:
    """The rows of a key of a query may change now: who collects its changes notes them first."""

    query: str
    keys: Values


Effect: TypeAlias = (
    Yield | Tally | Gain | Assign | Answer | Clear | Stale | Release | Call | Output | Touch
)
