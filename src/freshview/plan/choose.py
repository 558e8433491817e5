"""`auto`: greedy descent over materialization strategies by estimated cost (Nikolic 2016, 3.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from freshview.calculus.alpha_equivalence import shape
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.schema import Query, Relation
from freshview.calculus.scope import relations as relations_of
from freshview.calculus.scope import stored
from freshview.calculus.terms import Rel, Sum
from freshview.cost_model import nearly_cheapest
from freshview.factorized import compile as factorized
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.readout import NotFactorized
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.program.cost import ProgramCostModel, Statistics
from freshview.program.terms import Map, Program

MOST_STEPS = 4
"""Greedy steps: each tries all the single changes of the plan at hand and takes the best."""

MOST_MOVES = 12
"""Single changes tried per step, those to the largest maps first."""

MOST_STATEMENTS = 200
"""Statements of all the plans tried in steps: large programs are worth fewer tries, since every
one of them takes its time to compile."""

WORTHWHILE = 0.9
"""A change must promise this share of the cost at most: estimates are rough."""

ROW_BY_ROW = 0.6
"""What a single change must promise where triggers take single rows: to put a map together when it
is asked for takes look-ups, which the rows of a batch share. With nine tenths, the kernel of Q18a
was half as fast."""

MUCH_LESS = 0.4
"""View trees must promise this share at most: for Q5, 550 rows of work instead of 940 took twice
as long, since they came by more look-ups."""


@dataclass(frozen=True)
class Plan:
    """A program, what it was compiled with, what it is estimated to cost, and its name."""

    name: str
    options: DeltaOptions
    program: Program
    cost: float


def choose(
    queries: Sequence[Query],
    relations: Sequence[Relation],
    mode: DeltaOptions,
    statistics: Statistics,
    functions: Functions = BUILTINS,
    *,
    strict: bool = False,
    caches: bool = True,
) -> tuple[Program, tuple[str, ...]]:
    """The cheapest program found, and the words that say why.

    `caches` says whether view caches may be among the choices.
    """

    def plan(name: str, options: DeltaOptions) -> Plan:
        program = compile_queries(queries, relations, options, functions)
        return Plan(name, options, program, model.cost(program))

    model = ProgramCostModel(statistics)
    whole = [(name, o) for name, o in _strategies(mode) if caches or not o.caches]
    start = [plan(name, options) for name, options in whole]
    allowed = [p for p in start if not (strict and recomputed(p.program))] or start[:1]
    # Estimates are rough: of the plans that are nearly as good, the one that keeps the most.
    best, *_ = nearly_cheapest(allowed, lambda p: p.cost, 1 / WORTHWHILE)
    best, changes = _descend(best, plan, strict)
    tree = _view_tree(queries, relations, mode, statistics, functions)
    if tree is not None:
        start.append(tree)
        if tree.cost < MUCH_LESS * best.cost:
            best, changes = tree, []
    return best.program, (*_words(best, start), *changes)


def _view_tree(
    queries: Sequence[Query],
    relations: Sequence[Relation],
    mode: DeltaOptions,
    statistics: Statistics,
    functions: Functions,
) -> Plan | None:
    """The plan over view trees, if the queries are aggregates, and one of them is over a join."""
    if all(len(relations_of(q.term)) < 2 for q in queries):
        return None
    options = ViewTreeOptions(mode=mode.mode, statistics=statistics)
    try:
        program = factorized.compile_queries(queries, relations, options, functions)
    except NotFactorized:
        return None
    return Plan("factorized", mode, program, ProgramCostModel(statistics).cost(program))


def _strategies(mode: DeltaOptions) -> list[tuple[str, DeltaOptions]]:
    """The whole-plan choices: how deep deltas go, caches, base relations of cyclic joins."""
    return [
        ("higher-order", mode),
        ("higher-order with view caches", replace(mode, caches=True)),
        ("higher-order that keeps the base relations of cyclic joins", replace(mode, cyclic=True)),
        ("project", replace(mode, depth=1, project=True)),
        ("first-order", replace(mode, depth=1)),
        ("reeval", replace(mode, depth=0)),
    ]


def recomputed(program: Program) -> bool:
    """Whether a change makes the program recompute a map."""
    return any(s.op == ":=" for t in program.triggers if t.event != "ready" for s in t.statements)


def _descend(
    best: Plan, plan: Callable[[str, DeltaOptions], Plan], strict: bool
) -> tuple[Plan, list[str]]:
    """Take the best single change as long as it pays."""
    changes: list[str] = []
    worthwhile = ROW_BY_ROW if best.options.mode == "tuple" else WORTHWHILE
    left = MOST_STATEMENTS
    for _ in range(MOST_STEPS):
        tried: list[tuple[Plan, str]] = []
        for options, words in _moves(best):
            if left <= 0:
                break
            tried.append((plan(best.name, options), words))
            left -= sum(len(t.statements) for t in tried[-1][0].program.triggers)
        better = [
            (p, words)
            for p, words in tried
            if p.cost < worthwhile * best.cost and not (strict and recomputed(p.program))
        ]
        if not better:
            break
        best, words = min(better, key=lambda t: t[0].cost)
        changes.append(words)
    return best, changes


def _moves(p: Plan) -> Iterator[tuple[DeltaOptions, str]]:
    """Single changes: split one map into atoms, or turn recomputing into deltas and back."""
    views = {name for q in p.program.queries for name in stored(q.term)}
    count = 0
    for m in sorted(p.program.maps, key=lambda m: -len(m.keys)):
        if count >= MOST_MOVES:
            return
        key = shape(m.definition)
        if m.name not in views and _joins(m) and key not in p.options.inline:
            count += 1
            changed = replace(p.options, inline=p.options.inline | {key})
            yield changed, f"{m.name} is joined from its relations when it is asked for"
        for relation in sorted(_recomputing(p.program, m)):
            count += 1
            pair = (key, relation)
            changed = replace(p.options, increment=p.options.increment | {pair})
            yield changed, f"{m.name} is maintained by deltas when {relation} changes"


def _joins(m: Map) -> bool:
    """Whether a map joins relations: then it could be put together from them."""
    body = m.definition.body if isinstance(m.definition, Sum) else m.definition
    return not isinstance(body, Rel) and len(relations_of(body)) > 1


def _recomputing(program: Program, m: Map) -> set[str]:
    return {
        t.relation
        for t in program.triggers
        if t.event != "ready"
        for s in t.statements
        if s.op == ":=" and s.target.name == m.name
    }


def _words(best: Plan, tried: list[Plan]) -> tuple[str, ...]:
    """What was chosen, and what the plans that differ from it would cost."""
    different = [p for p in tried if p.name != best.name and p.program.maps != best.program.maps]
    others = ", ".join(f"{p.name} {_rows(p.cost)}" for p in different)
    return (
        f"strategy: {best.name}, for an estimated {_rows(best.cost)} rows of work per change"
        + (f"; in comparison: {others}" if others else ""),
    )


def _rows(cost: float) -> str:
    """A number of rows, two digits that matter.

    >>> _rows(0.05), _rows(1234.5)
    ('0.050', '1,200')
    """
    if cost >= 100:
        digits = len(str(int(cost))) - 2
        return f"{round(cost / 10**digits) * 10**digits:,}"
    return f"{cost:.2g}" if cost >= 1 else f"{cost:.3f}"
