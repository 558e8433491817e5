"""A view tree as M3 text in the manner of seed 002, 4.8: delta maps, then what they are added to.

    ON BATCH UPDATE OF R {
      DELTA_AGG_VIEW_B(Ring)[][A] := AggSum([A], ((DELTA R)(A, B) * [f_B: Ring](B)));
      AGG_VIEW_B(Ring)[][A] += DELTA_AGG_VIEW_B(Ring)[][A];
      AGG_VIEW_A(Ring)[][] += AggSum([], (DELTA_AGG_VIEW_B(Ring)[][A] * AGG_VIEW_C(Ring)[][A]));
    }

The engines run the program of `compile.py`, which says the same without maps for deltas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from freshet.calculus.check import Schema, infer
from freshet.calculus.functions import BUILTINS, Functions
from freshet.calculus.schema import Relation
from freshet.calculus.terms import Expr
from freshet.calculus.text import show
from freshet.calculus.types import Type
from freshet.factorized.materialize import materialized
from freshet.factorized.readout import NotFactorized
from freshet.factorized.terms import Join, Leaf, Node, Tree, relations
from freshet.factorized.viewtree import definition

_TYPES = {"int": "int", "string": "string", "date": "date", "bool": "int", "timestamp": "long"}


@dataclass(frozen=True)
class Assign:
    """target := text, or target += text."""

    target: str
    op: str
    text: str


def show_m3(
    name: str,
    join: Join,
    tree: Node,
    declared: Sequence[Relation],
    functions: Functions = BUILTINS,
    *,
    inline: bool = True,
) -> str:
    """The whole listing: relations, maps, the query, and a batch trigger for every stream."""
    listing = Listing(join, tree, tuple(declared), functions)
    lines = [listing.relation(r) for r in declared]
    lines += ["", *(listing.declare(t) for t in listing.kept), ""]
    lines += [f"DECLARE QUERY {name} := {listing.access(tree)};", ""]
    if ready := listing.ready():
        lines += [_block("ON SYSTEM READY", ready), ""]
    for r in declared:
        if not r.static and r.name in relations(tree):
            steps = listing.trigger(r.name)
            lines += [_block(f"ON BATCH UPDATE OF {r.name}", inlined(steps) if inline else steps)]
            lines += [""]
    return "\n".join(lines).rstrip() + "\n"


def _block(head: str, steps: Sequence[Assign]) -> str:
    return "\n".join(
        [f"{head} {{", *(f"  {s.target} {s.op} {s.text};" for s in steps), "}"],
    )


def inlined(steps: Sequence[Assign]) -> list[Assign]:
    """Maps that are read once give way to what they stand for (seed 002, 4.9.2).

    >>> steps = [Assign("D[]", ":=", "f"), Assign("V[]", "+=", "D[]")]
    >>> inlined(steps)
    [Assign(target='V[]', op='+=', text='f')]
    """
    left: list[Assign] = []
    for step in reversed(steps):
        reads = [i for i, s in enumerate(left) if step.target in s.text]
        if step.op == ":=" and len(reads) == 1 and left[reads[0]].text.count(step.target) == 1:
            at = left[reads[0]]
            left[reads[0]] = replace(at, text=at.text.replace(step.target, step.text))
        else:
            left.insert(0, step)
    return left


@dataclass(frozen=True)
class Listing:
    """One tree, and the texts of its maps."""

    join: Join
    tree: Node
    declared: tuple[Relation, ...]
    functions: Functions

    @property
    def static(self) -> frozenset[str]:
        """The tables that never change."""
        return frozenset(r.name for r in self.declared if r.static)

    @property
    def kept(self) -> tuple[Tree, ...]:
        """The views that are kept."""
        streams = frozenset(r.name for r in self.declared if not r.static)
        return materialized(self.tree, streams, self.static)

    def relation(self, r: Relation) -> str:
        """CREATE STREAM R(A int, B double);."""
        columns = ", ".join(f"{c.name} {_spelled(c.type)}" for c in r.columns)
        return f"CREATE {'TABLE' if r.static else 'STREAM'} {r.name}({columns});"

    def access(self, t: Tree, prefix: str = "") -> str:
        """AGG_VIEW_X(Ring)[][A], or VIEW_R(long)[][A, B]."""
        if isinstance(t, Leaf) and t.atom.name in self.static:
            return show(t.atom)
        payload, _ = self._types(t)
        return f"{prefix}{_map_name(t)}({_payload(payload)})[][{', '.join(t.keys)}]"

    def declare(self, t: Tree) -> str:
        """The declaration of a map, defined by the maps below it."""
        payload, types = self._types(t)
        keys = ", ".join(f"{k}: {_spelled(types[k])}" for k in t.keys)
        head = f"DECLARE MAP {_map_name(t)}({_payload(payload)})[][{keys}]"
        return f"{head} := {self._defined(t)};"

    def ready(self) -> list[Assign]:
        """Views over static tables alone are filled once."""
        return [
            Assign(self.access(t), ":=", self._defined(t))
            for t in self.kept
            if relations(t).keys() <= self.static
        ]

    def trigger(self, relation: str) -> list[Assign]:
        """Deltas from the relation up to the root, each added to its view if that is kept."""
        if any(isinstance(t, Leaf) and t.indicator for t in self.kept):
            raise NotFactorized(f"the listing of {relation} has no words for an indicator")
        if relations(self.tree)[relation] > 1:
            raise NotFactorized(f"the listing has one path a relation, and {relation} has several")
        steps: list[Assign] = []
        self._delta(self.tree, relation, steps)
        return steps

    def _delta(self, t: Tree, relation: str, steps: list[Assign]) -> str:
        if isinstance(t, Leaf):
            changed = f"(DELTA {t.atom.name})({', '.join(t.atom.vars)})"
            if t in self.kept:
                steps.append(Assign(self.access(t), "+=", changed))
            return changed
        [way] = [c for c in t.children if relation in relations(c)]
        beside = [self.access(c) for c in t.children if c is not way]
        parts = [self._delta(way, relation, steps), *beside]
        target = self.access(t, "DELTA_")
        steps.append(Assign(target, ":=", self._sum(t, parts)))
        if t in self.kept:
            steps.append(Assign(self.access(t), "+=", target))
        return target

    def _defined(self, t: Tree) -> str:
        if isinstance(t, Leaf):
            return show(t.atom)
        kept = self.kept
        return self._sum(t, [self.access(c) if c in kept else self._defined(c) for c in t.children])

    def _sum(self, t: Node, parts: list[str]) -> str:
        ranked = sorted(t.factors, key=self._rank)
        body = _times([_times(parts), *([_times(list(map(show, ranked)))] if ranked else [])])
        met = {k for c in t.children for k in c.keys}
        return f"AggSum([{', '.join(t.keys)}], {body})" if met != set(t.keys) else body

    def _rank(self, factor: Expr) -> int:
        """Functions stand in the order of the query."""
        return self.join.factors.index(factor) if factor in self.join.factors else -1

    def _types(self, t: Tree) -> tuple[Type, dict[str, Type]]:
        schema = Schema({r.name: r.types for r in self.declared}, functions=self.functions)
        return infer(definition(t), schema)


def _map_name(t: Tree) -> str:
    return f"VIEW_{t.atom.name}" if isinstance(t, Leaf) else f"AGG_VIEW_{t.var or 'TOP'}"


def _spelled(t: Type) -> str:
    return _TYPES.get(t.kind, "double")


def _payload(t: Type) -> str:
    return t.ring or ("long" if t.kind == "int" else "double")


def _times(parts: list[str]) -> str:
    """((a * b) * c)."""
    return reduce(lambda a, b: f"({a} * {b})", parts)
