"""`auto`: greedy descent over materialization strategies by estimated cost (Nikolic 2016, 3.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.schema import Query, Relation
from freshview.calculus.scope import relations as relations_of
from freshview.calculus.terms import Expr, Rel, Top, View
from freshview.calculus.walk import distinct_subterms
from freshview.cost_model import nearly_cheapest
from freshview.factorized import compile as factorized
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.readout import NotFactorized
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.plan.moves import moves, recomputations
from freshview.plan.options import PlanOptions
from freshview.plan.range_sums import has_range_sums
from freshview.program.cost import ProgramCostModel, statement_costs
from freshview.program.statistics import Statistics
from freshview.program.terms import Program

MOST_STEPS = 4
"""Greedy steps: each tries all the single changes of the plan at hand and takes the best."""

MOST_STATEMENTS = 200
"""Statements of all the plans tried in steps: large programs are worth fewer tries, since every
one of them takes its time to compile."""

WORTHWHILE = 0.9
"""A change must promise this share of the cost at most: estimates are rough."""

ROW_BY_ROW = 0.77
"""What a single change must promise where triggers take single rows: to put a map together when it
is asked for takes look-ups, which the rows of a batch share. With eight tenths and more, the kernel
of Q18a takes 2.4 times as long; with less than three quarters, that of Q16 twice as long."""

RECOMPUTED = 0.7
"""What recomputing a map instead of following a relation by deltas must promise. Its work grows
with the data, and that of deltas with the change: it is tried only where the sizes are told."""

RANGES = 0.55
"""What remains of the work of a plan, row by row, that adds up over ranges what another one walks
through: kernels ask an ordered index. With estimates of one and a half times that of the walk and
more, the kernels of AXF and Q17 are eight to eleven times as fast."""

FLAT = (0, 1)
"""Depths of deltas at which plans join base relations."""

CLEARLY_LESS = 0.67
"""What such a plan must promise of the higher-order one to be chosen at once: how many rows a join
finds is what is known least. Else it must be better than the higher-order plan with its changes.
With seven tenths, the kernel of Q16 takes eight times as long."""

MUCH_LESS = 0.4
"""View trees must promise this share at most: for Q5, 550 rows of work instead of 940 took twice
as long, since they came by more look-ups."""


IN_ORDER = 3.0
"""What keeping the rows in order that a LIMIT chooses from may cost, where sizes are not told: two
writes of an ordered index for each group of a change, against a sort of all the groups a read."""


@dataclass(frozen=True)
class Candidate:
    """A program, what it was compiled with, what it is estimated to cost, and its name."""

    name: str
    options: DeltaOptions
    program: Program
    cost: float


def choose(
    queries: Sequence[Query],
    relations: Sequence[Relation],
    options: PlanOptions,
    functions: Functions = BUILTINS,
) -> tuple[Program, tuple[str, ...]]:
    """The cheapest program found, and the words that say why."""

    def plan(name: str, options: DeltaOptions) -> Candidate:
        program = compile_queries(queries, relations, options, functions)
        return Candidate(name, options, program, model.cost(program))

    model = ProgramCostModel(options.statistics)
    mode = options.switches.set(DeltaOptions(mode=options.mode))
    caches = options.caches or options.switches.caches
    terms = [v.term for q in queries for v in (q, *q.over)]
    atoms = sum(isinstance(e, Rel) for term in terms for e in distinct_subterms(term))
    whole = [(name, o) for name, o in _strategies(mode, atoms) if caches or not o.caches]
    start = [plan(name, options) for name, options in whole]
    allowed = [p for p in start if not (options.strict and recomputed(p.program))] or start[:1]
    best, changes = _best(allowed, plan, options)
    tree = None
    if not options.switches.ask_for_deltas:
        tree = _view_tree(queries, relations, mode, options.statistics, functions)
    if tree is not None:
        start.append(tree)
        if tree.cost < MUCH_LESS * best.cost:
            return tree.program, _words(tree, start, options)
    kept, in_order = _in_order(best, plan, options)
    return kept.program, (*_words(best, start, options), *changes, *in_order)


def _best(
    allowed: list[Candidate], plan: Callable[[str, DeltaOptions], Candidate], options: PlanOptions
) -> tuple[Candidate, list[str]]:
    """The best of the whole plans, each with the single changes that pay.

    Estimates are rough: of the plans that are nearly as good, the one that keeps the most.
    """
    best, *_ = nearly_cheapest(allowed, lambda p: p.cost, 1 / WORTHWHILE)
    if not options.switches.moves:
        return best, []
    best, changes = _descend(best, plan, options)
    higher = [p for p in allowed if p.options.depth not in FLAT]
    if not higher or best.options.depth not in FLAT:
        return best, changes
    kept, *_ = nearly_cheapest(higher, lambda p: p.cost, 1 / WORTHWHILE)
    by_index = kept.options.mode == "tuple" and has_range_sums(kept.program)
    if best.cost <= CLEARLY_LESS * kept.cost and not by_index:
        return best, changes
    kept, others = _descend(kept, plan, options)
    nearly = RANGES if by_index else WORTHWHILE
    return (kept, others) if kept.cost * nearly <= best.cost else (best, changes)


def _in_order(
    best: Candidate, plan: Callable[[str, DeltaOptions], Candidate], options: PlanOptions
) -> tuple[Candidate, list[str]]:
    """A plan with the rows in order that a LIMIT chooses from, where that pays.

    How many groups there are decides, and that is what is known least: unless sizes are known, a
    read must not follow their number.
    """
    asked = options.ordered and options.switches.moves and not best.options.ordered
    if not asked or not any(_sorts(q.term) for q in best.program.queries):
        return best, []
    kept = plan(best.name, replace(best.options, ordered=True))
    if kept.program.maps == best.program.maps or (
        recomputed(kept.program) and not recomputed(best.program)
    ):
        return best, []
    limit = 1.0 if _sizes_are_known(best.program, options) else IN_ORDER
    pays = kept.cost <= limit * best.cost
    words = f"the rows that LIMIT chooses from are kept in order, for {_rows(kept.cost)} rows"
    return (kept, [words]) if pays else (best, [])


def _sorts(read: Expr) -> bool:
    """Whether a read sorts rows that are put together for it, to choose the first."""
    return any(isinstance(e, Top) and not isinstance(e.body, View) for e in distinct_subterms(read))


def _sizes_are_known(program: Program, options: PlanOptions) -> bool:
    return {r.name for r in program.relations if not r.static} <= options.statistics.rows.keys()


def _view_tree(
    queries: Sequence[Query],
    relations: Sequence[Relation],
    mode: DeltaOptions,
    statistics: Statistics,
    functions: Functions,
) -> Candidate | None:
    """The plan over view trees, if the queries are aggregates, and one of them is over a join."""
    if all(len(relations_of(q.term)) < 2 for q in queries):
        return None
    options = ViewTreeOptions(mode=mode.mode, statistics=statistics)
    try:
        program = factorized.compile_queries(queries, relations, options, functions)
    except NotFactorized:
        return None
    return Candidate("factorized", mode, program, ProgramCostModel(statistics).cost(program))


def _strategies(mode: DeltaOptions, atoms: int) -> list[tuple[str, DeltaOptions]]:
    """The whole-plan choices: how deep deltas go, caches, base relations of cyclic joins.

    None goes deeper than `mode` does, and none re-evaluates where that is switched off. A query of
    one atom has a delta without any, whatever the depth, and a cycle takes three.
    """
    deep = [
        ("higher-order", mode),
        ("higher-order with view caches", replace(mode, caches=True)),
    ]
    cyclic = replace(mode, cyclic=True)
    if atoms > 2:
        deep.append(("higher-order that keeps the base relations of cyclic joins", cyclic))
    flat = [
        ("project", replace(mode, depth=1, project=True, caches=False)),
        ("first-order", replace(mode, depth=1, caches=False)),
    ]
    again = [("reeval", replace(mode, depth=0, caches=False))]
    if mode.depth == 0:
        return again
    flat = flat if atoms > 1 or mode.depth == 1 else []
    return [*(deep if mode.depth != 1 else []), *flat, *([] if mode.always_update else again)]


def recomputed(program: Program) -> bool:
    """Whether a change makes the program recompute a map."""
    changes = {m.name for m in program.maps if m.is_change}
    return any(
        s.op == ":=" and s.target.name not in changes
        for t in program.triggers
        if t.event != "ready"
        for s in t.statements
    )


@dataclass
class _Search:
    """What the steps of a descent share: how plans are compiled, and how much of it is left."""

    plan: Callable[[str, DeltaOptions], Candidate]
    strict: bool
    left: int = MOST_STATEMENTS

    def cheapest(
        self, best: Candidate, moves: Iterable[tuple[DeltaOptions, str]], worthwhile: float
    ) -> tuple[Candidate, str] | None:
        """The best single change of a plan, and its words, if one promises to be worthwhile."""
        better: list[tuple[Candidate, str]] = []
        for options, words in moves:
            if self.left <= 0:
                break
            changed = self.plan(best.name, options)
            self.left -= sum(len(t.statements) for t in changed.program.triggers)
            if changed.cost < worthwhile * best.cost and not (
                self.strict and recomputed(changed.program)
            ):
                better.append((changed, words))
        return min(better, key=lambda b: b[0].cost) if better else None


def _descend(
    best: Candidate, plan: Callable[[str, DeltaOptions], Candidate], options: PlanOptions
) -> tuple[Candidate, list[str]]:
    """Take the best single change as long as it pays."""
    changes: list[str] = []
    worthwhile = ROW_BY_ROW if best.options.mode == "tuple" else WORTHWHILE
    may_recompute = not options.strict and _sizes_are_known(best.program, options)
    search = _Search(plan, options.strict)
    for _ in range(MOST_STEPS):
        step = search.cheapest(best, moves(best.program, best.options), worthwhile)
        if step is None and may_recompute:
            # Last, so that what it takes to try this is not missing for the other changes.
            spent = statement_costs(best.program, options.statistics)
            least = (1 - RECOMPUTED) * best.cost
            back = recomputations(best.program, best.options, spent, least)
            step = search.cheapest(best, back, min(worthwhile, RECOMPUTED))
        if step is None:
            break
        best, words = step
        changes.extend([words] if words else [])
    return best, changes


def _words(best: Candidate, tried: list[Candidate], options: PlanOptions) -> tuple[str, ...]:
    """What was chosen, and what the plans that differ from it would cost.

    A kernel does less than that where an ordered index takes the place of a walk.
    """
    different = [p for p in tried if p.name != best.name and p.program.maps != best.program.maps]
    others = ", ".join(
        f"{p.name} {_rows(p.cost)}{_why_not(p, best, options.strict)}" for p in different
    )
    return (
        f"strategy: {best.name}, for an estimated {_rows(best.cost)} rows of work per changed row"
        + (", before ordered indexes" if options.ordered else "")
        + (f"; in comparison: {others}" if others else ""),
    )


def _why_not(p: Candidate, best: Candidate, strict: bool) -> str:
    """Why a plan was passed over that is estimated to cost less than the chosen one."""
    if p.cost >= best.cost:
        return ""
    if strict and recomputed(p.program):
        return " (it recomputes)"
    if p.name == "factorized":
        return f" (chosen only below {_rows(MUCH_LESS * best.cost)})"
    return " (not less by enough)"


def _rows(cost: float) -> str:
    """A number of rows, two digits that matter.

    >>> _rows(0.05), _rows(1234.5)
    ('0.050', '1,200')
    """
    if cost >= 100:
        digits = len(str(int(cost))) - 2
        return f"{round(cost / 10**digits) * 10**digits:,}"
    return f"{cost:.2g}" if cost >= 1 else f"{cost:.3f}"
