"""The plan of a view's kernel: compiled once, then read from the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Protocol

from freshview.calculus.functions import BUILTINS, CppRing, Function, Functions
from freshview.calculus.schema import Query, Relation
from freshview.calculus.terms import Apply
from freshview.calculus.walk import distinct_subterms
from freshview.codegen.options import KernelPasses
from freshview.depth import deep
from freshview.errors import NotNative
from freshview.program.updates import Mode
from freshview.runtime.compile.compiled_plan import CompiledPlan
from freshview.runtime.compile.plan_cache import user_plans
from freshview.runtime.compile.source_hash import hash_of, python_files
from freshview.runtime.settings import DatabaseSettings

PACKAGE = Path(__file__).resolve().parents[2]
COMPILER_ROOMS = (
    *("algebra", "calculus", "codegen", "factorized", "ivm", "plan", "program"),
    *("runtime/compile", "simplify"),
)
"""The folders of the package whose code decides what a plan is."""


class PlannedView(Protocol):
    """What the plan of a view follows from."""

    @property
    def query(self) -> Query:
        """Its query."""

    @property
    def relations(self) -> tuple[Relation, ...]:
        """What the query reads."""

    @property
    def settings(self) -> DatabaseSettings:
        """How it is planned."""

    @property
    def functions(self) -> Functions:
        """The functions that it may call."""


def compile_group(views: Sequence[PlannedView], wide: bool = False) -> CompiledPlan:
    """The plan of views that one kernel keeps, from the cache or compiled.

    Each is planned by itself, and the programs are merged: maps that several of them keep in the
    same way are kept once. Views of several call no functions but those that every database has.
    """
    if len(views) == 1:
        v = views[0]
        return compile_view(v.query, v.relations, v.settings, v.functions, wide)
    key, plans = _group_key(views, wide), user_plans()
    plan = plans.get(key)
    if plan is None:
        from freshview.codegen.kernel.source import write
        from freshview.program.merge import merge

        alone = [compile_view(v.query, v.relations, v.settings, v.functions) for v in views]
        program = merge(p.program for p in alone)
        passes = replace(views[0].settings.passes, wide=wide)
        plan = CompiledPlan.of(program, write(program, passes=passes))
        plans.put(key, plan)
    return plan


def compile_view(
    query: Query,
    relations: Sequence[Relation],
    settings: DatabaseSettings,
    functions: Functions,
    wide: bool = False,
) -> CompiledPlan:
    """The plan of a view, from the cache or compiled; NotNative where Python is needed.

    Triggers for single rows are chosen, unless one of their statements walks through all the
    data, or a number is an element of a ring, which costs more to multiply than rows to group:
    then the work is shared by the rows of a batch. `wide` makes room for decimals of all digits.
    """
    _refuse_rings(query, functions)
    passes = replace(settings.passes, wide=wide)
    key = _key(query, relations, settings, functions, passes)
    plans = user_plans()
    plan = plans.get(key)
    if plan is not None:
        return plan
    # The compiler takes longer to import than a plan to load.
    from freshview.codegen.kernel.source import write
    from freshview.plan.compile import compile_queries

    options = settings.planner_options(trigger_mode(query), kernel=True)
    program = compile_queries([query], relations, options, functions)
    source = write(program, functions, passes)
    if options.mode == "tuple" and source.scans and settings.mode == "auto":
        options = settings.planner_options("batch", kernel=True)
        program = compile_queries([query], relations, options, functions)
        source = write(program, functions, passes)
    plan = CompiledPlan.of(program, source)
    plans.put(key, plan)
    return plan


def trigger_mode(query: Query) -> Mode:
    """The triggers that suit a query, as far as its columns and the views that it reads tell.

    What changes in a view is a batch, whatever brings it about.
    """
    in_batches = query.over or any(c.type.kind == "ring" for c in query.columns)
    return "batch" if in_batches else "tuple"


def python_functions(query: Query, functions: Functions) -> list[str]:
    """The functions of a query that a user has registered, if they are Python."""
    known = BUILTINS.known
    return sorted(
        n
        for n in _applied(query)
        if known.get(n) is not functions.known.get(n)
        and functions.known[n].ring not in functions.headers
    )


def _refuse_rings(query: Query, functions: Functions) -> None:
    """Elements of rings that are Python classes are nothing that a kernel holds."""
    for name in python_functions(query, functions):
        if functions.known[name].ring:
            raise NotNative(f"the function '{name}' is Python code")


def _applied(query: Query) -> set[str]:
    return {e.fn for term in query.terms for e in distinct_subterms(term) if isinstance(e, Apply)}


def cached_plan(
    query: Query,
    relations: Sequence[Relation],
    settings: DatabaseSettings,
    functions: Functions,
    wide: bool = False,
) -> CompiledPlan | None:
    """The plan of a view, if this very compiler has compiled it before."""
    passes = replace(settings.passes, wide=wide)
    return user_plans().get(_key(query, relations, settings, functions, passes))


def cached_group_plan(views: Sequence[PlannedView], wide: bool = False) -> CompiledPlan | None:
    """The plan of views that one kernel keeps, if this very compiler has compiled it before."""
    if len(views) == 1:
        v = views[0]
        return cached_plan(v.query, v.relations, v.settings, v.functions, wide)
    return user_plans().get(_group_key(views, wide))


def _group_key(views: Sequence[PlannedView], wide: bool) -> str:
    whole = hashlib.sha256()
    for v in views:
        passes = replace(v.settings.passes, wide=wide)
        whole.update(_key(v.query, v.relations, v.settings, v.functions, passes).encode())
    return whole.hexdigest()


def headers_of(query: Query, functions: Functions) -> list[CppRing]:
    """The rings of C++ headers that a query lifts into."""
    used = {functions.known[n].ring for n in _applied(query) if n in functions.known}
    return [ring for name, ring in sorted(functions.headers.items()) if name in used]


@deep
def _key(
    query: Query,
    relations: Sequence[Relation],
    settings: DatabaseSettings,
    functions: Functions,
    passes: KernelPasses,
) -> str:
    orders = sorted((name, str(order)) for name, order in settings.orders.items())
    options: tuple[object, ...]
    options = (settings.strategy, settings.mode, settings.strict, settings.statistics, orders)
    options += (settings.switches,)
    options += ([(n, [list(g) for g in groups]) for n, groups in settings.products.items()],)
    headers = headers_of(query, functions)
    own = [_signature(functions.known[n]) for n in python_functions(query, functions)]
    whole = repr((query, tuple(relations), options, passes, headers, own, _compiler()))
    return hashlib.sha256(whole.encode()).hexdigest()


def _signature(f: Function) -> tuple[object, ...]:
    """What a kernel has to know of a function that it calls in Python."""
    return (f.name, str(f.result()), f.arity, f.strict, f.partial, f.ring)


@cache
def _compiler() -> str:
    """A hash of all the source that plans and emits: another compiler may plan otherwise."""
    return hash_of(PACKAGE, compiler_sources())


def compiler_sources() -> list[str]:
    """The files of the package whose code decides what a plan is."""
    return [*python_files(PACKAGE, *COMPILER_ROOMS)]
