"""Queries to a trigger program by the strategy that the user, or the cost model, chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from freshet.calculus.functions import BUILTINS, Functions
from freshet.calculus.schema import Query, Relation
from freshet.errors import StrictRefusal
from freshet.factorized import compile as factorized
from freshet.factorized.options import Options as FactorizedOptions
from freshet.ivm import compile as ivm
from freshet.ivm.options import Options as IvmOptions
from freshet.plan.choose import choose, recomputed
from freshet.plan.options import Options, Strategy
from freshet.program.terms import Program

DEPTH = {"reeval": 0, "first-order": 1, "project": 1, "higher-order": None}


def compile_queries(
    queries: Sequence[Query],
    relations: Sequence[Relation],
    options: Options | None = None,
    functions: Functions = BUILTINS,
) -> Program:
    """The program that maintains the queries; its notes say what was chosen and why."""
    options = options or Options()
    if options.strategy == "auto":
        mode = IvmOptions(mode=options.mode)
        program, words = choose(
            queries,
            relations,
            mode,
            options.statistics,
            functions,
            strict=options.strict,
            caches=options.caches,
        )
    elif options.strategy == "factorized":
        trees = FactorizedOptions(options.mode, options.orders, options.statistics)
        program = factorized.compile_queries(queries, relations, trees, functions)
        words = ("strategy: factorized, as asked for",)
    else:
        chosen = IvmOptions(
            mode=options.mode,
            depth=DEPTH[options.strategy],
            project=options.strategy == "project",
        )
        program = ivm.compile_queries(queries, relations, chosen, functions)
        words = (f"strategy: {options.strategy}, as asked for",)
    program = replace(program, notes=(*words, *program.notes))
    if options.strict:
        _refuse_recomputation(program, options.strategy)
    return program


def _refuse_recomputation(program: Program, strategy: Strategy) -> None:
    """A strict view is maintained by deltas or not at all."""
    if not recomputed(program):
        return
    reasons = [n for n in program.notes if "recomputed" in n]
    remedy = "correlate the subquery on an equality, or drop `strict`"
    if strategy == "reeval":
        remedy = "choose another strategy, or drop `strict`"
    raise StrictRefusal(f"a strict view must not be recomputed, but {reasons[0]}", instead=remedy)
