"""One view, one strategy, one stream: compared with DuckDB after every batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import sqlglot

from freshview.calculus.functions import Functions
from freshview.calculus.schema import Query
from freshview.errors import FreshviewError
from freshview.factorized import compile as factorized
from freshview.factorized.options import ViewTreeOptions
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.program.check import check_program
from freshview.program.engine import ProgramEngine
from freshview.program.terms import Program
from freshview.reference.engine.engine import ReferenceEngine
from freshview.sql.catalog import Catalog
from freshview.sql.load import load
from tests.differential.duck import Duck, plain
from workloads import WORKLOADS, Workload

STRATEGIES = {
    "higher-order": DeltaOptions(),
    "caches": DeltaOptions(caches=True),
    "cyclic": DeltaOptions(cyclic=True),
    "first-order": DeltaOptions(depth=1),
    "project": DeltaOptions(depth=1, project=True),
    "reeval": DeltaOptions(depth=0),
}

SWITCHES = {
    "no decomposition": DeltaOptions(decompose=False),
    "always-update": DeltaOptions(always_update=True),
    "ordered": DeltaOptions(ordered=True),
    "low cardinality": DeltaOptions(low_cardinality=frozenset("rsu")),
    "recompute": DeltaOptions(
        recompute=frozenset((m, r) for m in ("query", "query_2", "query_r") for r in "rstu")
    ),
    "increment": DeltaOptions(increment=frozenset(("query", r) for r in "rstu")),
}
"""The other switches of the compiler, for views over the tables r, s, t and u."""


@dataclass(frozen=True)
class Case:
    """A query of a workload, lowered, and its text for the oracle."""

    workload: Workload
    catalog: Catalog
    query: Query
    sql: str
    views: tuple[tuple[str, str], ...]


@cache
def schema_of(name: str) -> Catalog:
    """The relations of a workload."""
    path = WORKLOADS[name].schema
    return load(path.read_text(), str(path))[0]


@cache
def case(workload: str, name: str) -> Case:
    """A query of a workload by name."""
    work = WORKLOADS[workload]
    path = work.queries()[name]
    text = path.read_text()
    catalog, queries = load(text, str(path), schema_of(workload), default_name=name)
    [query] = [q for q in queries if q.name == name]
    views, sql = split(text)
    return Case(work, catalog, query, sql, views)


def split(text: str) -> tuple[tuple[tuple[str, str], ...], str]:
    """The views that a file creates, and its bare SELECT."""
    views = []
    sql = ""
    for statement in sqlglot.parse(text, dialect="spark"):
        if statement is None:
            continue
        if isinstance(statement, sqlglot.exp.Create):
            name = statement.this
            columns = [c.name for c in name.expressions] if name.args.get("expressions") else []
            head = name.this.name if columns else name.name
            views.append((head, tuple(columns), statement.expression.sql(dialect="spark")))
        else:
            sql = statement.sql(dialect="spark")
    return tuple(views), sql


def compiled(c: Case, options: DeltaOptions | ViewTreeOptions) -> Program:
    """The checked program of a case."""
    relations = list(c.catalog.relations.values())
    if isinstance(options, ViewTreeOptions):
        program = factorized.compile_queries([c.query], relations, options, c.catalog.functions)
    else:
        program = compile_queries([c.query], relations, options, c.catalog.functions)
    check_program(program, c.catalog.functions)
    return program


Start = Callable[[Program, Functions], ProgramEngine[Any]]
"""Makes an engine: the reference, or another one."""


def rows(engine: ProgramEngine[Any], name: str) -> Counter[tuple[Any, ...]]:
    """The view's rows as the oracle writes them."""
    counts: Counter[tuple[Any, ...]] = Counter()
    for row, count in engine.read(name).items():
        counts[tuple(plain(v) for v in row)] += count
    return counts


def agree(
    c: Case,
    *options: DeltaOptions | ViewTreeOptions,
    seed: int,
    batches: int,
    max_size: int,
    live: int,
    start: Start = ReferenceEngine,
) -> tuple[int, int]:
    """Stream batches through programs, side by side; the numbers of batches and of full answers."""
    duck = Duck(c.catalog)
    tables = c.workload.tables(seed=seed)
    for name, table in tables.items():
        duck.apply((name, row, 1) for row in table)
    for name, columns, sql in c.views:
        duck.create_view(name, sql, columns)
    engines = [start(compiled(c, o), c.catalog.functions) for o in options]
    for engine in engines:
        engine.load(tables)
    filled = 0
    stream = c.workload.stream(seed=seed, batches=batches, max_size=max_size, live=live)
    for number, batch in enumerate(stream):
        duck.apply(batch)
        expected = duck.query(c.sql)
        filled += any(any(v is not None for v in row) for row in expected)
        for engine, o in zip(engines, options, strict=True):
            engine.apply(dict(grouped(batch)))
            actual = rows(engine, c.query.name)
            where = f"{c.workload.name}/{c.query.name}, seed {seed}, batch {number}, {o}"
            assert same(actual, expected), f"{where}: {actual - expected} != {expected - actual}"
    return batches, filled


def grouped(batch: list[Any]) -> list[tuple[str, list[Any]]]:
    """A batch by relation, each with its changes in order."""
    changes: dict[str, list[Any]] = {}
    for relation, row, count in batch:
        changes.setdefault(relation, []).append((row, count))
    return list(changes.items())


def same(a: Counter[tuple[Any, ...]], b: Counter[tuple[Any, ...]]) -> bool:
    """Equal as multisets; numbers up to 1e-7, relatively, where rounding parts them."""
    if a == b:
        return True
    left, right = sorted((a - b).elements(), key=repr), sorted((b - a).elements(), key=repr)
    if len(left) != len(right):
        return False
    return all(any(close(x, y) for y in right) for x in left)


def close(x: tuple[Any, ...], y: tuple[Any, ...]) -> bool:
    """Equal rows, doubles within their rounding error."""
    return len(x) == len(y) and all(
        p == q
        or (
            isinstance(p, float)
            and isinstance(q, float)
            and abs(p - q) <= 1e-7 * max(1.0, abs(p), abs(q))
        )
        for p, q in zip(x, y, strict=True)
    )


def cases() -> list[tuple[str, str]]:
    """All the queries of all the workloads."""
    return [(w.name, name) for w in WORKLOADS.values() for name in w.queries()]


def refusal(act: Callable[[], object]) -> str | None:
    """The message with which something is refused; None if it is done."""
    try:
        act()
    except FreshviewError as problem:
        return str(problem)
    return None
