"""DuckDB as the oracle: the same SQL text, run from scratch on the same rows."""

from __future__ import annotations

import itertools
import weakref
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, time
from decimal import Decimal
from functools import cache
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from freshview.calculus.schema import Relation
from freshview.calculus.types import Type, Value
from freshview.sql.catalog import Catalog
from tests.differential.duck_aggregates import AGGREGATES, in_duckdb

Event = tuple[str, tuple[Value, ...], int]
"""A relation, a row, and +1 to insert it or -1 to delete one copy of it."""

_KINDS = {
    "int": "BIGINT",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "bool": "BOOLEAN",
    "string": "VARCHAR",
}

_MACROS = """
CREATE MACRO vec_length(x, y, z) AS sqrt(x * x + y * y + z * z);
CREATE MACRO dihedral_angle(x1, y1, z1, x2, y2, z2, x3, y3, z3, x4, y4, z4) AS (
  WITH v AS (SELECT x2 - x1 AS ax, y2 - y1 AS ay, z2 - z1 AS az, x3 - x2 AS bx, y3 - y2 AS by_,
                    z3 - z2 AS bz, x4 - x3 AS cx, y4 - y3 AS cy, z4 - z3 AS cz),
  n AS (SELECT *, ay * bz - az * by_ AS px, az * bx - ax * bz AS py, ax * by_ - ay * bx AS pz,
               by_ * cz - bz * cy AS qx, bz * cx - bx * cz AS qy, bx * cy - by_ * cx AS qz FROM v)
  SELECT atan2(sqrt(bx * bx + by_ * by_ + bz * bz) * (ax * qx + ay * qy + az * qz),
               px * qx + py * qy + pz * qz) FROM n);
"""


MANY = 8

_NUMBERS = itertools.count()


@cache
def _instance() -> duckdb.DuckDBPyConnection:
    """The DuckDB of this process: to start one takes longer than most streams."""
    db = duckdb.connect()
    db.execute("SET threads = 1")
    return db


def _attached(owner: object) -> duckdb.DuckDBPyConnection:
    """A connection to an empty database that lasts as long as its owner."""
    name = f"duck{next(_NUMBERS)}"
    db = _instance().cursor()
    db.execute(f"ATTACH ':memory:' AS {name}; USE {name}")
    weakref.finalize(owner, db.execute, f"USE memory; DETACH {name}")
    return db


class Duck:
    """The tables of a catalog in an in-memory database, and the views as DuckDB sees them.

    Every row is stored under a number, so that a deletion takes exactly one copy; the name of a
    relation is a view that hides the number.
    """

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.db = _attached(self)
        self.db.execute(_MACROS)
        self.copies: dict[str, dict[tuple[Value, ...], list[int]]] = {}
        self.next = 0
        for relation in catalog.relations.values():
            self.db.execute(_create(relation))
            columns = ", ".join(f'"{c.name}"' for c in relation.columns)
            hidden = f'SELECT {columns} FROM "{relation.name}#"'
            self.db.execute(f'CREATE VIEW "{relation.name}" AS {hidden}')
            self.copies[relation.name] = {}

    def apply(self, events: Iterable[Event]) -> None:
        """Insert and delete rows, in order, as one batch."""
        new: dict[str, dict[int, tuple[Value, ...]]] = {}
        gone: dict[str, list[int]] = {}
        for name, row, count in events:
            copies = self.copies[name].setdefault(row, [])
            for _ in range(abs(count)):
                if count > 0:
                    self.next += 1
                    copies.append(self.next)
                    new.setdefault(name, {})[self.next] = row
                elif new.get(name, {}).pop(number := copies.pop(), None) is None:
                    gone.setdefault(name, []).append(number)
        for name, rows in new.items():
            if rows:  # else all of them went again
                self._insert(name, rows)
        for name, numbers in gone.items():
            self.db.execute(f'DELETE FROM "{name}#" WHERE "#" IN (SELECT unnest(?))', [numbers])

    def _insert(self, name: str, rows: dict[int, tuple[Value, ...]]) -> None:
        """Few rows value by value, many of them column by column: each is quicker there."""
        numbered = [(number, *row) for number, row in rows.items()]
        if len(numbered) < MANY:
            marks = ", ".join(f"({', '.join('?' * len(row))})" for row in numbered)
            flat = [v for row in numbered for v in row]
            self.db.execute(f'INSERT INTO "{name}#" VALUES {marks}', flat)
            return
        types = [_type(c.type) for c in self.catalog.relation(name).columns]
        columns = ", ".join(f"unnest(?::VARCHAR[])::{t}" for t in types)
        numbers, *values = zip(*numbered, strict=True)
        texts = [[None if v is None else _text(v) for v in column] for column in values]
        self.db.execute(f'INSERT INTO "{name}#" SELECT unnest(?), {columns}', [numbers, *texts])

    def clear(self) -> None:
        """Empty all tables."""
        for relation in self.catalog.relations.values():
            self.db.execute(f'DELETE FROM "{relation.name}#"')
            self.copies[relation.name] = {}

    def create_view(self, name: str, sql: str, columns: tuple[str, ...] = ()) -> None:
        """A view that later queries may read."""
        names = f" ({', '.join(columns)})" if columns else ""
        self.db.execute(f"CREATE OR REPLACE VIEW {name}{names} AS {translate(sql)}")

    def query(self, sql: str) -> Counter[tuple[Any, ...]]:
        """The rows of a query as a multiset."""
        rows = self.db.execute(translate(sql)).fetchall()
        return Counter(tuple(plain(v) for v in row) for row in rows)


def _text(value: Value) -> str:
    """A value as DuckDB reads it from text; of a double, all its digits."""
    return repr(value) if isinstance(value, float) else str(value)


def _create(relation: Relation) -> str:
    columns = ", ".join(f'"{c.name}" {_type(c.type)}' for c in relation.columns)
    return f'CREATE TABLE "{relation.name}#" ("#" BIGINT, {columns})'


def _type(t: Type) -> str:
    return f"DECIMAL(18, {t.scale})" if t.kind == "decimal" else _KINDS[t.kind]


def plain(value: Any) -> Any:
    """A value as both sides can be compared: numbers as floats of 9 digits, midnight as a date."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float | Decimal):
        if value != value:
            return None  # DuckDB's correlation with what does not vary: NULL here and in Spark
        number = float(f"{float(value):.9g}")
        return 0.0 if number == 0 else number
    if isinstance(value, datetime) and value.time() == time():
        return value.date()
    return value


@cache
def translate(sql: str) -> str:
    """The query in DuckDB's words, with our NULL order and a full ordering under every LIMIT."""
    sql = sql.strip().rstrip(";")
    tree = sqlglot.parse_one(sql, dialect="spark")
    for node in list(tree.find_all(exp.Anonymous)):
        if str(node.this).lower() in ("listmax", "listmin"):
            name = "greatest" if str(node.this).lower() == "listmax" else "least"
            node.set("this", name)
    for node in list(tree.find_all(exp.Substring)):
        start = node.args.get("start")
        if isinstance(start, exp.Literal) and start.this == "0":
            node.set("start", exp.Literal.number(1))
    for node in list(tree.find_all(exp.DataType)):
        if node.this == exp.DataType.Type.TIMESTAMPTZ:  # our timestamps have no zone
            node.set("this", exp.DataType.Type.TIMESTAMP)
    for node in list(tree.find_all(exp.Join)):
        if _is_comma(node, sql):
            node.set("kind", None)
    for node in list(tree.find_all(exp.Select, exp.SetOperation)):
        if node.args.get("limit") or node.args.get("offset"):
            _break_ties(node)
    for node in list(tree.find_all(exp.WithinGroup)):
        if isinstance(node.this, exp.PercentileCont):  # which rounds to the digits of a decimal
            for key in node.expression.expressions:
                key.set("this", exp.cast(key.this, exp.DataType.Type.DOUBLE))
    for node in list(tree.find_all(exp.Group)):
        _refuse_groups_without_rows(node)
    for node in list(tree.find_all(exp.GroupingId)):
        if not node.expressions:
            _name_keys(node)
    for node in list(tree.find_all(*AGGREGATES)):
        if not isinstance(node.parent, exp.Window | exp.IgnoreNulls):
            node.replace(in_duckdb(node))
    for node in list(tree.find_all(exp.Corr)):
        _null_for_nan(node)
    return tree.sql(dialect="duckdb")


def _null_for_nan(node: exp.Expression) -> None:
    """DuckDB's correlation with what does not vary is no number, and larger than all numbers."""
    while isinstance(node.parent, exp.Window | exp.Filter) and node.arg_key == "this":
        node = node.parent
    nan = exp.cast(exp.Literal.string("nan"), exp.DataType.Type.DOUBLE)
    node.replace(exp.Nullif(this=node.copy(), expression=nan))


def _is_comma(join: exp.Join, sql: str) -> bool:
    """Whether a join was written as a comma, which binds weaker than an outer join."""
    if any(join.args.get(name) for name in ("on", "using", "side", "method")):
        return False  # the first constant of VALUES may stand after a comma, and has no start
    starts = [n.meta["start"] for n in join.this.walk() if "start" in n.meta]
    return bool(starts) and sql[: min(starts)].rstrip(" \n(").endswith(",")


_GROUPINGS = (exp.Rollup, exp.Cube, exp.GroupingSets)


def _refuse_groups_without_rows(group: exp.Group) -> None:
    """In Spark a grouping by nothing beside others has no row where there are no rows."""
    select = group.parent
    if select is None or not any(group.find_all(*_GROUPINGS)):
        return
    there = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
    having = select.args.get("having")
    whole = exp.and_(there, having.this) if having else there
    select.set("having", exp.Having(this=whole))


def _name_keys(node: exp.GroupingId) -> None:
    """GROUPING_ID() is about all the keys, in order."""
    select = node.find_ancestor(exp.Select)
    assert select is not None
    columns = select.args["group"].find_all(exp.Column, bfs=False)
    keys = {c.sql(): c.copy() for c in columns}
    node.set("expressions", list(keys.values()))


def _break_ties(select: exp.Select | exp.SetOperation) -> None:
    """Order by the output columns, too, NULLs first, so that LIMIT has one answer."""
    order = select.args.get("order")
    if order is None:
        order = exp.Order()
        select.set("order", order)
    columns = select.selects
    for position in range(1, len(columns) + 1):
        literal = exp.Literal.number(position)
        order.append("expressions", exp.Ordered(this=literal, nulls_first=True))
