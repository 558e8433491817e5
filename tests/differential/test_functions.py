"""Functions of columns answer as Spark does, on every engine, after inserts and deletes."""

from __future__ import annotations

import math
from collections import defaultdict
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import pytest

import freshview
from freshview.algebra import EXACT
from freshview.calculus.casts import CASTS
from freshview.calculus.functions import BUILTINS, call
from freshview.calculus.types import type_of
from freshview.codegen.library.compiler import find_compiler
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.errors import FreshviewError
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.pipeline import Pipeline
from freshview.spark.cluster import SparkRunner
from tests.differential.function_cases import BY_NAME, REFUSED, Call, sql, table
from tests.thin import only, thin

NULLS = {
    "string": "STRING",
    "int": "BIGINT",
    "long": "BIGINT",
    "exact": "BIGINT",
    "bool": "BOOLEAN",
    "any": "STRING",
}
KINDS = {"int": "BIGINT", "bool": "BOOLEAN"}

COMPILED = pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")

ROUNDING = 4e-15
"""Java's functions of doubles differ from those of C in the last digit."""


def column_type(x: Any, word: str) -> str:
    """The type of a column that holds a value."""
    if x is None:
        return NULLS.get(word, "DOUBLE" if word in ("number", "double") else word)
    t = type_of(x)
    return f"DECIMAL(30, {t.scale})" if t.kind == "decimal" else KINDS.get(t.kind, t.kind)


def signature(c: Call) -> tuple[str, ...]:
    """The types of the columns that hold the arguments of a call."""
    e = BY_NAME[c.name]
    return tuple(column_type(x, e.word(i)) for i, x in enumerate(c.args))


def by_signature() -> dict[tuple[str, ...], list[Call]]:
    """The calls that have an answer, by the types of their columns; one name of each function."""
    groups: dict[tuple[str, ...], list[Call]] = defaultdict(list)
    for c in table():
        if c.answer is not REFUSED and c.args:
            groups[signature(c)].append(c)
    return dict(sorted(groups.items()))


GROUPS = by_signature()
SHOWN = {"-".join(types): types for types in GROUPS}


def script(types: tuple[str, ...], calls: list[Call]) -> str:
    """A stream of calls, and a view of those of each function."""
    columns = [f"a{i}" for i in range(len(types))]
    declared = ", ".join(f"{c} {t}" for c, t in zip(columns, types, strict=True))
    views = [
        f"CREATE VIEW v{i} AS SELECT id, {sql(name, columns)} AS y FROM calls WHERE fn = '{name}';"
        for i, name in enumerate(names(calls))
    ]
    return f"CREATE STREAM calls (id INT NOT NULL, fn STRING NOT NULL, {declared});" + "".join(
        views
    )


def names(calls: list[Call]) -> list[str]:
    """The functions that are called."""
    return sorted({c.name for c in calls})


def is_answer(actual: Any, expected: Any) -> bool:
    """Whether this is the answer, but for the last digit of a double."""
    if isinstance(expected, float | Decimal) and isinstance(actual, float):
        return math.isclose(actual, expected, rel_tol=ROUNDING, abs_tol=0.0)
    return actual == expected and isinstance(actual, bool) == isinstance(expected, bool)


def agree(db: Any, calls: list[Call], alive: range) -> None:
    """Every view has the answers of the calls that are there."""
    wrong = []
    for i, name in enumerate(names(calls)):
        rows = dict(db.view(f"v{i}").rows())
        expected = {n: c for n, c in enumerate(calls) if n in alive and c.name == name}
        assert rows.keys() == expected.keys()
        wrong += [(c, rows[n]) for n, c in expected.items() if not is_answer(rows[n], c.answer)]
    assert wrong == []


def run(engine: Any, types: tuple[str, ...]) -> None:
    """All the calls at once, then some of them deleted, and one by one again."""
    calls = GROUPS[types]
    db = freshview.connect(engine=engine)
    db.execute(script(types, calls))
    rows = [(n, c.name, *c.args) for n, c in enumerate(calls)]
    db.insert("calls", rows)
    agree(db, calls, range(len(rows)))
    half = len(rows) // 2
    db.delete("calls", rows[half:])
    agree(db, calls, range(half))
    for row in rows[half:]:
        db.insert("calls", [row])
    agree(db, calls, range(len(rows)))


@pytest.mark.parametrize("types", thin(SHOWN, 4))
def test_reference_engine(types: str) -> None:
    run("reference", SHOWN[types])


@pytest.mark.native
@COMPILED
@pytest.mark.parametrize("types", thin(SHOWN, 12))
def test_kernels(types: str) -> None:
    run("native", SHOWN[types])


FLOW = ("string", "BIGINT")
"""The calls that go through a pipeline in the usual run."""


def through_a_flow(folder: Path, runner: Any, types: tuple[str, ...], native: bool) -> None:
    """All the calls by the workers of a pipeline, then some of them deleted."""
    calls = GROUPS[types]
    settings = FlowSettings(memory=str(folder / "memory"), native=native)
    flow = Pipeline(PipelineOptions(workers=2, settings=settings), runner, folder)
    flow.declare(script(types, calls))
    rows = [(n, c.name, *c.args) for n, c in enumerate(calls)]
    flow.push({"calls": rows})
    agree(flow, calls, range(len(rows)))
    half = len(rows) // 2
    flow.push({"calls": [(row, -1) for row in rows[half:]]})
    agree(flow, calls, range(half))
    flow.stop()


@pytest.mark.parametrize("types", only(SHOWN, lambda t: SHOWN[t] == FLOW))
@pytest.mark.parametrize(
    "native", [False, pytest.param(True, marks=[pytest.mark.native, COMPILED])]
)
def test_workers_of_a_pipeline(tmp_path: Path, types: str, native: bool) -> None:
    through_a_flow(tmp_path, InlineRunner(), SHOWN[types], native)


@pytest.mark.full
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@COMPILED
@pytest.mark.parametrize("types", ["-".join(FLOW)])
def test_workers_on_spark(tmp_path: Path, spark: Any, types: str) -> None:
    through_a_flow(tmp_path, SparkRunner(spark, 2), SHOWN[types], True)


def test_meaning_of_every_function() -> None:
    """The functions themselves, of values, with what Spark refuses."""
    wrong = []
    for c in table():
        with localcontext(EXACT):
            try:
                actual = call(BUILTINS[BY_NAME[c.name].names[0]], arguments(c))
            except FreshviewError:
                actual = REFUSED
        if actual is not REFUSED if c.answer is REFUSED else not is_answer(actual, c.answer):
            wrong.append((c, actual))
    assert wrong == []


def arguments(c: Call) -> tuple[Any, ...]:
    """The arguments, cast as SQL casts them."""
    takes = BUILTINS[BY_NAME[c.name].names[0]].takes
    out = []
    for i, x in enumerate(c.args):
        kinds = takes[min(i, len(takes) - 1)]
        if x is not None and kinds and type_of(x).kind not in kinds:
            x = CASTS["double" if "double" in kinds else kinds[0]](x)
        out.append(x)
    return tuple(out)


def test_every_function_has_calls() -> None:
    assert {c.name for c in table()} == BY_NAME.keys()
