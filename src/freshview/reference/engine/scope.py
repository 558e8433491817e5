"""What the closures of a term share: slots of variables, which are bound, the rows counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from freshview.algebra import Number
from freshview.calculus.rows import Row
from freshview.calculus.scope import ins, outs
from freshview.calculus.terms import Expr
from freshview.reference.values import Multiplicity

Next: TypeAlias = Callable[[Multiplicity], None]
"""What takes over for every row, with the multiplicity so far."""
Slots: TypeAlias = list[Any]
Rows: TypeAlias = dict[Row, Number]


class Work:
    """How many rows were looked at and written: the cost of what was run, free of the clock."""

    __slots__ = ("visits", "writes")

    def __init__(self) -> None:
        self.visits = 0
        self.writes = 0


class Frame:
    """What the closures of one term share when they run: the values of variables, and the work."""

    __slots__ = ("runs", "slots", "work")

    def __init__(self, work: Work) -> None:
        self.slots: Slots = []
        self.work = work
        self.runs = 0
        """How often the whole term was run."""

    def new_slot(self) -> int:
        """A place for one more variable."""
        self.slots.append(None)
        return len(self.slots) - 1


@dataclass(frozen=True)
class Scope:
    """Where variables live, and which of them are bound at a point of the term."""

    at: Mapping[str, int]
    bound: frozenset[str]

    def after(self, e: Expr) -> Scope:
        """The scope to the right of a term."""
        return replace(self, bound=self.bound | outs(e))

    def is_alone(self, e: Expr) -> bool:
        """Whether a term shares no variable with what is bound: it is the same in a whole run."""
        return not ins(e) and self.bound.isdisjoint(outs(e))
