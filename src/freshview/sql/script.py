"""The text of a script: its tokens, and the place of every offset."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from freshview.errors import Place


@dataclass(frozen=True, slots=True)
class Token:
    """A lexical unit: `kind` is word, string, number or sign; `start` its offset in the text."""

    kind: str
    text: str
    start: int
    at: Place

    @property
    def word(self) -> str:
        """The text of a keyword or sign in upper case; strings are not keywords."""
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

    def start_of(self, raw: object) -> int | None:
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

    def opening(self, offset: int) -> int:
        """Where the parenthesis opens that closes last before an offset; else the offset."""
        index = bisect_right(self.tokens, offset - 1, key=lambda t: t.start) - 1
        while index >= 0 and self.tokens[index].text != ")":
            index -= 1
        depth = 0
        while index >= 0:
            sign = "" if self.tokens[index].kind == "string" else self.tokens[index].text
            depth += (sign == ")") - (sign == "(")
            if depth == 0:
                return self.tokens[index].start
            index -= 1
        return offset
