"""Tables, conditions and values of random SQL, by type; `typed_sql` writes views with them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

KINDS = (*("int",) * 4, "decimal", "double", "string", "string", "date", "timestamp", "bool")
SQL_TYPES = {
    "int": "INT",
    "decimal": "DECIMAL(8, 2)",
    "double": "DOUBLE",
    "string": "STRING",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "bool": "BOOLEAN",
}
LITERALS = {
    "int": ("0", "1", "2", "3"),
    "decimal": ("0.50", "1.25", "-0.75", "2.00"),
    "double": ("0.377e0", "-0.143e0", "1.111e0"),
    "string": ("'a'", "'ab'", "''", "'b'"),
    "date": ("DATE '2020-01-01'", "DATE '2020-02-29'"),
    "timestamp": ("TIMESTAMP '2020-01-01 12:30:00'", "TIMESTAMP '2020-01-02 00:00:01'"),
    "bool": ("TRUE", "FALSE"),
}
NUMBERS = frozenset(("int", "decimal", "double"))
JOINS = (", ", " JOIN ", " JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ")
COMPARISONS = ("=", "=", "<", "<=", ">", ">=", "<>")


@dataclass(frozen=True)
class Column:
    """A column in scope. A value that rounding can move is not `firm`: it is only shown."""

    name: str
    kind: str
    firm: bool = True


@dataclass(frozen=True)
class Item:
    """An expression of a SELECT list."""

    text: str
    kind: str
    firm: bool = True


@dataclass(frozen=True)
class Source:
    """A table or view: its name and its columns."""

    name: str
    columns: tuple[Column, ...]


@dataclass
class Terms:
    """Draws parts of texts; the random numbers are drawn in the order of the text."""

    rng: random.Random
    sources: list[Source]
    aliases: int = 0

    # Tables

    def named(self, source: Source | str) -> str:
        """A fresh alias."""
        self.aliases += 1
        return f"q{self.aliases}"

    def of(self, source: Source, alias: str) -> tuple[Column, ...]:
        """The columns of a source under an alias."""
        return tuple(Column(f"{alias}.{c.name}", c.kind, c.firm) for c in source.columns)

    def tables(self) -> tuple[str, tuple[Column, ...]]:
        """One to three tables, joined in every way, one in three times with themselves."""
        source = self.pick(self.sources)
        alias = self.named(source)
        text, scope = f"{source.name} {alias}", self.of(source, alias)
        seen = scope
        for _ in range(self.pick((0, 0, 1, 1, 2))):
            other = source if self.chance(0.3) else self.pick(self.sources)
            alias = self.named(other)
            more = self.of(other, alias)
            kind = self.pick(JOINS)
            link = self.link(seen, more, equal="FULL" in kind)
            if kind == ", " or link is None:
                text, seen = f"{text}, {other.name} {alias}", more
            else:
                text, seen = f"{text}{kind}{other.name} {alias} ON {link}", seen + more
            scope += more
        return text, scope

    def link(
        self, left: tuple[Column, ...], right: tuple[Column, ...], equal: bool = False
    ) -> str | None:
        """A condition between two sides, if they have columns of one kind."""
        pairs = [(x, y) for x in left for y in right if x.kind == y.kind and x.firm and y.firm]
        if not pairs:
            return None
        x, y = self.pick(pairs)
        op = "=" if equal or self.chance(0.8) else self.pick((*COMPARISONS, "<=>"))
        return f"{x.name} {op} {y.name}"

    def ties(self, inner: tuple[Column, ...], scope: tuple[Column, ...]) -> list[str]:
        """How a subquery is correlated: mostly by one column of the same name."""
        pairs = [(x, y) for x, y in zip(inner, scope, strict=False) if x.firm and x.kind == y.kind]
        chosen = self.rng.sample(pairs, min(len(pairs), self.pick((0, 1, 1, 1, 2))))
        ops = ("=", "=", "=", "=", "<=>", *COMPARISONS)
        return [f"{x.name} {self.pick(ops)} {y.name}" for x, y in chosen]

    # Conditions

    def where(self, scope: tuple[Column, ...]) -> str:
        """No condition, or one or two."""
        count = self.pick((0, 0, 1, 1, 2))
        conditions = [self.condition(scope) for _ in range(count)]
        if self.chance(0.15):
            conditions.append(self.subquery(scope))
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""

    def condition(self, scope: tuple[Column, ...], depth: int = 1) -> str:
        """A condition that may be unknown."""
        if depth and self.chance(0.25):
            left, right = self.condition(scope, depth - 1), self.condition(scope, depth - 1)
            both = self.pick(("({} OR {})", "NOT ({} AND {})", "({} AND {})"))
            return both.format(left, right)
        x = self.pick(scope)
        if not x.firm:
            return f"{x.name} {self.pick(('>', '<'))} 0.377e0"
        others = [c.name for c in scope if c.kind == x.kind and c.firm and c.name != x.name]
        y = self.pick(others) if others and self.chance(0.5) else self.pick(LITERALS[x.kind])
        no = self.pick(("", "NOT "))
        choices = [f"{x.name} {self.pick(COMPARISONS)} {y}"] * 3 + [
            f"{x.name} IS {no}NULL",
            f"{x.name} <=> {y}",
            f"{x.name} {no}IN ({', '.join(self.rng.sample(LITERALS[x.kind], 2))})",
            f"{x.name} {no}BETWEEN {y} AND {self.pick(LITERALS[x.kind])}",
        ]
        if x.kind == "string":
            choices += [f"{x.name} {no}LIKE {self.pick((repr('a%'), repr('_'), repr('%b')))}"]
        if x.kind == "bool":
            choices += [x.name, f"NOT {x.name}", f"{x.name} IS {no}TRUE"]
        return self.pick(choices)

    def subquery(self, scope: tuple[Column, ...]) -> str:
        """A condition with a subquery."""
        source = self.pick(self.sources)
        alias = self.named(source)
        inner = self.of(source, alias)
        tie = self.link(inner, scope) if self.chance(0.7) else None
        parts = [t for t in (tie, self.condition(inner) if self.chance(0.4) else None) if t]
        where = f" WHERE {' AND '.join(parts)}" if parts else ""
        no = self.pick(("", "NOT "))
        pairs = [(x, y) for x in scope for y in inner if x.kind == y.kind and x.firm and y.firm]
        text = f"FROM {source.name} {alias}{where}"
        if not pairs or self.chance(0.35):
            return f"{no}EXISTS (SELECT {self.pick(inner).name} {text})"
        x, y = self.pick(pairs)
        op, word = self.pick(COMPARISONS), self.pick(("ANY", "ALL"))
        return self.pick(
            (
                f"{x.name} {no}IN (SELECT {y.name} {text})",
                f"{x.name} {op} {word} (SELECT {y.name} {text})",
                f"{x.name} {op} (SELECT {self.pick(('MIN', 'MAX'))}({y.name}) {text})",
            )
        )

    def having(self, scope: tuple[Column, ...]) -> str:
        """A condition on groups; sums that round are compared with what they cannot meet."""
        item = self.aggregate(scope)
        if not item.firm or item.kind == "double":
            return f"{item.text} {self.pick(('>', '<'))} 0.377e0"
        literal = self.pick(LITERALS[item.kind])
        return self.pick(
            (
                f"{item.text} {self.pick(COMPARISONS)} {literal}",
                f"{item.text} IS {self.pick(('', 'NOT '))}NULL",
                f"COUNT(*) {self.pick(COMPARISONS)} {self.rng.randint(1, 3)}",
            )
        )

    # Values

    def head(self, items: tuple[Item, ...]) -> str:
        """The SELECT list, with a name for each item."""
        return ", ".join(f"{item.text} AS x{i}" for i, item in enumerate(items))

    def item(self, scope: tuple[Column, ...]) -> Item:
        """A value of a SELECT list."""
        x = self.pick(scope)
        if self.chance(0.6):
            return Item(x.name, x.kind, x.firm)
        return self.computed(x, scope)

    def computed(self, x: Column, scope: tuple[Column, ...]) -> Item:
        """Something made of a column."""
        same = [c for c in scope if c.kind == x.kind]
        y = self.pick(same)
        literal = self.pick(LITERALS[x.kind])
        firm = x.firm and y.firm and x.kind != "double"
        n, m = x.name, y.name
        either = x.firm and y.firm
        case = f"CASE WHEN {self.condition(scope, 0)} THEN {n}"
        known = f"CASE WHEN {n} IS NOT NULL THEN {n} ELSE {m} END"
        choices = [
            Item(f"COALESCE({n}, {m}, {literal})", x.kind, either),
            Item(f"{case} ELSE {literal} END", x.kind, x.firm),
            Item(f"{case} END", x.kind, x.firm),
            Item(f"COALESCE({known}, {n})", x.kind, either),
        ]
        if either:
            choices += [Item(f"NULLIF({n}, {literal})", x.kind)]
            choices += [Item(f"COALESCE(NULLIF({n}, {literal}), {m})", x.kind)]
        if x.kind in NUMBERS:
            choices += [
                Item(f"{n} {self.pick('+-')} {m}", x.kind, firm),
                Item(f"{n} * {m}", x.kind, firm),
                Item(f"ABS({n})", x.kind, x.firm),
            ]
        if x.kind == "string":
            choices += [
                Item(f"UPPER({n})", "string"),
                Item(f"{n} || {m}", "string"),
                Item(f"LENGTH({n})", "int"),
                Item(f"SUBSTRING({n}, 1, 1)", "string"),
            ]
        if x.kind in ("date", "timestamp"):
            choices += [Item(f"{self.pick(('YEAR', 'MONTH', 'DAY'))}({n})", "int")]
        if x.kind == "date":
            choices += [Item(f"DATEDIFF({n}, {m})", "int")]
        return self.pick(choices)

    def aggregate(self, scope: tuple[Column, ...]) -> Item:
        """An aggregate of a column or of something made of one."""
        if self.chance(0.2):
            return Item("COUNT(*)", "int")
        x = self.pick(scope)
        value = Item(x.name, x.kind, x.firm)
        if self.chance(0.25):
            value = self.computed(x, scope)
        kind, firm = value.kind, value.firm
        choices = [
            Item(f"COUNT({value.text})", "int"),
            Item(f"MIN({value.text})", kind, firm),
            Item(f"MAX({value.text})", kind, firm),
        ]
        if firm:
            choices += [Item(f"COUNT(DISTINCT {value.text})", "int")]
        if kind in NUMBERS:
            exact = kind != "double" and firm
            choices += [Item(f"SUM({value.text})", kind, exact)] * 3
            choices += [Item(f"AVG({value.text})", "double", False)]
            if exact:
                choices += [Item(f"SUM(DISTINCT {value.text})", kind)]
            if self.chance(0.3):
                only = f"FILTER (WHERE {self.condition(scope, 0)})"
                return Item(f"SUM({value.text}) {only}", kind, exact)
        return self.pick(choices)

    # Chance

    def pick(self, options: Sequence[T]) -> T:
        """One of these."""
        return self.rng.choice(options)

    def chance(self, p: float) -> bool:
        """Whether it happens."""
        return self.rng.random() < p
