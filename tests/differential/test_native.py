"""Kernels give DuckDB's rows after every batch, also when they restart from a snapshot between."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import fields, replace
from zlib import crc32

import pytest

from freshview.calculus.functions import Functions
from freshview.calculus.schema import Relation
from freshview.calculus.types import Value
from freshview.codegen.library.compiler import Flags, find_compiler
from freshview.codegen.library.engine import KernelEngine
from freshview.codegen.library.load import Kernel
from freshview.codegen.options import KernelPasses
from freshview.errors import NotNative
from freshview.ivm.options import Mode
from freshview.program.engine import Batch
from freshview.program.terms import Program
from freshview.runtime.compile.kernel_engine import kernel_engine
from tests.differential import harness, streams
from tests.differential.random_sql import random_script
from tests.differential.sql_cases import CASES, FIRSTS, THRESHOLDS, random_row
from tests.thin import full, only, own_wording, thin

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]

MODES: tuple[Mode, ...] = ("batch", "tuple")
STRATEGIES = [s for s in harness.STRATEGIES if s != "caches"]


class Restarting(KernelEngine):
    """An engine that is now and then stopped, and started again from its snapshot."""

    def __init__(self, kernel: Kernel, seed: int) -> None:
        super().__init__(kernel)
        self.random = random.Random(seed)

    def apply(self, changes: Batch) -> None:
        """Apply a batch, then perhaps restart."""
        super().apply(changes)
        if self.random.random() < 0.3:
            snapshot = self.snapshot()
            self.instance = self.kernel.open()
            self.restore(snapshot)


@pytest.fixture
def start(request: pytest.FixtureRequest) -> harness.Start:
    """How kernels are built for these tests: quickly, and with sanitizers if they are asked for.

    They count what they do, as those of `tests/growth`, so that both are the same libraries.
    """
    sanitize = request.config.getoption("--sanitize")
    flags = Flags(optimize=0, count=True, sanitize=("address", "undefined") if sanitize else ())

    def make(program: Program, functions: Functions) -> KernelEngine:
        return Restarting(kernel_engine(program, functions, flags).kernel, len(program.maps))

    return make


def mode_of(workload: str, name: str) -> Mode:
    """Single rows, of whose kernels `tests/growth` counts the work, or batches: one in three."""
    return "tuple" if crc32(f"{workload}/{name}".encode()) % 3 else "batch"


OWN = [c for c in harness.cases() if own_wording(c)]
OTHERS = [c for c in harness.cases() if not own_wording(c)]


@pytest.mark.parametrize(("workload", "name"), [*thin(OWN, 2), *map(full, OTHERS)])
def test_workload(workload: str, name: str, start: harness.Start) -> None:
    """In one of the modes; the full run has both."""
    options = replace(harness.STRATEGIES["higher-order"], mode=mode_of(workload, name))
    case = harness.case(workload, name)
    harness.agree(case, options, seed=11, batches=12, max_size=150, live=200, start=start)


PASSES = [f.name for f in fields(KernelPasses) if f.name != "skip"]
PASSED = [("tpch_papers", "q03"), ("tpch_papers", "q15"), ("finance", "vwap")]


def meets(case: tuple[str, str, str]) -> bool:
    """Each pass with one of the queries."""
    return PASSES.index(case[2]) % len(PASSED) == PASSED.index(case[:2])


@pytest.mark.parametrize(
    ("workload", "name", "turned"), only([(*q, p) for q in PASSED for p in PASSES], meets)
)
def test_each_pass_keeps_the_meaning(workload: str, name: str, turned: str) -> None:
    """A kernel is right with every pass left out, and with the use of keys."""
    passes = replace(KernelPasses(), **{turned: not getattr(KernelPasses(), turned)})

    def make(program: Program, functions: Functions) -> KernelEngine:
        return kernel_engine(program, functions, Flags(optimize=0), passes=passes)

    options = replace(harness.STRATEGIES["higher-order"], mode="tuple")
    case = harness.case(workload, name)
    harness.agree(case, options, seed=13, batches=10, max_size=60, live=60, start=make)


def choice(text: str) -> tuple[str, str, Mode]:
    """A variant, a strategy and a mode: the same ones in every run."""
    number = crc32(text.encode())
    variants = list(streams.STATIC)
    return (
        variants[number % len(variants)],
        STRATEGIES[number // 7 % len(STRATEGIES)],
        MODES[number // 77 % 2],
    )


def follow(script: streams.Script, text: str, start: harness.Start) -> None:
    try:
        streams.agree(script, *choice(text), seed=text, batches=10, start=start)
    except NotNative as e:
        pytest.skip(str(e))


@pytest.mark.parametrize("sql", thin(CASES, 9))
def test_view_follows_its_tables(sql: str, start: harness.Start) -> None:
    follow(streams.Script(sql), sql, start)


@pytest.mark.parametrize("seed", [*thin(range(5000, 5060), 8), 6068])
def test_random_view(seed: int, start: harness.Start) -> None:
    follow(random_script(seed), f"native {seed}", start)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sql", thin(FIRSTS + THRESHOLDS, 4))
def test_ordered_indexes(sql: str, mode: Mode, start: harness.Start) -> None:
    """MIN, MAX, LIMIT and thresholds under deletions, NULLs and empty groups, by an index."""
    script = streams.Script(sql)
    streams.agree(script, "u static", "higher-order", mode, seed=sql, batches=25, start=start)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sql", thin(FIRSTS + THRESHOLDS, 4))
def test_ordered_indexes_with_negative_rows(sql: str, mode: Mode, start: harness.Start) -> None:
    """Rows that are deleted before they come are not chosen, and count when they come."""
    rng = random.Random(sql)
    catalog, script = streams.schema(), streams.Script(sql)
    engine = streams.compile_script(script, catalog, "higher-order", mode, start)
    reference = streams.compile_script(script, catalog, "higher-order", mode)
    for _ in range(12):
        for name in "rst":
            relation = catalog.relation(name)
            rows = [wide_row(relation, rng) for _ in range(rng.choice((1, 5, 60)))]
            changes = [(row, rng.choice((-2, -1, 1, 1, 2))) for row in rows]
            for each in (engine, reference):
                each.apply({name: changes})
        there = Counter({row: n for row, n in harness.rows(reference, "query").items() if n > 0})
        assert harness.same(harness.rows(engine, "query"), there)


def wide_row(relation: Relation, rng: random.Random) -> tuple[Value, ...]:
    """A row whose numbers are from a small domain or from a large one."""
    row = random_row(relation, rng)
    return tuple(
        rng.randint(-300, 300) if type(x) is int and rng.random() < 0.5 else x for x in row
    )


@pytest.mark.full
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("workload", "name"), harness.cases())
def test_workload_in_full(workload: str, name: str, mode: Mode, start: harness.Start) -> None:
    options = replace(harness.STRATEGIES["higher-order"], mode=mode)
    case = harness.case(workload, name)
    harness.agree(case, options, seed=12, batches=200, max_size=1000, live=500, start=start)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(6000, 6400))
def test_more_random_views(seed: int, start: harness.Start) -> None:
    follow(random_script(seed), f"native {seed}", start)
