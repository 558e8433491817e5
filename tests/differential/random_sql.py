"""Random SELECTs over the small schema of the SQL cases; a seed always gives the same text.

The grammar aims at what incremental maintenance finds hard: outer joins, subqueries that are
correlated by equalities and inequalities, quantifiers over NULLs, nested and distinct aggregates,
groups that come and go, and views on top of all of these. Everything is kept shallow: a small
query that fails says more than a large one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import TypeVar

from tests.differential.duck import Duck
from tests.differential.streams import Script, Stream, random_stream, schema

T = TypeVar("T")
Columns = tuple[str, ...]

# The columns that hold small integers; subqueries and joins compare them freely.
TABLES: dict[str, Columns] = {
    "r": ("a", "b", "c"),
    "s": ("a", "d", "e"),
    "t": ("k", "a"),
    "u": ("a", "f"),
}
COMPARISONS = ("=", "=", "<", "<=", ">", ">=", "<>", "<>")
AGGREGATES = ("SUM", "SUM", "COUNT", "MIN", "MAX", "AVG", "COUNT(DISTINCT", "SUM(DISTINCT")


def random_script(seed: int) -> Script:
    """A SELECT, now and then on top of one or two views; its answer mostly changes.

    Two random conditions contradict each other more often than not, and a view that is always
    empty says little: so a text is drawn again, six times at most, until its rows change.
    """
    rng = random.Random(seed)
    duck = _probe()
    stream = random_stream(duck.catalog, rng, 6)
    script = _Writer(rng).script()
    for _ in range(6):
        if _changes(script, stream, duck) > 1:
            break
        script = _Writer(rng).script()
    return script


@cache
def _probe() -> Duck:
    return Duck(schema("all change"))


def _changes(script: Script, stream: Stream, duck: Duck) -> int:
    """How often the answer differs from the one before."""
    duck.clear()
    for name, sql in script.views:
        duck.create_view(name, sql)
    answers = []
    for batch in stream.batches:
        duck.apply(batch)
        answers.append(duck.query(script.sql))
    return sum(x != y for x, y in pairwise(answers))


@dataclass(frozen=True)
class _Place:
    """Where an expression is written: the columns at hand, and those of the queries around it."""

    columns: Columns
    outer: Columns = ()
    depth: int = 2

    @property
    def inner(self) -> _Place:
        """A subquery of this place, before its own columns are known."""
        return _Place((), self.columns, self.depth - 1)


@dataclass
class _Writer:
    """Writes one script; the random numbers are drawn in the order of the text."""

    rng: random.Random
    tables: dict[str, Columns] = field(default_factory=lambda: dict(TABLES))
    aliases: int = 0

    def script(self) -> Script:
        """Views first; over views the query is less deep, since their texts add up."""
        views = []
        for number in range(self._pick((0, 0, 0, 0, 1, 1, 2))):
            name, (sql, columns) = f"v{number}", self.select(_Place((), depth=1))
            views.append((name, sql))
            self.tables[name] = columns
        depth = 1 if views else self._pick((1, 2, 2))
        sql, _ = self.select(_Place((), depth=depth), source=views[-1][0] if views else None)
        return Script(sql, tuple(views))

    # Queries

    def select(self, place: _Place, source: str | None = None) -> tuple[str, Columns]:
        """A SELECT of one to three columns of integers, and their names."""
        tables, columns = self.sources(place, source)
        place = _Place(columns, place.outer, place.depth)
        text = f" FROM {tables}" + self.where(place)
        shape = self._pick((self._plain, self._plain, self._grouped, self._grouped, self._total))
        return shape(place, text)

    def _plain(self, place: _Place, text: str) -> tuple[str, Columns]:
        items = [self.scalar(place) for _ in range(self._pick((1, 2, 2, 3)))]
        head, names = self._items(items)
        distinct = "DISTINCT " if self._chance(0.25) else ""
        return f"SELECT {distinct}{head}{text}{self._limit(names)}", names

    def _grouped(self, place: _Place, text: str) -> tuple[str, Columns]:
        keys = self.rng.sample(place.columns, min(len(place.columns), self._pick((1, 1, 2))))
        if self._chance(0.15):
            keys[0] = f"{keys[0]} {self._pick('+-')} {self._pick(place.columns)}"
        grouped = _Place(tuple(k for k in keys if " " not in k), place.outer, place.depth)
        values = [self.aggregate(place) for _ in range(self._pick((0, 1, 1, 2)))]
        if grouped.columns and place.depth > 1 and self._chance(0.15):
            values.append(self.value_query(grouped))
        having = ""
        if self._chance(0.35):
            having = f" HAVING {self.having(place, grouped)}"
        head, names = self._items([*keys, *values])
        text = f"{text} GROUP BY {', '.join(keys)}{having}"
        return f"SELECT {head}{text}{self._limit(names)}", names

    def _total(self, place: _Place, text: str) -> tuple[str, Columns]:
        values = [self.aggregate(place) for _ in range(self._pick((1, 2, 3)))]
        having = f" HAVING {self.having(place, _Place((), place.outer))}"
        head, names = self._items(values)
        return f"SELECT {head}{text}{having if self._chance(0.15) else ''}", names

    def _items(self, items: list[str]) -> tuple[str, Columns]:
        """The SELECT list; a column that is used further up has to be a number."""
        names = tuple(f"x{i}" for i in range(len(items)))
        return ", ".join(f"{e} AS {n}" for e, n in zip(items, names, strict=True)), names

    def _limit(self, names: Columns) -> str:
        if not self._chance(0.12):
            return ""
        keys = self.rng.sample(names, self.rng.randint(1, len(names)))
        order = ", ".join(k + self._pick(("", "", " DESC", " NULLS LAST")) for k in keys)
        return f" ORDER BY {order} LIMIT {self.rng.randint(1, 4)}"

    def sources(self, place: _Place, first: str | None = None) -> tuple[str, Columns]:
        """One to three tables, joined in every way; and their qualified columns."""
        text, columns = self.source(place, first)
        seen = columns  # what an ON can name: a comma binds weaker than a JOIN
        for _ in range(self._pick((0, 0, 1, 1, 2) if place.depth > 1 else (0, 0, 0, 1))):
            other, more = self.source(place)
            kind = self._pick((", ", ", ", " JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN "))
            if kind == ", ":
                text, seen = f"{text}, {other}", more
            else:
                on = self._equality(seen, more)
                seen += more
                if self._chance(0.25):
                    # DuckDB has no FULL JOIN without an equality, so conditions only narrow it.
                    link = "AND" if "FULL" in kind or self._chance(0.7) else "OR"
                    on = f"{on} {link} {self.comparison(_Place(seen))}"
                text = f"{text}{kind}{other} ON {on}"
            columns += more
        return text, columns

    def source(self, place: _Place, name: str | None = None) -> tuple[str, Columns]:
        """A table, a view or a subquery, under a name of its own."""
        self.aliases += 1
        alias = f"q{self.aliases}"
        if name is None and place.depth > 0 and self._chance(0.12):
            sql, columns = self.select(_Place((), depth=place.depth - 1))
            return f"({sql}) {alias}", tuple(f"{alias}.{c}" for c in columns)
        # Mostly the tables without keys: they change most, and hold rows twice.
        name = name or self._pick((*self.tables, "r", "r", "s", "s"))
        return f"{name} {alias}", tuple(f"{alias}.{c}" for c in self.tables[name])

    def _equality(self, left: Columns, right: Columns) -> str:
        return f"{self._pick(left)} = {self._pick(right)}"

    # Conditions

    def where(self, place: _Place) -> str:
        """Conditions that tie the query to those around it, and others."""
        parts = []
        if place.outer:
            for _ in range(self._pick((0, 1, 1, 1, 2))):
                op = self._pick(("=", *COMPARISONS))
                parts.append(f"{self._pick(place.columns)} {op} {self._pick(place.outer)}")
        tables = sorted({c.split(".")[0] for c in place.columns})
        if len(tables) > 1 and self._chance(0.3):
            x, y = self.rng.sample(tables, 2)
            mine = [tuple(c for c in place.columns if c.startswith(f"{t}.")) for t in (x, y)]
            parts.append(self._equality(*mine))
        if self._chance(0.7 if place.depth > 1 else 0.4):
            parts.append(self.condition(place))
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    def condition(self, place: _Place) -> str:
        """A condition that may be unknown."""
        nested = (self.in_query, self.exists, self.quantified, self.compared_query)
        choice: list[Callable[[_Place], str]] = [self.comparison, self.comparison, self.simple]
        if place.depth > 0:
            choice += [*nested, *nested, self.connective, self.connective]
        return self._pick(choice)(place)

    def connective(self, place: _Place) -> str:
        """AND, OR and NOT over simpler conditions."""
        less = _Place(place.columns, place.outer, place.depth - 1)
        if self._chance(0.3):
            return f"NOT ({self.condition(place)})"
        return f"({self.condition(place)} {self._pick(('AND', 'OR', 'OR'))} {self.condition(less)})"

    def comparison(self, place: _Place) -> str:
        """Two values, compared."""
        left, right = self._pick(place.columns), self.simple_scalar(place)
        if left == right:  # it would only say that the column is not NULL
            right = str(self.rng.randint(0, 3))
        return f"{left} {self._pick(COMPARISONS)} {right}"

    def simple(self, place: _Place) -> str:
        """The other conditions on single values."""
        x, y = self._two(place)
        no = self._pick(("", "NOT "))
        return self._pick(
            (
                f"{x} IS {no}NULL",
                f"{x} {no}IN (1, {self._pick((2, 3, y, 'NULL'))})",
                f"{x} {no}BETWEEN {y} AND 2",
                f"{x} IS {no}DISTINCT FROM {y}",
                f"({x} < {y}) IS {no}{self._pick(('TRUE', 'FALSE'))}",
            )
        )

    def in_query(self, place: _Place) -> str:
        """X [NOT] IN (SELECT ...)."""
        no = self._pick(("", "NOT "))
        return f"{self._pick(place.columns)} {no}IN ({self.column_query(place.inner)})"

    def exists(self, place: _Place) -> str:
        """[NOT] EXISTS (SELECT ...)."""
        no = self._pick(("", "NOT "))
        return f"{no}EXISTS ({self.column_query(place.inner)})"

    def quantified(self, place: _Place) -> str:
        """X op ANY (SELECT ...), x op ALL (SELECT ...)."""
        op, word = self._pick(COMPARISONS), self._pick(("ANY", "ALL"))
        return f"{self._pick(place.columns)} {op} {word} ({self.column_query(place.inner)})"

    def compared_query(self, place: _Place) -> str:
        """X op (SELECT aggregate ...)."""
        factor = self._pick(("", "", "2 * ", "0.5 * "))
        left = self._pick(place.columns)
        return f"{left} {self._pick(COMPARISONS)} {factor}{self.value_query(place)}"

    def having(self, place: _Place, grouped: _Place) -> str:
        """A condition on groups."""
        first = f"{self.aggregate(place)} {self._pick(COMPARISONS)} {self.rng.randint(0, 3)}"
        second = f"{self.aggregate(place)} IS {self._pick(('', 'NOT '))}NULL"
        if place.depth > 1 and self._chance(0.25):
            second = f"{self.aggregate(place)} > {self.value_query(grouped)}"
        elif grouped.columns and self._chance(0.5):
            second = self.comparison(grouped)
        return self._pick((first, second, f"{first} OR {second}", f"NOT ({first} AND {second})"))

    # Values

    def scalar(self, place: _Place) -> str:
        """A value of a SELECT list."""
        column = self._pick(place.columns)
        if self._chance(0.6):
            return column
        choice: list[Callable[[_Place], str]] = [self.simple_scalar, self.case]
        if place.depth > 1:
            choice += [self.value_query]
        return self._pick(choice)(place)

    def simple_scalar(self, place: _Place) -> str:
        """A column, a number, or what is computed from them."""
        x, y = self._two(place)
        number = self.rng.randint(0, 3)
        computed = (f"{x} + {y}", f"{x} - {number}", f"COALESCE({x}, {number})", f"ABS({x} - {y})")
        return self._pick((x, x, x, str(number), self._pick(computed)))

    def case(self, place: _Place) -> str:
        """CASE, with or without ELSE; its conditions may ask subqueries."""
        when = self.condition(place) if self._chance(0.5) else self.comparison(place)
        other = f" ELSE {self.simple_scalar(place)}" if self._chance(0.6) else ""
        return f"CASE WHEN {when} THEN {self.simple_scalar(place)}{other} END"

    def aggregate(self, place: _Place) -> str:
        """An aggregate of a value."""
        fn = self._pick(AGGREGATES)
        if fn == "COUNT" and self._chance(0.5):
            return "COUNT(*)"
        value = self.simple_scalar(place)
        if place.depth > 0 and self._chance(0.1):
            value = self.case(_Place(place.columns, place.outer, 0))
        return f"{fn} {value})" if "(" in fn else f"{fn}({value})"

    def value_query(self, place: _Place) -> str:
        """A correlated subquery of one aggregate, so of one row."""
        tables, columns = self.sources(place.inner)
        inner = _Place(columns, place.columns, place.depth - 1)
        return f"(SELECT {self.aggregate(inner)} FROM {tables}{self.where(inner)})"

    def column_query(self, place: _Place) -> str:
        """A subquery of one column."""
        tables, columns = self.sources(place)
        inner = _Place(columns, place.outer, place.depth)
        text = f" FROM {tables}{self.where(inner)}"
        kind = self._pick(("plain", "plain", "plain", "distinct", "total", "grouped", "having"))
        column = self._pick(columns)
        match kind:
            case "plain" | "distinct":
                return f"SELECT {'DISTINCT ' if kind == 'distinct' else ''}{column}{text}"
            case "total":
                return f"SELECT {self.aggregate(inner)}{text}"
            case "grouped":
                return f"SELECT {self.aggregate(inner)}{text} GROUP BY {column}"
            case _:
                grouped = _Place((column,), place.outer, 0)
                having = self.having(_Place(columns, place.outer, 0), grouped)
                return f"SELECT {column}{text} GROUP BY {column} HAVING {having}"

    # Chance

    def _two(self, place: _Place) -> tuple[str, str]:
        """Two columns, different where there are two."""
        x = self._pick(place.columns)
        return x, self._pick(tuple(c for c in place.columns if c != x) or (x,))

    def _pick(self, options: Sequence[T]) -> T:
        return self.rng.choice(options)

    def _chance(self, p: float) -> bool:
        return self.rng.random() < p
