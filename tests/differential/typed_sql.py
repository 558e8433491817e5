"""Random views over random tables of every type; a seed always gives the same texts.

Where `random_sql` goes deep on one schema of integers, this grammar goes wide: every type, columns
that all admit NULL in half of the cases, rows compared with MIN, MAX, COUNT, SUM and AVG of their
own table by every comparison, self-joins, and views over views.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.differential.typed_terms import COMPARISONS, LITERALS, Column, Item, Terms


@dataclass(frozen=True)
class View:
    """A view's name, text and columns."""

    name: str
    sql: str
    columns: tuple[Column, ...]
    oracle: str = ""
    """The same for DuckDB, where it writes it otherwise."""


class Writer(Terms):
    """Writes views over sources."""

    def view(self, name: str) -> View:
        """One view of a random shape."""
        shapes = (
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
        sql, items = self.pick(shapes)()
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
        """The latest row of a key and its like: rows beside an aggregate of their own table."""
        source = self.pick(self.sources)
        mine, other = self.named(source), self.named(source)
        scope, inner = self.of(source, mine), self.of(source, other)
        fn, value, subject = self.comparable(inner, scope)
        ties = self.ties(inner, scope)
        filters = [self.condition(inner)] if self.chance(0.25) else []
        where = f" WHERE {' AND '.join([*ties, *filters])}" if ties or filters else ""
        query = f"(SELECT {fn}({value}) FROM {source.name} {other}{where})"
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
        groups = f"FROM {right.name} GROUP BY {key.name}"
        inner = f"SELECT {key.name} AS k, {fn}({value.name}) AS m {groups}"
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
            both = self.pick(("{} AND {}", "({} OR {})"))
            condition = both.format(condition, self.condition(scope))
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
        named = [f"x{i}" for i in range(len(items))]
        names = self.rng.sample(named, self.rng.randint(1, len(items)))
        order = ", ".join(n + self.pick(("", "", " DESC", " NULLS LAST")) for n in names)
        return f"{sql} ORDER BY {order} LIMIT {self.rng.randint(1, 5)}", items
