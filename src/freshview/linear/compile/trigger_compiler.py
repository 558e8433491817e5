"""From a program to its triggers: one for every input and strategy."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from freshview.errors import FreshviewError, UnknownName
from freshview.linear.compile.delta import derive
from freshview.linear.compile.factor import factor, products, sides, solved
from freshview.linear.compile.normal import Normal, affected, needed, normal
from freshview.linear.compile.options import STRATEGIES, MatrixOptions, Strategy
from freshview.linear.compile.search import Search
from freshview.linear.compile.share import share
from freshview.linear.compile.simplify import simplify
from freshview.linear.compile.trigger import (
    Change,
    Dense,
    Factored,
    Trigger,
    Update,
    change_term,
    names,
)
from freshview.linear.cost.operations import Sizes
from freshview.linear.language.build import add
from freshview.linear.language.meta import Meta, infer
from freshview.linear.language.sizes import size, total
from freshview.linear.language.terms import Expr, Inverse, Let, Source, Statement, Until, Var
from freshview.linear.language.walk import Names, free, substitute, subterms


def rank_name(program: Normal) -> str:
    """The name of the rank of an update in costs and shapes: k, unless a size is called so."""
    every = [s for m in program.scope.values() for s in (m.rows, m.cols)]
    return Names({v for s in every for m, _ in s.terms for v in m}).fresh("k")


def compile_source(source: Source, options: MatrixOptions | None = None) -> Normal:
    """A program in A-normal form, without what no output needs."""
    program = normal(source, (options or MatrixOptions()).sizes)
    return replace(program, statements=needed(program.statements, set(program.outputs)))


def candidates(program: Normal, changed: str, options: MatrixOptions) -> dict[Strategy, Trigger]:
    """The trigger of the strategy that is asked for; for `auto`, those of all strategies."""
    if options.strategy not in STRATEGIES:
        raise FreshviewError(
            f"there is no strategy {options.strategy!r}", instead=f"use {', '.join(STRATEGIES)}"
        )
    wanted = STRATEGIES[1:] if options.strategy == "auto" else (options.strategy,)
    return {s: trigger(program, changed, replace(options, strategy=s)) for s in wanted}


def trigger(program: Normal, changed: str, options: MatrixOptions) -> Trigger:
    """The trigger of one input by one strategy."""
    inputs = [i for i in program.inputs if i.name == changed]
    if not inputs:
        raise UnknownName(f"there is no input {changed}")
    if not inputs[0].dynamic:
        raise FreshviewError(f"{changed} is static", instead="declare it dynamic to update it")
    return _TriggerCompiler(program, changed, options).trigger()


@dataclass
class _TriggerCompiler:
    program: Normal
    changed: str
    options: MatrixOptions
    assignments: list[Statement] = field(default_factory=list)
    updates: list[Update] = field(default_factory=list)
    changes: dict[str, Change] = field(default_factory=dict)
    narrow: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.scope: dict[str, Meta] = dict(self.program.scope)
        self.rank = size(rank_name(self.program))
        self.sizes: Sizes = {
            **self.options.sizes,
            rank_name(self.program): float(self.options.rank),
        }
        self.search = Search(self.sizes, self.options.budget)
        self.names = Names(set(self.scope))
        m = self.scope[self.changed]
        self.left, self.right = (self.names.fresh(f"{s}_{self.changed}") for s in "uv")
        self.scope[self.left] = Meta(m.rows, self.rank)
        self.scope[self.right] = Meta(m.cols, self.rank)
        self.narrow |= {self.left, self.right}

    def trigger(self) -> Trigger:
        start = Factored(Var(self.left), Var(self.right))
        self.updates.append(Update(self.changed, start))
        self.changes[self.changed] = start
        again: tuple[Statement, ...] = ()
        if self.options.strategy == "reevaluate":
            again = affected(self.program.statements, {self.changed})
        else:
            for d in derive(self.program, self.changed):
                self.follow(d)
            self.assignments = list(share(self.assignments, self.scope, self.sizes, self.names))
        return Trigger(
            self.changed,
            self.left,
            self.right,
            self.rank,
            tuple(self.assignments),
            tuple(self.updates),
            again,
            self.scope,
            self.sizes,
        )

    def follow(self, d: Statement) -> None:
        """The change of one view from those before it."""
        view = d.name.removeprefix("d_")
        puts = {f"d_{n}": change_term(c) for n, c in self.changes.items()}
        inverses: dict[Expr, Expr] = {
            s.term: Var(s.name) for s in self.program.statements if isinstance(s.term, Inverse)
        }
        term = solved(substitute(d.term, puts), inverses, self.scope)
        terms = [simplify(t, self.scope) for t in products(term, self.scope)]
        if any(isinstance(t, Until) for t in terms):
            new = [self.settled(view, t) if isinstance(t, Until) else t for t in terms]
            self.record(view, Dense(self.named("D", view, add(*new))))
            return
        if all(free(t) & self.narrow for t in terms):
            pairs = factor(terms, self.scope, self.sizes, self.options.second_order)
            rank = total(infer(p.left, self.scope).cols for p in pairs)
            m = self.scope[view]
            thin = min(m.rows.at(self.sizes), m.cols.at(self.sizes))
            if self.options.strategy != "hybrid" or rank.at(self.sizes) < thin:
                left, right = sides(pairs)
                change: Change = Factored(self.named("U", view, left), self.named("V", view, right))
                self.record(view, change)
                return
        self.record(view, Dense(self.named("D", view, add(*terms))))

    def settled(self, view: str, e: Until) -> Expr:
        """The new result of an iteration: its rounds multiply by narrow factors, not by sums."""
        apart = add(*products(e.body, self.scope))
        return self.named("N", view, replace(e, body=simplify(apart, self.scope)))

    def record(self, view: str, change: Change) -> None:
        self.changes[view] = change
        self.updates.append(Update(view, change))

    def named(self, kind: str, view: str, e: Expr) -> Expr:
        """A name for one side of a change, unless it is one already: copies are propagated."""
        e = simplify(e, self.scope)
        if names(e) and not free(e) & self.program.scope.keys():
            return e  # a view would change under the hands of the updates
        known = next((s.name for s in self.assignments if s.term == e), None)
        if known is not None:
            return Var(known)
        cheaper = self.search.cheapest(e, self.scope)
        if not any(isinstance(t, Let) for t in subterms(cheaper)):
            e = cheaper
        name = self.names.fresh(f"{kind}_{view}")
        self.scope[name] = infer(e, self.scope)
        self.assignments.append(Statement(name, e))
        if kind in ("U", "V"):
            self.narrow.add(name)
        return Var(name)
