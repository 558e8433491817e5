"""Queries to a trigger program by the strategy that the user, or the cost model, chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.schema import Query, Relation
from freshview.depth import deep
from freshview.errors import StrictRefusal
from freshview.factorized import compile as factorized
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.readout import NotFactorized
from freshview.factorized.result import Result, keep_factorized
from freshview.ivm import compile as ivm
from freshview.ivm.options import DeltaOptions
from freshview.plan.choose import choose, recomputed
from freshview.plan.options import PlanOptions, Strategy
from freshview.plan.policies import under_policy
from freshview.program.expiry import with_expiry
from freshview.program.terms import Program

DEPTH = {"reeval": 0, "first-order": 1, "project": 1, "higher-order": None}


@deep
def compile_queries(
    queries: Sequence[Query],
    relations: Sequence[Relation],
    options: PlanOptions | None = None,
    functions: Functions = BUILTINS,
) -> Program:
    """The program that maintains the queries; its notes say what was chosen and why."""
    options = under_policy(options or PlanOptions(), queries)
    options = replace(options, switches=options.switches.over(relations))
    if any(q.factorized for q in queries):
        return factorized_result(queries, relations, options, functions).factorized.program
    products = _products(relations, options)
    by_factors = _by_factors(queries, relations, options, products, functions)
    if by_factors is not None:
        program, words = by_factors
    elif options.strategy == "auto":
        program, words = choose(queries, relations, options, functions)
    elif options.strategy == "factorized":
        trees = ViewTreeOptions(options.mode, options.orders, options.statistics)
        program = factorized.compile_queries(queries, relations, trees, functions)
        words = ("strategy: factorized, as asked for",)
    else:
        chosen = DeltaOptions(
            mode=options.mode,
            depth=DEPTH[options.strategy],
            project=options.strategy == "project",
        )
        chosen = options.switches.set(chosen)
        program = ivm.compile_queries(queries, relations, chosen, functions)
        words = (f"strategy: {options.strategy}, as asked for",)
    if products and by_factors is None:
        words = (*words, *(f"products of {name} are listed row by row" for name in products))
    policies = dict.fromkeys(f"policy: {q.policy}" for q in queries if q.policy)
    words = (*policies, *words[:1], *options.switches.words(), *_said(queries), *words[1:])
    program = replace(program, notes=(*words, *program.notes))
    if options.strict:
        _refuse_recomputation(program, options.strategy)
    return with_expiry(program, options.mode)


def factorized_result(
    queries: Sequence[Query],
    relations: Sequence[Relation],
    options: PlanOptions,
    functions: Functions = BUILTINS,
) -> Result:
    """The views of a factorized view, which is never listed, whatever the strategy."""
    if len(queries) > 1:
        names = ", ".join(f"'{q.name}'" for q in queries)
        raise NotFactorized(
            f"{names} are views of one program, and a factorized view has one of its own",
            instead="declare it with CREATE VIEW, or keep it in a database of this process",
        )
    trees = ViewTreeOptions(options.mode, options.orders, options.statistics)
    return keep_factorized(queries[0], relations, trees, functions)


def _products(
    relations: Sequence[Relation], options: PlanOptions
) -> dict[str, Sequence[Sequence[str]]]:
    """The columns of the factors of these relations, under the names that are declared."""
    named = {r.name.lower(): r for r in relations if not r.static}
    factors: dict[str, Sequence[Sequence[str]]] = {}
    for name, groups in options.products.items():
        r = named.get(name.lower())
        if r is not None:
            columns = {c.name.lower(): c.name for c in r.columns}
            factors[r.name] = [[columns.get(c.lower(), c) for c in group] for group in groups]
    return factors


def _by_factors(
    queries: Sequence[Query],
    relations: Sequence[Relation],
    options: PlanOptions,
    products: Mapping[str, Sequence[Sequence[str]]],
    functions: Functions,
) -> tuple[Program, tuple[str, ...]] | None:
    """A program over view trees that takes products as they are, if there may be one."""
    if not products or options.strategy not in ("auto", "factorized"):
        return None
    if options.switches.ask_for_deltas:
        return None
    trees = ViewTreeOptions(options.mode, options.orders, options.statistics, products=products)
    try:
        program = factorized.compile_queries(queries, relations, trees, functions)
    except NotFactorized:
        return None
    asked = options.strategy == "factorized"
    why = "as asked for" if asked else f"since {', '.join(products)} changes by products"
    factors = (
        f"products of {name} come as factors: {' * '.join(_group(g) for g in groups)}"
        for name, groups in products.items()
    )
    return program, (f"strategy: factorized, {why}", *factors)


def _said(queries: Sequence[Query]) -> tuple[str, ...]:
    """What the translation noted; which views are read by their changes, and why."""
    notes = dict.fromkeys(n for q in queries for n in q.notes)
    return (*notes, *_derived(queries))


def _derived(queries: Sequence[Query]) -> tuple[str, ...]:
    names = ", ".join(dict.fromkeys(v.name for q in queries for v in q.over))
    why = "written out in their places, their definitions would make a query too large to plan"
    return (f"read by their changes: {names}; {why}",) if names else ()


def _group(columns: Sequence[str]) -> str:
    return f"({', '.join(columns)})"


def _refuse_recomputation(program: Program, strategy: Strategy) -> None:
    """A strict view is maintained by deltas or not at all."""
    if not recomputed(program):
        return
    reasons = [n for n in program.notes if "recomputed" in n]
    remedy = "correlate the subquery on an equality, or drop `strict`"
    if strategy == "reeval":
        remedy = "choose another strategy, or drop `strict`"
    elif reasons[0].endswith(("a switch asks for it", "depth 0 asks for it")):
        remedy = "drop the switch, or drop `strict`"
    raise StrictRefusal(f"a strict view must not be recomputed, but {reasons[0]}", instead=remedy)
