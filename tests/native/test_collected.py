"""Changes that a kernel collects: keys of every type, many keys, memory, and who may ask."""

from __future__ import annotations

import gc
import os
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from freshview.codegen.library.compiler import Flags, find_compiler
from freshview.codegen.library.engine import KernelEngine
from freshview.errors import FreshviewError, Overflow
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.program.engine import Multiset, added
from freshview.program.updates import Mode
from freshview.runtime.compile.kernel_engine import kernel_engine
from freshview.sql.load import load
from tests.native.conftest import SANITIZED
from tests.native.test_leaks import resident

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]

SCRIPT = """
CREATE STREAM t (i BIGINT, d DECIMAL(30, 4), f DOUBLE, day DATE, at TIMESTAMP, b BOOLEAN, s STRING,
                 v BIGINT NOT NULL);
CREATE VIEW keys AS SELECT i, d, f, day, at, b, s, SUM(v) AS v FROM t
  GROUP BY i, d, f, day, at, b, s;
CREATE VIEW names AS SELECT s, SUM(v) AS v, MIN(day) AS first FROM t GROUP BY s;
CREATE VIEW total AS SELECT SUM(v) AS v, MAX(s) AS s FROM t;
"""
NOTHING = (None,) * 7


def row(n: int, v: int = 1) -> tuple[Any, ...]:
    """A row of its own group; every third one has NULLs."""
    if n % 3 == 2:
        return (n, *NOTHING[1:], v)
    moment = datetime(2024, 1, 1) + timedelta(microseconds=n)
    text = f"{n}" if n % 2 else f"a text that is kept apart, number {n}"
    real = -0.0 if n % 4 else n / 10
    return (n, Decimal(n) * 10**20, real, date(2024, 1, 1), moment, n % 2 == 0, text, v)


def start(script: str, options: DeltaOptions) -> KernelEngine:
    flags = Flags(optimize=0, sanitize=("address", "undefined") if SANITIZED in os.environ else ())
    catalog, queries = load(script)
    program = compile_queries(queries, list(catalog.relations.values()), options)
    engine = kernel_engine(program, catalog.functions, flags)
    engine.load()
    assert all(q.collected for q in engine.kernel.queries)
    return engine


@pytest.fixture
def engine() -> KernelEngine:
    return start(SCRIPT, DeltaOptions())


@pytest.mark.parametrize("query", ["keys", "names", "total"])
@pytest.mark.parametrize("size", [1, 9, 3000])
def test_keys_of_every_type(engine: KernelEngine, query: str, size: int) -> None:
    summed: Multiset = {}
    for step in range(4):
        rows = [row(n, step + 1) for n in range(step, size + step)]
        engine.apply({"t": [(r, 2) for r in rows]})
        if step == 2:
            engine.apply({"t": [(r, -1) for r in rows]})
        summed = added(summed, engine.changes(query).items())
        assert summed == engine.read(query)
    assert engine.changes(query) == {}


FIRST_ROWS = """
CREATE STREAM t (g BIGINT NOT NULL, v BIGINT NOT NULL);
CREATE VIEW best AS SELECT g, SUM(v) AS v FROM t GROUP BY g ORDER BY v DESC, g LIMIT 3;
CREATE VIEW often AS SELECT g, COUNT(*) AS n FROM t GROUP BY g HAVING COUNT(*) > 1
  ORDER BY n, g DESC LIMIT 2;
"""


@pytest.mark.parametrize("mode", ["tuple", "batch"])
@pytest.mark.parametrize("size", [1, 5, 700])
def test_first_rows_in_order(mode: Mode, size: int) -> None:
    """A write to the groups in order may move any of the first: all of them are looked at again."""
    engine = start(FIRST_ROWS, DeltaOptions(mode=mode, ordered=True))
    summed: dict[str, Multiset] = {"best": {}, "often": {}}
    for step in range(12):
        rows = [(n * 7 % 11 + n // 50, (n * 31 + step * 17) % 23 - 9) for n in range(size + step)]
        engine.apply({"t": [(r, 1 if step % 3 else 2) for r in rows]})
        if step % 4 == 3:
            engine.apply({"t": [(r, -1) for r in rows[::2]]})
        for query, before in summed.items():
            summed[query] = added(before, engine.changes(query).items())
            assert summed[query] == engine.read(query)


def test_one_zero(engine: KernelEngine) -> None:
    """0.0 and -0.0 are one key, so their rows are noted once."""
    engine.changes("keys")
    for zero in (0.0, -0.0):
        engine.apply({"t": [((1, None, zero, None, None, None, None, 1), 1)]})
    assert engine.changes("keys") == {(1, None, 0.0, None, None, None, None, 2): 1}


def test_a_frame_outlives_what_it_was_read_from(engine: KernelEngine) -> None:
    engine.changes("names")
    number = engine.kernel.query("names")
    engine.apply({"t": [(row(n), 1) for n in range(100)]})
    frame = engine.instance.changed_arrow(number)
    engine.apply({"t": [(row(n), -1) for n in range(100)]})
    engine.instance.collect(number, False)
    engine.close()
    del engine
    gc.collect()
    table = pa.table(frame)
    assert table.column_names == ["s", "v", "first", "__count"]
    assert sum(table.column("v").to_pylist()) == 100


def test_only_what_is_collected_can_be_asked_for(engine: KernelEngine) -> None:
    number = engine.kernel.query("names")
    with pytest.raises(ValueError, match="not collected"):
        engine.instance.changed_rows(number)
    engine.changes("names")
    assert engine.changes("names") == {}
    engine.instance.collect(number, False)
    with pytest.raises(ValueError, match="not collected"):
        engine.instance.changed_arrow(number)
    engine.close()
    with pytest.raises(FreshviewError):
        engine.instance.collect(number)


def test_what_is_refused_is_told_to_nobody(engine: KernelEngine) -> None:
    for query in ("keys", "names", "total"):
        engine.changes(query)
    engine.apply({"t": [(row(1, 2**62), 1)]})
    with pytest.raises(Overflow):
        engine.apply({"t": [*((row(n), 1) for n in range(50)), (row(1, 2**62), 1)]})
    assert [r[-1] for r in engine.changes("keys")] == [2**62]
    assert engine.changes("names") == {("1", 2**62, date(2024, 1, 1)): 1}
    assert engine.changes("total") == {(None, None): -1, (2**62, "1"): 1}


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="asks Linux for its memory")
@pytest.mark.skipif(SANITIZED in os.environ, reason="sanitizers keep memory")
def test_memory_stays_as_it_is(engine: KernelEngine) -> None:
    batch = [(row(n), 1) for n in range(300)]
    number = engine.kernel.query("names")

    def work() -> None:
        engine.instance.collect(number)
        engine.apply({"t": batch})
        pa.table(engine.instance.changed_arrow(number))
        engine.apply({"t": [(r, -1) for r, _ in batch]})
        engine.instance.changed_rows(number)

    for _ in range(30):
        work()
    gc.collect()
    before = resident()
    for _ in range(150):
        work()
    gc.collect()
    assert resident() - before < 2_000_000
