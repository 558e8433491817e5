"""A parsed tree seen through one window: its places, its arguments, and nothing ignored."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, NoReturn

from freshview.errors import Place, SyntaxProblem, UnsupportedSql


@dataclass(frozen=True, slots=True)
class Token:
    """A lexical unit: `kind` is word, string, number or sign; `start` its offset in the text."""

    kind: str
    text: str
    start: int
    at: Place

    @property
    def word(self) -> str:
        """The text of a keyword or sign in upper case; strings are no keywords."""
        return "" if self.kind == "string" else self.text.upper()


class Script:
    """A text with its file name, from which offsets become places."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self._lines = [0, *(i + 1 for i, c in enumerate(text) if c == "\n")]
        self.tokens: list[Token] = []
        self._starts: dict[int, int] = {}

    def note_starts(self, tree: Any) -> None:
        """Where every node of a parser's tree begins: the first place known in it.

        Children come after their parents in a walk, so one way back finds them all.
        """
        self._starts = {}
        for raw in reversed(list(tree.walk())):
            own = raw.meta.get("start")
            inner = self._starts.get(id(raw))
            known = [s for s in (own, inner) if s is not None]
            if known:
                start = self._starts[id(raw)] = min(known)
                if raw.parent is not None and raw is not tree:
                    above = self._starts.get(id(raw.parent), start)
                    self._starts[id(raw.parent)] = min(above, start)

    def start_of(self, raw: Any) -> int | None:
        """The offset at which a node of a tree begins, if one is known."""
        return self._starts.get(id(raw))

    def place(self, offset: int) -> Place:
        r"""The line and column of an offset, counted from 1.

        >>> str(Script("a\nbc", "x.sql").place(3))
        'x.sql:2:2'
        """
        line = bisect_right(self._lines, offset)
        return Place(self.file, line, offset - self._lines[line - 1] + 1)

    def last(self, word: str, offset: int) -> int:
        """Where a keyword stands last before an offset; the offset itself if nowhere."""
        index = bisect_right(self.tokens, offset, key=lambda t: t.start) - 1
        while index >= 0 and self.tokens[index].word != word:
            index -= 1
        return self.tokens[index].start if index >= 0 else offset

    def before(self, offset: int) -> str:
        """The last word or sign before an offset, opening parentheses skipped."""
        index = bisect_right(self.tokens, offset - 1, key=lambda t: t.start) - 1
        while index >= 0 and self.tokens[index].text == "(":
            index -= 1
        return self.tokens[index].word if index >= 0 else ""


# What the parser notes about the dialect, not what the user wrote.
_NOTES = frozenset(
    {"big_int", "safe", "typed", "_type", "coalesce", "nested", "quoted", "ignore_nulls"}
)
_SPOKEN = {
    "windows": "WINDOW",
    "laterals": "LATERAL VIEW",
    "sample": "TABLESAMPLE",
    "pivots": "PIVOT",
    "hint": "a hint",
    "kind": "SELECT AS",
    "rollup": "ROLLUP",
    "cube": "CUBE",
    "grouping_sets": "GROUPING SETS",
    "all": "GROUP BY ALL",
    "recursive": "WITH RECURSIVE",
    "except_": "* EXCEPT",
    "replace": "* REPLACE",
    "sort": "SORT BY",
    "cluster": "CLUSTER BY",
    "distribute": "DISTRIBUTE BY",
    "locks": "FOR UPDATE",
    "db": "a qualified table name",
    "catalog": "a qualified table name",
}


class Node:
    """One node of the parser's tree; `at` is the first place known in it, else its parent's."""

    def __init__(self, raw: Any, script: Script, near: Place) -> None:
        self.raw = raw
        self.script = script
        self.start: int | None = script.start_of(raw)
        if raw.key == "select" and self.start is not None:
            self.start = script.last("SELECT", self.start)
        self.at = near if self.start is None else script.place(self.start)

    @property
    def key(self) -> str:
        """What kind of node this is."""
        return str(self.raw.key)

    def get(self, name: str) -> Node | None:
        """A child, if it is there."""
        raw = self.raw.args.get(name)
        return None if raw is None else Node(raw, self.script, self.at)

    def __getitem__(self, name: str) -> Node:
        """A child that must be there."""
        child = self.get(name)
        if child is None:
            raise SyntaxProblem(f"{self.key.upper()} lacks its {name}", at=self.at)
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
        return [Node(raw, self.script, self.at) for raw in self.raw.args.get(name) or ()]

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
            if raw and name not in names and name not in _NOTES:
                what = _SPOKEN.get(name, name.strip("_").upper())
                child = raw[0] if isinstance(raw, list) else raw
                at = Node(child, self.script, self.at).at if hasattr(child, "walk") else self.at
                raise UnsupportedSql(f"{what} is not supported", instead="leave it out", at=at)

    def refuse(self, what: str, instead: str) -> NoReturn:
        """Say what is not supported here, and what to write."""
        raise UnsupportedSql(f"{what} is not supported", instead=instead, at=self.at)
