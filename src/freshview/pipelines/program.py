"""The trigger program of a pipeline's views."""

from __future__ import annotations

from collections.abc import Iterable

from freshview.calculus.schema import Query
from freshview.calculus.scope import base_relations
from freshview.pipelines.options import PipelineOptions
from freshview.plan.compile import compile_queries
from freshview.plan.options import PlanOptions
from freshview.program.merge import merge
from freshview.program.terms import Program
from freshview.sql import Catalog


def program_of(
    queries: Iterable[Query], catalog: Catalog, pipeline_options: PipelineOptions
) -> Program:
    """The queries over the relations that they read, for batches.

    Each is planned by itself, so `auto` chooses for it what it would choose for it alone; maps
    that several of them keep in the same way are kept once (decision 0016).
    """
    options = PlanOptions(
        strategy=pipeline_options.strategy,
        mode="batch",
        strict=pipeline_options.strict,
        caches=False,
        switches=pipeline_options.switches,
    )
    return merge(_planned(query, catalog, options) for query in queries)


def _planned(query: Query, catalog: Catalog, options: PlanOptions) -> Program:
    read = base_relations(query)
    used = [r for r in catalog.relations.values() if r.name in read]
    return compile_queries([query], used, options, catalog.functions)
