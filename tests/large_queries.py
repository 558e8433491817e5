"""Queries that are large in one way each: wide, long or deep. Every family takes its size."""

from __future__ import annotations

from collections.abc import Callable

T = "CREATE STREAM t (a INT, b INT NOT NULL, s STRING);"
Family = Callable[[int], str]


def extremes(n: int, *, grouped: bool = False, nullable: bool = True) -> str:
    """MAX over n columns."""
    return aggregates(n, "MAX(c{})", grouped=grouped, nullable=nullable)


def aggregates(n: int, fn: str, *, grouped: bool = False, nullable: bool = True) -> str:
    """One aggregate over each of n columns."""
    columns = ", ".join(f"c{i} INT{'' if nullable else ' NOT NULL'}" for i in range(n))
    chosen = ", ".join(f"{fn.format(i)} AS m{i}" for i in range(n))
    rows = f"CREATE STREAM w (g INT NOT NULL, {columns});"
    if grouped:
        return rows + f"SELECT g, {chosen} FROM w GROUP BY g"
    return rows + f"SELECT {chosen} FROM w"


def self_join(n: int, shape: str = "chain") -> str:
    """A relation joined with itself n times."""
    tests = {
        "chain": [f"e{i}.b = e{i + 1}.a" for i in range(n - 1)],
        "star": [f"e0.a = e{i}.a" for i in range(1, n)],
        "clique": [f"e{i}.a = e{j}.a" for i in range(n) for j in range(i)],
    }[shape]
    edges = "CREATE STREAM e (a INT NOT NULL, b INT NOT NULL);"
    items = ", ".join(f"e e{i}" for i in range(n))
    return edges + f"SELECT COUNT(*) AS n FROM {items} WHERE {' AND '.join(tests)}"


def chain_of_joins(n: int, join: str = "JOIN") -> str:
    """A chain of n relations."""
    relations = "".join(f"CREATE STREAM r{i} (a INT, b INT);" for i in range(n))
    joins = " ".join(f"{join} r{i} ON r{i - 1}.b = r{i}.a" for i in range(1, n))
    return relations + f"SELECT r0.a, r{n - 1}.b FROM r0 {joins}"


def star_of_joins(n: int, join: str = "LEFT JOIN") -> str:
    """One relation joined with n others by one column, and a column of each is shown."""
    relations = "".join(f"CREATE STREAM r{i} (a INT, b INT);" for i in range(n + 1))
    joins = " ".join(f"{join} r{i} ON r0.b = r{i}.a" for i in range(1, n + 1))
    shown = ", ".join(f"r{i}.b AS b{i}" for i in range(1, n + 1))
    return relations + f"SELECT r0.a, {shown} FROM r0 {joins}"


def parentheses(n: int) -> str:
    """((((a))))."""
    return T + f"SELECT {'(' * n}a{')' * n} AS x, b FROM t"


def increments(n: int) -> str:
    """(((a+1)+1)+1)."""
    return T + f"SELECT {'(' * n}a{'+1)' * n} AS x, b FROM t"


def calls(n: int) -> str:
    """ABS(ABS(ABS(a)))."""
    return T + f"SELECT {'ABS(' * n}a{')' * n} AS x, b FROM t"


def negations(n: int) -> str:
    """NOT (NOT (NOT (a = 1)))."""
    return T + f"SELECT b FROM t WHERE {'NOT (' * n}a = 1{')' * n}"


def sum_of_terms(n: int) -> str:
    """A + b*b + a*2 + b*b*3 + ..., which do not merge into one."""
    return T + f"SELECT {' + '.join(f'ABS(a - {i})' for i in range(n))} AS x, b FROM t"


def concatenation(n: int) -> str:
    """S || s || s."""
    return T + f"SELECT {' || '.join(['s'] * n)} AS x, b FROM t"


def disjunction(n: int) -> str:
    """A = 0 OR a = 1 OR ..."""
    return T + f"SELECT b FROM t WHERE {' OR '.join(f'a = {i}' for i in range(n))}"


def conjunction(n: int) -> str:
    """A <> 10 AND a <> 11 AND ..."""
    return T + f"SELECT b FROM t WHERE {' AND '.join(f'a <> {i + 10}' for i in range(n))}"


def list_of_values(n: int) -> str:
    """A IN (0, 1, ...)."""
    return T + f"SELECT b FROM t WHERE a IN ({', '.join(map(str, range(n)))})"


def mixed_logic(n: int) -> str:
    """((a = 1 OR b > 0) AND b > 1) OR ..."""
    test = "a = 1"
    for i in range(n):
        test = f"({test} {'AND' if i % 2 else 'OR'} b > {i % 4})"
    return T + f"SELECT b FROM t WHERE {test}"


def nested_exists(n: int, word: str = "EXISTS") -> str:
    """EXISTS inside EXISTS, each about the one outside."""
    test = ""
    for i in range(n, 0, -1):
        more = f" AND {test}" if test else ""
        test = f"{word} (SELECT 1 FROM t t{i} WHERE t{i}.a = t{i - 1}.b{more})"
    return T + f"SELECT t0.b FROM t t0 WHERE {test}"


def nested_in(n: int) -> str:
    """IN a subquery of an IN."""
    test = ""
    for i in range(n, 0, -1):
        more = f" WHERE {test}" if test else ""
        test = f"t{i - 1}.b IN (SELECT t{i}.a FROM t t{i}{more})"
    return T + f"SELECT t0.b FROM t t0 WHERE {test}"


def nested_sums(n: int) -> str:
    """A sum over rows that are compared with a sum over rows that are compared ..."""
    test = ""
    for i in range(n, 0, -1):
        more = f" WHERE {test}" if test else ""
        test = f"t{i - 1}.b > (SELECT SUM(t{i}.a) FROM t t{i}{more})"
    return T + f"SELECT t0.b FROM t t0 WHERE {test}"


def alternatives(n: int) -> str:
    """Join conditions of which one must hold."""
    tests = " OR ".join(f"t.a = u.a + {i}" for i in range(n))
    return T + f"CREATE STREAM u (a INT, c INT);SELECT t.b, u.c FROM t, u WHERE {tests}"


def some_exists(n: int) -> str:
    """Subqueries of which one must have a row."""
    tests = " OR ".join(f"EXISTS (SELECT 1 FROM t x WHERE x.a = t.b + {i})" for i in range(n))
    return T + f"SELECT b FROM t WHERE {tests}"


def long_case(n: int) -> str:
    """CASE with n branches."""
    branches = " ".join(f"WHEN a = {i} THEN {2 * i}" for i in range(n))
    return T + f"SELECT CASE {branches} ELSE 7 END AS x, b FROM t"


def long_or(n: int, shown: bool = True) -> str:
    """OR of n comparisons, in what is shown or in WHERE."""
    test = " OR ".join(f"a = {i}" for i in range(n))
    return T + (
        f"SELECT CASE WHEN {test} THEN b END AS x FROM t"
        if shown
        else f"SELECT b FROM t WHERE {test}"
    )


def guarded_casts(n: int) -> str:
    """N columns, each a cast that only some rows may reach."""
    columns = ", ".join(
        f"CASE WHEN a = {i} THEN CAST(s AS DECIMAL({i + 3}, 2)) END AS x{i}" for i in range(n)
    )
    return f"CREATE STREAM t (a INT NOT NULL, s STRING); SELECT a, {columns} FROM t"


def deep_case(n: int) -> str:
    """CASE inside ELSE."""
    value = "7"
    for i in range(n):
        value = f"CASE WHEN a = {i} THEN {2 * i} ELSE {value} END"
    return T + f"SELECT {value} AS x, b FROM t"


def deep_coalesce(n: int) -> str:
    """COALESCE inside COALESCE."""
    value = "a"
    for i in range(n):
        value = f"COALESCE({value}, b + {i})"
    return T + f"SELECT {value} AS x, b FROM t"


def stacked_views(n: int, level: str) -> str:
    """N views, each a query over the one below."""
    views = [f"CREATE VIEW v0 AS {level.format('t')}"]
    views += [f"CREATE VIEW v{i} AS {level.format(f'v{i - 1}')}" for i in range(1, n)]
    return "CREATE STREAM t (a INT, b INT);" + ";".join(views)


STACKS = {
    "sums": "SELECT a, SUM(b) AS b FROM {} GROUP BY a",
    "left joins": "SELECT x.a, y.b FROM {} x LEFT JOIN t y ON x.a = y.a",
    "extremes": "SELECT a, MAX(b) AS b FROM {} GROUP BY a",
    "distinct": "SELECT DISTINCT a, b FROM {}",
    "first rows": "SELECT a, b FROM {} ORDER BY b, a LIMIT 3",
}
"""Levels of stacked views."""


def chain_of_ctes(n: int) -> str:
    """Each CTE reads the one before."""
    parts = [f"v{i} AS (SELECT a, b FROM v{i - 1} WHERE b <> {i + 10})" for i in range(1, n)]
    ctes = ", ".join(["v0 AS (SELECT a, b FROM t)", *parts])
    return T + f"WITH {ctes} SELECT a, b FROM v{n - 1}"


def doubling_ctes(n: int) -> str:
    """Each CTE joins the one before with itself: 2^n copies of a relation."""
    step = "(SELECT x.a, y.b FROM v{0} x JOIN v{0} y ON x.b = y.a)"
    parts = [f"v{i} AS {step.format(i - 1)}" for i in range(1, n + 1)]
    ctes = ", ".join(["v0 AS (SELECT a, b FROM t)", *parts])
    return T + f"WITH {ctes} SELECT COUNT(*) AS n FROM v{n}"
