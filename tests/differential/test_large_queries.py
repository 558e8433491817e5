"""Wide, long and deep queries: planned, run and right, on the reference engine and in kernels."""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from functools import partial
from typing import Any

import duckdb
import pytest

import freshview
from freshview.errors import TooDeep
from tests import large_queries as large
from tests.thin import full, only

WIDE: dict[str, str] = {
    "9 extremes": large.extremes(9),
    "24 extremes": large.extremes(24, nullable=False),
    "12 extremes by group": large.extremes(12, grouped=True),
    "12 averages": large.aggregates(12, "AVG(c{})"),
    "10 distinct counts": large.aggregates(10, "COUNT(DISTINCT c{})", grouped=True),
    "self-join of 8": large.self_join(8),
    "star of 12": large.self_join(12, "star"),
    "clique of 12": large.self_join(12, "clique"),
    "12 joins": large.chain_of_joins(12),
    "7 left joins": large.chain_of_joins(7, "LEFT JOIN"),
    "10 left joins, star": large.star_of_joins(10),
    "5 full joins": large.chain_of_joins(5, "FULL JOIN"),
    "200 parentheses": large.parentheses(200),
    "200 increments": large.increments(200),
    "150 calls": large.calls(150),
    "201 negations": large.negations(201),
    "900 terms": large.sum_of_terms(900),
    "400 texts": large.concatenation(400),
    "5,000 tests, one of them": large.list_of_values(5_000),
    "900 tests, one of them": large.disjunction(900),
    "900 tests, all of them": large.conjunction(900),
    "100 levels of logic": large.mixed_logic(100),
    "12 EXISTS": large.nested_exists(12),
    "12 NOT EXISTS": large.nested_exists(12, "NOT EXISTS"),
    "12 IN": large.nested_in(12),
    "5 sums": large.nested_sums(5),
    "12 alternatives": large.alternatives(12),
    "10 subqueries, one of them": large.some_exists(10),
    "60 branches": large.long_case(60),
    "25 cases": large.deep_case(25),
    "60 coalesces": large.deep_coalesce(60),
    "200 CTEs": large.chain_of_ctes(200),
}

SLOW = ("900 terms", "7 left joins", "self-join of 8", "24 extremes", "12 averages", "12 joins")
"""Those that take seconds; their planning is counted in tests/growth as well."""

IN_KERNELS = ("10 left joins, star", "200 increments", "12 EXISTS", "25 cases", "12 alternatives")
"""Those whose kernels are built in the usual run, too."""


class Oracle:
    """The same rows in DuckDB."""

    def __init__(self, script: str) -> None:
        self.duck = duckdb.connect()
        *declared, self.query = script.split(";")
        self.columns: dict[str, list[tuple[str, str, bool]]] = {}
        for statement in declared:
            self.duck.execute(statement.replace("STREAM", "TABLE"))
            name, inner = re.findall(r"STREAM (\w+) \((.*)\)", statement)[0]
            words = [c.split() for c in inner.split(",")]
            self.columns[name] = [(w[0], w[1], "NOT" not in w) for w in words]

    def insert(self, name: str, rows: list[tuple[Any, ...]]) -> None:
        marks = ", ".join("?" * len(rows[0]))
        self.duck.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)

    def delete(self, name: str, row: tuple[Any, ...]) -> None:
        test = " AND ".join(f"{c} IS NOT DISTINCT FROM ?" for c, _, _ in self.columns[name])
        one = f"SELECT MIN(rowid) FROM {name} WHERE {test}"
        self.duck.execute(f"DELETE FROM {name} WHERE rowid = ({one})", row)

    def rows(self) -> Counter[tuple[Any, ...]]:
        return Counter(plain(r) for r in self.duck.execute(self.query).fetchall())


def plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(round(float(x), 6) if isinstance(x, int | float) else x for x in row)


def agree(script: str, engine: str) -> None:
    """Insert, insert again, delete: after each step the view is DuckDB's."""
    oracle = Oracle(script)
    *declared, query = script.split(";")
    db = freshview.connect(engine=engine)  # type: ignore[arg-type]
    db.execute(";".join(declared) + f"; CREATE VIEW large AS {query}")
    rng = random.Random(7)

    def value(kind: str, nullable: bool) -> Any:
        x = rng.randrange(4)
        return None if nullable and rng.random() < 0.2 else "pq"[x % 2] if kind == "STRING" else x

    def check() -> None:
        assert Counter(plain(r) for r in db.view("large").rows()) == oracle.rows()

    there: dict[str, list[tuple[Any, ...]]] = {}
    for _ in range(2):
        for name, columns in oracle.columns.items():
            rows = [tuple(value(kind, null) for _, kind, null in columns) for _ in range(3)]
            there.setdefault(name, []).extend(rows)
            db.insert(name, rows)
            oracle.insert(name, rows)
        check()
    for name, rows in there.items():
        db.delete(name, rows[:2])
        for row in rows[:2]:
            oracle.delete(name, row)
    check()


@pytest.mark.parametrize("name", only(WIDE, lambda name: name not in SLOW))
def test_a_large_query_is_right(name: str) -> None:
    agree(WIDE[name], "reference")


@pytest.mark.native
@pytest.mark.parametrize("name", only(WIDE, IN_KERNELS.__contains__))
def test_a_large_query_is_right_in_a_kernel(name: str) -> None:
    agree(WIDE[name], "native")


def answers(script: str, engine: str = "reference") -> list[tuple[Any, ...]]:
    """Past what DuckDB reads: the rows of t(a, b, s) are given, the answers are known."""
    *declared, query = script.split(";")
    db = freshview.connect(engine=engine)  # type: ignore[arg-type]
    db.execute(";".join(declared) + f"; CREATE VIEW large AS {query}")
    db.insert("t", [(1, 1, "p"), (2, 2, "q"), (None, 3, None)])
    db.insert("t", [(9_999, 4, "p"), (0, 5, "p")])
    db.delete("t", [(0, 5, "p")])
    return sorted(db.view("large").rows(), key=lambda r: r[-1])


def test_sizes_beyond_what_other_databases_read() -> None:
    assert answers(large.disjunction(5_000)) == [(1,), (2,)]
    assert answers(large.parentheses(2_000)) == [(1, 1), (2, 2), (None, 3), (9_999, 4)]
    assert answers(large.increments(1_000)) == [(1_001, 1), (1_002, 2), (None, 3), (10_999, 4)]
    assert answers(large.calls(400))[:2] == [(1, 1), (2, 2)]


@pytest.mark.full
def test_more_terms_than_other_databases_read() -> None:
    assert answers(large.conjunction(3_000)) == [(1,), (2,), (4,)]
    total = sum(abs(1 - i) for i in range(1_200))
    assert answers(large.sum_of_terms(1_200))[0] == (total, 1)


@pytest.mark.native
@pytest.mark.parametrize(
    "script",
    [full(large.disjunction(5_000)), large.increments(1_000)],
    ids=["5,000 tests", "1,000 increments"],
)
def test_sizes_beyond_what_other_databases_read_in_kernels(script: str) -> None:
    assert answers(script, "native") == answers(script)


@pytest.mark.full
def test_a_self_join_of_twelve_is_planned_and_right() -> None:
    """A chain of edges in a ring of three: 3 walks of any length, then 0."""
    *declared, query = large.self_join(12).split(";")
    db = freshview.connect(engine="reference")
    db.execute(";".join(declared) + f"; CREATE VIEW walks AS {query}")
    db.insert("e", [(0, 1), (1, 2), (2, 0)])
    assert db.view("walks").rows() == [(3,)]
    db.delete("e", [(2, 0)])
    assert db.view("walks").rows() == [(0,)]


TOO_DEEP = {
    "parentheses": partial(large.parentheses, 40_000),
    "calls": partial(large.calls, 40_000),
}


@pytest.mark.parametrize("name", TOO_DEEP)
def test_what_nests_without_end_is_refused_in_a_sentence(name: str) -> None:
    usual = sys.getrecursionlimit()
    db = freshview.connect(engine="reference")
    *declared, query = TOO_DEEP[name]().split(";")
    db.execute(";".join(declared))
    with pytest.raises(TooDeep, match="inside one another"):
        db.execute(f"CREATE VIEW large AS {query}")
    assert sys.getrecursionlimit() == usual
    db.execute("CREATE VIEW small AS SELECT a FROM t")


@pytest.mark.full
def test_conditions_inside_conditions_multiply_and_are_refused_in_a_sentence() -> None:
    value = "a"
    for i in range(16):
        value = f"CASE WHEN {value} = {i} THEN {i} ELSE b END"
    db = freshview.connect(engine="reference")
    db.execute(large.T)
    with pytest.raises(TooDeep, match="the query needs more than 20,000 variables"):
        db.execute(f"CREATE VIEW large AS SELECT {value} AS x FROM t")
