"""Lowered SQL means what DuckDB says it means, on random small tables."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from freshview.calculus.schema import Query
from freshview.calculus.scope import outs
from freshview.calculus.terms import Expr, Sum
from freshview.calculus.types import Value, fits
from freshview.calculus.walk import subterms
from freshview.reference.oracle.evaluate import Database, evaluate
from freshview.sql import Catalog
from freshview.sql.load import load
from tests.differential.duck import Duck, plain
from tests.differential.sql_cases import CASES, SCHEMA, random_row

CATALOG, _ = load(SCHEMA)
Tables = dict[str, Counter[tuple[Value, ...]]]


def random_tables(rng: random.Random) -> Tables:
    """Up to six rows a table, keys respected."""
    tables: Tables = {}
    for relation in CATALOG.relations.values():
        rows: Counter[tuple[Value, ...]] = Counter()
        keys = [[c.name for c in relation.columns].index(k) for k in relation.key]
        seen = set()
        for _ in range(rng.choice((0, 2, 4, 6))):
            row = random_row(relation, rng)
            key = tuple(row[i] for i in keys)
            if keys and key in seen:
                continue
            seen.add(key)
            rows[row] += 1
        tables[relation.name] = rows
    return tables


def rows_of(query: Query, tables: Tables, catalog: Catalog) -> Counter[tuple[object, ...]]:
    """The query's rows by the reference meaning of its term."""
    counts: Counter[tuple[object, ...]] = Counter()
    answer = evaluate(query.term, Database(tables), {}, catalog.functions, query.vars)
    for row, count in answer.items():
        assert int(count) == count > 0
        for value, column in zip(row, query.columns, strict=True):
            assert column.type.kind == "null" or fits(value, column.type), (value, column)
        counts[tuple(plain(v) for v in row)] += int(count)
    return counts


def local_variables(e: Expr) -> list[str]:
    """Every variable that a Sum adds up over, once for each Sum."""
    sums = {id(t): t for t in subterms(e) if isinstance(t, Sum)}
    return [v for t in sums.values() for v in outs(t.body) - outs(t)]


@pytest.fixture(scope="module")
def duck() -> Duck:
    return Duck(CATALOG)


@pytest.mark.parametrize("sql", CASES)
def test_lowered_query_gives_the_rows_of_the_oracle(sql: str, duck: Duck) -> None:
    _, [query] = load(sql, catalog=CATALOG)
    assert len(set(query.vars)) == len(query.vars)
    assert outs(query.term) == set(query.vars)
    rng = random.Random(sql)
    for _ in range(5):
        tables = random_tables(rng)
        duck.clear()
        duck.apply((name, row, n) for name, rows in tables.items() for row, n in rows.items())
        assert rows_of(query, tables, CATALOG) == duck.query(sql), tables


@pytest.mark.parametrize("sql", CASES)
def test_no_two_sums_share_a_local_variable(sql: str) -> None:
    _, [query] = load(sql, catalog=CATALOG)
    names = local_variables(query.term)
    assert len(set(names)) == len(names), [n for n, k in Counter(names).items() if k > 1]
    assert not set(names) & set(query.vars)


def test_views_on_views_mean_what_their_definitions_mean(duck: Duck) -> None:
    first = "SELECT a, SUM(c) FROM r GROUP BY a"
    second = "SELECT x.g, y.t FROM v x, v y WHERE x.g < y.g AND x.t >= (SELECT MIN(t) FROM v)"
    catalog, queries = load(f"CREATE VIEW v (g, t) AS {first}; {second}", catalog=CATALOG)
    assert [q.name for q in queries] == ["v", "query"]
    duck.create_view("v", first, ("g", "t"))
    rng = random.Random(7)
    for _ in range(20):
        tables = random_tables(rng)
        duck.clear()
        duck.apply((name, row, n) for name, rows in tables.items() for row, n in rows.items())
        assert rows_of(queries[1], tables, catalog) == duck.query(second)


def test_deleting_takes_one_copy_of_a_duplicate_row(duck: Duck) -> None:
    duck.clear()
    duck.apply([("s", (None, 1, 2), 3), ("s", (None, 1, 2), -1)])
    assert duck.query("SELECT COUNT(*) FROM s") == Counter({(2.0,): 1})


def test_a_sum_of_zero_keeps_its_group() -> None:
    _, [query] = load("SELECT a, SUM(b) FROM r GROUP BY a", catalog=CATALOG)
    tables: Tables = {"r": Counter({(1, 5, 0): 1, (1, -5, 0): 1, (2, None, 0): 1})}
    assert rows_of(query, tables, CATALOG) == Counter({(1.0, 0.0): 1, (2.0, None): 1})
