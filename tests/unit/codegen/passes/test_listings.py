"""Which orders follow their groups when they are read, and what their triggers are left with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from freshview.calculus.types import INT
from freshview.codegen.layout.terms import Layout, Listing, MapPlace, Table
from freshview.codegen.layout.text import read, show
from freshview.codegen.loops import text
from freshview.codegen.loops.terms import At, Scan
from freshview.codegen.loops.walk import statements
from freshview.codegen.options import USUAL_PASSES, KernelPasses
from freshview.codegen.pipeline import Draft, plan_kernel
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.program.updates import Mode
from freshview.sql.load import load

STREAMS = (
    "CREATE STREAM r (g INT, x INT NOT NULL, y INT, w DOUBLE NOT NULL, p DECIMAL(8, 2));"
    "CREATE STREAM s (g INT, z INT NOT NULL);"
)
FOLLOWING = [
    "SELECT g, SUM(x) AS t FROM r GROUP BY g ORDER BY t DESC LIMIT 3",
    "SELECT g, SUM(y) AS t FROM r GROUP BY g ORDER BY t DESC LIMIT 3",
    "SELECT g, SUM(p) AS t FROM r GROUP BY g ORDER BY t LIMIT 3",
    "SELECT g, AVG(x) AS t FROM r GROUP BY g ORDER BY t LIMIT 3",
    "SELECT g, COUNT(*) AS n, SUM(x) AS t FROM r GROUP BY g ORDER BY n DESC, t, g LIMIT 3",
    "SELECT g, SUM(x) AS t FROM r GROUP BY g HAVING SUM(x) > 5 ORDER BY t DESC LIMIT 3",
]
AT_ONCE = [
    "SELECT g, MAX(x) AS m, SUM(x) AS t FROM r GROUP BY g ORDER BY m DESC, t LIMIT 3",
    "SELECT g, SUM(x) * 2 AS t FROM r GROUP BY g ORDER BY t DESC LIMIT 3",
    "SELECT r.g, SUM(x * z) AS t FROM r, s WHERE r.g = s.g GROUP BY r.g ORDER BY t DESC LIMIT 3",
    "SELECT g, x FROM r ORDER BY x DESC LIMIT 3",
    "SELECT g, SUM(w) AS t FROM r GROUP BY g ORDER BY t DESC LIMIT 3",
]
"""Several values, a product that may leave its range, a join of two tables, rows, doubles."""


def plan(*sql: str, mode: Mode = "tuple", passes: KernelPasses = USUAL_PASSES) -> Draft:
    views = "".join(f"CREATE VIEW v{i} AS {text};" for i, text in enumerate(sql))
    catalog, queries = load(STREAMS + views)
    options = DeltaOptions(mode=mode, ordered=True)
    program = compile_queries(queries, list(catalog.relations.values()), options)
    return plan_kernel(program, catalog.functions, passes)


@pytest.mark.parametrize("mode", ["tuple", "batch"])
@pytest.mark.parametrize("sql", FOLLOWING)
def test_triggers_leave_the_order_to_reads(sql: str, mode: Mode) -> None:
    draft = plan(sql, mode=mode)
    [(name, listing)] = draft.layout.listings.items()
    own = draft.layout.places[name].table
    assert draft.layout.tables[listing.table].journal
    written = {
        f.kind
        for f in draft.loops.functions
        for s in statements(f.body)
        if isinstance(s, At) and s.table == own
    }
    assert written == {"listing"}
    assert draft.compared == {}  # its changes are collected all the same


@pytest.mark.parametrize("sql", AT_ONCE)
def test_what_a_record_does_not_tell_follows_at_once(sql: str) -> None:
    draft = plan(sql)
    assert draft.layout.listings == {}
    assert not any(t.journal for t in draft.layout.tables.values())


def test_the_pass_can_be_left_out() -> None:
    assert plan(FOLLOWING[0], passes=KernelPasses(listings=False)).layout.listings == {}


def test_a_table_has_one_journal_for_all_its_orders() -> None:
    draft = plan(FOLLOWING[0], FOLLOWING[4].replace("n DESC, t, g", "n, t DESC, g"))
    assert len(draft.layout.listings) == 2
    [following] = [f for f in draft.loops.functions if f.kind == "listing"]
    ways = [s.changed for s in statements(following.body) if isinstance(s, Scan)]
    assert ways == ["was", "is"]


def test_a_map_that_a_trigger_reads_follows_at_once() -> None:
    inner = f"SELECT g, t FROM ({FOLLOWING[0]}) best WHERE t > (SELECT SUM(z) FROM s)"
    draft = plan(FOLLOWING[0], inner)
    read = {
        v
        for f in draft.loops.functions
        if f.kind == "relation"
        for v in text.show(replace(draft.loops, functions=(f,))).split()
    }
    assert all(draft.layout.places[name].table not in read for name in draft.layout.listings)


def test_listings_have_a_text() -> None:
    tables = {"m": Table("m", (INT,), (INT,), journal=True), "l": Table("l", (INT, INT), (INT,))}
    places = {"M": MapPlace("m", 0, (0,)), "L": MapPlace("l", 0, (0, 1))}
    layout = Layout(tables, places, listings={"L": Listing("m", (0, None))})
    assert "listing L of m [k0, none]" in show(layout)
    assert read(show(layout)) == layout
