"""From joins to a trigger program: view trees, kept views, deltas for every relation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from freshview.calculus.build import exists, is_zero, mul
from freshview.calculus.check import Schema
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.schema import Column, Query, Relation
from freshview.calculus.terms import Apply, Expr, Lift, View
from freshview.calculus.walk import Names, subterms, variables
from freshview.errors import ProgramProblem
from freshview.factorized.delta import Deltas
from freshview.factorized.fit_order import fit_order
from freshview.factorized.indicator import add_indicators
from freshview.factorized.materialize import materialized
from freshview.factorized.optimize import find_order
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.products import Factors
from freshview.factorized.readout import NotFactorized, readout, refuse_derived
from freshview.factorized.terms import COPY, Join, Leaf, Tree, TreeNode, relations, trees, view_name
from freshview.factorized.views import Views
from freshview.factorized.viewtree import compact, definition, gather, view_tree
from freshview.program.terms import Event, Map, Program, Statement
from freshview.program.updates import TriggerKey, Update, trigger_variables, triggers_of, updates_of
from freshview.simplify import finish, simplify

USUAL = ViewTreeOptions()


def compile_queries(
    queries: Sequence[Query],
    relations: Sequence[Relation],
    options: ViewTreeOptions = USUAL,
    functions: Functions = BUILTINS,
) -> Program:
    """The program that keeps queries over joins fresh, or NotFactorized, naming the node."""
    for q in queries:
        refuse_derived(q)
    compiler = ViewTreeCompiler(tuple(relations), options, functions)
    terms = {q.name: simplify(q.term) for q in queries}
    compiler.name_params(set().union(*(variables(t) for t in terms.values())))
    views: list[Query] = []
    for q in queries:
        read = readout(terms[q.name], partial(compiler.join, name=q.name))
        views.append(replace(q, term=finish(read)))
    return compiler.program(views)


def compile_joins(
    joins: Mapping[str, Join],
    relations: Sequence[Relation],
    options: ViewTreeOptions = USUAL,
    functions: Functions = BUILTINS,
) -> Program:
    """The program that keeps joins fresh; each is a query of its keys and its `payload`."""
    compiler = ViewTreeCompiler(tuple(relations), options, functions)
    compiler.name_params({v for join in joins.values() for v in join.variables})
    queries = [compiler.query(name, join) for name, join in joins.items()]
    return compiler.program(queries)


@dataclass
class ViewTreeCompiler:
    """The state of one compilation: views found so far, and their triggers."""

    relations: tuple[Relation, ...]
    options: ViewTreeOptions
    functions: Functions = BUILTINS
    triggers: dict[TriggerKey, list[Statement]] = field(default_factory=dict)
    params: dict[str, tuple[str, ...]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    trees: dict[str, list[TreeNode]] = field(default_factory=dict)
    accesses: dict[int, View] = field(default_factory=dict)
    """How each kept tree is read, by its identity; `trees` holds on to them."""

    def __post_init__(self) -> None:
        self.schema = Schema({r.name: r.types for r in self.relations}, functions=self.functions)
        self.views = Views(self.schema)
        self.named = {r.name: r for r in self.relations}
        self.static = frozenset(r.name for r in self.relations if r.static)
        self.streams = frozenset(r.name for r in self.relations if not r.static)
        self.factors: dict[str, Factors] = {}
        for name, groups in self.options.products.items():
            self._declare_factors(Factors(self.named[name], tuple(map(tuple, groups))))

    def _declare_factors(self, factors: Factors) -> None:
        """The streams of a relation that changes by products, and where their rows wait."""
        for r in factors.streams:
            if r.name in self.named:
                raise ProgramProblem(
                    f"a factor of '{factors.relation.name}' is the stream '{r.name}', and there is "
                    "another relation of that name",
                    instead="give that one another name",
                )
        self.factors[factors.relation.name] = factors
        self.named.update({r.name: r for r in factors.streams})
        for stream, (aside, statement) in zip(factors.streams, factors.aside(), strict=False):
            self.views.declared.append(aside)
            self.triggers.setdefault(("batch", stream.name), []).append(statement)

    def name_params(self, used: set[str]) -> None:
        """Trigger variables d_column, under names that no query uses."""
        self.params = trigger_variables(self.relations, used)

    def query(self, name: str, join: Join, listed: frozenset[str] = frozenset()) -> Query:
        """A join as a view of its keys and its payload."""
        access = self.join(join, name, listed)
        assert isinstance(access, View)
        root = next(m for m in self.views.declared if m.name == access.name)
        types = {v: c.type for v, c in zip(access.vars, root.keys, strict=True)}
        columns = tuple(Column(k, types[k]) for k in join.keys)
        payload = "payload" if "payload" not in join.keys else "_payload"
        term = mul(exists(access) if join.keys else mul(), Lift(payload, access))
        return Query(name, (*columns, Column(payload, root.payload)), (*join.keys, payload), term)

    def join(self, join: Join, name: str, listed: frozenset[str] = frozenset()) -> Expr:
        """Keep a join, and read its root."""
        tree = self.tree(join, name, listed)
        return self.keep(tree, name, commutes=self._commutes(join, tree))

    def keep(self, tree: TreeNode, name: str, *, commutes: bool = True) -> View:
        """Keep the views of a tree that some update needs, and read its root."""
        self.trees.setdefault(name, []).append(tree)
        kept = materialized(tree, self.streams, self.static)
        accesses: dict[int, View] = {}
        new: list[tuple[Tree, Map]] = []
        for t in kept:
            what = self._counts(t) if isinstance(t, Leaf) else definition(t)
            hint = name if t is tree else view_name(t)
            accesses[id(t)], stored = self.views.view(what, t.keys, hint, commutes=commutes)
            if stored is not None:
                new.append((t, stored))
        self.accesses.update(accesses)

        def read(t: Tree) -> Expr:
            if id(t) not in accesses:
                return definition(t)  # static, or never read
            if isinstance(t, Leaf) and t.indicator:
                return exists(accesses[id(t)])
            return accesses[id(t)]

        deltas = Deltas(read, ordered=not commutes)
        for t, stored in new:
            self._maintain(t, stored, deltas)
        return accesses[id(tree)]

    def tree(self, join: Join, name: str, listed: frozenset[str] = frozenset()) -> TreeNode:
        """The view tree of a join: its order given or found, chains compacted, cycles watched."""
        chosen = self.options.orders.get(name)
        if chosen is not None:
            chosen = fit_order(chosen, join, self.relations)
        else:
            # What is listed is free: nothing that is summed out may stand above it.
            free = replace(join, keys=tuple(v for v in join.variables if v in listed) or join.keys)
            chosen = find_order(free, self.relations, self.options.statistics)
            note = f"{name} has the variable order {COPY.sub('', str(chosen))}, found by cost"
            if note not in self.notes:
                self.notes.append(note)
        tree: Tree = view_tree(join, chosen, listed)
        if self.options.compact:
            tree = compact(gather(tree))
        if self.options.indicators:
            tree = add_indicators(tree)
        assert isinstance(tree, TreeNode)
        return tree

    def _counts(self, leaf: Leaf) -> Expr:
        """A leaf's rows; those of an indicator are counted, not just noticed."""
        return definition(replace(leaf, indicator=False))

    def _maintain(self, t: Tree, target: Map, deltas: Deltas) -> None:
        """The statements that follow each relation under a view."""
        source: Tree = replace(t, indicator=False) if isinstance(t, Leaf) else t
        for name in sorted(relations(t)):
            if name in self.static:
                continue
            for event, update in self._updates(name):
                for change in deltas.of(source, update):
                    if not is_zero(change.term):
                        statement = Statement(View(target.name, change.keys), "+=", change.term)
                        self.triggers.setdefault((event, name), []).append(statement)
        for name in sorted(relations(t).keys() & self.factors.keys()):
            self._follow_products(source, target, name, deltas)
        if relations(t).keys() <= self.static:
            keys = tuple(k.name for k in target.keys)
            start = Statement(View(target.name, keys), ":=", target.definition)
            self.triggers.setdefault(("ready", ""), []).append(start)

    def _follow_products(self, t: Tree, target: Map, name: str, deltas: Deltas) -> None:
        if deltas.ordered:
            raise NotFactorized(f"a product of factors of {name} needs a ring that commutes")
        factors = self.factors[name]
        names = Names({v for leaf in trees(t) for v in leaf.keys})
        for change in deltas.of_product(t, name, lambda leaf: factors.rows(leaf, names)):
            if not is_zero(change.term):
                statement = Statement(View(target.name, change.keys), "+=", change.term)
                event: TriggerKey = ("batch", factors.streams[-1].name)
                self.triggers.setdefault(event, []).append(statement)

    def _updates(self, relation: str) -> list[tuple[Event, Update]]:
        return updates_of(relation, self.params[relation], self.options.mode)

    def _commutes(self, join: Join, tree: TreeNode) -> bool:
        """Whether products may be turned around; if not, the tree must keep their order."""
        rings = {x.ring for f in join.factors for x in subterms(f) if isinstance(x, Apply)}
        if all(self.functions.commutes(name) for name in rings - {""}):
            return True
        if self._lifted(join.factors) != self._lifted(_flat(tree)):
            raise NotFactorized(
                f"the ring {', '.join(sorted(rings - {''}))} does not commute, and this variable "
                "order multiplies in another order than the query",
                instead="give a variable order with the variables of the later functions on top",
            )
        return False

    def _lifted(self, parts: Sequence[Expr]) -> list[Expr]:
        return [f for f in parts if any(isinstance(x, Apply) and x.ring for x in subterms(f))]

    def program(self, queries: Sequence[Query]) -> Program:
        """Assemble the triggers in the order of the relations."""
        relations, maps = tuple(self.named.values()), tuple(self.views.declared)
        triggers = triggers_of(self.triggers, self.named, self.params, maps)
        return Program(relations, maps, triggers, tuple(queries), tuple(self.notes))


def _flat(t: Tree) -> list[Expr]:
    """The functions of a tree in the order in which they multiply."""
    if isinstance(t, Leaf):
        return []
    return [f for c in t.children for f in _flat(c)] + list(t.factors)
