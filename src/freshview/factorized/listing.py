"""M3 from hybrid trees: Valeanu 2018, 4.8 and 4.9.

On the way from a changed relation to the root, every kept view V gets two statements:
DELTA_V := its delta, over the delta below and the views beside; then V += DELTA_V. A delta that
only one statement reads is put into that statement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from freshview.calculus.build import ZERO, mul, sum_
from freshview.calculus.check import Schema, infer
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.schema import Column, Relation
from freshview.calculus.terms import Delta, Expr, Rel, View
from freshview.calculus.walk import bottom_up, subterms
from freshview.factorized.hybrid import Hybrid
from freshview.factorized.terms import Leaf, Tree, TreeNode, relations, trees
from freshview.factorized.viewtree import definition
from freshview.program.listing import Listing
from freshview.program.terms import Map, Statement, Trigger


def listing(
    hybrids: Sequence[Hybrid],
    declared: Sequence[Relation],
    types: Mapping[str, str],
    functions: Functions = BUILTINS,
    *,
    inline: bool = True,
) -> Listing:
    """The M3 program that keeps the aggregates of hybrid trees; `types` are headers of rings."""
    used = {a.name for h in hybrids for a in h.join.atoms}
    listed = [r for r in declared if r.name in used]
    alone = all(n == 1 for h in hybrids for n in relations(h.tree).values())
    writer = _Writer(tuple(listed), functions, share=alone)
    for number, h in enumerate(hybrids):
        writer.declare(h, "" if number == 0 else f"_{number + 1}")
    triggers: list[Trigger] = []
    ready = [s for h in hybrids for s in writer.loaded(h)]
    if ready:
        triggers.append(Trigger("ready", "", (), tuple(ready)))
    for r in listed:
        if not r.static:
            blocks = [block for h in hybrids for block in writer.changed(h, r.name)]
            if alone:  # the aggregates go the same way, and may share deltas
                blocks = [[s for block in blocks for s in block]]
            statements = [s for block in blocks for s in (_inlined(block) if inline else block)]
            triggers.append(Trigger("batch", r.name, (), tuple(statements)))
    writer.declare_deltas(triggers)
    rings = {m.payload.ring for m in writer.maps.values()}
    return Listing(
        tuple((n, path) for n, path in types.items() if n in rings),
        tuple(replace(r, key=()) for r in listed),
        tuple(writer.maps.values()),
        tuple((h.name, writer.access(h.tree)) for h in hybrids),
        tuple(triggers),
    )


@dataclass
class _Writer:
    """The maps so far, and which view each of them holds.

    With `share`, equal views of several aggregates are kept once, by the first of them.
    """

    relations: tuple[Relation, ...]
    functions: Functions
    share: bool = False
    maps: dict[str, Map] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    deltas: dict[str, Map] = field(default_factory=dict)
    rows: dict[Rel | int, tuple[str, str]] = field(default_factory=dict)
    known: dict[Tree, str] = field(default_factory=dict)
    borrowed: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.schema = Schema({r.name: r.types for r in self.relations}, functions=self.functions)

    def declare(self, h: Hybrid, suffix: str) -> None:
        """Maps for the tables, and for the kept views of a tree, from the leaves up."""
        for t in reversed(list(trees(h.tree))):
            if not h.is_kept(t):
                continue
            if self.share and t in self.known:
                self.names[id(t)] = self.known[t]
                self.borrowed.add(id(t))
                continue
            what: Expr = t.atom if isinstance(t, Leaf) else definition(t)
            payload, _ = infer(what, self.schema)
            keys = self._columns(what, t.keys)
            if isinstance(t, Leaf):
                name = self._rows_name(h, t)
                what = ZERO if t.atom.name in h.static else what
            else:
                name = f"AGG_VIEW_{t.var or 'TOP'}{suffix}"
            self.maps.setdefault(name, Map(name, keys, payload, what))
            self.names[id(t)] = self.known[t] = name

    def _rows_name(self, h: Hybrid, leaf: Leaf) -> str:
        """VIEW_R; the rows of a table are shared, those of a stream kept for each occurrence."""
        name = leaf.atom.name
        key = leaf.atom if name in h.static else id(leaf)
        if key not in self.rows:
            number = Counter(n for n, _ in self.rows.values())[name] + 1
            self.rows[key] = name, f"VIEW_{name}" + (f"_{number}" if number > 1 else "")
        return self.rows[key][1]

    def _columns(self, e: Expr, keys: tuple[str, ...]) -> tuple[Column, ...]:
        _, types = infer(e, self.schema)
        return tuple(Column(k, types[k]) for k in keys)

    def access(self, t: Tree) -> View:
        """A kept view, read."""
        return View(self.names[id(t)], t.keys)

    def read(self, t: Tree) -> Expr:
        """A view as it is: read where it is kept, else computed."""
        if id(t) in self.names:
            return self.access(t)
        if isinstance(t, Leaf):
            return t.atom
        return self._joined(t, [self.read(c) for c in t.children])

    def _joined(self, t: TreeNode, parts: Sequence[Expr]) -> Expr:
        return sum_(t.keys, mul(*parts, *t.factors))

    def loaded(self, h: Hybrid) -> Iterator[Statement]:
        """Views over static tables are filled once, when those are there."""
        for t in reversed(list(trees(h.tree))):
            new = id(t) not in self.borrowed
            if isinstance(t, TreeNode) and h.is_kept(t) and not h.changes(t) and new:
                term = self._joined(t, [self.read(c) for c in t.children])
                yield Statement(self.access(t), ":=", term)

    def changed(self, h: Hybrid, relation: str) -> Iterator[list[Statement]]:
        """The statements of a batch: for each occurrence of the relation a way to the root."""
        for leaf, *nodes in h.paths(relation):
            assert isinstance(leaf, Leaf)
            block: list[Statement] = []
            delta: Expr = sum_(leaf.keys, Delta(relation, leaf.atom.vars))
            if id(leaf) in self.names and id(leaf) not in self.borrowed:
                block.append(Statement(self.access(leaf), "+=", delta))
            below: Tree = leaf
            for t in nodes:
                assert isinstance(t, TreeNode)
                parts = [delta if c is below else self.read(c) for c in t.children]
                delta = self._joined(t, parts)
                if id(t) in self.names:
                    target = self.access(t)
                    stored = View(f"DELTA_{target.name}", t.keys)
                    if id(t) not in self.borrowed:
                        self._delta(stored, target.name, delta)
                        block.append(Statement(stored, ":=", delta))
                        block.append(Statement(target, "+=", stored))
                    delta = stored
                below = t
            yield block

    def _delta(self, stored: View, base: str, delta: Expr) -> None:
        """The map of a delta, with the definition that it has where it occurs first."""
        of = self.maps[base]
        self.deltas.setdefault(stored.name, Map(stored.name, of.keys, of.payload, delta))

    def declare_deltas(self, triggers: Sequence[Trigger]) -> None:
        """Deltas that some statement writes are maps as well, each behind its view."""
        written = {s.target.name for t in triggers for s in t.statements}
        ordered: dict[str, Map] = {}
        for name, m in self.maps.items():
            ordered[name] = m
            delta = self.deltas.get(f"DELTA_{name}")
            if delta is not None and delta.name in written:
                ordered[delta.name] = delta
        self.maps = ordered


def _inlined(block: list[Statement]) -> list[Statement]:
    """A delta that is read once stands where it is read (Valeanu 2018, 4.9.2)."""
    uses = Counter(x.name for s in block for x in subterms(s.term) if isinstance(x, View))
    once = {s.target: s.term for s in block if s.op == ":=" and uses[s.target.name] == 1}

    def put(x: Expr) -> Expr | None:
        return once.get(x) if isinstance(x, View) else None

    kept = [s for s in block if s.target not in once]
    return [replace(s, term=bottom_up(s.term, put)) for s in kept]
