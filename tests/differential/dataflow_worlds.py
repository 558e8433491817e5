"""Random plans over random streams beside DuckDB: rows come, go, come late, and windows move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import duckdb
import pyarrow as pa

from freshview.dataflow import (
    Flow,
    Stream,
    average,
    count,
    greatest,
    least,
    source,
    total,
)
from freshview.dataflow.execute.flow import maker
from freshview.dataflow.plan.physical import components
from freshview.dataflow.plan.walk import fields
from freshview.temporal import Between, Hopping, Landmark, Sliding, Tumbling, Window

Row = tuple[Any, ...]
DELAY = 3
COLUMNS = {"k": "int?", "v": "int", "x": "double?", "w": "string?", "t": "int"}
ARROW = pa.schema(
    [
        ("k", pa.int64()),
        ("v", pa.int64()),
        ("x", pa.float64()),
        ("w", pa.string()),
        ("t", pa.int64()),
    ]
)


def stream(name: str) -> Stream:
    return source(name, COLUMNS, time="t", delay=DELAY)


def streams() -> tuple[Stream, Stream, Stream]:
    return stream("a"), stream("b"), stream("c")


@dataclass(frozen=True)
class Shape:
    """A plan, and the same in DuckDB's SQL; `{now}` stands for the latest time of all streams."""

    plan: Callable[[], Stream]
    sql: str


def _equi() -> Stream:
    a, b, _ = streams()
    return a.join(b, lambda a, b: a.k == b.k).group_by(
        lambda r: r.a.w, n=count(), s=lambda r: total(r.b.v)
    )


def _band() -> Stream:
    a, b, _ = streams()
    pairs = a.join(b, lambda a, b: a.v.between(b.v - 2, b.v + 1))
    return pairs.filter(lambda r: (r.a.x > 0.5) & (r.b.k < 4)).group_by(
        lambda r: r.b.k,
        n=lambda r: count(r.a.k),
        m=lambda r: average(r.a.v),
        low=lambda r: least(r.a.x),
        high=lambda r: greatest(r.b.w),
    )


def _distance() -> Stream:
    a, b, _ = streams()
    near = a.join(b, lambda a, b: (abs(a.v - b.v) < 2) & (a.w != b.w))
    return near.map(lambda r: {"k": r.a.k, "far": r.a.v - r.b.v, "t": r.b.t})


def _general() -> Stream:
    a, b, _ = streams()
    odd = a.join(b, lambda a, b: ((a.v * b.v) % 3 == 1) | (a.k + b.v == 5))
    return odd.group_by(n=count(), s=lambda r: total(r.a.v))


def _computed() -> Stream:
    a, b, _ = streams()
    return a.join(b, lambda a, b: (a.v + a.k == b.v * 2) & (a.x <= b.x + 1)).group_by(
        lambda r: {"k": r.a.k + 1}, n=count()
    )


def _cross() -> Stream:
    a, b, _ = streams()
    few = a.filter(lambda a: a.v == 2).join(b.filter(lambda b: b.w.is_in("x", "y")))
    return few.group_by(lambda r: r.b.w, n=count())


def _function() -> Stream:
    a, b, _ = streams()
    return a.join(
        b, lambda a, b: a.k is not None and b.k is not None and (a.k * b.k) % 3 == 2, rowwise=True
    ).group_by(lambda r: r.b.k, n=count())


def _three() -> Stream:
    a, b, c = streams()
    return (
        a.join(b, lambda a, b: a.k == b.k)
        .join(c, lambda r, c: (r.b.v >= c.v - 1) & (r.b.v <= c.v + 1))
        .filter(lambda r: r.c.v > 1)
        .group_by(lambda r: r.c.w, n=count(), s=lambda r: total(r.a.v))
    )


def _three_rows() -> Stream:
    a, b, c = streams()
    few = a.join(b, lambda a, b: a.v < b.v).join(c, lambda r, c: (r.a.k == c.k) & (c.v == 2))
    return few.join(a.filter(lambda a: a.w == "x").named("d"), lambda r, d: r.c.k == d.k)


def _flattened() -> Stream:
    a, b, _ = streams()
    twice = a.flat_map(
        lambda r: [(r.v + i, r.w) for i in range(r.v % 3)], {"v": "int", "w": "string?"}
    )
    return (
        twice.join(b.map(lambda b: (b.v, b.x)), lambda a, b: a.v == b.v)
        .filter(lambda r: r.x is None or r.x > 1, rowwise=True)
        .group_by(lambda r: r.w, n=count())
    )


def _groups_join() -> Stream:
    a, b, _ = streams()
    groups = a.group_by(lambda a: a.k, n=count(), s=lambda a: total(a.v)).named("g")
    return groups.join(b, lambda g, b: g.n >= b.v).group_by(
        lambda r: r.g.k, pairs=count(), s=lambda r: total(r.b.v)
    )


def _having() -> Stream:
    a, b, _ = streams()
    groups = a.join(b, lambda a, b: a.k == b.k).group_by(lambda r: r.a.w, n=count())
    return groups.filter(lambda g: (g.n > 2) & (g.w >= "x"))


def _one() -> Stream:
    return stream("a").filter(lambda a: a.v > 1).group_by(lambda a: a.k, n=count())


GROUPED = "SELECT a.w, COUNT(*), SUM(b.v) FROM a JOIN b ON {on} GROUP BY a.w"
SHAPES = {
    "equi": Shape(_equi, GROUPED.format(on="a.k = b.k")),
    "band": Shape(
        _band,
        "SELECT b.k, COUNT(a.k), AVG(a.v), MIN(a.x), MAX(b.w) FROM a, b "
        "WHERE a.v BETWEEN b.v - 2 AND b.v + 1 AND a.x > 0.5 AND b.k < 4 GROUP BY b.k",
    ),
    "distance": Shape(
        _distance, "SELECT a.k, a.v - b.v, b.t FROM a, b WHERE ABS(a.v - b.v) < 2 AND a.w <> b.w"
    ),
    "general": Shape(
        _general,
        "SELECT COUNT(*), SUM(a.v) FROM a, b WHERE (a.v * b.v) % 3 = 1 OR a.k + b.v = 5",
    ),
    "computed": Shape(
        _computed,
        "SELECT a.k + 1, COUNT(*) FROM a, b "
        "WHERE a.v + a.k = b.v * 2 AND a.x <= b.x + 1 GROUP BY 1",
    ),
    "cross": Shape(
        _cross,
        "SELECT b.w, COUNT(*) FROM a, b WHERE a.v = 2 AND b.w IN ('x', 'y') GROUP BY b.w",
    ),
    "function": Shape(
        _function, "SELECT b.k, COUNT(*) FROM a, b WHERE (a.k * b.k) % 3 = 2 GROUP BY b.k"
    ),
    "three": Shape(
        _three,
        "SELECT c.w, COUNT(*), SUM(a.v) FROM a, b, c WHERE a.k = b.k "
        "AND b.v BETWEEN c.v - 1 AND c.v + 1 AND c.v > 1 GROUP BY c.w",
    ),
    "three rows": Shape(
        _three_rows,
        "SELECT * FROM a, b, c, a AS d WHERE a.v < b.v AND a.k = c.k AND c.v = 2 "
        "AND d.w = 'x' AND c.k = d.k",
    ),
    "flattened": Shape(
        _flattened,
        "SELECT a.w, COUNT(*) FROM a, range(2) i(i), b WHERE i.i < a.v % 3 AND a.v + i.i = b.v "
        "AND (b.x IS NULL OR b.x > 1) GROUP BY a.w",
    ),
    "groups join": Shape(
        _groups_join,
        "SELECT g.k, COUNT(*), SUM(b.v) FROM (SELECT k, COUNT(*) AS n FROM a GROUP BY k) g, b "
        "WHERE g.n >= b.v GROUP BY g.k",
    ),
    "having": Shape(
        _having,
        "SELECT a.w, COUNT(*) FROM a JOIN b ON a.k = b.k GROUP BY a.w "
        "HAVING COUNT(*) > 2 AND a.w >= 'x'",
    ),
    "one": Shape(_one, "SELECT k, COUNT(*) FROM a WHERE v > 1 GROUP BY k"),
}

PAIRWISE: dict[str, tuple[Window, str]] = {
    "sliding": (Sliding(5), "abs({0}.t - {1}.t) < 5"),
    "between": (Between(-2, 4), "{1}.t - {0}.t BETWEEN -2 AND 4"),
    "tumbling": (Tumbling(6, 1), "floor(({0}.t - 1) / 6.0) = floor(({1}.t - 1) / 6.0)"),
    "hopping": (
        Hopping(8, 3),
        "floor((greatest({0}.t, {1}.t) - 8) / 3.0) + 1 <= floor(least({0}.t, {1}.t) / 3.0)",
    ),
    "landmark": (Landmark(15), "least({0}.t, {1}.t) >= 15"),
}


def windowed(name: str) -> Shape:
    """A join of two streams in a window, with groups."""
    window, sql = PAIRWISE[name]

    def plan() -> Stream:
        a, b, _ = streams()
        pairs = a.join(b, lambda a, b: a.v <= b.v).within(window)
        return pairs.group_by(lambda r: r.a.w, n=count(), s=lambda r: total(r.b.v))

    return Shape(plan, GROUPED.format(on=f"a.v <= b.v AND {sql.format('a', 'b')}"))


def windowed_three(name: str) -> Shape:
    """A join of three streams, each two of them in a window."""
    window, sql = PAIRWISE[name]

    def plan() -> Stream:
        a, b, c = streams()
        pairs = a.join(b, lambda a, b: a.k == b.k).within(window)
        triples = pairs.join(c, lambda r, c: r.b.v != c.v).within(window)
        return triples.group_by(lambda r: r.c.k, n=count())

    tests = " AND ".join(sql.format(*two) for two in ("ab", "ac", "bc"))
    asked = f"a.k = b.k AND b.v <> c.v AND {tests}"
    return Shape(plan, f"SELECT c.k, COUNT(*) FROM a, b, c WHERE {asked} GROUP BY c.k")


AT = "greatest(a.t, b.t)"
GROUPS: dict[str, tuple[Window, str]] = {
    "sliding": (
        Sliding(7),
        f"SELECT a.w, COUNT(*) FROM a, b WHERE a.k = b.k AND {AT} > {{now}} - 7 GROUP BY a.w",
    ),
    "tumbling": (
        Tumbling(6),
        f"SELECT CAST(floor({AT} / 6.0) * 6 AS BIGINT) AS start, a.w, COUNT(*) FROM a, b "
        "WHERE a.k = b.k GROUP BY 1, 2",
    ),
    "hopping": (
        Hopping(8, 3),
        "SELECT i.i * 3 AS start, a.w, COUNT(*) FROM a, b, range(-5, 40) i(i) WHERE a.k = b.k "
        f"AND {AT} >= i.i * 3 AND {AT} < i.i * 3 + 8 GROUP BY 1, 2",
    ),
    "landmark": (
        Landmark(15),
        f"SELECT a.w, COUNT(*) FROM a, b WHERE a.k = b.k AND {AT} >= 15 GROUP BY a.w",
    ),
}


def grouped(name: str) -> Shape:
    """Groups of a join in a window of their own."""
    window, sql = GROUPS[name]

    def plan() -> Stream:
        a, b, _ = streams()
        pairs = a.join(b, lambda a, b: a.k == b.k)
        return pairs.group_by(lambda r: r.a.w, n=count()).within(window)

    return Shape(plan, sql)


SHAPES |= {f"join {n}": windowed(n) for n in PAIRWISE}
SHAPES |= {f"three {n}": windowed_three(n) for n in PAIRWISE}
SHAPES |= {f"groups {n}": grouped(n) for n in GROUPS}


@dataclass
class World:
    """A running plan, the rows that came in time, and DuckDB over them."""

    shape: Shape
    seed: int
    optimized: bool = True
    rows: dict[str, list[Row]] = field(default_factory=lambda: {n: [] for n in "abc"})

    def __post_init__(self) -> None:
        self.random = Random(f"{self.seed} {self.shape.sql}")
        self.flow = self._flow()
        self.names = [n for n in "abc" if n in self.flow._streams]
        self.clock = 0
        self.latest: dict[str, int] = {}
        self.db = duckdb.connect()

    def _flow(self) -> Flow:
        joiners = self.random.choice((1, 2, 3, 4, 7))
        plan = self.shape.plan()
        if self.optimized:
            sizes = {n: self.random.choice((10.0, 1e3, 1e6)) for n in "abc"}
            return plan.run(joiners=joiners, sizes=sizes, engine="reference")
        topology = components(plan.logical, {}, joiners)
        make = maker(None, None, None)
        return Flow(plan.logical, topology, make, "reference", fields(plan.logical))

    def batch(self) -> None:
        """One batch of all kinds, and a look at the result."""
        changes: dict[str, list[tuple[Row, int]]] = {}
        for name in self.names:
            if self.random.random() < 0.8:
                changes[name] = self._changes(name)
        late = self.flow.apply(changes)
        for name, some in changes.items():
            mark = self.latest.get(name, -(10**9)) - DELAY
            behind = [row for row, _ in some if row[4] < mark]
            assert late.get(name, []) == behind
            for row, n in some:
                if row[4] >= mark and n > 0:
                    self.rows[name] += [row] * n
                elif row[4] >= mark:
                    self.rows[name].remove(row)
            times = [row[4] for row, _ in some]
            self.latest[name] = max([*times, self.latest.get(name, -(10**9))])
        self.check()

    def check(self) -> None:
        """The result is DuckDB's."""
        for name, rows in self.rows.items():
            cells = list(zip(*rows, strict=True)) or [()] * len(ARROW)
            arrays = [pa.array(c, f.type) for c, f in zip(cells, ARROW, strict=True)]
            self.db.register(name, pa.table(arrays, schema=ARROW))
        known = [self.latest[n] for n in self.names if n in self.latest]
        sql = self.shape.sql.replace("{now}", str(max(known, default=0)))
        wanted = _counted(self.db.execute(sql).fetchall())
        actual = _counted(self.flow.rows())
        assert actual == wanted, (sql, actual - wanted, wanted - actual)

    def _changes(self, name: str) -> list[tuple[Row, int]]:
        random = self.random
        self.clock += random.choice((0, 1, 1, 3))
        out: list[tuple[Row, int]] = []
        left = list(self.rows[name])
        for _ in range(random.choice((0, 1, 4, 9))):
            if left and random.random() < 0.3:
                row = left.pop(random.randrange(len(left)))
                out.append((row, -1))
            else:
                out.append((self._row(), random.choice((1, 1, 1, 2))))
        return out

    def _row(self) -> Row:
        random = self.random
        k = random.choice((None, 1, 1, 1, 2, 3, 4, 5))
        x = random.choice((None, 0.0, 0.5, 1.5, 2.25))
        w = random.choice((None, "x", "y", "z"))
        return k, random.randint(0, 5), x, w, max(0, self.clock - random.choice((0, 0, 1, 2, 3, 6)))


def _counted(rows: list[Row]) -> Counter[Row]:
    return Counter(tuple(round(v, 9) if isinstance(v, float) else v for v in row) for row in rows)
