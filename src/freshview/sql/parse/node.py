"""A parsed tree seen through one window: its places, its arguments, and nothing ignored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from freshview.errors import Place, SyntaxProblem, UnsupportedSql
from freshview.sql.parse.written import clause
from freshview.sql.script import Script
from freshview.sql.terms import Scalar, Select

# What the parser notes about the dialect, not what the user wrote.
_DIALECT_ARGUMENTS = frozenset(
    {"big_int", "safe", "typed", "_type", "coalesce", "nested", "quoted", "ignore_nulls"}
)
MOST_SHOWN = 40
"""Characters of a text that an error repeats."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """How expressions and SELECTs are read: each of them contains the other."""

    scalar: Callable[[Node], Scalar]
    select: Callable[[Node], Select]


class Node:
    """One node of the parser's tree; `at` is the first place known in it, else its parent's."""

    def __init__(self, raw: Any, script: Script, grammar: Grammar, near: Place) -> None:
        self.raw = raw
        self.script = script
        self.grammar = grammar
        self.start: int | None = script.start_of(raw)
        if raw.key == "select" and self.start is not None:
            self.start = script.last("SELECT", self.start)
        self.at = near if self.start is None else script.place(self.start)

    def scalar(self) -> Scalar:
        """The node read as an expression."""
        return self.grammar.scalar(self)

    def select(self) -> Select:
        """The node read as a SELECT."""
        return self.grammar.select(self)

    @property
    def key(self) -> str:
        """What kind of node this is."""
        return str(self.raw.key)

    @property
    def written(self) -> str:
        """What the user wrote: the name of a call, else all of it, if that is short."""
        name = self.raw.meta.get("written")
        if name:
            return str(name).upper()
        text = str(self.raw.sql("spark"))
        return f"'{text}'" if len(text) <= MOST_SHOWN else f"'{text[:MOST_SHOWN]}...'"

    def get(self, name: str) -> Node | None:
        """A child, if it is there."""
        raw = self.raw.args.get(name)
        return None if raw is None else self._child(raw)

    def _child(self, raw: object) -> Node:
        return Node(raw, self.script, self.grammar, self.at)

    def __getitem__(self, name: str) -> Node:
        """A child that must be there."""
        child = self.get(name)
        if child is None:
            raise SyntaxProblem(f"something is missing in {self.written}", at=self.at)
        return child

    def chain(self) -> list[Node]:
        """The operands of a chain of one operator, a op b op c, from left to right.

        The parser nests such a chain to the left, a level for each operator.
        """
        operands: list[Node] = []
        here = self
        while here.key == self.key:
            here.only("this", "expression")
            operands.append(here["expression"])
            here = here["this"]
        return [here, *reversed(operands)]

    def all(self, name: str) -> list[Node]:
        """The children of a list."""
        return [self._child(raw) for raw in self.raw.args.get(name) or ()]

    def word(self, name: str) -> str:
        """An argument that is text, in upper case; empty if missing."""
        raw = self.raw.args.get(name)
        return str(getattr(raw, "this", raw) or "").upper()

    def flag(self, name: str) -> bool:
        """An argument that is yes or no."""
        return bool(self.raw.args.get(name))

    @property
    def name(self) -> str:
        """The text of an identifier or literal."""
        return str(self.raw.name)

    @property
    def alias(self) -> str:
        """The alias, or empty."""
        return str(self.raw.alias)

    def only(self, *names: str) -> None:
        """Refuse the node if it says more than these arguments: nothing is ignored."""
        for name, raw in self.raw.args.items():
            if raw and name not in names and name not in _DIALECT_ARGUMENTS:
                what, instead = clause(name)
                child = raw[0] if isinstance(raw, list) else raw
                at = self._child(child).at if hasattr(child, "walk") else self.at
                raise UnsupportedSql(f"{what} is not supported", instead=instead, at=at)

    @staticmethod
    def is_of_dialect(name: str) -> bool:
        """Whether an argument notes something about the dialect, not what the user wrote."""
        return name in _DIALECT_ARGUMENTS

    def refuse(self, what: str, instead: str) -> NoReturn:
        """Say what is not supported here, and what to write."""
        raise UnsupportedSql(f"{what} is not supported", instead=instead, at=self.at)


Readers: TypeAlias = Mapping[str, Callable[[Node], Scalar]]
"""How some kinds of expressions are read, by the name of their node."""
