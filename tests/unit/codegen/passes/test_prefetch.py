"""Memory that is fetched some rows ahead."""

from __future__ import annotations

import re

import pytest

from freshview.codegen.kernel.source import emit
from freshview.codegen.options import KernelPasses
from freshview.ivm.options import DeltaOptions
from tests.differential.harness import case, compiled


@pytest.mark.parametrize("mode", ["batch", "tuple"])
def test_what_rows_to_come_look_up_is_fetched(mode: str) -> None:
    c = case("tpch_papers", "q03")
    program = compiled(c, DeltaOptions(mode=mode))
    text = emit(program, c.catalog.functions)
    assert re.search(r"prefetch\w*\(e\.arena, .*all_\w+\[later\]", text)
    assert "prefetch" not in emit(program, c.catalog.functions, KernelPasses(prefetch=False))


def test_so_it_is_for_the_rows_of_a_table_that_is_walked_through() -> None:
    c = case("tpch_papers", "q16")
    text = emit(compiled(c, DeltaOptions(mode="batch")), c.catalog.functions)
    assert re.search(r"each\(e\.arena, 8, \[&\]\(const \w+& soon\) \{ .*prefetch.*soon\.\w+_", text)


@pytest.mark.parametrize("name", ["q03", "q18"])
def test_the_first_rows_of_a_batch_are_fetched_for_before_the_loop(name: str) -> None:
    c = case("tpch_papers", name)
    text = emit(compiled(c, DeltaOptions(mode="tuple")), c.catalog.functions)
    heads = re.findall(r"const auto fetch_row = ", text)
    ahead = re.findall(r"for \(i64 n = 0; \S+ >= 4 && n < 8 && n < \S+; n\+\+\) fetch_row\(", text)
    inside = re.findall(r"if \(const i64 next = \w+ \+ 8; next < \S+\) fetch_row\(", text)
    assert heads
    assert len(heads) == len(ahead) == len(inside)


def test_nothing_is_fetched_for_what_one_row_collects() -> None:
    c = case("tpch_papers", "q16")
    text = emit(compiled(c, DeltaOptions(mode="tuple")), c.catalog.functions)
    assert ".each(e.scratch, [&](" in text
    assert ".each(e.scratch, 8" not in text


@pytest.mark.parametrize("name", ["q03", "q16", "q18a"])
def test_no_row_fetches_the_same_memory_twice(name: str) -> None:
    c = case("tpch_papers", name)
    text = emit(compiled(c, DeltaOptions(mode="tuple")), c.catalog.functions)
    for block in re.findall(r"if \(const i64 (?:later|next) = .*?\n    +\}\n", text, re.DOTALL):
        fetched = [line.strip() for line in block.splitlines() if "prefetch" in line]
        assert len(fetched) == len(set(fetched))
        written = re.findall(r"s\.(\w+)\.prefetch_write\(e\.arena, (\{.*?\})\)", block)
        read = re.findall(r"s\.(\w+)\.prefetch\(e\.arena, .*?Key(\{.*?\})\)", block)
        assert not set(written) & set(read)
