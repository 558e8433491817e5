"""Random queries that compare a row with an aggregate of its own table: "the latest row per key".

The family of `a.p = (SELECT MAX(b.p) FROM m b WHERE b.k = a.k)`, written in every way that SQL has
for it: comparisons, IN, quantifiers, EXISTS, joins with a grouped subquery, CTEs and views, HAVING.
Both sides change with the same batch, and the aggregate is compared with the very column that it is
taken of, so that simplification makes one variable of the two. Every column is nullable in half of
the cases, and the compared column is of every type that has an order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from freshview.sql import Catalog
from freshview.sql.load import load
from tests.differential.streams import Script

T = TypeVar("T")

COMPARISONS = ("=", "=", "=", "=", "<=>", "<", "<=", ">", ">=", "<>")
EXTREMES = ("MIN", "MAX")
KEYS = ("INT", "INT", "STRING")
ORDERED = ("INT", "INT", "INT", "DECIMAL(8, 2)", "DOUBLE", "STRING", "DATE", "BOOLEAN")
NUMBERS = ("INT", "DECIMAL(8, 2)", "DOUBLE")


@dataclass(frozen=True)
class Case:
    """Tables, and a script over them."""

    catalog: Catalog
    schema: str
    script: Script


def random_case(seed: int) -> Case:
    """One query of the family; a seed always gives the same one."""
    rng = random.Random(seed)
    writer = _Writer(rng, p_type=rng.choice(ORDERED))
    schema = writer.schema()
    return Case(load(schema)[0], schema, writer.script())


@dataclass
class _Writer:
    """Writes one case over m(k, p, v), and now and then n of the same columns."""

    rng: random.Random
    p_type: str

    def schema(self) -> str:
        """Two tables of one shape; nullability is drawn for every column."""
        kinds = (("k", self._pick(KEYS)), ("p", self.p_type), ("v", "INT"))
        m, n = (", ".join(self._column(c, t) for c, t in kinds) for _ in range(2))
        return f"CREATE STREAM m ({m});\nCREATE STREAM n ({n});"

    def _column(self, name: str, kind: str) -> str:
        return f"{name} {kind}{self._pick(('', ' NOT NULL'))}"

    def script(self) -> Script:
        """A query; a part of it may stand as a CTE or as a view."""
        shapes: tuple[Callable[[], Script], ...] = (
            self._where,
            self._where,
            self._where,
            self._joined,
            self._joined,
            self._joined,
            self._having,
            self._selected,
            self._first_rows,
        )
        return self._pick(shapes)()

    # Shapes

    def _where(self) -> Script:
        """Rows that pass a condition, as they are or added up."""
        condition = self.condition("a")
        if self._chance(0.3):
            link = self._pick(("AND", "AND", "OR"))
            condition = f"{condition} {link} {self.condition('a')}"
        if self._chance(0.1):
            condition = f"NOT ({condition})"
        return Script(self.result("a", f"FROM m a WHERE {condition}"))

    def _joined(self) -> Script:
        """Rows joined with the extremes of their groups."""
        inner, column = self.grouped()
        kind = self._pick(("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", ","))
        on = f"a.k {self._equals()} d.k"
        if self._chance(0.85):
            on += f" AND {self._compared(column, 'd.x')}"
        elif "FULL" not in kind:
            on = self._compared(column, "d.x")
        columns = self._pick(("a.k, a.p", "a.k, d.x", "d.k, a.p, d.x", "a.k, a.p, a.v, d.x"))
        first, second = self._pick((("m a", "{d} d"), ("{d} d", "m a")))
        on = f" WHERE {on}" if kind == "," else f" ON {on}"
        text = f"FROM {first} {kind} {second}{on}"
        if self._chance(0.2):
            head = f"SELECT d.x, COUNT(*) AS n, SUM(a.v) AS s {text} GROUP BY d.x"
        else:
            head = f"SELECT {columns} {text}"
        match self._pick(("derived", "derived", "cte", "view")):
            case "cte":
                return Script(f"WITH d0 AS ({inner}) {head.format(d='d0')}")
            case "view":
                return Script(head.format(d="w"), (("w", inner),))
            case _:
                return Script(head.format(d=f"({inner})"))

    def _having(self) -> Script:
        """Groups whose aggregate is compared with another aggregate of the table."""
        mine = self.aggregate("a")
        tie = self._pick((" WHERE b.k = a.k", " WHERE b.k = a.k", " WHERE b.k <=> a.k", ""))
        inner = f"(SELECT {self.aggregate('b', mine)} FROM {self._table()} b{tie})"
        other = self._pick((inner, inner, self.aggregate("a", mine)))
        having = f"{mine} {self._pick(COMPARISONS)} {other}"
        if self._chance(0.3):
            having += f" {self._pick(('AND', 'OR'))} COUNT(*) > {self.rng.randint(0, 2)}"
        return Script(f"SELECT a.k, {mine} AS x FROM m a GROUP BY a.k HAVING {having}")

    def _selected(self) -> Script:
        """The comparison as a value."""
        condition = self.condition("a")
        if self._chance(0.5):
            condition = f"CASE WHEN {condition} THEN a.v ELSE -1 END"
        if self._chance(0.3):
            return Script(f"SELECT a.k, COUNT({condition}) AS n FROM m a GROUP BY a.k")
        return Script(f"SELECT a.k, a.p, {condition} AS c FROM m a")

    def _first_rows(self) -> Script:
        """Rows that are among the first few of the whole table."""
        order = self._pick(("p, k", "p DESC, k", "k, p", "k DESC, p DESC"))
        table = self._pick(("m", "m", "n"))
        first = f"SELECT k, p FROM {table} ORDER BY {order} LIMIT {self.rng.randint(1, 3)}"
        join = self._pick(("JOIN", "LEFT JOIN"))
        on = self._pick(("a.p = d.p", "a.p = d.p AND a.k = d.k", "a.p <=> d.p", "a.k = d.k"))
        return Script(f"SELECT a.k, a.p, d.p AS x FROM m a {join} ({first}) d ON {on}")

    def result(self, alias: str, text: str) -> str:
        """What is asked of the rows that are left."""
        a = alias
        kinds = (
            f"SELECT {a}.k, {a}.p {text}",
            f"SELECT {a}.k, {a}.p {text}",
            f"SELECT {a}.p {text}",
            f"SELECT DISTINCT {a}.k {text}",
            f"SELECT {a}.k, {a}.p, {a}.v {text}",
            f"SELECT COUNT(*) AS n, SUM({a}.v) AS s {text}",
            f"SELECT {a}.k, COUNT(*) AS n, MAX({a}.p) AS x {text} GROUP BY {a}.k",
            f"SELECT {a}.p, SUM({a}.v) AS s {text} GROUP BY {a}.p",
        )
        return self._pick(kinds)

    # Conditions

    def condition(self, a: str, depth: int = 1) -> str:
        """A column of one row against an aggregate of the table."""
        choice = (self._equal, self._equal, self._equal, self._member, self._quantified)
        return self._pick((*choice, self._exists))(a, depth)

    def _equal(self, a: str, depth: int) -> str:
        b = chr(ord(a) + 1)
        fn = self.aggregate(b)
        column = self._like(a, fn)
        if self._chance(0.1):
            other = self.query(b, a, self.aggregate(b, fn), depth)
            return f"{self.query(b, a, fn, depth)} {self._pick(COMPARISONS)} {other}"
        sides = [column, self.query(b, a, fn, depth)]
        if self._chance(0.3):
            sides.reverse()
        return f"{sides[0]} {self._pick(COMPARISONS)} {sides[1]}"

    def _member(self, a: str, depth: int) -> str:
        b = chr(ord(a) + 1)
        fn = self.aggregate(b)
        no = self._pick(("", "", "NOT "))
        inner = self.query(b, a, fn, depth)[1:-1]
        if self._chance(0.5):
            where = self._pick(("", f" WHERE {b}.k = {a}.k", f" WHERE {b}.v = {a}.v"))
            inner = f"SELECT {fn} FROM {self._table()} {b}{where} GROUP BY {b}.k"
        return f"{self._like(a, fn)} {no}IN ({inner})"

    def _quantified(self, a: str, depth: int) -> str:
        b = chr(ord(a) + 1)
        word = self._pick(("ALL", "ALL", "ANY"))
        op = self._pick(("=", "<", "<=", ">", ">=", "<>"))
        where = self._where_clause(b, a, depth)
        return f"{a}.p {op} {word} (SELECT {b}.p FROM {self._table()} {b}{where})"

    def _exists(self, a: str, depth: int) -> str:
        b = chr(ord(a) + 1)
        no = self._pick(("", "NOT "))
        where = self._where_clause(b, a, depth)
        if self._chance(0.5):
            better = f"{b}.p {self._pick(('<', '>', '='))} {a}.p"
            where = f"{where} AND {better}" if where else f" WHERE {better}"
            return f"{no}EXISTS (SELECT 1 FROM {self._table()} {b}{where})"
        fn = self.aggregate(b)
        group = f" GROUP BY {b}.k HAVING {fn} {self._pick(COMPARISONS)} {self._like(a, fn)}"
        return f"{no}EXISTS (SELECT {b}.k FROM {self._table()} {b}{where}{group})"

    # Subqueries

    def query(self, b: str, a: str, fn: str, depth: int) -> str:
        """(SELECT fn FROM m b WHERE ...): one aggregate of rows tied to those around."""
        return f"(SELECT {fn} FROM {self._table()} {b}{self._where_clause(b, a, depth)})"

    def grouped(self) -> tuple[str, str]:
        """SELECT k, fn AS x FROM m GROUP BY k, and a column to compare x with."""
        value = self.aggregate("c")
        more = self._pick(("", "", ", COUNT(*) AS n", ", MIN(v) AS y"))
        having = self._pick(("", "", "", f" HAVING COUNT(*) > {self.rng.randint(0, 2)}"))
        text = f"SELECT c.k, {value} AS x{more} FROM m c GROUP BY c.k{having}"
        return text, "a.p" if value.endswith(".p)") else "a.v"

    def aggregate(self, alias: str, like: str = "") -> str:
        """An aggregate of p or v; `like` another one, if it is to be compared with that."""
        kind = like.split("(")[0] if like else self._pick((*EXTREMES * 4, "COUNT", "SUM", "AVG"))
        if kind in EXTREMES:
            column = like.rstrip(")").rsplit(".", 1)[-1] if like else self._pick("pppv")
            return f"{self._pick(EXTREMES)}({alias}.{column})"
        if like:
            return f"{self._pick(('COUNT', 'SUM', 'AVG'))}({alias}.v)"
        return f"{kind}({'*' if kind == 'COUNT' else f'{alias}.v'})"

    def _like(self, a: str, fn: str) -> str:
        """A column, or what is computed of one, to compare with an aggregate."""
        if fn.endswith(".p)"):
            if self.p_type in NUMBERS and self._chance(0.1):
                return f"{a}.p + 1"
            return f"{a}.p"
        return self._pick((f"{a}.v", f"{a}.v", f"{a}.v + 1"))

    def _where_clause(self, b: str, a: str, depth: int) -> str:
        ties = [f"{b}.k {self._equals()} {a}.k"] if self._chance(0.85) else []
        if self._chance(0.15):
            ties.append(self._pick((f"{b}.p <> {a}.p", f"{b}.p <= {a}.p", f"{b}.k <= {a}.k")))
        if self._chance(0.1):
            ties.append(f"{b}.p IS NOT NULL")
        if depth > 0 and self._chance(0.15):
            ties.append(self.condition(b, depth - 1))
        return f" WHERE {' AND '.join(ties)}" if ties else ""

    def _compared(self, left: str, right: str) -> str:
        return f"{left} {self._pick(('=', '=', '=', '<=>', '<', '>='))} {right}"

    def _equals(self) -> str:
        return self._pick(("=", "=", "=", "<=>"))

    def _table(self) -> str:
        return self._pick("mmmmmmmn")

    # Chance

    def _pick(self, options: Sequence[T]) -> T:
        return self.rng.choice(options)

    def _chance(self, p: float) -> bool:
        return self.rng.random() < p
