"""Random views over random tables of every type; a seed always gives the same texts.

Where `random_sql` goes deep on one schema of integers, this grammar goes wide: every type, columns
that all admit NULL in half of the cases, rows compared with MIN, MAX, COUNT, SUM and AVG of their
own table by every comparison, self-joins, and views over views.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

KINDS = ("int", "int", "int", "int", "decimal", "double", "string", "string", "date", "timestamp", "bool")
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


@dataclass(frozen=True)
class View:
    """A view's name, text and columns."""

    name: str
    sql: str
    columns: tuple[Column, ...]


@dataclass
class Writer:
    """Writes views over sources; the random numbers are drawn in the order of the text."""

    rng: random.Random
    sources: list[Source]
    aliases: int = 0
    outer: tuple[Column, ...] = ()
    shapes: tuple[Callable[[], tuple[str, tuple[Item, ...]]], ...] = field(init=False)

    def __post_init__(self) -> None:
        self.shapes = (
            self.plain,
            self.plain,
            self.grouped,
            self.grouped,
            self.total,
            self.compared_with_its_table,
            self.compared_with_its_table,
            self.joined_with_its_groups,
            self.with_quantifier,
            self.over_groups,
            self.first_rows,
        )

    def view(self, name: str) -> View:
        """One view of a random shape."""
        sql, items = self.pick(self.shapes)()
        columns = tuple(Column(f"x{i}", item.kind, item.firm) for i, item in enumerate(items))
        return View(name, sql, columns)

    # Shapes

    def plain(self) -> tuple[str, tuple[Item, ...]]:
        """Rows of a join."""
        text, scope = self.tables()
        items = tuple(self.item(scope) for _ in range(self.rng.randint(1, 3)))
        # Rows that differ in the last digit only are not distinct for certain.
        firm = all(i.firm for i in items)
        distinct = "DISTINCT " if firm and self.chance(0.25) else ""
        return f"SELECT {distinct}{self.head(items)} FROM {text}{self.where(scope)}", items

    def grouped(self) -> tuple[str, tuple[Item, ...]]:
        """Groups of a join."""
        text, scope = self.tables()
        text = f"FROM {text}{self.where(scope)}"
        return self.group(text, scope)

    def group(self, text: str, scope: tuple[Column, ...]) -> tuple[str, tuple[Item, ...]]:
        """GROUP BY over a FROM clause."""
        firm = [c for c in scope if c.firm]
        if not firm:
            return self.total_of(text, scope)
        keys = self.rng.sample(firm, min(len(firm), self.pick((1, 1, 2))))
        items = tuple(Item(k.name, k.kind) for k in keys)
        values = tuple(self.aggregate(scope) for _ in range(self.rng.randint(0, 3)))
        by = ", ".join(k.name for k in keys)
        having = f" HAVING {self.having(scope)}" if self.chance(0.3) else ""
        return f"SELECT {self.head(items + values)} {text} GROUP BY {by}{having}", items + values

    def total(self) -> tuple[str, tuple[Item, ...]]:
        """Aggregates of all the rows."""
        text, scope = self.tables()
        return self.total_of(f"FROM {text}{self.where(scope)}", scope)

    def total_of(self, text: str, scope: tuple[Column, ...]) -> tuple[str, tuple[Item, ...]]:
        """Aggregates over a FROM clause."""
        values = tuple(self.aggregate(scope) for _ in range(self.rng.randint(1, 3)))
        having = f" HAVING {self.having(scope)}" if self.chance(0.1) else ""
        return f"SELECT {self.head(values)} {text}{having}", values

    def compared_with_its_table(self) -> tuple[str, tuple[Item, ...]]:
        """The latest row of a key, and its relatives: a row beside an aggregate of its own table."""
        source = self.pick(self.sources)
        mine, other = self.named(source), self.named(source)
        scope, inner = self.of(source, mine), self.of(source, other)
        fn, value, subject = self.comparable(inner, scope)
        ties = self.ties(inner, scope)
        filters = [self.condition(inner)] if self.chance(0.25) else []
        where = " AND ".join([*ties, *filters])
        query = f"(SELECT {fn}({value}) FROM {source.name} {other}{' WHERE ' + where if where else ''})"
        op = self.pick((*COMPARISONS, "<=>", "IN"))
        condition = f"{subject} {op} {query}"
        if self.chance(0.15):
            condition = f"NOT ({condition})"
        if self.chance(0.3):
            condition += f" AND {self.condition(scope)}"
        text = f"FROM {source.name} {mine} WHERE {condition}"
        if self.chance(0.4):
            return self.group(text, scope)
        items = tuple(self.item(scope) for _ in range(self.rng.randint(1, 3)))
        return f"SELECT {self.head(items)} {text}", items

    def comparable(
        self, inner: tuple[Column, ...], scope: tuple[Column, ...]
    ) -> tuple[str, str, str]:
        """An aggregate of a column, and what it can be compared with."""
        column = self.pick([c for c in inner if c.firm] or list(inner))
        same = [c.name for c in scope if c.kind == column.kind and c.firm]
        numbers = [c.name for c in scope if c.kind == "int"]
        exact = column.kind in ("int", "decimal") and column.firm
        choices: list[tuple[str, str, list[str]]] = [("COUNT", "*", numbers)]
        if column.firm:
            choices += [(fn, column.name, same) for fn in ("MIN", "MAX", "MIN", "MAX")]
        if exact:
            choices += [("SUM", column.name, same), ("AVG", column.name, same)]
        choices += [("COUNT", f"DISTINCT {column.name}", numbers)]
        fn, value, subjects = self.pick(choices)
        literal = "1" if fn in ("COUNT", "SUM", "AVG") else self.pick(LITERALS[column.kind])
        return fn, value, self.pick(subjects) if subjects else literal

    def joined_with_its_groups(self) -> tuple[str, tuple[Item, ...]]:
        """A table joined with an aggregate of itself, or of another one, by group."""
        left = self.pick(self.sources)
        right = left if self.chance(0.7) else self.pick(self.sources)
        mine, other = self.named(left), self.named("g")
        keys = [c for c in right.columns if c.firm]
        values = [c for c in right.columns if c.firm]
        if not keys:
            return self.plain()
        key, value = self.pick(keys), self.pick(values)
        fn = self.pick(("MIN", "MAX", "COUNT"))
        kind = "int" if fn == "COUNT" else value.kind
        inner = f"SELECT {key.name} AS k, {fn}({value.name}) AS m FROM {right.name} GROUP BY {key.name}"
        columns = (Column(f"{other}.k", key.kind), Column(f"{other}.m", kind))
        scope = self.of(left, mine)
        on = [self.link(scope, columns[:1]), self.link(scope, columns[1:])]
        ons = [t for t in on if t]
        if not ons:
            ons = [f"{other}.k IS NOT NULL"]
        join = self.pick(("JOIN", "JOIN", "LEFT JOIN"))
        if self.chance(0.3):
            text = f"FROM {left.name} {mine}, d {other} WHERE {' AND '.join(ons)}"
            prefix = f"WITH d AS ({inner}) "
        else:
            text = f"FROM {left.name} {mine} {join} ({inner}) {other} ON {' AND '.join(ons)}"
            prefix = ""
        if self.chance(0.3):
            sql, items = self.group(text, scope + columns)
            return prefix + sql, items
        items = tuple(self.item(scope + columns) for _ in range(self.rng.randint(1, 3)))
        return f"{prefix}SELECT {self.head(items)} {text}", items

    def with_quantifier(self) -> tuple[str, tuple[Item, ...]]:
        """EXISTS, IN, ANY and ALL over another table or the same one."""
        source = self.pick(self.sources)
        scope = self.of(source, self.named(source))
        alias = scope[0].name.split(".")[0]
        condition = self.subquery(scope)
        if self.chance(0.4):
            condition = self.pick(("{} AND {}", "({} OR {})")).format(condition, self.condition(scope))
        text = f"FROM {source.name} {alias} WHERE {condition}"
        if self.chance(0.4):
            return self.group(text, scope)
        items = tuple(self.item(scope) for _ in range(self.rng.randint(1, 3)))
        return f"SELECT {self.head(items)} {text}", items

    def over_groups(self) -> tuple[str, tuple[Item, ...]]:
        """Aggregates of aggregates."""
        sql, items = self.grouped()
        alias = self.named("n")
        scope = tuple(Column(f"{alias}.x{i}", it.kind, it.firm) for i, it in enumerate(items))
        text = f"FROM ({sql}) {alias}"
        if self.chance(0.5):
            text += self.where(scope)
        return self.group(text, scope)

    def first_rows(self) -> tuple[str, tuple[Item, ...]]:
        """ORDER BY ... LIMIT over rows or groups."""
        sql, items = self.pick((self.plain, self.grouped))()
        if not all(i.firm for i in items):
            return sql, items
        names = self.rng.sample([f"x{i}" for i in range(len(items))], self.rng.randint(1, len(items)))
        order = ", ".join(n + self.pick(("", "", " DESC", " NULLS LAST")) for n in names)
        return f"{sql} ORDER BY {order} LIMIT {self.rng.randint(1, 5)}", items

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
            kind = self.pick((", ", " JOIN ", " JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN "))
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
        pairs = [
            (x, y) for x in left for y in right if x.kind == y.kind and x.firm and y.firm
        ]
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
            return self.pick((f"({left} OR {right})", f"NOT ({left} AND {right})", f"({left} AND {right})"))
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
        choices = [
            Item(f"COALESCE({n}, {m}, {literal})", x.kind, x.firm and y.firm),
            Item(f"CASE WHEN {self.condition(scope, 0)} THEN {n} ELSE {literal} END", x.kind, x.firm),
            Item(f"CASE WHEN {self.condition(scope, 0)} THEN {n} END", x.kind, x.firm),
            Item(f"COALESCE(CASE WHEN {n} IS NOT NULL THEN {n} ELSE {m} END, {n})", x.kind, x.firm and y.firm),
        ]
        if x.firm and y.firm:
            choices += [Item(f"NULLIF({n}, {literal})", x.kind, x.firm)]
            choices += [Item(f"COALESCE(NULLIF({n}, {literal}), {m})", x.kind, True)]
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
                return Item(f"SUM({value.text}) FILTER (WHERE {self.condition(scope, 0)})", kind, exact)
        return self.pick(choices)

    # Chance

    def pick(self, options: Sequence[T]) -> T:
        """One of these."""
        return self.rng.choice(options)

    def chance(self, p: float) -> bool:
        """Whether it happens."""
        return self.rng.random() < p
