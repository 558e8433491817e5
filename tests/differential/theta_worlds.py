"""Random theta joins: sources, predicates as terms and as SQL, windows, streams, schedules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import duckdb
import pyarrow as pa

from freshview.temporal import (
    Between,
    FullHistory,
    Hopping,
    Landmark,
    Sliding,
    Tumbling,
    TupleCount,
    Window,
)
from freshview.theta import (
    Band,
    Comparison,
    Function,
    HybridByKey,
    Output,
    Policy,
    Ranged,
    Sizes,
    Source,
    Static,
    ThetaJoin,
)
from freshview.theta.controller import choose, start
from freshview.theta.grid import can_merge, merge, split
from freshview.theta.local.predicate import Condition
from freshview.theta.placement import bucket_of, hosts_of
from freshview.theta.terms import Groups, Hybrid, Placement

Row = tuple[Any, ...]
COLUMNS = {"k": "int?", "x": "double?", "t": "int", "w": "string?", "id": "int"}
ARROW = pa.schema(
    [
        ("k", pa.int64()),
        ("x", pa.float64()),
        ("t", pa.int64()),
        ("w", pa.string()),
        ("id", pa.int64()),
        ("pos", pa.int64()),
        ("seen", pa.int64()),
    ]
)

FIRST_OF_RANGES = 2_000_000
"""Worlds from this seed on may have rows that go by ranges."""

PREDICATES: dict[str, tuple[tuple[Condition, ...], str]] = {
    "equi": ((Comparison("k", "=", "k"),), "r.k = s.k"),
    "equi by text": ((Comparison("w", "=", "w"),), "r.w = s.w"),
    "equi of kinds": ((Comparison("k", "=", "x"),), "r.k = s.x"),
    "two equalities": (
        (Comparison("k", "=", "k"), Comparison("w", "=", "w")),
        "r.k = s.k AND r.w = s.w",
    ),
    "equi and range": (
        (Comparison("k", "=", "k"), Comparison("x", "<", "x")),
        "r.k = s.k AND r.x < s.x",
    ),
    "band": ((Band("k", "k", -1, 2),), "s.k - r.k BETWEEN -1 AND 2"),
    "band of doubles": ((Band("x", "x", -1.5, 0.5),), "s.x - r.x BETWEEN -1.5 AND 0.5"),
    "less": ((Comparison("k", "<", "k"),), "r.k < s.k"),
    "at least": ((Comparison("x", ">=", "k"),), "r.x >= s.k"),
    "text order": ((Comparison("w", "<=", "w"),), "r.w <= s.w"),
    "not equal": ((Comparison("k", "!=", "k"),), "r.k <> s.k"),
    "two inequalities": (
        (Comparison("k", "<", "k"), Comparison("x", ">", "x")),
        "r.k < s.k AND r.x > s.x",
    ),
    "band and not equal": (
        (Comparison("w", "!=", "w"), Band("k", "k", 0, 3)),
        "r.w <> s.w AND s.k - r.k BETWEEN 0 AND 3",
    ),
    "python": (
        (
            Function(
                lambda r, s: r[0] is not None and s[0] is not None and abs(r[0] * s[0]) % 3 == 1
            ),
        ),
        "abs(r.k * s.k) % 3 = 1",
    ),
    "band and python": (
        (
            Band("k", "k", -2, 2),
            Function(lambda r, s: r[1] is None or s[3] is None or len(s[3]) > 1),
        ),
        "s.k - r.k BETWEEN -2 AND 2 AND (r.x IS NULL OR s.w IS NULL OR length(s.w) > 1)",
    ),
    "cross": ((), "TRUE"),
}

WINDOWS: list[tuple[Window, str]] = [
    (FullHistory(), "TRUE"),
    (FullHistory(), "TRUE"),
    (Sliding(6), "abs(r.t - s.t) < 6"),
    (Between(-3, 4), "s.t - r.t BETWEEN -3 AND 4"),
    (Between(2, 9), "s.t - r.t BETWEEN 2 AND 9"),
    (Tumbling(7, 2), "floor((r.t - 2) / 7.0) = floor((s.t - 2) / 7.0)"),
    (
        Hopping(8, 3),
        "floor((greatest(r.t, s.t) - 8) / 3.0) + 1 <= floor(least(r.t, s.t) / 3.0)",
    ),
    (Landmark(20), "least(r.t, s.t) >= 20"),
    (
        TupleCount(9),
        "CASE WHEN s.seen > r.pos THEN r.pos >= s.seen - 9 ELSE s.pos >= r.seen - 9 END",
    ),
]


@dataclass
class Oracle:
    """The rows that were admitted, and the join that DuckDB makes of them from scratch."""

    predicate: str
    window: str
    rows: dict[str, list[Row]] = field(default_factory=lambda: {"r": [], "s": []})
    db: Any = field(default_factory=duckdb.connect)

    def pairs(self) -> Counter[Row]:
        for name, rows in self.rows.items():
            cells = list(zip(*rows, strict=True)) or [()] * len(ARROW)
            self.db.register(
                name,
                pa.table(
                    [pa.array(c, f.type) for c, f in zip(cells, ARROW, strict=True)], schema=ARROW
                ),
            )
        names = ", ".join(f"{side}.{c}" for side in "rs" for c in COLUMNS)
        sql = f"SELECT {names} FROM r, s WHERE ({self.predicate}) AND ({self.window})"
        return Counter(self.db.execute(sql).fetchall())


@dataclass
class World:
    """One join over random streams, with migrations at random times."""

    seed: int
    start: Callable[..., ThetaJoin] = ThetaJoin
    engine: str = "numpy"
    spill_after: int | None = None

    def __post_init__(self) -> None:
        random = self.random = Random(self.seed)
        name = random.choice(sorted(PREDICATES))
        conditions, sql = PREDICATES[name]
        window, window_sql = random.choice(WINDOWS)
        self.retracts = not isinstance(window, TupleCount) and random.random() < 0.5
        self.delay = random.choice([None, 3, 8])
        joiners = random.choice([1, 2, 3, 4, 5, 8])
        schemes = ["auto", "dynamic", "square"]
        if name.startswith("equi") or name == "two equalities":
            schemes += ["hash", "hybrid", "hybrid"]
        self.scheme: Any = random.choice(schemes)
        if self.seed >= FIRST_OF_RANGES and "band" in name and random.random() < 0.5:
            ends = random.sample(range(-3, 9), random.randrange(5))
            self.scheme = Ranged(sorted(ends))
        elif self.scheme == "square" and random.random() < 0.5:
            self.scheme = Static(joiners, Sizes(random.random(), random.random()))
        if self.scheme == "hybrid":
            self.scheme = HybridByKey(joiners, Policy(shrinking=True), least=100)
        cap = random.choice([None, None, 600])
        policy = Policy(
            epsilon=random.choice([1.0, 0.5]), shrinking=self.retracts, cap=cap, fewest=joiners
        )
        self.pace = random.choice([None, 1, 100, 1 << 20])
        self.what = (
            Source("r", COLUMNS, time="t", delay=self.delay, retracts=self.retracts),
            Source("s", COLUMNS, time="t", delay=self.delay, retracts=self.retracts),
            conditions,
        )
        self.options: dict[str, Any] = {
            "joiners": joiners,
            "scheme": self.scheme,
            "policy": policy if random.random() < 0.7 else None,
            "window": window,
            "pace": self.pace,
            "seed": self.seed,
            "engine": self.engine,
            "spill_after": self.spill_after,
        }
        self.join = self.start(*self.what, **self.options)
        self.oracle = Oracle(sql, window_sql)
        self.timed = not isinstance(window, FullHistory | TupleCount)
        self.clock, self.numbers = 0, {"r": 0, "s": 0}
        self.highest: dict[str, int | None] = {"r": None, "s": None}
        self.words = (
            f"{name}, {window}, {type(self.scheme).__name__}, joiners={joiners}, pace={self.pace}"
        )

    def run(self, batches: int = 14) -> None:
        total: Counter[Row] = Counter()
        for _ in range(batches):
            stays = isinstance(self.scheme, Ranged)
            if self.random.random() < 0.35 and not self.join.is_migrating and not stays:
                self.join.migrate(self._placement(self.join.placement))
            changes = self._changes()
            output = self.join.apply(changes)
            total.update(output.net())
            got = Counter({row: n for row, n in total.items() if n})
            assert got == self.oracle.pairs(), (self.seed, self.words)
            assert {n: len(rows) for n, rows in output.late.items()} == self.late, self.seed
            self.after(output)
        while self.join.is_migrating:
            assert self.join.advance().net() == Counter()

    def after(self, output: Output) -> None:
        """Something happens between two batches."""

    def _changes(self) -> dict[str, list[tuple[Row, int]]]:
        """A batch; the oracle gets what is not late."""
        self.clock += self.random.choice([0, 1, 2, 5])
        before = dict(self.numbers)
        changes: dict[str, list[tuple[Row, int]]] = {}
        self.late = {}
        for name in ("r", "s"):
            size = self.random.choice([0, 1, 3, 8, self.random.choice([8, 40])])
            seen = before["s"] if name == "r" else self.numbers["r"]
            changes[name] = [self._change(name, seen) for _ in range(size)]
        for name in ("r", "s"):
            times = [row[2] for row, n in changes[name] if n and self._is_admitted(name, row)]
            if times:
                highest = self.highest[name]
                self.highest[name] = max(times if highest is None else [*times, highest])
        return changes

    def _change(self, name: str, seen: int) -> tuple[Row, int]:
        rows = self.oracle.rows[name]
        alive = [r for r in rows if self._is_admitted(name, r)]
        if self.retracts and alive and self.random.random() < 0.3:
            row = self.random.choice(alive)
            rows.remove(row)
            self.numbers[name] += 1
            return row[:5], -1
        row = self._row(name)
        if self._is_late(name, row):
            self.late[name] = self.late.get(name, 0) + 1
        else:
            rows.append((*row, self.numbers[name], seen))
        self.numbers[name] += 1
        return row, 1

    def _row(self, name: str) -> Row:
        random = self.random
        skewed = min(random.randrange(10), random.randrange(10), random.randrange(10))
        k = None if random.random() < 0.1 else skewed - 2
        x = None if random.random() < 0.1 else random.choice([-1.5, 0.0, -0.0, 1.0, 2.0, 2.5])
        w = None if random.random() < 0.1 else random.choice(["", "a", "ab", "ba", "é"])
        t = self.clock - random.choice([0, 0, 0, 1, 4, 12])
        return (k, x, t, w, self.random.randrange(4) if self.retracts else self.numbers[name])

    def _mark(self, name: str) -> int | None:
        highest = self.highest[name]
        return None if highest is None or self.delay is None else highest - self.delay

    def _is_late(self, name: str, row: Row) -> bool:
        mark = self._mark(name)
        return self.timed and mark is not None and row[2] < mark

    def _is_admitted(self, name: str, row: Row) -> bool:
        return not self._is_late(name, row)

    def _buckets(self) -> set[int]:
        """The buckets of the stored tuples."""
        joiners = self.join._exchange.joiners
        states = [j.state[side].all() for j in joiners.values() for side in ("R", "S")]
        return {b for t in states if t is not None for b in bucket_of(t.hash).tolist()}

    def _placement(self, current: Placement) -> Placement:
        random = self.random
        sizes = Sizes(2.0 ** random.uniform(-5, 5), 1)
        if isinstance(current, Hybrid):
            hosts, stored = current.hosts, self._buckets()
            heavy = sorted(random.sample(sorted(stored), min(2, len(stored))))
            return Hybrid(hosts, tuple((h, choose(sizes, start(len(hosts)))) for h in heavy))
        if not isinstance(current, Groups):
            return current
        if random.random() < 0.2 and all(map(can_merge, current.grids)):
            return Groups(tuple(merge(g) for g in current.grids))
        if random.random() < 0.2 and len(current.hosts) <= 8:
            fresh = 1 + max(hosts_of(current)) + 100 * random.randrange(9)
            grids = []
            for grid in current.grids:
                more = 3 * grid.mapping.joiners
                grids.append(split(grid, tuple(range(fresh, fresh + more))))
                fresh += more
            return Groups(tuple(grids))
        return choose(sizes, current)
