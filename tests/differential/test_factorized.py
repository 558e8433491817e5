"""View trees against DuckDB's recomputation, after every random batch with deletes.

Every aggregate over joins of the workloads is kept by view trees, in both modes; the queries that
are not, because they nest what is not a join, are listed with the node that says so.
"""

from __future__ import annotations

from zlib import crc32

import pytest

from freshview.calculus.build import const
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.terms import Apply, Var
from freshview.codegen.library.compiler import Flags, find_compiler
from freshview.codegen.library.engine import KernelEngine
from freshview.distributed.compile import distribute
from freshview.distributed.options import LEVELS
from freshview.distributed.placement import choose_placement
from freshview.factorized.compile import compile_joins
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.readout import NotFactorized
from freshview.factorized.terms import natural_join
from freshview.program.check import check_program
from freshview.program.terms import Program
from freshview.runtime.compile.kernel_engine import kernel_engine
from tests.differential.harness import agree, case, cases, compiled, grouped, schema_of
from tests.law.spark_programs import Pair
from tests.thin import thin
from workloads import WORKLOADS

NESTED = {
    "tpch": "q02 q04 q13 q15 q16 q17 q18 q20 q21 q22",
    "tpch_papers": "q02 q04 q11 q13 q15 q16 q17 q17a q18 q18a q20 q21 q22 q22a",
    "finance": "mst psp vwap",
    "tpcds": "d34 d46 d68 d73 d79",
}
"""Queries with a nested query inside a join: not a product of relations."""

REFUSED = [(w, name) for w, names in NESTED.items() for name in names.split()]
KEPT = [c for c in cases() if c not in REFUSED]
LIVE = {"bsp": 60, "bsv": 60, "axf": 60, "mddb2": 20}
"""Live rows of queries that pair all with all; the others have 150."""


@pytest.mark.parametrize(
    ("workload", "name", "mode"), thin([(*c, m) for m in ("batch", "tuple") for c in KEPT], 2)
)
def test_a_view_tree_equals_recomputation(workload: str, name: str, mode: str) -> None:
    live = LIVE.get(name, 150)
    largest = 15 if name == "mddb2" else 60
    agree(
        case(workload, name),
        ViewTreeOptions(mode=mode),
        seed=8,
        batches=8,
        max_size=largest,
        live=live,
    )


@pytest.mark.native
@pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
@pytest.mark.parametrize(("workload", "name"), thin([c for c in KEPT if c[1] != "mddb2"], 5))
def test_kernels_run_view_trees(workload: str, name: str) -> None:
    """View trees of numbers are programs like any others: kernels take them as they are."""

    def make(program: Program, functions: Functions) -> KernelEngine:
        return kernel_engine(program, functions, Flags(optimize=0))

    options = ViewTreeOptions(mode="tuple" if crc32(name.encode()) % 2 else "batch")
    live = LIVE.get(name, 150)
    agree(case(workload, name), options, seed=10, batches=8, max_size=60, live=live, start=make)


PARTED = [c for c in KEPT if c[0] in ("housing", "retailer")]
PARTED += [("tpch_papers", "q03"), ("tpch_papers", "q05"), ("tpch", "q09"), ("finance", "axf")]


@pytest.mark.parametrize(("workload", "name"), PARTED)
def test_view_trees_are_partitioned_like_any_program(workload: str, name: str) -> None:
    c = case(workload, name)
    program = compiled(c, ViewTreeOptions())
    level = LEVELS[list(LEVELS)[-1]]
    distributed = distribute(program, choose_placement(program, level), level, c.catalog.functions)
    pair = Pair(program, distributed, 3, c.catalog.functions, c.workload.tables(seed=6))
    for number, batch in enumerate(c.workload.stream(seed=6, batches=6, max_size=60, live=100)):
        pair.apply(dict(grouped(batch)))
        pair.check(f"{workload}/{name}, batch {number}")


@pytest.mark.parametrize("workload", ["housing", "retailer"])
def test_cofactors_over_all_variables_on_simulated_workers(workload: str) -> None:
    work = WORKLOADS[workload]
    relations = tuple(schema_of(workload).relations.values())
    names = natural_join(relations).variables
    lifts = tuple(Apply("cofactor", (const(v), Var(v)), "Cofactor") for v in names)
    join = natural_join(relations, (), lifts)
    program = compile_joins({"Q": join}, relations, ViewTreeOptions())
    check_program(program)
    level = LEVELS[list(LEVELS)[-1]]
    distributed = distribute(program, choose_placement(program, level), level)
    pair = Pair(program, distributed, 2, BUILTINS, {})
    groups = 0
    for number, batch in enumerate(work.stream(seed=7, batches=4, sizes=lambda _: 300, live=200)):
        pair.apply(dict(grouped(batch)))
        pair.check(f"{workload}, batch {number}")
        [(payload,)] = pair.engine.read("Q")
        groups += bool(payload)
    assert groups, "the stream never filled the view"


@pytest.mark.full
@pytest.mark.parametrize("mode", ["batch", "tuple"])
@pytest.mark.parametrize(("workload", "name"), KEPT)
def test_a_view_tree_equals_recomputation_in_full(workload: str, name: str, mode: str) -> None:
    live = LIVE.get(name, 300)
    _, filled = agree(
        case(workload, name),
        ViewTreeOptions(mode=mode),
        seed=9,
        batches=100,
        max_size=300,
        live=live,
    )
    assert filled, "the stream never filled the view"


@pytest.mark.parametrize(("workload", "name"), REFUSED)
def test_what_is_no_join_is_refused_by_name(workload: str, name: str) -> None:
    said = r"the factorized strategy does not keep (Exists|Top|\()"
    with pytest.raises(NotFactorized, match=said):
        compiled(case(workload, name), ViewTreeOptions())
