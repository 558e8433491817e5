"""Sums over ranges: an ordered index answers them, and several ranges of one sum as well."""

from __future__ import annotations

import pytest

from freshview.codegen.loops.terms import RangeSum, Scan, Slice
from freshview.codegen.loops.walk import statements
from freshview.codegen.pipeline import plan_kernel
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.sql.load import load

SCHEMA = """
CREATE STREAM r (g INT NOT NULL, x INT NOT NULL, v INT NOT NULL);
CREATE STREAM s (g INT NOT NULL, y INT NOT NULL, w INT NOT NULL);
"""


def loops_of(select: str) -> list[object]:
    """What the trigger of a row of s does."""
    catalog, queries = load(SCHEMA + select)
    relations = list(catalog.relations.values())
    program = compile_queries(queries, relations, DeltaOptions(mode="tuple"))
    [on_s] = [f for f in plan_kernel(program).loops.functions if f.of == "s"]
    return list(statements(on_s.body))


@pytest.mark.parametrize("condition", ["x > y + 3", "x > y + 3 OR x < y - 3"])
def test_ranges_are_asked_of_the_index(condition: str) -> None:
    select = f"SELECT r.g, SUM(v - w) FROM r, s WHERE r.g = s.g AND ({condition}) GROUP BY r.g"
    done = loops_of(select)
    # One search for each range: counts and sums lie in one record.
    assert sum(isinstance(s, RangeSum) for s in done) == condition.count("x")
    assert not any(isinstance(s, Slice | Scan) for s in done)


def test_what_is_no_range_is_walked_through() -> None:
    done = loops_of("SELECT SUM(v) FROM r, s WHERE r.g = s.g AND (x > y + 3 OR x * x < y)")
    assert any(isinstance(s, Slice) for s in done)
