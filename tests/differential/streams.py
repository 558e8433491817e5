"""Random streams over small tables full of NULLs, and views compared with DuckDB as they go."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from freshview.calculus.types import Value
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import Mode
from freshview.program.check import check_program
from freshview.program.engine import ProgramEngine
from freshview.reference.engine.engine import ReferenceEngine
from freshview.sql import Catalog
from freshview.sql.load import load
from tests.differential.duck import Duck, Event
from tests.differential.harness import STRATEGIES, SWITCHES, Start, grouped, rows, same
from tests.differential.sql_cases import SCHEMA, random_row

Row = tuple[Value, ...]
Tables = dict[str, Counter[Row]]

MODES: tuple[Mode, ...] = ("tuple", "batch")
PAIRS = tuple((strategy, mode) for strategy in STRATEGIES for mode in MODES)

# Which tables never change; as the schema says, none of them, and one more in turn.
STATIC: dict[str, frozenset[str]] = {
    "u static": frozenset("u"),
    "all change": frozenset(),
    "r static": frozenset("ru"),
    "s static": frozenset("su"),
}


@dataclass(frozen=True)
class Script:
    """A SELECT, and the views with their texts that it may read."""

    sql: str
    views: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        created = [f"CREATE VIEW {name} AS {sql}" for name, sql in self.views]
        return ";\n".join([*created, self.sql])

    def texts(self) -> dict[str, str]:
        """The text of every view by its name, that of the SELECT last."""
        return dict([*self.views, ("query", self.sql)])


@dataclass(frozen=True)
class Stream:
    """The rows of the static tables, and batches of changes of the other ones."""

    static: tuple[Event, ...]
    batches: tuple[tuple[Event, ...], ...]


def schema(variant: str = "u static") -> Catalog:
    """The schema of the SQL cases, with other tables static."""
    catalog, _ = load(SCHEMA)
    relations = {
        name: replace(relation, static=name in STATIC[variant])
        for name, relation in catalog.relations.items()
    }
    return replace(catalog, relations=relations)


def random_stream(catalog: Catalog, rng: random.Random, batches: int) -> Stream:
    """Batches that grow, shrink, empty and replace the tables, each kind often enough to be met.

    The tables stay small, since a small table meets the states that matter (no row, one row, the
    last row of a group) again and again, and hold few distinct rows, so that many rows come twice.
    """
    tables: Tables = {name: Counter() for name in catalog.relations}
    static = []
    for name, relation in catalog.relations.items():
        if relation.static:
            static += list(_insertions(catalog, tables, name, rng.choice((0, 4, 6)), rng))
    streams = [name for name, relation in catalog.relations.items() if not relation.static]
    stream = []
    for number in range(batches):
        kind = "fill" if number == 0 else rng.choice(_KINDS)
        stream.append(tuple(_batch(catalog, tables, streams, kind, rng)))
    return Stream(tuple(static), tuple(stream))


_KINDS = ("grow", "grow", "mix", "mix", "mix", "mix", "one", "shrink", "empty", "replace", "copies")


def _batch(
    catalog: Catalog, tables: Tables, streams: list[str], kind: str, rng: random.Random
) -> Iterator[Event]:
    name = rng.choice(streams)
    match kind:
        case "fill":
            for each in streams:
                yield from _insertions(catalog, tables, each, 6, rng)
        case "grow":
            for each in streams:
                yield from _insertions(catalog, tables, each, rng.randint(0, 4), rng)
        case "mix":
            for each in streams:
                yield from _deletions(tables, each, rng.randint(0, 3), rng)
                yield from _insertions(catalog, tables, each, rng.randint(0, 4), rng)
        case "one":
            change = _deletions(tables, name, rng.randint(0, 1), rng)
            yield from list(change) or _insertions(catalog, tables, name, 1, rng)
        case "shrink":
            for each in streams:
                yield from _deletions(tables, each, rng.randint(0, 4), rng)
        case "empty":
            yield from _deletions(tables, name, tables[name].total(), rng)
        case "replace":  # the same rows leave and come back, all but at most one of them
            gone = list(_deletions(tables, name, 3, rng))
            yield from gone
            for _, row, _ in gone[rng.randint(0, 1) :]:
                yield _insert(tables, name, row)
        case "copies":  # skew: one row, many times, where no key forbids it
            count = 1 if catalog.relation(name).key else rng.randint(2, 5)
            [*first] = _insertions(catalog, tables, name, 1, rng)
            yield from first
            for _, row, _ in first * (count - 1):
                yield _insert(tables, name, row)


def _insert(tables: Tables, name: str, row: Row) -> Event:
    tables[name][row] += 1
    return name, row, 1


def _insertions(
    catalog: Catalog, tables: Tables, name: str, count: int, rng: random.Random
) -> Iterator[Event]:
    """New rows, some of them copies of rows that are there; a key is given only once."""
    relation = catalog.relation(name)
    columns = [c.name for c in relation.columns]
    keys = [columns.index(k) for k in relation.key]
    for _ in range(count):
        if tables[name].total() > 9:
            return
        row = random_row(relation, rng)
        if keys and any(all(row[i] == other[i] for i in keys) for other in +tables[name]):
            continue
        if not keys and tables[name] and rng.random() < 0.3:
            row = rng.choice(list(tables[name]))
        yield _insert(tables, name, row)


def _deletions(tables: Tables, name: str, count: int, rng: random.Random) -> Iterator[Event]:
    for _ in range(min(count, tables[name].total())):
        row = rng.choice(sorted(tables[name].elements(), key=repr))
        tables[name] -= Counter([row])
        yield name, row, -1


def compile_script(
    script: Script, catalog: Catalog, strategy: str, mode: Mode, start: Start = ReferenceEngine
) -> ProgramEngine[Any]:
    """An engine that maintains all the views of a script."""
    catalog, queries = load(str(script), catalog=catalog)
    options = replace((STRATEGIES | SWITCHES)[strategy], mode=mode)
    relations = list(catalog.relations.values())
    program = compile_queries(queries, relations, options, catalog.functions)
    check_program(program, catalog.functions)
    return start(program, catalog.functions)


def check_stream(engine: ProgramEngine[Any], script: Script, stream: Stream, duck: Duck) -> None:
    """All the views of a script equal DuckDB's from-scratch answer before and after every batch."""
    duck.clear()
    for name, sql in script.views:
        duck.create_view(name, sql)
    duck.apply(stream.static)
    engine.load({name: [row for row, _ in part] for name, part in grouped(list(stream.static))})
    for number, batch in enumerate(((), *stream.batches)):
        duck.apply(batch)
        engine.apply(dict(grouped(list(batch))))
        for name, sql in script.texts().items():
            actual, expected = rows(engine, name), duck.query(sql)
            assert all(count > 0 for count in actual.values()), f"{name}: {actual}"
            assert same(actual, expected), (
                f"\n{script}\nview {name}, batch {number}: "
                f"found {dict(actual - expected)}, expected {dict(expected - actual)}, "
                f"the rest {dict(expected & actual)}\n{stream}"
            )


def agree(
    script: Script,
    variant: str,
    strategy: str,
    mode: Mode,
    *,
    seed: object,
    batches: int,
    start: Start = ReferenceEngine,
) -> None:
    """One script by one strategy over one random stream."""
    catalog = schema(variant)
    stream = random_stream(catalog, random.Random(repr(seed)), batches)
    engine = compile_script(script, catalog, strategy, mode, start)
    check_stream(engine, script, stream, Duck(catalog))
