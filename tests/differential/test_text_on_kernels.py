"""Kernels over text and NULL compile, and give DuckDB's rows after every batch."""

from __future__ import annotations

import random

import pytest

from freshview.calculus.functions import Functions
from freshview.codegen.library.compiler import Flags, find_compiler
from freshview.codegen.library.engine import KernelEngine
from freshview.ivm.options import Mode
from freshview.program.terms import Program
from freshview.runtime.compile.kernel_engine import kernel_engine
from freshview.sql.load import load
from tests.differential.duck import Duck
from tests.differential.harness import STRATEGIES, Start
from tests.differential.random_text import SCHEMA, random_text_query
from tests.differential.streams import MODES, Script, check_stream, compile_script, random_stream
from tests.thin import thin

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]

CHOICES = [(s, m) for s in STRATEGIES if s != "caches" for m in MODES]

# Kernels that the compiler refused.
REGRESSIONS: tuple[tuple[str, str], ...] = (
    # NULL where a text is asked for
    ("SELECT COALESCE(NULLIF(r.s, ''), w.s) AS x FROM r, w WHERE r.k = w.k", "higher-order"),
    (
        "SELECT COALESCE(CASE WHEN q1.s IS NOT NULL THEN q1.s ELSE q2.s END, q1.s) AS x "
        "FROM r q1 LEFT JOIN w q2 ON q1.k = q2.k",
        "higher-order",
    ),
    (
        "SELECT LENGTH(NULLIF('', '')) AS a, NULLIF('', '') || s AS b, "
        "NULLIF('', '') LIKE 'a%' AS c, COALESCE(NULLIF('', ''), 'x') AS d, "
        "SUBSTRING(COALESCE(NULLIF(s, ''), NULLIF('', '')), 1, 1) AS g FROM r",
        "first-order",
    ),
    # A key that is always NULL, looked up by a text
    (
        "SELECT g, COUNT(*) AS n FROM (SELECT NULLIF('', '') AS g FROM r) z GROUP BY g",
        "reeval",
    ),
    (
        "SELECT q3.s, MAX(q1.s) AS x FROM w q1 LEFT JOIN r q2 ON q1.k <> q2.k "
        "FULL JOIN w q3 ON q2.b = q3.b WHERE q2.b IS NULL GROUP BY q3.s",
        "project",
    ),
    (
        "SELECT q2.s, MAX(q1.s) AS x FROM r q1 LEFT JOIN r q2 ON q1.b <> q2.b "
        "FULL JOIN w q3 ON q1.s = q3.s WHERE q2.b IS NULL GROUP BY q2.s",
        "project",
    ),
)


def unoptimized(program: Program, functions: Functions) -> KernelEngine:
    return kernel_engine(program, functions, Flags(optimize=0))


def follow(script: Script, strategy: str, mode: Mode, seed: int, start: Start) -> None:
    catalog = load(SCHEMA)[0]
    stream = random_stream(catalog, random.Random(seed), 6)
    engine = compile_script(script, catalog, strategy, mode, start)
    check_stream(engine, script, stream, Duck(catalog))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("sql", "strategy"), REGRESSIONS)
def test_text_that_was_refused(sql: str, strategy: str, mode: Mode) -> None:
    follow(Script(sql), strategy, mode, 3, unoptimized)


@pytest.mark.parametrize("seed", thin(range(12), 2), ids="seed-{}-".format)
def test_random_text(seed: int) -> None:
    follow(random_text_query(seed), *CHOICES[seed % len(CHOICES)], seed, unoptimized)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 1200), ids="seed-{}-".format)
def test_more_random_text(seed: int) -> None:
    follow(random_text_query(seed), *CHOICES[seed % len(CHOICES)], seed, kernel_engine)
