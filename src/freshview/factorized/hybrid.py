"""A view tree together with what happens to it: which views are kept and why, which ones change.

Valeanu 2018 draws it as its hybrid tree, and writes M3 from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from freshview.calculus.schema import Relation
from freshview.calculus.scope import ins
from freshview.factorized.materialize import materialized
from freshview.factorized.order import VariableOrder
from freshview.factorized.terms import Join, Leaf, Tree, TreeNode, relations, trees
from freshview.factorized.viewtree import compact, view_tree


@dataclass(frozen=True)
class Hybrid:
    """The view tree of one aggregate; `hints` are variables whose views a dtree file wants."""

    name: str
    join: Join
    order: VariableOrder
    tree: TreeNode
    relations: tuple[Relation, ...]
    hints: frozenset[str] = frozenset()
    kept: frozenset[int] = field(default=frozenset(), init=False)

    def __post_init__(self) -> None:
        views = materialized(self.tree, self.streams, self.static)
        hinted = (t for t in trees(self.tree) if isinstance(t, TreeNode) and t.var in self.hints)
        object.__setattr__(self, "kept", frozenset(map(id, (*views, *hinted))))

    @property
    def streams(self) -> frozenset[str]:
        """The relations that change."""
        return frozenset(r.name for r in self.relations if not r.static)

    @property
    def static(self) -> frozenset[str]:
        """The relations that are loaded once."""
        return frozenset(r.name for r in self.relations if r.static)

    def is_kept(self, t: Tree) -> bool:
        """Whether a view is materialized; the rows of a static table always are."""
        return id(t) in self.kept or (isinstance(t, Leaf) and t.atom.name in self.static)

    def changes(self, t: Tree) -> bool:
        """Whether a view is on the way from some stream to the root."""
        return bool(relations(t).keys() & self.streams)

    def paths(self, relation: str) -> Iterator[tuple[Tree, ...]]:
        """The ways from the leaves of a relation up to the root, the leaf first."""
        yield from _paths(self.tree, relation, ())

    def why(self, t: Tree) -> str:
        """Why a view is kept, or why it is not, in words."""
        if t is self.tree:
            return "it is the result"
        parent = next(p for p in trees(self.tree) if isinstance(p, TreeNode) and _holds(p, t))
        beside = sorted((relations(parent) - relations(t)).keys() & self.streams)
        if beside:
            word = "changes" if len(beside) == 1 else "change"
            return f"{' and '.join(beside)} {word} beside it"
        if isinstance(t, TreeNode) and t.var in self.hints:
            return "the dtree file asks for it"
        if isinstance(t, Leaf) and t.atom.name in self.static:
            return "a static table, loaded once"
        return "nothing beside it changes"

    def merged(self) -> dict[str, tuple[str, ...]]:
        """The variables that are summed out in the view of another one: chains made one view."""
        have = {t.var for t in trees(self.tree) if isinstance(t, TreeNode)}
        by_host: dict[str, tuple[str, ...]] = {}
        for name, _ in self.order.above:
            if name not in have:
                host = next((v for v in reversed(self.order.path(name)) if v in have), "")
                by_host[host] = (*by_host.get(host, ()), name)
        return by_host


def _holds(p: TreeNode, t: Tree) -> bool:
    return any(c is t for c in p.children)


def _paths(t: Tree, relation: str, above: tuple[Tree, ...]) -> Iterator[tuple[Tree, ...]]:
    if isinstance(t, Leaf):
        if t.atom.name == relation:
            yield (t, *reversed(above))
        return
    for child in t.children:
        yield from _paths(child, relation, (*above, t))


def _sorted(t: Tree, join: Join) -> Tree:
    """The functions of a view in the order in which the query multiplies them."""
    if isinstance(t, Leaf):
        return t
    ranks = {f: i for i, f in enumerate(join.factors)}
    factors = tuple(sorted(t.factors, key=lambda f: ranks.get(f, -1)))
    return replace(t, children=tuple(_sorted(c, join) for c in t.children), factors=factors)


def hybrid(
    name: str,
    join: Join,
    order: VariableOrder,
    relations: Sequence[Relation],
    hints: frozenset[str] = frozenset(),
    *,
    chains: bool = False,
) -> Hybrid:
    """The hybrid tree of an aggregate; `chains` leaves one view a variable."""
    numbers = tuple(f for f in join.factors if not ins(f))
    functions = tuple(f for f in join.factors if ins(f))
    tree = view_tree(replace(join, factors=functions), order)
    root = _sorted(tree if chains else compact(tree), join)
    assert isinstance(root, TreeNode)
    root = replace(root, factors=(*root.factors, *numbers))
    used = {a.name for a in join.atoms}
    return Hybrid(name, join, order, root, tuple(r for r in relations if r.name in used), hints)
