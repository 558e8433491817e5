"""The latest row per key, in all the ways to write it: DuckDB's rows after every batch.

A failure prints the text, the stream and both answers; `pytest -k seed-7-` repeats seed 7.
"""

from __future__ import annotations

import random

import pytest

import freshview
from freshview.calculus.functions import Functions
from freshview.codegen.library.compiler import Flags, find_compiler
from freshview.codegen.library.engine import KernelEngine
from freshview.distributed.compile import distribute
from freshview.distributed.options import LEVELS
from freshview.distributed.placement import choose_placement
from freshview.errors import NotNative
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions, Mode
from freshview.program.terms import Program
from freshview.reference.engine.engine import ReferenceEngine
from freshview.runtime.compile.kernel_engine import kernel_engine
from freshview.sql.load import load
from tests.differential.duck import Duck
from tests.differential.harness import Start, grouped
from tests.differential.latest_rows import Case, random_case
from tests.differential.streams import (
    MODES,
    PAIRS,
    Script,
    check_stream,
    compile_script,
    random_stream,
)
from tests.law.spark_programs import Pair
from tests.thin import thin

BATCHES = 8
SEEDS = range(72)
NATIVE_SEEDS = range(500, 512)
MORE_SEEDS = range(2000, 2400)

NULLABLE = "CREATE STREAM m (k STRING, p INT, v INT)"
NOT_NULL = "CREATE STREAM m (k STRING NOT NULL, p INT NOT NULL, v INT NOT NULL)"

# The ways in which users write it first; these gave every row of a batch as the latest one.
LATEST: tuple[Script, ...] = (
    Script("SELECT a.k, a.p FROM m a WHERE a.p = (SELECT MAX(b.p) FROM m b WHERE b.k = a.k)"),
    Script("SELECT a.k, a.p FROM m a WHERE a.p <=> (SELECT MIN(b.p) FROM m b WHERE b.k = a.k)"),
    Script("SELECT a.k, a.p FROM m a WHERE a.p IN (SELECT MAX(b.p) FROM m b WHERE b.k = a.k)"),
    Script("SELECT a.k, a.p FROM m a WHERE a.p = (SELECT MAX(b.p) FROM m b)"),
    Script(
        "SELECT a.k, a.p FROM m a JOIN (SELECT k, MAX(p) AS x FROM m GROUP BY k) d "
        "ON a.k = d.k AND a.p = d.x"
    ),
    Script(
        "SELECT b.k, b.p FROM (SELECT k, MIN(p) AS l FROM m GROUP BY k) a JOIN m b "
        "ON a.k = b.k AND a.l = b.p"
    ),
    Script(
        "SELECT a.k, a.p, d.x FROM m a LEFT JOIN (SELECT k, MAX(p) AS x FROM m GROUP BY k) d "
        "ON a.k = d.k AND a.p = d.x"
    ),
    Script(
        "WITH d AS (SELECT k, MAX(p) AS x FROM m GROUP BY k) "
        "SELECT a.k, a.p, a.v FROM m a, d WHERE a.k = d.k AND a.p = d.x"
    ),
    Script(
        "SELECT a.k, SUM(a.v) AS s FROM m a, w WHERE a.k = w.k AND a.p = w.x GROUP BY a.k",
        (("w", "SELECT k, MAX(p) AS x FROM m GROUP BY k"),),
    ),
    Script(
        "SELECT a.k, a.p FROM m a WHERE EXISTS "
        "(SELECT b.k FROM m b WHERE b.k = a.k GROUP BY b.k HAVING MAX(b.p) = a.p)"
    ),
    # The second latest
    Script(
        "SELECT a.k, a.p FROM m a WHERE a.p = (SELECT MAX(b.p) FROM m b WHERE b.k = a.k AND b.p < "
        "(SELECT MAX(c.p) FROM m c WHERE c.k = b.k))"
    ),
    # A value of the outer row, read inside by its name
    Script(
        "SELECT d.k, d.p FROM (SELECT k, p, p + 1 AS q FROM m) d "
        "WHERE d.p = (SELECT MAX(b.p) FROM m b WHERE b.v < d.q)"
    ),
    # All the columns are compared: two equal atoms in one product
    Script("SELECT a.k, COUNT(*) AS n FROM m a, m b WHERE a.k = b.k AND a.p = b.p GROUP BY a.k"),
    Script(
        "SELECT a.k, COUNT(*) AS n FROM m a, m b, m c WHERE a.k = b.k AND a.p = b.p AND a.v = b.v "
        "AND a.k = c.k AND a.p = c.p AND a.v = c.v GROUP BY a.k"
    ),
)


def kernel(program: Program, functions: Functions) -> KernelEngine:
    return kernel_engine(program, functions, Flags(optimize=0))


def follow(
    case: Case,
    strategy: str,
    mode: Mode,
    *,
    seed: int,
    batches: int = BATCHES,
    start: Start = ReferenceEngine,
) -> None:
    """One case by one strategy over one random stream."""
    stream = random_stream(case.catalog, random.Random(seed), batches)
    engine = compile_script(case.script, case.catalog, strategy, mode, start)
    check_stream(engine, case.script, stream, Duck(case.catalog))


def case_of(script: Script, schema: str) -> Case:
    return Case(load(schema)[0], schema, script)


needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")


@pytest.mark.parametrize("script", LATEST, ids=str)
def test_latest_rows_by_every_strategy(script: Script) -> None:
    for strategy, mode in PAIRS:
        follow(case_of(script, NULLABLE), strategy, mode, seed=3, batches=5)


@pytest.mark.parametrize("script", thin(LATEST, 3), ids=str)
def test_latest_rows_without_nulls(script: Script) -> None:
    for mode in MODES:
        follow(case_of(script, NOT_NULL), "higher-order", mode, seed=5)


@needs_compiler
@pytest.mark.native
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("script", thin(LATEST[::2], 2), ids=str)
def test_latest_rows_on_kernels(script: Script, mode: Mode) -> None:
    follow(case_of(script, NULLABLE), "higher-order", mode, seed=4, start=kernel)


@pytest.mark.parametrize("seed", thin(SEEDS, 3), ids="seed-{}-".format)
def test_random_comparison_with_the_same_table(seed: int) -> None:
    follow(random_case(seed), *PAIRS[seed % len(PAIRS)], seed=seed)


@needs_compiler
@pytest.mark.native
@pytest.mark.parametrize("seed", thin(NATIVE_SEEDS, 2), ids="seed-{}-".format)
def test_random_comparison_on_kernels(seed: int) -> None:
    strategy, mode = [p for p in PAIRS if p[0] != "caches"][seed % (len(PAIRS) - 2)]
    try:
        follow(random_case(seed), strategy, mode, seed=seed, start=kernel)
    except NotNative as e:
        pytest.skip(str(e))


def on_workers(case: Case, level: str, workers: int, seed: int) -> None:
    """A case on simulated workers: every map has the rows of the reference engine."""
    catalog, queries = load(str(case.script), catalog=case.catalog)
    relations = list(catalog.relations.values())
    program = compile_queries(queries, relations, DeltaOptions(), catalog.functions)
    distributed = distribute(
        program, choose_placement(program, LEVELS[level]), LEVELS[level], catalog.functions
    )
    pair = Pair(program, distributed, workers, catalog.functions, {})
    for number, batch in enumerate(random_stream(catalog, random.Random(seed), BATCHES).batches):
        pair.apply(dict(grouped(list(batch))))
        pair.check(f"{case.script}, {level}, {workers} workers, batch {number}")


@pytest.mark.parametrize("script", LATEST[:10], ids=str)
def test_latest_rows_on_workers(script: Script) -> None:
    for workers, level in enumerate(LEVELS, 1):
        on_workers(case_of(script, NULLABLE), level, workers, seed=6)


@pytest.mark.parametrize("seed", range(600, 612), ids="seed-{}-".format)
def test_random_comparison_on_workers(seed: int) -> None:
    on_workers(random_case(seed), list(LEVELS)[seed % len(LEVELS)], 1 + seed % 3, seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", MORE_SEEDS, ids="seed-{}-".format)
def test_random_comparison_by_every_strategy(seed: int) -> None:
    for strategy, mode in PAIRS:
        follow(random_case(seed), strategy, mode, seed=seed)


@needs_compiler
@pytest.mark.full
@pytest.mark.native
@pytest.mark.parametrize("seed", MORE_SEEDS, ids="seed-{}-".format)
def test_random_comparison_on_optimized_kernels(seed: int) -> None:
    strategy, mode = [p for p in PAIRS if p[0] != "caches"][seed % (len(PAIRS) - 2)]
    try:
        follow(random_case(seed), strategy, mode, seed=seed, start=kernel_engine)
    except NotNative as e:
        pytest.skip(str(e))


@pytest.mark.parametrize("engine", ["reference", pytest.param("native", marks=needs_compiler)])
@pytest.mark.parametrize("key", ["x", "a text that is too long for a word"])
def test_latest_rows_through_the_front_door(engine: str, key: str) -> None:
    """One batch with several rows of a key, then without them, by `auto`."""
    db = freshview.connect(engine=engine)
    db.execute(f"{NULLABLE}; CREATE VIEW latest AS {LATEST[0].sql}")
    rows = [(key, 1, 0), (key, 2, 0), ("y", 5, 0), ("y", None, 0)]
    db.insert("m", rows)
    assert sorted(db.view("latest").rows()) == sorted([(key, 2), ("y", 5)])
    db.delete("m", rows[1:2])
    assert sorted(db.view("latest").rows()) == sorted([(key, 1), ("y", 5)])
    db.delete("m", [rows[0], *rows[2:]])
    assert list(db.view("latest").rows()) == []
