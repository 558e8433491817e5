"""Random values and shapes that no writer below has: casts, functions, scalar subqueries, ASOF."""

from __future__ import annotations

from tests.differential.analytic_sql import DIRECTIONS, EXACT, EXCLUDES, AnalyticWriter
from tests.differential.spark_sql import Text
from tests.differential.typed_terms import COMPARISONS, LITERALS, Column, Item

TRIED = {
    "int": "INT",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "bool": "BOOLEAN",
    "decimal": "DECIMAL(8, 2)",
}
CASTS = {
    "int": ("DECIMAL(12, 2)", "DOUBLE", "STRING", "BOOLEAN"),
    "decimal": ("DOUBLE", "STRING", "BOOLEAN", "DECIMAL(10, 3)"),
    "double": ("BOOLEAN", "DECIMAL(10, 1)"),
    "string": ("STRING",),
    "date": ("TIMESTAMP", "STRING"),
    "timestamp": ("DATE", "STRING"),
    "bool": ("INT", "STRING"),
}
KIND_OF = {
    "INT": "int",
    "DOUBLE": "double",
    "STRING": "string",
    "BOOLEAN": "bool",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
}
TEXTS = (
    ("LOWER({0})", "string"),
    ("REVERSE({0})", "string"),
    ("LPAD({0}, 3, '*')", "string"),
    ("RPAD({0}, 2, 'xy')", "string"),
    ("REPLACE({0}, 'a', 'bb')", "string"),
    ("REPEAT({0}, 2)", "string"),
    ("LEFT({0}, 1)", "string"),
    ("TRIM({0})", "string"),
    ("CONCAT({0}, '-', {1})", "string"),
    ("CONCAT_WS(',', {0}, {1})", "string"),
    ("TRANSLATE({0}, 'ab', 'x')", "string"),
    ("MD5({0})", "string"),
    ("INSTR({0}, 'b')", "int"),
    ("ASCII({0})", "int"),
    ("STARTSWITH({0}, 'a')", "bool"),
    ("CONTAINS({0}, {1})", "bool"),
    ("{0} RLIKE '^a'", "bool"),
)
INTEGERS = (
    ("GREATEST({0}, {1}, 1)", "int"),
    ("LEAST({0}, {1})", "int"),
    ("SIGN({0})", "double"),
    ("{0} % 2", "int"),
    ("{0} DIV 2", "int"),
    ("{0} & 3", "int"),
    ("{0} | {1}", "int"),
    ("-{0}", "int"),
    ("IF({0} > {1}, {0}, 7)", "int"),
    ("NVL2({0}, {1}, 5)", "int"),
    ("{0} / {1}", "rounded"),
    ("CASE {0} WHEN 1 THEN 'one' WHEN {1} THEN 'same' END", "string"),
)
DAYS = (
    ("DATE_ADD({0}, 2)", "date"),
    ("LAST_DAY({0})", "date"),
    ("ADD_MONTHS({0}, 1)", "date"),
    ("DAYOFYEAR({0})", "int"),
    ("QUARTER({0})", "int"),
    ("{0} + INTERVAL 1 MONTH", "date"),
)


class SparkTerms(AnalyticWriter):
    """Writes values and shapes."""

    def computed(self, x: Column, scope: tuple[Column, ...]) -> Item:
        """Something made of a column: a cast, a function, or what the writers below make."""
        if not x.firm or self.chance(0.4):
            return super().computed(x, scope)
        same = [c for c in scope if c.kind == x.kind and c.firm]
        if self.chance(0.35):
            return self.cast(x)
        families = {"string": TEXTS, "int": INTEGERS, "date": DAYS}
        if x.kind not in families:
            return super().computed(x, scope)
        text, kind = self.pick(families[x.kind])
        value = text.format(x.name, self.pick(same).name)
        if kind == "rounded":
            return Item(value, "double", False)
        if kind == "double":
            return Item(f"CAST({value} AS INT)", "int")
        return Item(value, kind)

    def cast(self, x: Column) -> Item:
        """CAST, where both sides round alike, and TRY_CAST of texts."""
        if x.kind == "string":
            kind = self.pick(tuple(TRIED))
            return Item(f"TRY_CAST({x.name} AS {TRIED[kind]})", kind, kind != "double")
        to = self.pick(CASTS[x.kind])
        kind = KIND_OF.get(to, "decimal")
        firm = kind != "double" or x.kind == "int"
        return Item(f"CAST({x.name} AS {to})", kind, firm)

    def items_of(self, scope: tuple[Column, ...]) -> tuple[Item, ...]:
        """One to three columns."""
        columns = self.rng.sample(scope, min(len(scope), self.rng.randint(1, 3)))
        return tuple(Item(c.name, c.kind, c.firm) for c in columns)

    # Joins

    def nearest(self) -> Text:
        """ASOF JOIN with rows of which no two are equally near."""
        source, other = self.pick(self.sources), self.pick(self.sources)
        mine, theirs = self.named(source), self.named(other)
        scope, inner = self.of(source, mine), tuple(c for c in other.columns if c.firm)
        pairs = [(x, y) for x in scope for y in inner if x.kind == y.kind and x.firm]
        near = [(x, y) for x, y in pairs if x.kind not in ("bool", "string")]
        if not near:
            return self.with_partners()
        x, y = self.pick(near)
        ties = [(a, b) for a, b in pairs if b.name != y.name]
        tie = self.pick(ties) if ties and self.chance(0.7) else None
        names = [y.name, *([tie[1].name] if tie else [])]
        more = tuple(Column(f"{theirs}.{c.name}", c.kind) for c in inner if c.name in names)
        by = ", ".join(names)
        last = self.pick(inner)
        value = f"{self.pick(('MIN', 'MAX'))}({last.name}) AS zz"
        rows = f"(SELECT {by}, {value} FROM {other.name} GROUP BY {by}) {theirs}"
        on = f"{x.name} {self.pick(('>=', '>', '<', '<='))} {theirs}.{y.name}"
        if tie:
            on = f"{tie[0].name} = {theirs}.{tie[1].name} AND {on}"
        kind = self.pick(("ASOF JOIN", "ASOF LEFT JOIN"))
        text = f"FROM {source.name} {mine} {kind} {rows} ON {on}"
        return self.over(
            text + self.where(scope), (*scope, *more, Column(f"{theirs}.zz", last.kind))
        )

    def by_common_names(self) -> Text:
        """JOIN ... USING, LEFT, RIGHT, FULL, SEMI and ANTI."""
        pairs = [
            (a, b, c)
            for a in self.sources
            for b in self.sources
            for c in a.columns
            if c.firm and c in b.columns
        ]
        if not pairs:
            return self.nearest()
        source, other, key = self.pick(pairs)
        mine, theirs = self.named(source), self.named(other)
        kind = self.pick(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN"))
        scope = tuple(c for c in self.of(source, mine) if not c.name.endswith(f".{key.name}"))
        more = tuple(c for c in self.of(other, theirs) if not c.name.endswith(f".{key.name}"))
        text = f"FROM {source.name} {mine} {kind} {other.name} {theirs} USING ({key.name})"
        both = scope if kind[:4] in ("SEMI", "ANTI") else scope + more
        return self.over(text, (Column(key.name, key.kind), *both))

    # Subqueries

    def beside_scalars(self) -> Text:
        """Subqueries as values of the list, correlated or not, and EXISTS in a CASE."""
        source = self.pick(self.sources)
        scope = self.of(source, alias := self.named(source))
        items = list(self.items_of(scope))
        for _ in range(self.pick((1, 1, 2))):
            items.insert(0, self.scalar(scope))
        if self.chance(0.4):
            kind = "int"
            items.append(Item(f"CASE WHEN {self.subquery(scope)} THEN 1 ELSE 0 END", kind))
        text = f"FROM {source.name} {alias}{self.where(scope)}"
        return f"SELECT {self.head(tuple(items))} {text}", tuple(items)

    def scalar(self, scope: tuple[Column, ...]) -> Item:
        """An aggregate of the rows that match, or the first of them."""
        other = self.pick(self.sources)
        inner = self.of(other, alias := self.named(other))
        ties = self.ties(inner, scope)
        where = f" WHERE {' AND '.join(ties)}" if ties else ""
        rows = f"FROM {other.name} {alias}{where}"
        firm = [c for c in inner if c.firm]
        if firm and self.chance(0.3):
            column = self.pick(firm)
            order = column.name + self.pick(("", " DESC"))
            query = f"(SELECT {column.name} {rows} ORDER BY {order} LIMIT 1)"
            return Item(query, column.kind)
        value = self.aggregate(inner)
        return Item(f"(SELECT {value.text} {rows})", value.kind, value.firm)

    def of_pairs(self) -> Text:
        """(a, b) IN (SELECT ...), by groups too."""
        source, other = self.pick(self.sources), self.pick(self.sources)
        mine, theirs = self.named(source), self.named(other)
        scope, inner = self.of(source, mine), self.of(other, theirs)
        pairs = [(x, y) for x in scope for y in inner if x.kind == y.kind and x.firm and y.firm]
        if len(pairs) < 2:
            return self.beside_scalars()
        chosen = self.rng.sample(pairs, 2)
        left = ", ".join(x.name for x, _ in chosen)
        first, second = (y.name for _, y in chosen)
        text = f"SELECT {first}, {second} FROM {other.name} {theirs}{self.where(inner)}"
        if self.chance(0.4):
            text = f"SELECT {first}, MAX({second}) FROM {other.name} {theirs} GROUP BY {first}"
        no = self.pick(("", "NOT "))
        return self.over(f"FROM {source.name} {mine} WHERE ({left}) {no}IN ({text})", scope)

    # Windows

    def named_windows(self) -> Text:
        """WINDOW w AS (...), which several functions share."""
        text, scope = self.rows()
        window = self.window_of(scope, "")
        choices = [Item("RANK() OVER w", "int"), Item("DENSE_RANK() OVER w", "int")]
        for _ in range(3):
            value, kind, firm = self.value(scope)
            choices.append(Item(f"{value} OVER w", kind, firm))
        items = (*self.rng.sample(choices, 2), *self.items_of(scope))
        return (
            f"SELECT {self.head(items)} FROM {text}{self.where(scope)} WINDOW w AS {window}",
            items,
        )

    def statistic_windows(self) -> Text:
        """Statistics, DISTINCT and FILTER over windows."""
        text, scope = self.rows() if self.chance(0.6) else self.tables()
        scope = tuple(c for c in scope if c.firm)
        exact = [c.name for c in scope if c.kind in EXACT]
        if not exact:
            return self.named_windows()
        x, y, any_ = self.pick(exact), self.pick(exact), self.pick(scope)
        kind = next(c.kind for c in scope if c.name == x)
        condition = self.condition(scope, 0)
        fn = self.pick(("STDDEV", "VAR_POP", "VARIANCE", "STDDEV_POP", "MEDIAN"))
        pair = self.pick(("COVAR_POP", "COVAR_SAMP", "REGR_SLOPE", "CORR", "REGR_SXY"))
        values = [
            Item(f"{fn}({x})", "double", False),
            Item(f"{pair}({x}, {y})", "double", False),
            Item(f"COUNT(DISTINCT {any_.name})", "int"),
            Item(f"SUM(DISTINCT {x})", kind),
            Item(f"SUM({x}) FILTER (WHERE {condition})", kind),
            Item(f"COUNT(*) FILTER (WHERE {condition})", "int"),
            Item(f"BOOL_OR({condition})", "bool"),
            Item(f"BOOL_AND({condition})", "bool"),
            Item(f"MIN({any_.name}) FILTER (WHERE {condition})", any_.kind),
        ]
        items = []
        for value in self.rng.sample(values, self.pick((1, 1, 2))):
            over = f"(PARTITION BY {self.pick(scope).name})"
            if self.chance(0.4):
                over = self.window_of(scope, "")
            items.append(Item(f"{value.text} OVER {over}", value.kind, value.firm))
        shown = (*items, *self.items_of(scope))
        return f"SELECT {self.head(shown)} FROM {text}", shown

    def qualified(self) -> Text:
        """QUALIFY by any window function, which may be in the list, too."""
        text, scope = self.rows()
        item = self.window(scope)
        for _ in range(5):
            if item.firm and item.kind in LITERALS:
                break
            item = self.rank(scope)
        if not item.firm:
            return self.named_windows()
        test = f"{item.text} {self.pick(COMPARISONS)} {self.pick(LITERALS[item.kind])}"
        items = self.items_of(scope)
        if self.chance(0.4):
            items = (item, *items)
        head = f"SELECT {self.head(items)} FROM {text}{self.where(scope)}"
        return f"{head} QUALIFY {test}", items

    def ranked_groups(self) -> Text:
        """Window functions of groups."""
        text, scope = self.tables()
        firm = [c for c in scope if c.firm]
        if not firm:
            return self.named_windows()
        key = self.pick(firm)
        numbers = [c for c in firm if c.kind in EXACT]
        value = f"SUM({self.pick(numbers).name})" if numbers else "COUNT(*)"
        kind = "int"
        order = f"ORDER BY {value}{self.pick(DIRECTIONS)}, {key.name}"
        frame = self.pick(("", "", " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"))
        exclude = self.pick(EXCLUDES) if frame else ""
        items = (
            Item(key.name, key.kind),
            self.pick(
                (
                    Item(f"RANK() OVER ({order})", kind),
                    Item(f"SUM({value}) OVER ()", "double", False),
                    Item(f"COUNT({value}) OVER ({order}{frame}{exclude})", kind),
                    Item(f"LAG({key.name}) OVER ({order})", key.kind),
                    Item(f"ROW_NUMBER() OVER ({order})", kind),
                )
            ),
        )
        having = f" HAVING {self.having(scope)}" if self.chance(0.3) else ""
        body = f"FROM {text}{self.where(scope)} GROUP BY {key.name}{having}"
        return f"SELECT {self.head(items)} {body}", items

    # Groups and order

    def by_expression(self) -> Text:
        """GROUP BY a value that is computed, by its text, its position or its alias."""
        text, scope = self.tables()
        firm = [c for c in scope if c.firm]
        key = self.computed(self.pick(firm), tuple(firm)) if firm else None
        if key is None or not key.firm or "(SELECT" in key.text:
            return self.grouped()
        values = tuple(self.aggregate(scope) for _ in range(self.rng.randint(1, 2)))
        items = (key, *values)
        alias = [] if any(c.name.endswith(".x0") for c in scope) else ["x0"]
        by = self.pick((key.text, "1", "ALL", *alias))
        body = f"FROM {text}{self.where(scope)} GROUP BY {by}"
        return f"SELECT {self.head(items)} {body}", items

    def by_unselected(self) -> Text:
        """ORDER BY what is not in the list, with LIMIT and OFFSET."""
        text, scope = self.tables()
        firm = tuple(c for c in scope if c.firm)
        if not firm:
            return self.grouped()
        items = self.items_of(firm)
        keys = self.rng.sample(firm, min(len(firm), self.pick((1, 2))))
        order = ", ".join(k.name + self.pick(DIRECTIONS) for k in keys)
        count = self.rng.randint(1, 4)
        cut = self.pick((f"LIMIT {count}", f"LIMIT {count} OFFSET 1", "OFFSET 2"))
        head = f"SELECT {self.head(items)} FROM {text}{self.where(scope)}"
        return f"{head} ORDER BY {order} {cut}", items
