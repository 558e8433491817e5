"""Random views in which every construct stands inside of others: subqueries, WITH, rows of text.

The shapes are those of `analytic_sql` and below, and those of `spark_terms`. What DuckDB writes
otherwise is replaced in its text, the outermost query first.
"""

from __future__ import annotations

from tests.differential.spark_sql import Text
from tests.differential.spark_terms import SparkTerms
from tests.differential.typed_sql import View
from tests.differential.typed_terms import LITERALS, Column, Item, Source

SIMPLE = ("int", "string", "date", "bool")


class NestedWriter(SparkTerms):
    """Writes views over sources, of which some are queries."""

    def view(self, name: str) -> View:
        """One view of any shape over tables, and over subqueries, WITH, VALUES and `range`."""
        before = list(self.sources)
        rewrites: list[tuple[str, str]] = []
        prefix: list[str] = []
        for _ in range(self.pick((0, 0, 1, 1, 1, 2))):
            self._nest(rewrites, prefix)
        view = self._shape(name)
        self.sources[:] = before
        sql, oracle = view.sql, view.oracle or view.sql
        if prefix and any(name in sql for name in ("c0", "c1")):
            sql, oracle = _with(prefix, sql), _with(prefix, oracle)
        for text, other in dict.fromkeys(reversed(rewrites)):
            oracle = oracle.replace(text, other)
        return View(name, sql, view.columns, oracle if oracle != sql else "")

    def _shape(self, name: str) -> View:
        """One query over the sources."""
        if self.chance(0.5):
            return super().view(name)
        self.oracle = ""
        shapes = (
            self.nearest,
            self.beside_scalars,
            self.by_common_names,
            self.named_windows,
            self.statistic_windows,
            self.qualified,
            self.ranked_groups,
            self.by_expression,
            self.by_unselected,
            self.of_pairs,
            self.in_any_order,
        )
        sql, items = self.pick(shapes)()
        columns = tuple(Column(f"x{i}", item.kind, item.firm) for i, item in enumerate(items))
        return View(name, sql, columns, self.oracle)

    def _nest(self, rewrites: list[tuple[str, str]], prefix: list[str]) -> None:
        """Put a query in the place of a source, or beside the sources."""
        way = self.pick(("subquery", "subquery", "with", "values", "range"))
        if way == "range":
            count = self.rng.randint(1, 5)
            text = self.pick((f"range({count})", f"range(1, {count + 3}, 2)"))
            rewrites.append((text, f"(SELECT range AS id FROM {text})"))
            self.sources.append(Source(text, (Column("id", "int"),)))
            return
        if way == "values":
            self.sources.append(self._values(rewrites))
            return
        view = self._shape("inner")
        if view.oracle:
            rewrites.append((view.sql, view.oracle))
        name = f"({view.sql})"
        if way == "with":
            name = f"c{len(prefix)}"
            kept = self.pick(("", "", "MATERIALIZED "))
            prefix.append(f"{name} AS {kept}({view.sql})")
        source = Source(name, view.columns)
        if self.chance(0.5):
            self.sources[self.rng.randrange(len(self.sources))] = source
        else:
            self.sources.append(source)

    def _values(self, rewrites: list[tuple[str, str]]) -> Source:
        """Rows of constants, with a NULL among them."""
        kinds = [self.pick(SIMPLE) for _ in range(self.pick((1, 2, 2)))]
        columns = [[*self.rng.sample(LITERALS[k], 2), "NULL"] for k in kinds]
        rows = ", ".join(f"({', '.join(row)})" for row in zip(*columns, strict=True))
        names = [f"col{i + 1}" for i in range(len(kinds))]
        text = f"(VALUES {rows})"
        rewrites.append((text, f"(SELECT * FROM {text} vv ({', '.join(names)}))"))
        return Source(text, tuple(Column(n, k) for n, k in zip(names, kinds, strict=True)))

    def in_any_order(self) -> Text:
        """A query of any shape, cut to its first rows in some order."""
        view = super().view("inner")
        self.oracle = ""
        if view.oracle or not all(c.firm for c in view.columns):
            return self.nearest()
        alias = self.named("f")
        scope = tuple(Column(f"{alias}.{c.name}", c.kind) for c in view.columns)
        items = self.items_of(scope)
        return self.cut(f"SELECT {self.head(items)} FROM ({view.sql}) {alias}", items), items


class ComputedWriter(NestedWriter):
    """The same with casts and functions in most places where a column may stand."""

    def item(self, scope: tuple[Column, ...]) -> Item:
        """A value of a SELECT list, computed in two cases of three."""
        x = self.pick(scope)
        return self.computed(x, scope) if self.chance(0.67) else Item(x.name, x.kind, x.firm)

    def items_of(self, scope: tuple[Column, ...]) -> tuple[Item, ...]:
        """One to three values; an ORDER BY beside them may name any column."""
        return tuple(self.item(scope) for _ in range(self.rng.randint(1, 3)))


def _with(prefix: list[str], sql: str) -> str:
    """A query behind WITH, which it may have already."""
    head = f"WITH {', '.join(prefix)}"
    return f"{head}, {sql[5:]}" if sql.startswith("WITH ") else f"{head} {sql}"
