"""Which queries have their changes collected, by which keys, and why others have not."""

from __future__ import annotations

import pytest

from freshview.codegen.loops.effects import (
    Touch,
)
from freshview.codegen.loops.terms import At, Block
from freshview.codegen.loops.walk import blocks
from freshview.codegen.options import KernelPasses
from freshview.codegen.pipeline import Draft, plan_kernel
from freshview.ivm.compile import compile_queries
from freshview.sql.load import load

SCHEMA = """
CREATE STREAM r (a INT NOT NULL, b INT, c INT NOT NULL);
CREATE STREAM s (a INT NOT NULL, d INT NOT NULL);
CREATE TABLE u (a INT NOT NULL, name STRING NOT NULL);
"""


def plan(sql: str, passes: KernelPasses | None = None) -> Draft:
    catalog, queries = load(f"{SCHEMA} {sql}", default_name="q")
    program = compile_queries(queries, list(catalog.relations.values()))
    return plan_kernel(program, catalog.functions, passes or KernelPasses())


COLLECTED = {
    "groups": "SELECT b, SUM(c) AS s, COUNT(*) AS n FROM r GROUP BY b",
    "averages": "SELECT b, AVG(c) AS mean, SUM(c) AS s FROM r GROUP BY b",
    "one row": "SELECT SUM(c) AS s FROM r",
    "rows": "SELECT r.b, s.d FROM r, s WHERE r.a = s.a",
    "extremes": "SELECT b, MIN(c) AS low FROM r GROUP BY b",
    "one extreme": "SELECT MAX(c) AS high FROM r",
    "a static table": "SELECT u.name, SUM(r.c) AS s FROM r, u WHERE r.a = u.a GROUP BY u.name",
}


@pytest.mark.parametrize("sql", COLLECTED.values(), ids=COLLECTED)
def test_collected(sql: str) -> None:
    d = plan(sql)
    assert d.compared == {}
    assert all(touched(f.body) for f in d.loops.functions if f.kind == "relation")


def touched(block: Block) -> bool:
    """Whether every write of a state table of the query stands behind what it touches."""
    for before, s in zip((None, *block), block, strict=False):
        if isinstance(s, At) and s.table == "m_q" and not isinstance(before, Touch):
            return False
        if not all(touched(inside) for inside in blocks(s)):
            return False
    return True


COMPARED = {
    "SELECT b, SUM(c) AS s FROM r GROUP BY b ORDER BY s DESC LIMIT 3": "by a walk through a map",
    "SELECT a, c FROM r WHERE c > (SELECT SUM(d) FROM s)": "is recomputed when it is read",
}


@pytest.mark.parametrize(("sql", "why"), COMPARED.items())
def test_compared(sql: str, why: str) -> None:
    d = plan(sql)
    assert d.collected == {}
    assert why in d.compared["q"]
    assert "touch" not in str(d.loops).lower()


def test_a_map_that_lacks_the_key_is_in_rows_of_many_keys() -> None:
    """The total of all rows stands beside each group: one row of it changes every group."""
    sql = "SELECT b, SUM(c) AS s, (SELECT SUM(d) FROM s) AS t FROM r GROUP BY b"
    assert "in rows of several values of 'b'" in plan(sql).compared["q"]


def test_the_switch() -> None:
    d = plan(COLLECTED["groups"], KernelPasses(changes=False))
    assert (d.collected, d.compared) == ({}, {})
    assert "touch" not in str(d.loops).lower()


def test_a_kernel_of_many_views_collects_the_first_64() -> None:
    views = " ".join(f"CREATE VIEW v{i} AS SELECT SUM(c * {i}) AS s FROM r;" for i in range(66))
    d = plan(views)
    assert len(d.collected) == 64
    assert set(d.compared.values()) == {"the kernel has more than 64 views"}
