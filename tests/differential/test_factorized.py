"""View trees against DuckDB's recomputation, after every random batch with deletes.

Every aggregate over joins of the workloads is kept by view trees, in both modes; the queries that
are not, because they nest what is not a join, are listed with the node that says so.
"""

from __future__ import annotations

from zlib import crc32

import pytest

from freshet.calculus.functions import Functions
from freshet.codegen.toolchain import Flags, find_compiler
from freshet.factorized.options import Options
from freshet.factorized.readout import NotFactorized
from freshet.program.terms import Program
from freshet.runtime.native import NativeEngine
from tests.differential.harness import agree, case, cases, compiled

NESTED = {
    "tpch": "q02 q04 q13 q15 q16 q17 q18 q20 q21 q22",
    "tpch_seed": "q02 q04 q11 q13 q15 q16 q17 q17a q18 q18a q20 q21 q22 q22a",
    "finance": "mst psp vwap",
    "tpcds": "d34 d46 d68 d73 d79",
}
"""Queries with a nested query inside a join: not a product of relations."""

REFUSED = [(w, name) for w, names in NESTED.items() for name in names.split()]
KEPT = [c for c in cases() if c not in REFUSED]
LIVE = {"bsp": 60, "bsv": 60, "axf": 60, "mddb2": 20}
"""Live rows of queries that pair all with all; the others have 150."""


@pytest.mark.parametrize("mode", ["batch", "tuple"])
@pytest.mark.parametrize(("workload", "name"), KEPT)
def test_a_view_tree_equals_recomputation(workload: str, name: str, mode: str) -> None:
    live = LIVE.get(name, 150)
    largest = 15 if name == "mddb2" else 60
    agree(case(workload, name), Options(mode=mode), seed=8, batches=8, max_size=largest, live=live)


@pytest.mark.native
@pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
@pytest.mark.parametrize(("workload", "name"), [c for c in KEPT if c[1] != "mddb2"])
def test_kernels_run_view_trees(workload: str, name: str) -> None:
    """View trees of numbers are programs like any others: kernels take them as they are."""

    def make(program: Program, functions: Functions) -> NativeEngine:
        return NativeEngine(program, functions, Flags(optimize=0))

    options = Options(mode="tuple" if crc32(name.encode()) % 2 else "batch")
    live = LIVE.get(name, 150)
    agree(case(workload, name), options, seed=10, batches=8, max_size=60, live=live, start=make)


@pytest.mark.full
@pytest.mark.parametrize("mode", ["batch", "tuple"])
@pytest.mark.parametrize(("workload", "name"), KEPT)
def test_a_view_tree_equals_recomputation_in_full(workload: str, name: str, mode: str) -> None:
    live = LIVE.get(name, 300)
    _, filled = agree(
        case(workload, name), Options(mode=mode), seed=9, batches=100, max_size=300, live=live
    )
    assert filled, "the stream never filled the view"


@pytest.mark.parametrize(("workload", "name"), REFUSED)
def test_what_is_no_join_is_refused_by_name(workload: str, name: str) -> None:
    said = r"the factorized strategy does not keep (Exists|Top|\()"
    with pytest.raises(NotFactorized, match=said):
        compiled(case(workload, name), Options())
