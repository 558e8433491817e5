"""The laws of merging programs, and of taking a query out again.

Up to the names of maps, `merge` is associative and commutative and leaves a program as it is; what
several programs maintain in the same way is kept once; `without` undoes `merge`. After every batch
a merged program answers what its parts answer apart.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from freshview.calculus.alpha_equivalence import shape
from freshview.calculus.check import Schema, infer
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.schema import Column, Query
from freshview.calculus.scope import base_relations, outs, relations
from freshview.calculus.terms import Expr, View
from freshview.calculus.walk import bottom_up
from freshview.factorized import compile as factorized
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.readout import NotFactorized
from freshview.ivm.compile import compile_queries
from freshview.plan import compile as plan
from freshview.plan.options import PlanOptions
from freshview.program.check import check_program
from freshview.program.merge import merge, without
from freshview.program.terms import Program
from freshview.program.updates import Mode
from freshview.reference.engine.run import Engine
from freshview.sql.load import load
from tests.differential.harness import case, grouped
from tests.differential.streams import schema
from tests.differential.together import together
from tests.law.examples import examples
from tests.law.strategies import deltas, terms
from tests.law.test_compile import SCHEMA, STRATEGIES, is_typed, no_null, numeric
from tests.law.test_simplify import without_nulls
from tests.thin import thin

MODES: tuple[Mode, ...] = ("tuple", "batch")


def compiled(name: str, e: Expr, strategy: str, mode: Mode) -> Program:
    names = tuple(sorted(outs(e)))
    _, types = infer(e, Schema({r.name: r.types for r in SCHEMA}))
    query = Query(name, tuple(Column(v, types[v]) for v in names), names, e)
    return compile_queries([query], SCHEMA, replace(STRATEGIES[strategy], mode=mode))


@st.composite
def programs(draw: st.DrawFn, most: int = 3) -> list[Program]:
    """Programs of random terms, now and then of one term by two strategies; all of one mode."""
    mode = draw(st.sampled_from(MODES))
    out: list[Program] = []
    term: Expr | None = None
    for number in range(draw(st.integers(2, most))):
        if term is None or draw(st.booleans()):
            term = numeric(without_nulls(draw(terms(depth=3))))
            assume(relations(term) and is_typed(term))
        strategy = draw(st.sampled_from(sorted(STRATEGIES)))
        out.append(compiled(f"q{number}", term, strategy, mode))
    return out


def size(p: Program) -> tuple[int, int]:
    """How many maps and statements there are."""
    return len(p.maps), sum(len(t.statements) for t in p.triggers)


def up_to_names(p: Program) -> tuple[Counter[Any], ...]:
    """A program without the names of maps and variables: a map is called what it is."""
    named = {m.name: f"{shape(m.definition)}:{m.payload}" for m in p.maps}

    def nameless(e: Expr) -> str:
        return shape(
            bottom_up(e, lambda t: replace(t, name=named[t.name]) if isinstance(t, View) else None)
        )

    maps = Counter(
        (named[m.name], len(m.inputs), Counter(k.type for k in m.keys).total()) for m in p.maps
    )
    statements = Counter(
        (t.event, t.relation, s.op, named[s.target.name], nameless(s.term))
        for t in p.triggers
        for s in t.statements
    )
    return maps, statements, Counter((q.name, nameless(q.term)) for q in p.queries)


def under_other_names(p: Program) -> Program:
    """The same program; its queries are called otherwise."""
    return replace(p, queries=tuple(replace(q, name=f"{q.name}_again") for q in p.queries))


class Apart:
    """Programs side by side, each on an engine of its own."""

    def __init__(self, parts: Iterable[Program], functions: Functions = BUILTINS) -> None:
        self.engines = [Engine(p, functions) for p in parts]

    def load(self, tables: dict[str, Any]) -> None:
        for engine in self.engines:
            engine.load({n: rows for n, rows in tables.items() if n in engine.relations})

    def apply(self, relation: str, change: Any) -> None:
        for engine in self.engines:
            if relation in engine.relations:
                engine.apply(relation, change)

    def answers(self) -> dict[str, Any]:
        return {name: e.read(name) for e in self.engines for name in e.queries}


def agree(
    parts: Sequence[Program],
    merged: Program,
    tables: dict[str, Any],
    batches: Iterable[Iterable[tuple[str, Any]]],
    functions: Functions = BUILTINS,
) -> None:
    """After every change, the merged program and its parts have the same answers."""
    check_program(merged, functions)
    one, apart = Apart([merged], functions), Apart(parts, functions)
    one.load(tables)
    apart.load(tables)
    assert one.answers() == apart.answers()
    for batch in batches:
        for relation, change in batch:
            one.apply(relation, change)
            apart.apply(relation, change)
            assert one.answers() == apart.answers()


@st.composite
def changes(draw: st.DrawFn) -> tuple[dict[str, Any], list[list[tuple[str, Any]]]]:
    """The rows of the static table, and changes of the streams."""
    static = {row: abs(m) for row, m in no_null(draw(deltas("U"))).items()}
    names = st.sampled_from([r.name for r in SCHEMA if not r.static])
    steps = [(n, no_null(draw(deltas(n)))) for n in draw(st.lists(names, max_size=4))]
    return {"U": static}, [[step] for step in steps]


@examples(150)
@given(programs(), changes())
def test_a_merged_program_answers_as_its_parts_do(parts: list[Program], data: Any) -> None:
    merged = merge(parts)
    agree(parts, merged, *data)
    assert set(merged.view_notes) == {q.name for p in parts for q in p.queries}


@examples(150)
@given(programs())
def test_one_program_stays_as_it_is(parts: list[Program]) -> None:
    for p in parts:
        assert merge([p]) == p
        assert merge([p]).notes == p.notes
    assert merge([]) == Program((), (), (), ())


@examples(150)
@given(programs())
def test_a_program_beside_itself_doubles_nothing(parts: list[Program]) -> None:
    once = merge(parts)
    twice = merge([once, under_other_names(once)])
    assert twice.maps == once.maps
    assert twice.triggers == once.triggers


@examples(100)
@given(programs())
def test_order_and_grouping_do_not_matter(parts: list[Program]) -> None:
    once = up_to_names(merge(parts))
    for shuffled in permutations(parts):
        assert up_to_names(merge(shuffled)) == once
        first, *rest = shuffled
        assert up_to_names(merge([first, merge(rest)])) == once
        assert up_to_names(merge([merge(rest), first])) == once


@examples(150)
@given(programs(), changes())
def test_a_query_is_taken_out_again(parts: list[Program], data: Any) -> None:
    merged = merge(parts)
    for gone in range(len(parts)):
        left = [p for i, p in enumerate(parts) if i != gone]
        rest = without(merged, f"q{gone}")
        assert up_to_names(rest) == up_to_names(merge(left))
        assert f"q{gone}" not in rest.view_notes
        if left == parts[:1] and all(r in rest.relations for r in parts[0].relations):
            assert up_to_names(rest) == up_to_names(parts[0])
        agree([replace(p, relations=rest.relations) for p in left], rest, *data)


@examples(50)
@given(programs(most=2))
def test_nothing_is_left_of_all_the_queries_taken_out(parts: list[Program]) -> None:
    merged = merge(parts)
    for number in range(len(parts)):
        merged = without(merged, f"q{number}")
    assert merged == Program((), (), (), ())


# SQL: NULLs, self-joins, outer joins, nested aggregates


PLANS = ("auto", *(s for s in STRATEGIES if s != "second-order"), "factorized")


def planned(query: Query, catalog: Any, strategy: str, mode: Mode) -> Program:
    read = base_relations(query)
    used = [r for r in catalog.relations.values() if r.name in read]
    if strategy == "auto":
        return plan.compile_queries([query], used, PlanOptions(mode=mode), catalog.functions)
    if strategy == "factorized":
        try:
            trees = ViewTreeOptions(mode)
            return factorized.compile_queries([query], used, trees, catalog.functions)
        except NotFactorized:
            strategy = "higher-order"
    options = replace(STRATEGIES[strategy], mode=mode)
    return compile_queries([query], used, options, catalog.functions)


@pytest.mark.parametrize("seed", thin(range(60), 10), ids="seed-{}-".format)
def test_views_in_sql_answer_as_they_do_apart(seed: int) -> None:
    """Each view by a strategy of its own; one view after the other is taken out again."""
    world, rng = together(seed), random.Random(seed)
    texts = ";\n".join(f"CREATE VIEW {name} AS {sql}" for name, sql in world.views)
    catalog, queries = load(texts, catalog=schema(world.variant))
    mode = rng.choice(MODES)
    parts = [planned(q, catalog, rng.choice(PLANS), mode) for q in queries]
    tables = {n: [row for row, _ in rows] for n, rows in grouped(list(world.stream.static))}
    batches = [grouped(list(batch)) for batch in world.stream.batches]
    merged = merge(parts)
    agree(parts, merged, tables, batches, catalog.functions)
    twice = merge([merged, under_other_names(merged)])
    assert size(twice) == size(merged)
    while len(parts) > 1:
        gone = parts.pop(rng.randrange(len(parts)))
        merged = without(merged, gone.queries[0].name)
        assert up_to_names(merged) == up_to_names(merge(parts))
    agree(parts, merged, tables, batches, catalog.functions)


@pytest.mark.parametrize("strategy", thin(["higher-order", "first-order", "project", "reeval"], 2))
@pytest.mark.parametrize("workload", ["tpch", "finance", "housing", "retailer"])
def test_merging_shares_what_compiling_together_shares(workload: str, strategy: str) -> None:
    """With one strategy for all, views that are compiled apart share no less."""
    cases = [case(workload, name) for name in case_names(workload)]
    catalog, queries = cases[0].catalog, [c.query for c in cases]
    options = replace(STRATEGIES[strategy], mode="batch")
    declared = list(catalog.relations.values())
    apart = [compile_queries([q], declared, options, catalog.functions) for q in queries]
    merged = merge(apart)
    check_program(merged, catalog.functions)
    assert size(merged) == size(compile_queries(queries, declared, options, catalog.functions))
    assert len(merged.maps) < sum(len(p.maps) for p in apart)


def case_names(workload: str) -> list[str]:
    from workloads import WORKLOADS

    return list(WORKLOADS[workload].queries())
