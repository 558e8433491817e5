"""Random views with window functions and statistics, on top of those of `spark_sql`.

Windows in which each row counts are over rows with a total order: DuckDB breaks ties as it likes.
"""

from __future__ import annotations

from tests.differential.spark_sql import SparkWriter, Text
from tests.differential.typed_sql import View
from tests.differential.typed_terms import NUMBERS, Column, Item

EXACT = frozenset(("int", "decimal"))
EDGES = ("UNBOUNDED PRECEDING", "2 PRECEDING", "1 PRECEDING", "CURRENT ROW", "1 FOLLOWING")
LAST_EDGES = ("1 PRECEDING", "CURRENT ROW", "1 FOLLOWING", "2 FOLLOWING", "UNBOUNDED FOLLOWING")
PLACES = {e: i for i, e in enumerate((*EDGES, "2 FOLLOWING", "UNBOUNDED FOLLOWING"))}
EXCLUDES = ("",) * 4 + (" EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES")
DIRECTIONS = ("", "", " DESC", " NULLS LAST", " DESC NULLS FIRST")


class AnalyticWriter(SparkWriter):
    """Writes views over sources."""

    def view(self, name: str) -> View:
        """One view of a random shape, of the new ones mostly."""
        if self.chance(0.1):
            return super().view(name)
        shapes = (self.statistics, self.windows, self.windows, self.windows, self.numbered)
        sql, items = self.pick(shapes)()
        columns = tuple(Column(f"x{i}", item.kind, item.firm) for i, item in enumerate(items))
        return View(name, sql, columns)

    # Statistics

    def statistics(self) -> Text:
        """Groups with aggregates of sums of powers, of ordered values, and of conditions."""
        text, scope = self.tables()
        text = f"FROM {text}{self.where(scope)}"
        values = tuple(self.statistic(scope) for _ in range(self.rng.randint(1, 2)))
        firm = [c for c in scope if c.firm]
        if not firm or self.chance(0.3):
            return f"SELECT {self.head(values)} {text}", values
        key = self.pick(firm)
        items = (Item(key.name, key.kind), *values)
        return f"SELECT {self.head(items)} {text} GROUP BY {key.name}", items

    def statistic(self, scope: tuple[Column, ...]) -> Item:
        """An aggregate that is none of the first five."""
        column = self.pick(scope)
        exact = [c.name for c in scope if c.kind in EXACT and c.firm]
        firm = [c for c in scope if c.firm]
        choices = [Item(f"COUNT_IF({self.condition(scope)})", "int")]
        choices += [Item(f"{self.pick(('BOOL_AND', 'BOOL_OR'))}({self.condition(scope)})", "bool")]
        if exact:
            x, y = self.pick(exact), self.pick(exact)
            distinct = self.pick(("", "", "DISTINCT "))
            of_one = ("STDDEV", "VAR_POP", "VARIANCE", "STDDEV_POP", "SKEWNESS")
            of_two = ("COVAR_POP", "COVAR_SAMP", "CORR", "REGR_SLOPE", "REGR_INTERCEPT")
            share = self.pick(("0", "0.25", "0.5", "0.9", "1"))
            direction = self.pick(("", " DESC"))
            inside = f"WITHIN GROUP (ORDER BY {x}{direction})"
            choices += [
                Item(f"{self.pick(of_one[:4])}({distinct}{x})", "double", False),
                Item(f"{self.pick(of_one)}({x})", "double", False),
                Item(f"{self.pick(of_two)}({x}, {y})", "double", False),
                Item(f"MEDIAN({x})", "double", False),
                Item(f"PERCENTILE_CONT({share}) {inside}", "double", False),
                Item(f"PERCENTILE_DISC({share}) {inside}", "double", False),
            ]
        if firm:
            x, y = self.pick(firm), self.pick(firm)
            choices += [Item(f"{self.pick(('MIN_BY', 'MAX_BY'))}({x.name}, {y.name})", x.kind)]
            choices += [Item(f"{self.pick(('FIRST', 'LAST', 'MODE'))}({x.name})", x.kind)]
        choices += [Item(f"APPROX_COUNT_DISTINCT({column.name})", "int")] if column.firm else []
        return self.pick(choices)

    # Windows

    def windows(self) -> Text:
        """Rows of a table, or of its groups, with values of other rows beside them."""
        text, scope = self.rows()
        items = [self.window(scope) for _ in range(self.pick((1, 1, 2)))]
        items += [Item(c.name, c.kind) for c in self.rng.sample(scope, min(2, len(scope)))]
        where = self.where(scope) if self.chance(0.4) else ""
        qualify = ""
        if self.chance(0.15):
            counted = f"COUNT(*) OVER {self.window_of(scope, '')}"
            qualify = f" QUALIFY {counted} {self.pick(('>', '<='))} {self.rng.randint(1, 3)}"
        return f"SELECT {self.head(tuple(items))} FROM {text}{where}{qualify}", tuple(items)

    def numbered(self) -> Text:
        """The first rows of each partition, as rows that may come twice."""
        source = self.pick(self.sources)
        alias = self.named(source)
        scope = tuple(c for c in self.of(source, alias) if c.firm)
        if not scope:
            return self.windows()
        number = f"ROW_NUMBER() OVER {self.window_of(scope, '', total=True)}"
        count = self.rng.randint(1, 3)
        items = tuple(Item(c.name, c.kind) for c in scope)
        if self.chance(0.5):
            text = f"SELECT {self.head(items)} FROM {source.name} {alias}"
            return f"{text}{self.where(scope)} QUALIFY {number} <= {count}", items
        items += (Item(number, "int"),)
        inner = f"SELECT {self.head(items)} FROM {source.name} {alias}"
        op = self.pick(("<=", "=", "<"))
        named = tuple(Item(f"n.x{i}", it.kind) for i, it in enumerate(items))
        test = f"n.x{len(items) - 1} {op} {count + 1}"
        return f"SELECT {self.head(named)} FROM ({inner}) n WHERE {test}", named

    def rows(self) -> tuple[str, tuple[Column, ...]]:
        """Different rows."""
        source = self.pick(self.sources)
        firm = tuple(c for c in source.columns if c.firm)
        if not firm:
            return self.rows_of_one()
        alias = self.named(source)
        names = ", ".join(c.name for c in firm)
        return (
            f"(SELECT DISTINCT {names} FROM {source.name}) {alias}",
            tuple(Column(f"{alias}.{c.name}", c.kind) for c in firm),
        )

    def rows_of_one(self) -> tuple[str, tuple[Column, ...]]:
        """A constant, where a source has nothing that can be compared."""
        alias = self.named("one")
        return f"(SELECT DISTINCT 1 AS x) {alias}", (Column(f"{alias}.x", "int"),)

    def window_of(self, scope: tuple[Column, ...], frame: str, *, total: bool = False) -> str:
        """A window; a total one has all the columns in its order."""
        partition = self.pick(scope).name if self.chance(0.6) else ""
        count = len(scope) if total else self.pick((1, 1, 2))
        keys = self.rng.sample(scope, min(len(scope), count))
        order = ", ".join(c.name + self.pick(DIRECTIONS) for c in keys)
        parts = [f"PARTITION BY {partition}" if partition else "", f"ORDER BY {order}", frame]
        return f"({' '.join(p for p in parts if p)})"

    def window(self, scope: tuple[Column, ...]) -> Item:
        """A window function."""
        shapes = (self.whole, self.rank, self.position, self.counted, self.in_range)
        return self.pick((*shapes, self.neighbour, self.of_frame))(scope)

    def value(self, scope: tuple[Column, ...]) -> tuple[str, str, bool]:
        """An aggregate, its kind, and whether it is exact."""
        x = self.pick(scope)
        numbers = [c for c in scope if c.kind in NUMBERS]
        choices = [("COUNT(*)", "int", True), (f"COUNT({x.name})", "int", True)]
        choices += [(f"{fn}({x.name})", x.kind, True) for fn in ("MIN", "MAX")]
        if numbers:
            n = self.pick(numbers)
            exact = n.kind in EXACT
            choices += [(f"SUM({n.name})", n.kind, exact)] * 2 + [
                (f"AVG({n.name})", "double", False)
            ]
        return self.pick(choices)

    def whole(self, scope: tuple[Column, ...]) -> Item:
        """Of all the rows of a partition."""
        text, kind, firm = self.value(scope)
        by = f"PARTITION BY {self.pick(scope).name}" if self.chance(0.7) else ""
        return Item(f"{text} OVER ({by})", kind, firm)

    def rank(self, scope: tuple[Column, ...]) -> Item:
        """Equal rows have equal ranks."""
        over = self.window_of(scope, "")
        if self.chance(0.3):
            return Item(
                f"{self.pick(('PERCENT_RANK', 'CUME_DIST'))}() OVER {over}", "double", False
            )
        return Item(f"{self.pick(('RANK', 'DENSE_RANK'))}() OVER {over}", "int")

    def position(self, scope: tuple[Column, ...]) -> Item:
        """Each row has its own number."""
        fn = self.pick(("ROW_NUMBER()", "ROW_NUMBER()", "NTILE(2)", "NTILE(3)"))
        return Item(f"{fn} OVER {self.window_of(scope, '', total=True)}", "int")

    def neighbour(self, scope: tuple[Column, ...]) -> Item:
        """LAG and LEAD."""
        x = self.pick(scope)
        offset = self.pick(("", "", ", 2"))
        nulls = self.pick(("", "", " IGNORE NULLS"))
        over = self.window_of(scope, "", total=True)
        return Item(f"{self.pick(('LAG', 'LEAD'))}({x.name}{offset}){nulls} OVER {over}", x.kind)

    def counted(self, scope: tuple[Column, ...]) -> Item:
        """A frame of ROWS or GROUPS."""
        start = self.pick(EDGES)
        end = self.pick([e for e in LAST_EDGES if PLACES[e] >= PLACES[start]])
        unit = self.pick(("ROWS", "ROWS", "GROUPS"))
        frame = f"{unit} BETWEEN {start} AND {end}{self.pick(EXCLUDES)}"
        text, kind, firm = self.value(scope)
        return Item(f"{text} OVER {self.window_of(scope, frame, total=True)}", kind, firm)

    def in_range(self, scope: tuple[Column, ...]) -> Item:
        """A frame of RANGE, with offsets over one number."""
        text, kind, firm = self.value(scope)
        exact = [c.name for c in scope if c.kind in EXACT]
        start = self.pick(EDGES)
        end = self.pick([e for e in LAST_EDGES if PLACES[e] >= PLACES[start]])
        if not exact or self.chance(0.3):
            frame = self.pick(("", "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"))
            return Item(f"{text} OVER {self.window_of(scope, frame)}", kind, firm)
        by = f"PARTITION BY {self.pick(scope).name} " if self.chance(0.5) else ""
        frame = f"RANGE BETWEEN {start} AND {end}{self.pick(('', '', ' EXCLUDE GROUP'))}"
        order = f"ORDER BY {self.pick(exact)}{self.pick(DIRECTIONS)}"
        return Item(f"{text} OVER ({by}{order} {frame})", kind, firm)

    def of_frame(self, scope: tuple[Column, ...]) -> Item:
        """FIRST_VALUE, LAST_VALUE and NTH_VALUE."""
        x = self.pick(scope)
        fn = self.pick(("FIRST_VALUE({})", "LAST_VALUE({})", "NTH_VALUE({}, 2)")).format(x.name)
        nulls = self.pick(("", "", " IGNORE NULLS"))
        start = self.pick(EDGES)
        end = self.pick([e for e in LAST_EDGES if PLACES[e] >= PLACES[start]])
        frame = self.pick(("", f"ROWS BETWEEN {start} AND {end}"))
        return Item(f"{fn}{nulls} OVER {self.window_of(scope, frame, total=True)}", x.kind)
