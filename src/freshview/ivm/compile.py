"""From queries to a trigger program: the worklist of HO-IVM (DBToaster 2014, Alg. 2 and 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from freshview.calculus.alpha_equivalence import shape
from freshview.calculus.build import ZERO, is_zero, sum_
from freshview.calculus.check import Schema, all_types
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.schema import Query, Relation, row_types
from freshview.calculus.scope import ins, outs, relations
from freshview.calculus.terms import Delta, Expr, Lift, Rel, Sum, View
from freshview.calculus.types import Type
from freshview.calculus.walk import distinct_subterms, variables
from freshview.ivm.blocker import blocker
from freshview.ivm.budget import Budget
from freshview.ivm.cyclic import has_cycle
from freshview.ivm.delta import delta
from freshview.ivm.derived import (
    DerivedView,
    at_start,
    base_atom,
    derived_queries,
    instance,
    over_changes,
    relational,
    without,
)
from freshview.ivm.divide import Decision
from freshview.ivm.maps import Maps
from freshview.ivm.materialize import is_kept_whole, materialize, readout
from freshview.ivm.options import DeltaOptions
from freshview.ivm.restrict import restrict
from freshview.program.needed import without_unused
from freshview.program.terms import Event, Map, Op, Program, Statement
from freshview.program.updates import TriggerKey, Update, trigger_variables, triggers_of, updates_of
from freshview.simplify import finish, simplify


def compile_queries(
    queries: Sequence[Query],
    relations: Sequence[Relation],
    options: DeltaOptions | None = None,
    functions: Functions = BUILTINS,
) -> Program:
    """The trigger program that keeps the queries fresh."""
    over = derived_queries(queries)
    compiler = DeltaCompiler(tuple(relations), options or DeltaOptions(), functions, over)
    compiler.name_params(set().union(*(variables(q.term) for q in (*over, *queries))))
    for view in over:
        compiler.derive(view)
    views = [compiler.query(q) for q in queries]
    return compiler.program(views)


@dataclass
class DeltaCompiler:
    """The state of one compilation: maps found so far, maps still to be maintained, triggers."""

    relations: tuple[Relation, ...]
    options: DeltaOptions
    functions: Functions
    over: tuple[Query, ...] = ()
    triggers: dict[TriggerKey, list[Statement]] = field(default_factory=dict)
    params: dict[str, tuple[str, ...]] = field(default_factory=dict)
    todo: list[Map] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    types: dict[str, Type] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    derived: dict[str, DerivedView] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.schema = Schema(row_types(self.relations, self.over), functions=self.functions)
        self.maps = Maps(self.schema)
        self.named = {r.name: r for r in self.relations}
        self.streams = {r.name for r in self.relations if not r.static}
        decompose, small = self.options.decompose, self.options.low_cardinality
        self.decision = partial(Decision, decompose=decompose, small=small)

    def name_params(self, used: set[str]) -> None:
        """Trigger variables d_column, under names that no query uses."""
        self.params = trigger_variables(self.relations, used)
        self.maps.params = {p for params in self.params.values() for p in params}

    def query(self, query: Query) -> Query:
        """Materialize a query piecewise; what is left is read when the view is asked for."""
        self.budget.allow(query.term)
        term = simplify(query.term)
        self.types.update(all_types(term, self.schema))
        store = Pieces(self, query.name, level=0)
        ordered = self.options.ordered and self._is_exact(term)
        decision = self.decision(aggressive=True, ordered=ordered)
        term = finish(readout(term, store, decision))
        self._maintain_all()
        return replace(query, term=term, over=())

    def derive(self, query: Query) -> None:
        """A view that others read as a relation: how it changes with each stream behind it."""
        query = relational(query)
        self.budget.allow(query.term)
        self.types.update(all_types(query.term, self.schema))
        d = DerivedView(query, self._streams_behind(query.term))
        d.start = at_start(query.term, self.streams, self.derived)
        for name in sorted(d.streams):
            why = self._derive_change(d, name)
            if why:
                d.recomputed[name] = why
                self.notes.append(f"view {d.query.name} is recomputed when {name} changes: {why}")
        self.derived[query.name] = d
        if not is_zero(d.start):
            d.rows, new = self.maps.view(Rel(query.name, query.vars), f"{query.name}_rows", 0)
            if new is not None:
                self.enqueue(new)
        self._maintain_all()

    def _streams_behind(self, e: Expr) -> frozenset[str]:
        """The streams that a term follows, also those behind the derived views that it reads."""
        read = relations(e)
        behind = (self.derived[n].streams for n in read & self.derived.keys())
        return (read & self.streams).union(*behind)

    def _derive_change(self, d: DerivedView, relation: str) -> str:
        """Have a stream's triggers write the change of a view; else why it is recomputed."""
        term = d.query.term
        why = "depth 0 asks for it" if self.options.depth == 0 else ""
        why = why or self._recomputed_below(term, relation)
        changes: list[tuple[TriggerKey, Update, Expr]] = []
        for event, update in self._updates(relation):
            change = ZERO if why else delta(term, update, self.options.low_cardinality)
            why = why or ("" if is_zero(change) else self.budget.refusal(change, term))
            if why:
                return why
            change = simplify(change, known=frozenset(update.params))
            if not is_zero(change):
                changes.append(((event, relation), update, change))
        reasons = (blocker(term, u, self.options.low_cardinality) for _, u, _ in changes)
        reason = None if self.options.always_update else next(filter(None, reasons), None)
        if reason is not None or not changes:
            return str(reason or "")
        d.change, _ = self.maps.view(Delta(d.query.name, d.query.vars), f"{d.query.name}_change", 0)
        d.changing.add(relation)
        for key, update, change in changes:
            store = Pieces(self, f"{d.query.name}_{relation}", 1)
            params = frozenset(update.params)
            written = materialize(change, store, self._following(term, update, 1, params))
            written = finish(simplify(written, known=params), params)
            self.triggers.setdefault(key, []).append(self._statement(d.change, ":=", written))
        return ""

    def views_in(self, e: Expr) -> list[str]:
        """The derived views that a term reads."""
        return sorted(relations(e) & self.derived.keys())

    def _recomputed_below(self, e: Expr, relation: str) -> str:
        """Why what reads derived views is recomputed with a stream: one of them is."""
        for name in self.views_in(e):
            if relation in self.derived[name].recomputed:
                return f"it reads the view {name}, which is recomputed then"
        return ""

    def _is_exact(self, term: Expr) -> bool:
        """Whether the aggregates of a query are the same bits, however they come about."""
        lifts = [e for e in distinct_subterms(term) if isinstance(e, Lift) and relations(e.body)]
        return all(self.types[e.var].kind not in ("double", "ring") for e in lifts)

    def enqueue(self, new: Map) -> None:
        """A new map: it is to be maintained; view caches ask for the types of its variables."""
        self.todo.append(new)
        if self.options.caches and not new.inputs:
            self.types.update(all_types(new.definition, self.schema))

    def _maintain_all(self) -> None:
        while self.todo:
            target = self.todo.pop(0)
            self._fill_at_start(target)
            for name in sorted(self._streams_behind(target.definition)):
                self._maintain(target, name)

    def _updates(self, relation: str) -> list[tuple[Event, Update]]:
        along = frozenset(n for n, d in self.derived.items() if relation in d.changing)
        updates = updates_of(relation, self.params[relation], self.options.mode)
        return [(event, replace(u, along=along)) for event, u in updates] if along else updates

    def _maintain(self, target: Map, relation: str) -> None:
        """The statements that follow a change of one relation in one map."""
        level = self.maps.level[target.name]
        if self.options.depth == 0 and not self._is_base(target):
            self._reevaluate(target, relation, "depth 0 asks for it")
            return
        why = self._recomputed_below(target.definition, relation)
        if why:
            self._reevaluate(target, relation, why)
            return
        changed = False
        for event, update in self._updates(relation):
            known = frozenset(update.params).union(k.name for k in target.inputs)
            change = delta(target.definition, update, self.options.low_cardinality)
            why = self._over_budget(target, change)
            if why:
                self._reevaluate(target, relation, why)
                return
            change = simplify(change, known=known)
            if is_zero(change):
                continue
            changed = True
            why = self._reason_to_reevaluate(target, update)
            if why:
                self._reevaluate(target, relation, why)
                return
            store = Pieces(self, f"{target.name}_{relation}", level + 1)
            self._increment(target, change, (event, relation), update, store)
        if not changed and relation in relations(target.definition):
            # The relation is mentioned but never matters: the definition need not mention it.
            self.maps.redefine(target.name, without({relation}, target.definition))

    def _over_budget(self, target: Map, change: Expr) -> str:
        """Why a delta is not even simplified; a base relation has always one."""
        if is_zero(change) or target.inputs or self._is_base(target):
            return ""
        return self.budget.refusal(change, target.definition)

    def _reason_to_reevaluate(self, target: Map, update: Update) -> str:
        if target.inputs or self._is_base(target):
            return ""
        named = (target.name, update.relation)
        alike = (shape(target.definition), update.relation)
        if named in self.options.recompute:
            return "a switch asks for it"
        if {named, alike} & self.options.increment or self.options.always_update:
            return ""
        if alike in self.options.recompute:
            return "its delta is estimated to cost more"
        reason = blocker(target.definition, update, self.options.low_cardinality)
        return str(reason) if reason else ""

    def _increment(
        self, target: Map, change: Expr, key: TriggerKey, update: Update, store: Pieces
    ) -> None:
        params = frozenset(update.params)
        keys = tuple(k.name for k in target.keys)
        inputs = tuple(k.name for k in target.inputs)
        bound = params.union(inputs)
        decision = self._following(target.definition, update, store.level, bound)
        for names, term in restrict(keys, change, params):
            increment = materialize(term, store, decision)
            increment = finish(simplify(increment, known=bound), bound)
            self._add(key, View(target.name, names, inputs), "+=", increment)

    def _following(
        self, definition: Expr, update: Update, level: int, known: frozenset[str]
    ) -> Decision:
        """How a delta is divided into maps."""
        cyclic = self.options.cyclic and has_cycle(definition)
        return self.decision(
            known=known,
            updated=update.relations,
            grain=self.grain(level),
            keep_base_of_cycles=cyclic,
        )

    def _reevaluate(self, target: Map, relation: str, why: str) -> None:
        """M := Q, with Q put together from maps simpler than M."""
        self.notes.append(f"{target.name} is recomputed when {relation} changes: {why}")
        level = self.maps.level[target.name]
        store = Pieces(self, f"{target.name}_{relation}", level + 1)
        keys = tuple(k.name for k in target.keys)
        atom = base_atom(target.definition, self.derived)
        if atom is not None:
            self._reread(View(target.name, keys), atom, relation)
            return
        decision = self.decision(
            aggressive=self.options.depth is not None,
            updates=self._all_updates(),
            grain=self.grain(level + 1),
        )
        # Rule 4 as far as it goes, and base relations last: the map must not be read to compute it.
        for rules in ({"aggressive": True}, {"grain": "atoms"}):
            if is_kept_whole(target.definition, decision):
                decision = replace(decision, **rules)
        readout_term = finish(simplify(materialize(target.definition, store, decision)))
        for event, _ in self._updates(relation):
            self._add((event, relation), View(target.name, keys), ":=", readout_term)

    def _reread(self, target: View, atom: Rel, relation: str) -> None:
        """The rows of a derived view, or some of its columns, put together again."""
        d = self.derived[atom.name]
        decision = self.decision(aggressive=True)
        term = readout(d.query.term, Pieces(self, d.query.name, level=0), decision)
        rows = sum_(target.vars, instance(term, d.query.vars, atom.vars))
        for event, _ in self._updates(relation):
            self._add((event, relation), target, ":=", finish(rows))

    def _all_updates(self) -> tuple[Update, ...]:
        streams = (r.name for r in self.relations if not r.static)
        return tuple(u for name in streams for _, u in self._updates(name))

    def grain(self, level: int) -> str:
        """How large the maps of a level may be: the depth ends with stored base relations."""
        depth = self.options.depth
        if (depth is None or level <= depth - 1) and not self.budget.is_spent:
            return "connected"
        return "atoms" if self.options.project else "base"

    def _is_base(self, target: Map) -> bool:
        body = target.definition
        return isinstance(body.body if isinstance(body, Sum) else body, Rel)

    def _add(self, key: TriggerKey, target: View, op: Op, term: Expr) -> None:
        if not is_zero(term):
            self.triggers.setdefault(key, []).append(self._statement(target, op, term))

    def _statement(self, target: View, op: Op, term: Expr) -> Statement:
        return Statement(target, op, over_changes(term, self.derived))

    def _fill_at_start(self, target: Map) -> None:
        """A map over static tables only, or one that is not empty over empty streams."""
        if target.inputs:
            return
        keys = tuple(k.name for k in target.keys)
        start = at_start(target.definition, self.streams, self.derived)
        atom = base_atom(target.definition, self.derived)
        if atom is not None and isinstance(target.definition, Rel):
            d = self.derived[atom.name]
            start = instance(d.start, d.query.vars, atom.vars) if d.rows is not None else ZERO
        if not is_zero(start):
            self._add(("ready", ""), View(target.name, keys), ":=", finish(start))

    def program(self, queries: list[Query]) -> Program:
        """Assemble the triggers in the order of the relations."""
        maps = tuple(self.maps.declared)
        triggers = triggers_of(self.triggers, self.named, self.params, maps)
        program = Program(self.relations, maps, triggers, tuple(queries), notes=tuple(self.notes))
        if not self.derived:
            return program
        derived = tuple(d.query for d in self.derived.values())
        return without_unused(replace(program, derived=derived))


@dataclass
class Pieces:
    """The store of one materialization decision: names its maps after what asks for them."""

    compiler: DeltaCompiler
    hint: str
    level: int

    def access(self, definition: Expr) -> Expr:
        """A map for a definition, or the base relations of one that is to be inlined."""
        body = definition.body if isinstance(definition, Sum) else definition
        depth = self.compiler.options.depth
        if isinstance(body, Rel) and depth is not None and self.level >= depth:
            return self._base(definition, body)
        if self.level and shape(definition) in self.compiler.options.inline:
            return materialize(definition, self, Decision(grain="atoms"))
        view, new = self.compiler.maps.view(definition, self.hint, self.level)
        if new is not None:
            self.compiler.enqueue(new)
        return view

    def _base(self, definition: Expr, atom: Rel) -> Expr:
        """A stored base relation: whole, or the columns in use."""
        whole: Expr = definition if self.compiler.options.project else atom
        view, new = self.compiler.maps.view(whole, f"{atom.name}_base", self.level)
        if new is not None:
            self.compiler.enqueue(new)
        return sum_(tuple(sorted(outs(definition))), view)

    def cached(self, definition: Expr) -> Expr | None:
        """A view cache, where the options ask for them; it is filled from maps of its own."""
        # The parameters of a trigger have no meaning outside of it: no cache can be keyed by them.
        if not self.compiler.options.caches or not ins(definition) <= self.compiler.types.keys():
            return None
        if any(self.compiler.derived[n].recomputed for n in self.compiler.views_in(definition)):
            return None  # a copy for each valuation follows changes; it is not computed again
        decision = self.compiler.decision(grain=self.compiler.grain(self.level))
        fill = materialize(definition, self, decision)
        # What asks may have NULL, even where another join with the variable leaves it out.
        inputs = {name: self.compiler.types[name].or_null() for name in ins(definition)}
        view, new = self.compiler.maps.cache(
            definition, inputs, finish(fill, frozenset(inputs)), f"{self.hint}_cache", self.level
        )
        if new is not None:
            self.compiler.enqueue(new)
        return view

    def is_static(self, relation: str) -> bool:
        """Whether a relation never changes."""
        return relation in self.compiler.named and self.compiler.named[relation].static
