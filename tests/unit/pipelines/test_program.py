"""The program of a pipeline: each view as it would be planned alone, equal maps once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from freshview.calculus.schema import Query
from freshview.errors import StrictRefusal, UnsupportedSql
from freshview.pipelines.catalog import PipelineCatalog
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.program import program_of
from freshview.program.check import check_program
from freshview.sql import Catalog
from tests.differential.harness import case

PLAIN = PipelineOptions()


def queries(*names: str) -> tuple[Catalog, list[Query]]:
    cases = [case("tpch", name) for name in names]
    return cases[0].catalog, [c.query for c in cases]


def test_auto_chooses_for_each_view_what_it_chooses_for_it_alone() -> None:
    # Q15 needs deltas of deltas; planned with it, Q9 had them too, for five times the work.
    catalog, views = queries("q09", "q15")
    both = program_of(views, catalog, PLAIN)
    check_program(both, catalog.functions)
    strategies = set()
    for view in views:
        alone = program_of([view], catalog, PLAIN)
        assert both.view_notes[view.name][0] == alone.notes[0]
        strategies.add(both.view_notes[view.name][0].split(",")[0])
    assert len(strategies) == 2


def test_a_view_that_is_there_twice_is_kept_once() -> None:
    catalog, [view] = queries("q03")
    once = program_of([view], catalog, PLAIN)
    twice = program_of([view, replace(view, name="again")], catalog, PLAIN)
    assert (twice.maps, twice.triggers) == (once.maps, once.triggers)


def test_a_strict_pipeline_refuses_one_view_that_is_recomputed() -> None:
    catalog, views = queries("q03", "q15")
    with pytest.raises(StrictRefusal, match="q15 is recomputed"):
        program_of(views, catalog, replace(PLAIN, strict=True))


def test_views_of_a_pipeline_have_policies_of_their_own() -> None:
    catalog, [view] = queries("q03")
    views = [replace(view, policy="incremental"), replace(view, name="anew", policy="full")]
    notes = program_of(views, catalog, PLAIN).view_notes
    assert not [n for n in notes["q03"] if "is recomputed" in n]
    assert [n for n in notes["anew"] if "anew is recomputed" in n]
    with pytest.raises(StrictRefusal, match="q15 is recomputed"):
        program_of([replace(queries("q15")[1][0], policy="strict")], catalog, PLAIN)


def test_a_view_that_is_dropped_is_none_of_the_pipeline() -> None:
    class Declared(PipelineCatalog):
        @property
        def spark(self) -> Any:
            raise AssertionError("nothing runs")

        changes = subscribe = _not_asked = spark

    pipeline = Declared()
    pipeline.declare("CREATE STREAM r (a INT); CREATE VIEW v AS SELECT a FROM r")
    pipeline.declare("CREATE VIEW w AS SELECT a FROM r; DROP VIEW v")
    assert list(pipeline.queries) == ["w"]
    with pytest.raises(UnsupportedSql, match="INSERT is not supported among declarations"):
        pipeline.declare("INSERT INTO r VALUES (1)")
