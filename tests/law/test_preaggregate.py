"""Blocks of rows that are added up first: the rows of the reference engine, whatever they hold.

Other laws give kernels few rows at a time; here a batch has enough for blocks, some of them with
more groups than fit, with numbers that leave the range of a block, NULL, texts of any length, rows
that go and rows that come more than once.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from freshview.codegen.kernel.source import emit
from freshview.codegen.library.engine import KernelEngine
from freshview.errors import FreshviewError
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.program.terms import Program
from freshview.reference.engine.engine import ReferenceEngine
from freshview.runtime.compile.kernel_engine import kernel_engine
from freshview.sql.load import load
from tests.law.loops import PASSES, Case, agree

SCHEMA = """
CREATE STREAM r (a BIGINT, b BIGINT NOT NULL, flag VARCHAR(3), name VARCHAR(20) NOT NULL,
                 d DATE, price DECIMAL(15,2) NOT NULL, rate DECIMAL(15,2) NOT NULL);
"""
VIEWS = {
    "flags": "SELECT flag, SUM(price) AS s, COUNT(*) AS n FROM r GROUP BY flag",
    "names": "SELECT name, flag, SUM(price * (1 - rate)) AS s FROM r WHERE b < 40"
    " GROUP BY name, flag",
    "pairs": "SELECT flag, name, SUM(price) AS s, COUNT(*) AS n FROM r GROUP BY flag, name",
    "whole": "SELECT SUM(a * b) AS s, COUNT(a) AS n FROM r WHERE d >= DATE('2001-01-01')",
    "many": "SELECT a, d, SUM(b) AS s, SUM(rate * price * b) AS t FROM r GROUP BY a, d",
    "odd": "SELECT b, SUM(a) AS s FROM r WHERE a <> 3 AND a <= b AND name LIKE 'c%' GROUP BY b",
}
Row = tuple[Any, ...]


def compiled(view: str) -> Program:
    catalog, queries = load(f"{SCHEMA} {VIEWS[view]};", default_name="v")
    options = DeltaOptions(mode="tuple")
    return compile_queries(queries, list(catalog.relations.values()), options, catalog.functions)


def random_rows(rng: random.Random, size: int) -> list[Row]:
    """Rows with few groups or many, small numbers or some large one."""
    groups = rng.choice((1, 3, 12, 80))
    large = rng.choice((0, 0, 10**9, 10**14))
    nulls = rng.choice((0.0, 0.1))

    def or_null(x: Any) -> Any:
        return None if rng.random() < nulls else x

    names = [
        rng.choice(("", "c", "cat", "c" * 9, "cold " * 3, "é")) + str(i % 7) for i in range(groups)
    ]
    flags = rng.choice((("A",), ("A", "R", "N"), ("A", "", "xyz", "é", "R")))
    return [
        (
            or_null(rng.randrange(groups)),
            rng.randrange(-3, 50),
            or_null(rng.choice(flags)),
            rng.choice(names),
            or_null(date(2000, 12, 30) + timedelta(rng.randrange(groups))),
            Decimal(rng.randrange(-(10**6), 10**6) if rng.random() > 0.001 else large).scaleb(-2),
            Decimal(rng.randrange(11)).scaleb(-2),
        )
        for _ in range(size)
    ]


def random_batches(seed: int) -> list[list[tuple[Row, int]]]:
    """Rows that come, more than once now and then, and such that go again."""
    rng = random.Random(f"blocks {seed}")
    live: Counter[Row] = Counter()
    batches = []
    for size in rng.sample((20, 40, 300, 1024, 1500, 2100), 4):
        rows = [(row, rng.choice((1, 1, 1, 1, 3))) for row in random_rows(rng, size)]
        gone = [(row, -1) for row in rng.sample(sorted(live, key=str), min(len(live), size // 4))]
        batch = rows + gone
        rng.shuffle(batch)
        for row, n in batch:
            live[row] += n
        live += Counter()
        batches.append(batch)
    batches.append([(row, -n) for row, n in live.items()])
    return batches


def arrow(rows: Sequence[Row], text: str) -> pa.RecordBatch:
    """Rows as Arrow has them, with the texts in one of its ways, and other rows before them."""
    kinds = {"plain": pa.string(), "large": pa.large_string(), "view": pa.string_view()}
    kind = kinds.get(text, pa.string())
    types = [
        pa.int64(),
        pa.int64(),
        kind,
        kind,
        pa.date32(),
        pa.decimal128(15, 2),
        pa.decimal64(15, 2),
    ]
    names = ["a", "b", "flag", "name", "d", "price", "rate"]
    arrays = [pa.array([r[j] for r in (*rows[:3], *rows)], t) for j, t in enumerate(types)]
    if text == "dictionary":
        arrays = [x.dictionary_encode() if x.type == pa.string() else x for x in arrays]
    return pa.record_batch(arrays, names).slice(len(rows[:3]))


@pytest.mark.parametrize("view", VIEWS)
def test_kernels_add_up_what_the_reference_engine_does(view: str) -> None:
    program = compiled(view)
    assert "Groups<" in emit(program)
    for seed, text in enumerate(("plain", "large", "view", "dictionary")):
        reference = ReferenceEngine(program)
        kernel = kernel_engine(program)
        for batch in random_batches(seed):
            reference.apply({"r": batch})
            rows, counts = arrow([row for row, _ in batch], text), [n for _, n in batch]
            kernel.instance.apply_arrow(kernel.kernel.relation("r"), rows, counts)
            assert kernel.read("v") == reference.read("v"), f"{view}, {text}, seed {seed}"
        assert kernel.read("v") == {} or view == "whole"


@pytest.mark.parametrize(
    "flags", ["ARN", "A", "ARRR" * 30 + "xN", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij"]
)
def test_flags_are_told_apart_wherever_they_stand(flags: str) -> None:
    program = compiled("flags")
    reference, kernel = ReferenceEngine(program), kernel_engine(program)
    for size in (100, 1000, 1500):
        price, rate = Decimal("1.25"), Decimal("0.05")
        rows = [(1, i, flags[i % len(flags)], "n", None, price + i, rate) for i in range(size)]
        reference.apply({"r": [(row, 1) for row in rows]})
        kernel.instance.apply_arrow(kernel.kernel.relation("r"), arrow(rows, "plain"))
        assert kernel.read("v") == reference.read("v")


@pytest.mark.parametrize("view", VIEWS)
def test_loops_do_so_with_the_pass_and_without(view: str) -> None:
    batches = [[("r", batch[:60])] for batch in random_batches(1)]
    agree(Case(compiled(view), batches), ["usual", "preaggregate"])


LIMIT = 2**63 - 1
SUMS = """
CREATE STREAM s (g BIGINT NOT NULL, x BIGINT NOT NULL);
SELECT g, SUM(x) AS total, SUM(x * x) AS squares FROM s GROUP BY g;
"""


def kernel_of(passes: str) -> KernelEngine:
    catalog, queries = load(SUMS, default_name="v")
    options = DeltaOptions(mode="tuple")
    program = compile_queries(queries, list(catalog.relations.values()), options)
    return kernel_engine(program, passes=PASSES[passes])


@pytest.mark.parametrize("passes", ["usual", "preaggregate"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_batch_that_leaves_the_range_is_refused_whole(passes: str, sign: int) -> None:
    kernel = kernel_of(passes)
    start = [((i % 4, sign * 2**27), 1) for i in range(100)]
    kernel.apply({"s": start})
    before = kernel.read("v")
    # A square is 2^54, and a group holds less than 512 of them; a block of 1,024 rows has fewer.
    for more in (40_000, 2_100):
        with pytest.raises(FreshviewError):
            kernel.apply({"s": [((i % 4, sign * 2**27), 1) for i in range(more)]})
        assert kernel.read("v") == before
    # Sums, and products, that come to nothing in 64 bits.
    for row, n in (((1, sign * 2**31), 1), ((1, 2**40), sign)):
        with pytest.raises(FreshviewError):
            kernel.apply({"s": [(row, n)] * 64})
        assert kernel.read("v") == before
    kernel.apply({"s": [(row, -1) for row, _ in start]})
    assert kernel.read("v") == {}


@pytest.mark.parametrize("passes", ["usual", "preaggregate"])
def test_numbers_at_the_end_of_the_range_are_exact(passes: str) -> None:
    kernel = kernel_of(passes)
    root = 3037000499  # of the largest square
    rows = [((1, root), 1), *(((2, 3), 1) for _ in range(100)), *(((2, 3), -1) for _ in range(99))]
    kernel.apply({"s": rows})
    expected = {(1, root, root * root): 1, (2, 3, 9): 1}
    assert kernel.read("v") == expected
    assert root * root <= LIMIT < (root + 1) ** 2
    with pytest.raises(FreshviewError):
        kernel.apply({"s": [((1, 10**5), 1), *(((2, 0), 1) for _ in range(100))]})
    assert kernel.read("v") == expected
