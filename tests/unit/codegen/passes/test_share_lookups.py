"""Records that several statements look up by the row's columns."""

from __future__ import annotations

from freshview.calculus.terms import Var
from freshview.codegen.loops.terms import Get, Loops, Probe
from freshview.codegen.loops.walk import statements
from freshview.codegen.options import KernelPasses
from freshview.codegen.pipeline import plan_kernel
from freshview.ivm.options import DeltaOptions
from tests.differential.harness import case, compiled


def look_ups(loops: Loops, function: str) -> int:
    """How often the sum of an order's lines is looked up by the row."""
    [f] = [f for f in loops.functions if f.name == function]
    asked = [s for s in statements(f.body) if isinstance(s, Get | Probe)]
    plain = [s for s in asked if isinstance(s, Probe) or not s.probe]
    by_row = [s for s in plain if all(isinstance(k, Var) and k.name[0] == "i" for k in s.keys)]
    return sum(1 for s in by_row if s.table == "m_q18_Lineitem_2")


def test_look_ups_by_the_row_are_shared() -> None:
    c = case("tpch_papers", "q18")
    program = compiled(c, DeltaOptions(mode="tuple"))
    shared = plan_kernel(program, c.catalog.functions).loops
    assert look_ups(shared, "on_Lineitem") == 2  # for an insertion, and for a deletion
    alone = plan_kernel(program, c.catalog.functions, KernelPasses(share=False)).loops
    assert look_ups(alone, "on_Lineitem") > 20
