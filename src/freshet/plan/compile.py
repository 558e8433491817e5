"""Queries to a trigger program by the strategy that the user, or the cost model, chose."""

from __future__ import annotations

from collections.abc import Sequence

from freshet.calculus.functions import BUILTINS, Functions
from freshet.calculus.schema import Query, Relation
from freshet.ivm import compile as ivm
from freshet.ivm.options import Options as IvmOptions
from freshet.plan.options import Options
from freshet.program.terms import Program


def compile_queries(
    queries: Sequence[Query],
    relations: Sequence[Relation],
    options: Options | None = None,
    functions: Functions = BUILTINS,
) -> Program:
    """The program that maintains the queries."""
    options = options or Options()
    depth = {"reeval": 0, "first-order": 1, "project": 1}.get(options.strategy)
    chosen = IvmOptions(
        mode=options.mode, depth=depth, project=options.strategy == "project"
    )
    return ivm.compile_queries(queries, relations, chosen, functions)
