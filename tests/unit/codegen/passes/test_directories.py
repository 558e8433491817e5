"""Which tables lie in the list heads of another one."""

from __future__ import annotations

from freshview.codegen.kernel.source import emit
from freshview.codegen.options import USUAL_PASSES, KernelPasses
from freshview.ivm.options import DeltaOptions
from tests.differential.harness import case, compiled


def housed(workload: str, name: str, passes: KernelPasses = USUAL_PASSES) -> set[str]:
    c = case(workload, name)
    text = emit(compiled(c, DeltaOptions(mode="tuple")), c.catalog.functions, passes)
    lines = (line for line in text.splitlines() if line.startswith("using Rec_"))
    return {line for line in lines if "Head" in line}


def test_sums_by_order_lie_beside_the_orders() -> None:
    line = "using Rec_m_q18_Lineitem_2 = Head0_m_q18_Customer_Lineitem;"
    assert housed("tpch_papers", "q18") == {line}
    assert housed("tpch_papers", "q18", KernelPasses(directories=False)) == set()


def test_tables_with_other_keys_stay_apart() -> None:
    """Orders of a segment's customers are few beside all that have lines of a date."""
    assert housed("tpch_papers", "q03") == set()
