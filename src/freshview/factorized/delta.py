"""Delta trees: how a view changes with one relation (F-IVM 2018, Fig. 4).

The views on the way from the changed relation to the root become deltas; those beside the way are
read as they are kept. A relation that occurs several times, or also as an indicator, changes
several children of one view at once: d(V1*V2) = dV1*V2 + V1*dV2 + dV1*dV2, all over old views.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, product
from math import prod
from typing import TypeAlias

from freshview.calculus.build import add, const, exists, mul, neg, sum_
from freshview.calculus.terms import Cmp, Const, Delta, Exists, Expr, Lift, Var
from freshview.calculus.walk import rename, size
from freshview.factorized.terms import Leaf, Tree, TreeNode, relations, trees
from freshview.program.updates import Update
from freshview.simplify import finish, simplify
from freshview.simplify.arrange import arrange

MOST_PRODUCTS = 16
"""Products that one view's change is written out into, where a relation changes several of its
children at once; past it the children change one after the other."""


@dataclass(frozen=True)
class Change:
    """A delta: V[keys] += term, keys that the trigger binds under the names of its parameters."""

    keys: tuple[str, ...]
    term: Expr


Read: TypeAlias = Callable[[Tree], Expr]
Row: TypeAlias = tuple[Leaf, Expr]
"""A leaf that changes, where its variables are known already, and its row."""


@dataclass(frozen=True)
class Deltas:
    """How the views of one tree change; `read` is the access to a view that is kept.

    `ordered` keeps the factors of a product as they stand, for a ring that does not commute. The
    delta of a view is part of those of the views above it: `known` are those found so far.

    >>> from freshview.calculus.terms import Rel, View
    >>> from freshview.calculus.text import show
    >>> r, s = Leaf(Rel("R", ("A", "B")), ("A", "B")), Leaf(Rel("S", ("A",)), ("A",))
    >>> v = TreeNode("A", (), (TreeNode("B", ("A",), (r,)), s))
    >>> [change] = Deltas(lambda t: View("V_S", t.keys)).of(v, Update("R"))
    >>> show(change.term)
    'Sum[](Sum[A]((DELTA R)(A, B)) * V_S[A])'
    """

    read: Read
    ordered: bool = False
    known: dict[tuple[Tree, Update, Row | None], list[Expr]] = field(default_factory=dict)

    def of(self, t: Tree, update: Update) -> list[Change]:
        """The changes of a view that follow an update."""
        leaves = [x for x in trees(t) if isinstance(x, Leaf) and x.atom.name == update.relation]
        if update.params and _agree(leaves):
            return self._single(t, leaves[0], update)
        return [Change(t.keys, term) for term in _Following(self, update).of(t)]

    def of_product(self, t: Tree, relation: str, rows: Callable[[Leaf], Expr]) -> list[Change]:
        """The changes that follow a product of factors: sums go to the factors that they concern.

        What is summed out of a factor never meets the others, and no product is listed before the
        keys of a view ask for it (OPTIMIZE of F-IVM 2018, 5).
        """
        terms = _Following(Deltas(self.read), Update(relation), rows=rows).of(t)
        return [Change(t.keys, finish(simplify(term))) for term in terms]

    def _single(self, t: Tree, leaf: Leaf, update: Update) -> list[Change]:
        """One row of a relation: its columns go under the names of the parameters."""
        names: dict[str, str] = {}
        tests: list[Expr] = []
        for v, param in zip(leaf.atom.vars, update.params, strict=True):
            if names.setdefault(v, param) != param:
                tests.append(Cmp("=", Var(names[v]), Var(param)))
        row = mul(const(update.sign), *tests)
        keys = tuple(names.get(k, k) for k in t.keys)
        terms = _Following(self, update, (leaf, row)).of(t)
        return [Change(keys, rename(term, names)) for term in terms]


def _agree(leaves: list[Leaf]) -> bool:
    """Whether one row of a relation gives all its leaves the same values of the same variables.

    An indicator over some of the columns changes rows of others, too, whose values differ.
    """
    first = leaves[0].atom
    plain = sum(not leaf.indicator for leaf in leaves)
    whole = all(set(x.keys) == set(first.vars) for x in leaves if x.indicator)
    return plain <= 1 and whole and all(leaf.atom == first for leaf in leaves)


@dataclass(frozen=True)
class _Following:
    """The deltas of the views of one tree that follow one update."""

    deltas: Deltas
    update: Update
    row: Row | None = None
    rows: Callable[[Leaf], Expr] | None = None
    """The rows of a change that comes in another form than a batch or a row."""

    def of(self, t: Tree) -> list[Expr]:
        """The addends of dV."""
        known, key = self.deltas.known, (t, self.update, self.row)
        if key not in known:
            known[key] = self._addends(t)
        return known[key]

    def _addends(self, t: Tree) -> list[Expr]:
        if self.update.relation not in relations(t):
            return []
        if isinstance(t, Leaf):
            return [self._indicator(t) if t.indicator else self._rows(t)]
        known = frozenset(self.update.params)
        if self.row is not None:
            known |= frozenset(self.row[0].atom.vars)
        out: list[Expr] = []
        for parts in self._products(t):
            body = mul(*parts, *t.factors)
            body = body if self.deltas.ordered else arrange(body, known)
            out.append(sum_((*t.keys, *sorted(known)), body))
        return out

    def _products(self, t: TreeNode) -> Iterator[list[Expr]]:
        """One product for each choice of children that change, the others as they were."""
        deltas = {i: self.of(c) for i, c in enumerate(t.children)}
        changing = [i for i, terms in deltas.items() if terms]
        if self.row is None and prod(1 + len(deltas[i]) for i in changing) > MOST_PRODUCTS:
            yield from self._one_by_one(t, deltas)
            return
        for count in range(1, len(changing) + 1):
            for chosen in combinations(changing, count):
                for terms in product(*(deltas[i] for i in chosen)):
                    moved = dict(zip(chosen, terms, strict=True))
                    yield [
                        moved[i] if i in moved else self.deltas.read(c)
                        for i, c in enumerate(t.children)
                    ]

    def _one_by_one(self, t: TreeNode, deltas: dict[int, list[Expr]]) -> Iterator[list[Expr]]:
        """The children change one after the other, the one that changes in most ways last.

        Those before are new, those after are old: as many products as there are changes.
        """
        parts = [self.deltas.read(c) for c in t.children]
        for i in sorted(deltas, key=lambda i: sum(map(size, deltas[i]))):
            for term in deltas[i]:
                yield [term if j == i else part for j, part in enumerate(parts)]
            parts[i] = add(parts[i], *deltas[i])

    def _rows(self, leaf: Leaf) -> Expr:
        if self.row is not None:
            return self.row[1]
        if self.rows is not None:
            return self.rows(leaf)
        if not self.update.params:
            return sum_(leaf.keys, Delta(leaf.atom.name, leaf.atom.vars))
        pairs = zip(leaf.atom.vars, self.update.params, strict=True)
        row = mul(*(Lift(x, Var(p)) for x, p in pairs))
        return mul(const(self.update.sign), sum_(leaf.keys, row))

    def _indicator(self, leaf: Leaf) -> Expr:
        """Within the keys that the change touches: there afterwards, less there before."""
        change, before = self._rows(leaf), self.deltas.read(leaf)
        assert isinstance(before, Exists)
        touched = mul() if isinstance(change, Const) else exists(change)
        return mul(touched, add(exists(add(before.body, change)), neg(before)))
