"""The trigger program of a pipeline's views."""

from __future__ import annotations

from collections.abc import Iterable

from freshet.calculus.schema import Query
from freshet.calculus.scope import relations
from freshet.plan.compile import compile_queries
from freshet.plan.options import Options
from freshet.program.terms import Program
from freshet.spark.choices import Choices
from freshet.sql import Catalog


def program_of(queries: Iterable[Query], catalog: Catalog, choices: Choices) -> Program:
    """The queries over the relations that they read, for batches."""
    told = list(queries)
    read = {name for q in told for name in relations(q.term)}
    used = [r for r in catalog.relations.values() if r.name in read]
    options = Options(strategy=choices.strategy, mode="batch", strict=choices.strict, caches=False)
    return compile_queries(told, used, options, catalog.functions)
