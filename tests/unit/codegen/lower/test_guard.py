"""A sum that chooses comes first, and guards the walk through what it is multiplied by."""

from __future__ import annotations

from freshview.codegen.loops.parts import There
from freshview.codegen.loops.terms import If, Slice, Total
from freshview.codegen.loops.walk import statements
from freshview.codegen.options import KernelPasses
from freshview.codegen.pipeline import plan_kernel
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.program.terms import Program
from freshview.sql.load import load

SCRIPT = """
CREATE STREAM suppliers (id INT NOT NULL, nation INT NOT NULL);
CREATE STREAM items (supplier INT NOT NULL, part INT NOT NULL);
CREATE STREAM parts (id INT NOT NULL, kind INT NOT NULL);
CREATE STREAM nations (id INT NOT NULL, name INT NOT NULL);
SELECT COUNT(*) AS n FROM suppliers s, items i, parts p, nations n
WHERE s.id = i.supplier AND i.part = p.id AND p.kind = 3 AND s.nation = n.id AND n.name = 7
"""


def program() -> Program:
    catalog, queries = load(SCRIPT, default_name="v")
    options = DeltaOptions(mode="tuple", depth=1, project=True)
    return compile_queries(queries, list(catalog.relations.values()), options)


def test_the_sum_of_one_table_guards_the_walk_through_the_others() -> None:
    [f] = [f for f in plan_kernel(program()).loops.functions if f.of == "suppliers"]
    body = list(statements(f.body))
    total = next(s for s in body if isinstance(s, Total))
    [inside] = [s for s in statements(total.body) if isinstance(s, Slice)]
    assert "nations" in inside.table
    guard = body[body.index(total) + 1 :]
    tests = [t for s in guard if isinstance(s, If) for t in s.tests]
    assert There(next(t.value for t in tests if isinstance(t, There))) in tests
    walked = [s.table for s in guard if isinstance(s, Slice)]
    assert any("items" in table for table in walked)


def test_without_the_switch_the_walk_comes_as_it_is_written() -> None:
    draft = plan_kernel(program(), passes=KernelPasses(guard=False))
    [f] = [f for f in draft.loops.functions if f.of == "suppliers"]
    total = next(s for s in statements(f.body) if isinstance(s, Total))
    assert any("items" in s.table for s in statements(total.body) if isinstance(s, Slice))
