"""Random queries over text and NULL: outer joins, and functions that choose or build a text.

What a kernel finds hard: a text is a symbol of its state or a piece of memory on its way in, and a
NULL without a type may stand where either of them is asked for.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.differential.streams import Script

SCHEMA = """
CREATE STREAM r (s STRING, b INT, k INT NOT NULL, d DATE);
CREATE STREAM w (s STRING NOT NULL, b INT, k INT NOT NULL, d DATE);
"""


def random_text_query(seed: int) -> Script:
    """One query; a seed always gives the same one."""
    return Script(_Writer(random.Random(seed)).query())


@dataclass
class _Writer:
    rng: random.Random
    aliases: list[str] = field(default_factory=list)

    def query(self) -> str:
        """Values, extremes, groups or numbers of distinct texts."""
        source = self.sources()
        where = self._pick(("", f" WHERE {self.condition()}", f" WHERE {self.condition()}"))
        text = f"FROM {source}{where}"
        fn, key = self._pick(("MIN", "MAX")), self._column("kbsd")
        kinds = (
            f"SELECT {self.text()} AS x, {self._column('k')} AS y {text}",
            f"SELECT {key}, {fn}({self.text(1)}) AS x, COUNT(*) AS n {text} GROUP BY {key}",
            f"SELECT {fn}({self._column('sd')}) AS x {text}",
            f"SELECT g, COUNT(*) AS n FROM (SELECT {self.text()} AS g {text}) z GROUP BY g",
            f"SELECT COUNT(DISTINCT {self.text()}) AS n {text}",
        )
        return self._pick(kinds)

    def sources(self) -> str:
        """One to three tables; DuckDB has no FULL JOIN without an equality."""
        text = f"{self._pick('rw')} q1"
        self.aliases = ["q1"]
        for number in range(2, self.rng.choice((2, 3, 3, 4, 4))):
            alias, other = f"q{number}", self._pick(self.aliases)
            kind = self._pick(("JOIN", "LEFT JOIN", "LEFT JOIN", "FULL JOIN", "RIGHT JOIN"))
            column = self._pick("kbs")
            op = "=" if "FULL" in kind else self._pick(("=", "=", "<>", "<"))
            on = f"{other}.{column} {op} {alias}.{column}"
            text += f" {kind} {self._pick('rw')} {alias} ON {on}"
            self.aliases.append(alias)
        return text

    def text(self, depth: int = 2) -> str:
        """A text, or NULL."""
        column = self._column("s")
        if depth == 0:
            return column
        x, y = self.text(depth - 1), self.text(depth - 1)
        other = f" ELSE {y}" if self._chance(0.5) else ""
        return self._pick(
            (
                column,
                column,
                f"COALESCE({x}, {y})",
                f"COALESCE({x}, NULL)",
                f"NULLIF({x}, {self._pick(('', 'a'))!r})",
                f"NULLIF({x}, {y})",
                f"CASE WHEN {self.condition(depth - 1)} THEN {x}{other} END",
                f"({x} || {y})",
                f"SUBSTRING({x}, 1, 2)",
                f"TRIM({x})",
                self._pick(("'a'", "'bb'", "''")),
            )
        )

    def condition(self, depth: int = 1) -> str:
        """A condition on texts, or on what an outer join leaves open."""
        x, y = self.text(depth), self.text(depth)
        there = f"{self._column('bskd')} IS {self._pick(('', 'NOT '))}NULL"
        op = self._pick(("=", "<>", "<", ">="))
        choice = (f"{x} {op} {y}", f"{x} LIKE 'a%'", f"{x} IN ('a', {y})")
        return self._pick((there, there, f"{self._column('b')} > 1", *choice))

    def _column(self, names: str) -> str:
        return f"{self._pick(self.aliases)}.{self._pick(names)}"

    def _pick(self, options: Sequence[str]) -> str:
        return self.rng.choice(options)

    def _chance(self, p: float) -> bool:
        return self.rng.random() < p
