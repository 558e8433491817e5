"""Random views as Spark users write them: set operations, groupings, semi-joins, LATERAL, PIVOT.

`typed_sql` has the shapes that seeds below 90,000 stand for; these come on top of them.
"""

from __future__ import annotations

from tests.differential.typed_sql import View, Writer
from tests.differential.typed_terms import LITERALS, NUMBERS, Column, Item

Text = tuple[str, tuple[Item, ...]]
OPERATIONS = ("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT")
MORE_OPERATIONS = ("INTERSECT ALL", "EXCEPT ALL", "MINUS")


class SparkWriter(Writer):
    """Writes views over sources; what DuckDB writes otherwise has a text for it."""

    oracle = ""

    def view(self, name: str) -> View:
        """One view of a random shape, of the new ones mostly."""
        if self.chance(0.2):
            return super().view(name)
        self.oracle = ""
        shapes = (
            self.combined,
            self.combined,
            self.several_groupings,
            self.several_groupings,
            self.with_partners,
            self.beside_lateral,
            self.beside_values,
            self.as_it_stands,
            self.as_it_stands,
            self.turned_to_columns,
            self.turned_to_rows,
        )
        sql, items = self.pick(shapes)()
        columns = tuple(Column(f"x{i}", item.kind, item.firm) for i, item in enumerate(items))
        return View(name, sql, columns, self.oracle)

    # Set operations

    def combined(self) -> Text:
        """Two or three queries of one kind of rows."""
        source = self.pick(self.sources)
        firm = [c for c in source.columns if c.firm] or list(source.columns)
        kinds = tuple(self.pick(firm).kind for _ in range(self.pick((1, 1, 2, 2, 3))))
        sql = self.arm(kinds)
        for _ in range(self.pick((1, 1, 1, 2))):
            op = self.pick(MORE_OPERATIONS if self.chance(0.3) else OPERATIONS)
            sql = f"{sql} {op} {self.arm(kinds)}"
        items = tuple(Item(f"x{i}", kind) for i, kind in enumerate(kinds))
        if self.chance(0.2):
            return self.cut(sql, items), items
        if self.chance(0.25):
            scope = tuple(Column(f"u.x{i}", kind) for i, kind in enumerate(kinds))
            return self.group(f"FROM ({sql}) u{self.where(scope)}", scope)
        return sql, items

    def arm(self, kinds: tuple[str, ...]) -> str:
        """Rows of these kinds: of a join, or of its groups."""
        text, scope = self.tables()
        values = []
        for kind in kinds:
            columns = [c.name for c in scope if c.kind == kind and c.firm]
            literal = not columns or self.chance(0.1)
            values.append(self.pick(LITERALS[kind]) if literal else self.pick(columns))
        text = f"FROM {text}{self.where(scope)}"
        if self.chance(0.25):
            values[-1] = f"{self.pick(('MIN', 'MAX'))}({values[-1]})"
            keys = [v for v in values[:-1] if v in {c.name for c in scope}]
            text += f" GROUP BY {', '.join(keys)}" if keys else ""
        head = ", ".join(f"{v} AS x{i}" for i, v in enumerate(values))
        return f"SELECT {head} {text}"

    def cut(self, sql: str, items: tuple[Item, ...]) -> str:
        """The first rows, or those behind them, in an order or in that of all the columns."""
        names = self.rng.sample(range(len(items)), self.rng.randint(1, len(items)))
        order = ", ".join(f"x{n}" + self.pick(("", " DESC", " NULLS LAST")) for n in names)
        by = f" ORDER BY {order}" if self.chance(0.6) else ""
        count = self.rng.randint(1, 4)
        return sql + by + self.pick((f" LIMIT {count}", f" LIMIT {count} OFFSET 1", " OFFSET 2"))

    # Groupings

    def several_groupings(self) -> Text:
        """ROLLUP, CUBE and GROUPING SETS."""
        text, scope = self.tables()
        firm = [c for c in scope if c.firm]
        if not firm:
            return self.combined()
        keys = self.rng.sample(firm, min(len(firm), self.pick((1, 2, 2))))
        names = [k.name for k in keys]
        every = ", ".join(names)
        by = self.pick(
            (
                f"ROLLUP ({every})",
                f"CUBE ({every})",
                f"GROUPING SETS (({every}), ({names[-1]}), ())",
                f"GROUPING SETS (({names[0]}), ({every}))",
                f"{names[0]}, ROLLUP ({names[-1]})",
            )
        )
        items = tuple(Item(k.name, k.kind) for k in keys)
        items += tuple(self.aggregate(scope) for _ in range(self.rng.randint(0, 2)))
        if self.chance(0.5):
            mark = self.pick((f"GROUPING_ID({every})", "GROUPING_ID()", f"GROUPING({names[0]})"))
            items += (Item(mark, "int"),)
        having = f" HAVING {self.having(scope)}" if self.chance(0.25) else ""
        where = self.where(scope)
        sql = f"SELECT {self.head(items)} FROM {text}{where} GROUP BY {by}{having}"
        if self.chance(0.2) and all(i.firm for i in items):
            return self.cut(sql, items), items
        return sql, items

    # Joins

    def with_partners(self) -> Text:
        """LEFT SEMI JOIN and LEFT ANTI JOIN."""
        source = self.pick(self.sources)
        other = source if self.chance(0.3) else self.pick(self.sources)
        mine, theirs = self.named(source), self.named(other)
        scope, inner = self.of(source, mine), self.of(other, theirs)
        links = [t for t in (self.link(scope, inner), self.link(scope, inner)) if t]
        on = self.pick(links) if links else self.condition(inner)
        if self.chance(0.3):
            on = f"{on} {self.pick(('AND', 'OR'))} {self.condition(scope + inner)}"
        kind = self.pick(("LEFT SEMI", "LEFT ANTI", "SEMI", "ANTI"))
        text = f"FROM {source.name} {mine} {kind} JOIN {other.name} {theirs} ON {on}"
        return self.over(text + self.where(scope), scope)

    def over(self, text: str, scope: tuple[Column, ...]) -> Text:
        """Rows or groups of a FROM clause."""
        if self.chance(0.35):
            return self.group(text, scope)
        items = tuple(self.item(scope) for _ in range(self.rng.randint(1, 3)))
        return f"SELECT {self.head(items)} {text}", items

    def beside_lateral(self) -> Text:
        """A subquery in FROM that reads the row before it."""
        source, other = self.pick(self.sources), self.pick(self.sources)
        mine, theirs, out = self.named(source), self.named(other), self.named("l")
        scope, inner = self.of(source, mine), self.of(other, theirs)
        ties = self.ties(inner, scope)
        where = f" WHERE {' AND '.join(ties)}" if ties else ""
        column = self.pick([c for c in inner if c.firm] or list(inner))
        rows = f"FROM {other.name} {theirs}{where}"
        kind = column.kind
        query = f"SELECT {column.name} AS z {rows}"
        shape = self.pick(("rows", "rows", "first", "extreme", "count")) if column.firm else "rows"
        if shape == "first":
            query += " ORDER BY z LIMIT 1"
        elif shape == "extreme":
            query = f"SELECT {self.pick(('MIN', 'MAX'))}({column.name}) AS z {rows}"
        elif shape == "count":
            query, kind = f"SELECT COUNT(*) AS z {rows}", "int"
        link = self.pick((", LATERAL ({}) {}", " LEFT JOIN LATERAL ({}) {} ON TRUE"))
        text = f"FROM {source.name} {mine}" + link.format(query, out)
        return self.over(text, (*scope, Column(f"{out}.z", kind, column.firm)))

    def beside_values(self) -> Text:
        """A table joined with rows that stand in the query."""
        source = self.pick(self.sources)
        mine, other = self.named(source), self.named("v")
        scope = self.of(source, mine)
        column = self.pick([c for c in scope if c.firm] or list(scope))
        keys = [*self.rng.sample(LITERALS[column.kind], 2), "NULL"]
        rows = ", ".join(f"({k}, {n})" for n, k in enumerate(keys))
        kind = self.pick(("JOIN", "LEFT JOIN", "LEFT ANTI JOIN"))
        on = f"{column.name} {self.pick(('=', '<=>', '<'))} {other}.k"
        text = f"FROM {source.name} {mine} {kind} (VALUES {rows}) {other} (k, n) ON {on}"
        more = () if "ANTI" in kind else (Column(f"{other}.n", "int"),)
        return self.over(text, scope + more)

    # Text

    def as_it_stands(self) -> Text:
        """LIMIT without ORDER BY, * EXCEPT, aliases beside what they name, GROUP BY ALL."""
        sql, items = self.pick((self.plain, self.grouped))()
        firm = all(i.firm for i in items)
        shape = self.pick(("cut", "cut", "star", "alias", "all"))
        if shape == "cut" and firm:
            return self.cut(sql, items), items
        if shape == "star" and len(items) > 1:
            return f"SELECT * EXCEPT (x{len(items) - 1}) FROM ({sql})", items[:-1]
        if shape == "alias":
            numbers = [i for i, item in enumerate(items) if item.kind in NUMBERS]
            if numbers:
                n = self.pick(numbers)
                more = Item(f"y{n}", items[n].kind, items[n].firm)
                head = ", ".join(f"q.x{i} AS y{i}" for i in range(len(items)))
                head = f"{head}, y{n} AS z, z + y{n} AS w"
                names = ", ".join(f"y{i} AS x{i}" for i in range(len(items)))
                last = len(items)
                outer = f"SELECT {names}, z AS x{last}, w AS x{last + 1} FROM"
                return f"{outer} (SELECT {head} FROM ({sql}) q)", (*items, more, more)
        if shape == "all" and firm and len(items) > 1:
            keys = ", ".join(f"q.x{i} AS x{i}" for i in range(len(items) - 1))
            count = Item("COUNT(*)", "int")
            inner = f"SELECT {keys}, COUNT(*) AS x{len(items) - 1} FROM ({sql}) q GROUP BY ALL"
            return inner, (*items[:-1], count)
        return sql, items

    # PIVOT and UNPIVOT

    def turned_to_columns(self) -> Text:
        """PIVOT of two values of a column."""
        source = self.pick(self.sources)
        firm = [c for c in source.columns if c.firm]
        if len(firm) < 2:
            return self.combined()
        key, value = self.rng.sample(firm, 2)
        literals = self.rng.sample(LITERALS[key.kind], 2)
        fn = self.pick(("MIN", "MAX", "COUNT"))
        labels = [f"{literal} AS p{i}" for i, literal in enumerate(literals)]
        rest = [c for c in source.columns if c.name not in (key.name, value.name) and c.firm]
        columns = ", ".join(c.name for c in (*rest, key, value))
        inner = f"(SELECT {columns} FROM {source.name})"
        names = ", ".join(c.name for c in rest)
        heads = [f"{c.name} AS x{i}" for i, c in enumerate(rest)]
        at = len(rest)
        shown = ", ".join([*heads, *(f"p{i} AS x{at + i}" for i in range(2))])
        sql = f"SELECT {shown} FROM {inner} PIVOT ({fn}({value.name}) FOR {key.name} IN "
        sql += f"({', '.join(labels)}))"
        parts = []
        for i, literal in enumerate(literals):
            own = f"FILTER (WHERE {key.name} <=> {literal})"
            whole = f"{fn}({value.name}) {own}"
            if fn == "COUNT":
                whole = f"CASE WHEN COUNT(*) {own} > 0 THEN {whole} END"
            parts.append(f"{whole} AS x{at + i}")
        by = f" GROUP BY {names}" if names else ""
        self.oracle = f"SELECT {', '.join([*heads, *parts])} FROM {inner} q{by}"
        kind = "int" if fn == "COUNT" else value.kind
        items = tuple(Item(c.name, c.kind) for c in rest)
        return sql, (*items, Item("p0", kind), Item("p1", kind))

    def turned_to_rows(self) -> Text:
        """UNPIVOT of the columns of one kind."""
        source = self.pick(self.sources)
        firm = [c for c in source.columns if c.firm]
        if not firm:
            return self.combined()
        kind = self.pick(firm).kind
        values = [c for c in firm if c.kind == kind][:3]
        rest = [c for c in source.columns if c not in values]
        nulls = self.pick(("", "", "INCLUDE NULLS "))
        heads = [f"{c.name} AS x{i}" for i, c in enumerate(rest)]
        at = len(rest)
        shown = ", ".join([*heads, f"n AS x{at}", f"v AS x{at + 1}"])
        names = ", ".join(c.name for c in values)
        sql = f"SELECT {shown} FROM {source.name} UNPIVOT {nulls}(v FOR n IN ({names}))"
        arms = []
        for c in values:
            head = ", ".join([*heads, f"'{c.name}' AS x{at}", f"{c.name} AS x{at + 1}"])
            there = "" if nulls else f" WHERE {c.name} IS NOT NULL"
            arms.append(f"SELECT {head} FROM {source.name}{there}")
        self.oracle = " UNION ALL ".join(arms)
        items = tuple(Item(c.name, c.kind, c.firm) for c in rest)
        return sql, (*items, Item("n", "string"), Item("v", kind))
