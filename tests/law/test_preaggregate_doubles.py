"""Blocks of doubles that are added up first: sums as exact as those of single rows.

A block is added up in whole numbers of a common unit where its numbers are of like size, and row by
row where they are not; both are compared with exact fractions here, whatever the sizes.
"""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from math import ulp

import pyarrow as pa
import pytest

from freshview.codegen.kernel.source import emit
from freshview.codegen.library.engine import KernelEngine
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.program.terms import Program
from freshview.reference.engine.engine import ReferenceEngine
from freshview.runtime.compile.kernel_engine import kernel_engine
from freshview.sql.load import load
from tests.law.loops import PASSES, Case, agree, kernel_agrees

SCHEMA = """
CREATE STREAM r (g BIGINT NOT NULL, flag VARCHAR(5) NOT NULL, n BIGINT NOT NULL,
                 x DOUBLE NOT NULL, y DOUBLE NOT NULL);
"""
VIEWS = {
    "one": "SELECT g, SUM(x) AS s, COUNT(*) AS c FROM r GROUP BY g",
    "product": "SELECT g, SUM(x * y) AS s, SUM(n) AS t FROM r GROUP BY g",
    "several": "SELECT g, flag, SUM(x * y * n) AS s, SUM(n * y) AS t, SUM(y * y * y) AS u"
    " FROM r WHERE n < 900 GROUP BY g, flag",
    "whole": "SELECT SUM(x * n) AS s, COUNT(*) AS c FROM r",
}
Row = tuple[int, str, int, float, float]

SIZES = {
    "alike": (-3, 12),
    "whole": (0, 0),
    "small": (-40, -30),
    "tiny": (-300, -299),
    "large": (140, 145),
    "far": (152, 155),
    "apart": (-30, 30),
    "subnormal": (-310, -307),
}


def compiled(view: str) -> Program:
    catalog, queries = load(f"{SCHEMA} {VIEWS[view]};", default_name="v")
    options = DeltaOptions(mode="tuple")
    return compile_queries(queries, list(catalog.relations.values()), options, catalog.functions)


def random_rows(rng: random.Random, size: int, sizes: str) -> list[Row]:
    """Rows with numbers of some sizes, some of them 0, by groups that lie close, or do not."""
    low, high = SIZES[sizes]
    near, groups = rng.choice((1, 1, 10**12)), rng.choice((1, 4, 30, 70))

    def number() -> float:
        if sizes == "whole":
            return float(rng.randrange(-(10**6), 10**6))
        return (
            rng.choice((0.0, 1.0, -1.0, 1.0, 1.0))
            * rng.uniform(1, 10)
            * 10.0 ** rng.randint(low, high)
        )

    return [
        (
            rng.randrange(-2, groups) * near,
            rng.choice("ABC"),
            rng.randrange(1000),
            number(),
            number(),
        )
        for _ in range(size)
    ]


def random_batches(seed: int, sizes: str) -> list[list[tuple[Row, int]]]:
    """Rows that come, now and then more than once, and such that go again; at last all are gone."""
    rng = random.Random(f"doubles {seed} {sizes}")
    live: Counter[Row] = Counter()
    batches = []
    for size in rng.sample((30, 40, 300, 1024, 1500), 3):
        batch = [(row, rng.choice((1, 1, 1, 5))) for row in random_rows(rng, size, sizes)]
        batch += [(row, -1) for row in rng.sample(sorted(live), min(len(live), size // 4))]
        rng.shuffle(batch)
        for row, n in batch:
            live[row] += n
        live += Counter()
        batches.append(batch)
    batches.append([(row, -n) for row, n in live.items()])
    return batches


def give(kernel: KernelEngine, batch: list[tuple[Row, int]]) -> None:
    """A batch by way of Arrow, as most come."""
    types = [pa.int64(), pa.string(), pa.int64(), pa.float64(), pa.float64()]
    arrays = [pa.array([row[j] for row, _ in batch], t) for j, t in enumerate(types)]
    rows = pa.record_batch(arrays, ["g", "flag", "n", "x", "y"])
    kernel.instance.apply_arrow(kernel.kernel.relation("r"), rows, [n for _, n in batch])


@pytest.mark.parametrize("view", VIEWS)
def test_kernels_add_up_what_the_reference_engine_does(view: str) -> None:
    program = compiled(view)
    assert "in_words(" in emit(program)
    for seed in range(2):
        batches = random_batches(seed, "alike")
        kernel_agrees(Case(program, [[("r", batch)] for batch in batches]), "usual")


@pytest.mark.parametrize("view", VIEWS)
def test_loops_do_so_with_the_pass_and_without(view: str) -> None:
    batches = [[("r", batch[:60])] for batch in random_batches(1, "whole")]
    agree(Case(compiled(view), batches), ["usual", "preaggregate"])


@pytest.mark.parametrize("passes", ["usual", "preaggregate"])
def test_sums_are_those_of_exact_numbers(passes: str) -> None:
    """The double that is nearest to the exact sum of products, or one beside it.

    What has cancelled out is measured by the numbers that did: a sum has about 106 bits.
    """
    program = compiled("product")
    for seed, sizes in enumerate(s for s in SIZES if s not in ("tiny", "subnormal", "far")):
        kernel = kernel_engine(program, passes=PASSES[passes])
        live: Counter[Row] = Counter()
        largest: dict[int, Fraction] = {}  # of the products that ever came
        for batch in random_batches(seed, sizes):
            give(kernel, batch)
            for row, n in batch:
                live[row] += n
                size = abs(n * Fraction(row[3]) * Fraction(row[4]))
                largest[row[0]] = max(largest.get(row[0], Fraction(0)), size)
            sums: dict[int, Fraction] = {}
            for row, n in live.items():
                if n:
                    worth = n * Fraction(row[3]) * Fraction(row[4])
                    sums[row[0]] = sums.get(row[0], Fraction(0)) + worth
            rows = {row[0]: row[1] for row in kernel.read("v")}
            assert set(rows) == set(sums)
            for g, total in sums.items():
                slack = Fraction(ulp(float(total))) + largest[g] / 2**80
                assert abs(Fraction(rows[g]) - total) <= slack, f"{sizes}, group {g}"
        assert kernel.read("v") == {}


@pytest.mark.parametrize("sizes", SIZES)
def test_nothing_is_left_of_rows_that_have_gone(sizes: str) -> None:
    for view in ("product", "several", "whole"):
        program = compiled(view)
        kernel, reference = kernel_engine(program), ReferenceEngine(program)
        for batch in random_batches(7, sizes):
            give(kernel, batch)
            reference.apply({"r": batch})
            # The groups are there as long as their rows are, whatever their sums.
            assert len(kernel.read("v")) == len(reference.read("v")), f"{view}, {sizes}"
        assert kernel.read("v") == reference.read("v"), f"{view}, {sizes}"


def test_a_row_that_is_gone_takes_its_rounding_with_it() -> None:
    """A large number that covered small ones, in blocks of other sizes than those it came with."""
    kernel = kernel_engine(compiled("one"))
    small = [((1, "A", 1, 0.1 * i, 1.0), 1) for i in range(1, 101)]
    large = ((1, "A", 1, 3e9, 1.0), 1)
    give(kernel, [*small, large])
    give(kernel, [(large[0], -1), *(((2, "A", 1, 1e-3, 1.0), 1) for _ in range(50))])
    [total] = [row[1] for row in kernel.read("v") if row[0] == 1]
    assert total == float(sum(Fraction(row[3]) for row, _ in small))
