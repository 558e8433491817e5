"""The trigger program of a pipeline's views."""

from __future__ import annotations

from collections.abc import Iterable

from freshview.calculus.schema import Query
from freshview.calculus.scope import relations
from freshview.pipelines.options import PipelineOptions
from freshview.plan.compile import compile_queries
from freshview.plan.options import PlanOptions
from freshview.program.terms import Program
from freshview.sql import Catalog


def program_of(
    queries: Iterable[Query], catalog: Catalog, pipeline_options: PipelineOptions
) -> Program:
    """The queries over the relations that they read, for batches."""
    listed = list(queries)
    read = {name for q in listed for name in relations(q.term)}
    used = [r for r in catalog.relations.values() if r.name in read]
    options = PlanOptions(
        strategy=pipeline_options.strategy,
        mode="batch",
        strict=pipeline_options.strict,
        caches=False,
    )
    return compile_queries(listed, used, options, catalog.functions)
