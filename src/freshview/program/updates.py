"""Updates of relations, and the triggers that follow them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from freshview.calculus.schema import Relation
from freshview.program.order import order
from freshview.program.terms import Event, Map, Statement, Trigger

Mode: TypeAlias = Literal["tuple", "batch"]
"""How changes come to a program: row by row, or as relations."""

TriggerKey: TypeAlias = tuple[Event, str]
"""What a trigger follows: an event, and the relation that it concerns."""


@dataclass(frozen=True, slots=True)
class Update:
    """A change of one relation: a batch (no params), or one row bound to `params`, +1 or -1."""

    relation: str
    params: tuple[str, ...] = ()
    sign: int = 1
    along: frozenset[str] = frozenset()
    """The derived views that change with the relation, each by a batch."""

    @property
    def relations(self) -> frozenset[str]:
        """All that changes."""
        return self.along | {self.relation}

    @property
    def is_batch(self) -> bool:
        """Whether the change comes as a relation."""
        return not self.params


def updates_of(relation: str, params: tuple[str, ...], mode: Mode) -> list[tuple[Event, Update]]:
    """The updates of a relation that a program follows, with their events."""
    if mode == "batch":
        return [("batch", Update(relation))]
    return [("insert", Update(relation, params, 1)), ("delete", Update(relation, params, -1))]


def trigger_variables(relations: Iterable[Relation], used: set[str]) -> dict[str, tuple[str, ...]]:
    """The variables d_column of each relation's row, under names that are not `used`.

    >>> from freshview.calculus.schema import Column
    >>> from freshview.calculus.types import INT
    >>> trigger_variables([Relation("r", (Column("A", INT), Column("B", INT)))], {"d_b"})
    {'r': ('_d_a', '_d_b')}
    """
    params: dict[str, tuple[str, ...]] = {}
    for r in relations:
        prefix = "d_"
        while used & {prefix + c.name.lower() for c in r.columns}:
            prefix = "_" + prefix
        params[r.name] = tuple(prefix + c.name.lower() for c in r.columns)
    return params


def triggers_of(
    statements: Mapping[TriggerKey, list[Statement]],
    relations: Iterable[str],
    params: Mapping[str, tuple[str, ...]],
    maps: Iterable[Map],
) -> tuple[Trigger, ...]:
    """The triggers by event, then in the order of the relations; their statements in order."""
    named = {m.name: m for m in maps}
    names = ("", *relations)
    events: tuple[Event, ...] = ("ready", "batch", "insert", "delete")
    triggers: list[Trigger] = []
    for event in events:
        for name in names:
            if statements.get((event, name)):
                bound = params[name] if event in ("insert", "delete") else ()
                ordered = order(statements[event, name], named)
                triggers.append(Trigger(event, name, bound, ordered))
    return tuple(triggers)
