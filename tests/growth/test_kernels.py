"""The same of kernels: with ordered indexes, also queries that compare a row with an aggregate.

What an index is asked counts by the keys that it compares; what is put off until a view is read
is not part of a change. So all the workload queries are bounded, but those whose program says
that a change meets many rows.
"""

from __future__ import annotations

import pytest

from freshet.calculus.functions import Functions
from freshet.codegen.kernel import write
from freshet.codegen.toolchain import Flags, find_compiler
from freshet.ivm.options import Options
from freshet.program.terms import Program
from freshet.runtime.native import NativeEngine
from tests.differential.harness import case, cases, compiled
from tests.growth.test_cost_follows_the_delta import GROWS, growth

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]

SLACK = 1.5
LOGARITHM = 2.0
"""What ten times the data may cost where an ordered index is asked: a few comparisons more."""

GROUPS = "a view with ten times the groups, all of which a change of the total can touch"


def mark(workload: str, name: str) -> list[pytest.MarkDecorator]:
    why = GROUPS if name == "mst" else GROWS.get((workload, name, "tuple"))
    return [] if why is None else [pytest.mark.xfail(reason=why, raises=AssertionError)]


@pytest.mark.parametrize(
    ("workload", "name"), [pytest.param(*n, marks=mark(*n), id="-".join(n)) for n in cases()]
)
def test_single_rows(workload: str, name: str) -> None:
    c = case(workload, name)
    program = compiled(c, Options(mode="tuple"))
    kernel = write(program, c.catalog.functions)
    assert kernel.scans == ()

    def begin(p: Program, f: Functions) -> NativeEngine:
        return NativeEngine(p, f, Flags(optimize=0, count=True))

    slack = LOGARITHM if "Ordered<" in kernel.text else SLACK
    assert growth(c, program, start=begin, slack=slack) == {}


def test_a_scan_is_named() -> None:
    """A kernel says which of its statements walk through all the data."""
    c = case("tpch_seed", "q03")
    kernel = write(compiled(c, Options(depth=0)), c.catalog.functions)
    assert kernel.deferred == ("q03", "q03_2")
