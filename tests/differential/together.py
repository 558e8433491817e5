"""Two to four random views in one pipeline, beside DuckDB: all that a seed says.

Views of one pipeline share maps, transfers and the columns of batches, so what is right for each
of them alone may be wrong for all. Pipelines are made as users make them: strategy `auto`, the
placement by cost, batches that are pushed; half of them are stopped on the way and go on from
their checkpoint.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

import freshview as fv
from freshview.durable.settings import FlowSettings
from freshview.pipelines.pipeline import Pipeline
from freshview.runtime.database.database import Database
from freshview.runtime.ingest.columns import COUNT, rows_of, table_of
from freshview.runtime.settings import EngineChoice
from tests.differential.duck import Duck, plain
from tests.differential.harness import grouped, same
from tests.differential.random_sql import random_script
from tests.differential.sql_cases import SCHEMA
from tests.differential.streams import STATIC, Script, Stream, random_stream, schema

MOST = 4
"""Views of one pipeline, beside those that they read."""


@dataclass(frozen=True)
class Together:
    """Views, which tables never change, and a stream."""

    views: tuple[tuple[str, str], ...]
    variant: str
    stream: Stream
    workers: int
    stops: frozenset[int]
    """The batches before which the pipeline is stopped."""

    def script(self) -> str:
        """What a user would write; static tables come from files."""
        statements = [_declared(text, self.variant) for text in SCHEMA.split(";") if text.strip()]
        return ";\n".join([*statements, *(f"CREATE VIEW {n} AS {sql}" for n, sql in self.views)])


def together(seed: int, batches: int = 8) -> Together:
    """What a seed says."""
    rng = random.Random(f"together {seed}")
    views: list[tuple[str, str]] = []
    for number in range(rng.randint(2, MOST)):
        views += _named(random_script(rng.randrange(10_000)), number)
    variant = rng.choice(list(STATIC))
    stream = random_stream(schema(variant), rng, batches)
    stops = frozenset(rng.sample(range(1, batches), 2)) if rng.random() < 0.5 else frozenset()
    return Together(tuple(views), variant, stream, rng.choice((1, 2, 3, 5)), stops)


def _named(script: Script, number: int) -> list[tuple[str, str]]:
    """The views of a script under names that no other script has."""

    def own(sql: str) -> str:
        return re.sub(r"\bv(\d)\b", rf"w{number}_\1", sql)

    return [
        (f"w{number}", own(sql)) if n == "query" else (own(n), own(sql))
        for n, sql in script.texts().items()
    ]


def _declared(text: str, variant: str) -> str:
    [name] = re.findall(r"CREATE \w+ (\w+)", text)
    if name not in STATIC[variant]:
        return text.replace("CREATE TABLE", "CREATE STREAM")
    text = text.replace("CREATE STREAM", "CREATE TABLE")
    return f"{text} FROM FILE '{name}.csv' LINE DELIMITED CSV"


def agree(case: Together, folder: Path, runner: Any, settings: FlowSettings | None) -> None:
    """After every batch every view has DuckDB's rows."""
    catalog, duck = schema(case.variant), Duck(schema(case.variant))
    duck.apply(case.stream.static)
    for name, sql in case.views:
        duck.create_view(name, sql)
    for name in STATIC[case.variant]:
        rows = [row for n, row, _ in case.stream.static if n == name]
        (folder / f"{name}.csv").write_text("".join(_line(row) for row in rows))
    (folder / "views.sql").write_text(case.script())
    flow = _started(case, folder, runner, settings)
    try:
        for number, batch in enumerate(case.stream.batches):
            if number in case.stops:
                flow.stop()
                flow = _started(case, folder, runner, settings)
            duck.apply(batch)
            known = {r.name for v in flow.views for r in v.relations}
            changes = {n: _table(catalog.relation(n), c) for n, c in grouped(list(batch))}
            flow.push({n: t for n, t in changes.items() if n in known})
            _check(case, flow, duck, f"batch {number}")
    finally:
        flow.stop()


def agree_in_process(case: Together, engine: EngineChoice) -> list[int]:
    """The same in a database of this process; gives how many views each kernel keeps.

    Half of the views are declared when there are rows already, and join the others.
    """
    catalog, duck = schema(case.variant), Duck(schema(case.variant))
    duck.apply(case.stream.static)
    db = fv.connect(engine=engine)
    streams = [_declared(text, case.variant) for text in SCHEMA.split(";") if text.strip()]
    db.execute(";".join(text.split(" FROM FILE")[0] for text in streams))
    for name in STATIC[case.variant]:
        db.load(name, [row for n, row, m in case.stream.static if n == name for _ in range(m)])
    half = (len(case.views) + 1) // 2
    for name, sql in case.views:
        duck.create_view(name, sql)
    for number, batch in enumerate([(), *case.stream.batches]):
        if number < 2:
            new = case.views[half:] if number else case.views[:half]
            db.execute(";".join(f"CREATE VIEW {n} AS {sql}" for n, sql in new))
        duck.apply(batch)
        db.apply({n: _table(catalog.relation(n), c) for n, c in grouped(list(batch))})
        known = {v.name for v in db.views}
        _check(replace(case, views=tuple(v for v in case.views if v[0] in known)), db, duck, "")
    return [len(group.views) for group in db.state.groups]


def _started(case: Together, folder: Path, runner: Any, settings: FlowSettings | None) -> Pipeline:
    checkpoint = folder / "checkpoint" if case.stops else None
    flow = fv.pipeline(
        folder / "views.sql",
        runner,
        workers=case.workers,
        checkpoint=checkpoint,
        settings=settings,
    )
    return flow.start()


def _check(case: Together, flow: Pipeline | Database, duck: Duck, where: str) -> None:
    for name, sql in case.views:
        actual = Counter(tuple(map(plain, r)) for r in rows_of(flow.view(name).to_arrow()))
        expected = duck.query(sql)
        assert same(actual, expected), (
            f"\n{case.script()}\nview {name}, {where}, {case.workers} workers, "
            f"{flow.view(name).engine}: found {dict(actual - expected)}, "
            f"expected {dict(expected - actual)}\n{case.stream}"
        )


def _table(relation: Any, changes: Any) -> pa.Table:
    rows = table_of(relation.columns, [r for r, _ in changes], relation.name)
    return rows.append_column(COUNT, pa.array([n for _, n in changes], pa.int64()))


def _line(row: Any) -> str:
    return ",".join("" if v is None else str(v) for v in row) + "\n"
