"""What `freshview explain --passes` says beside the levels themselves."""

from __future__ import annotations

import re

from freshview.codegen.explain import ACTS_ON, show_passes
from freshview.codegen.pipeline import PASSES
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.sql.load import load

STREAM = "CREATE STREAM r (a INT NOT NULL, b INT NOT NULL);"
GROUPS = "SELECT a, SUM(b) AS n FROM r GROUP BY a"
RANGE = "SELECT SUM(x.b * (SELECT SUM(y.b) FROM r y WHERE y.a < x.a)) AS n FROM r x"


def passes(query: str) -> str:
    catalog, queries = load(f"{STREAM} {query};", default_name="q")
    options = DeltaOptions(mode="tuple")
    return show_passes(compile_queries(queries, list(catalog.relations.values()), options))


def test_a_pass_that_changes_nothing_says_what_it_acts_on() -> None:
    assert ACTS_ON.keys() <= {step.name for step in PASSES}
    text = passes(GROUPS)
    assert "-- merge_tests: nested tests become one condition (nothing changed: it is for" in text
    assert re.search(r"^-- lower: .*indexes$", text, re.MULTILINE), "it has changed something"
    unexplained = re.findall(r"-- (\w+): .*\(nothing changed\)", text)
    assert unexplained == []


def test_a_note_names_the_ordered_indexes_that_the_estimate_does_not_know() -> None:
    assert "-- note: ordered indexes of m_q_r answer in O(log n)" in passes(RANGE)
    assert "-- note" not in passes(GROUPS)
