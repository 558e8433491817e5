"""The view tree of a join under a variable order: tau of F-IVM 2018, Fig. 3."""

from __future__ import annotations

from dataclasses import dataclass

from freshview.calculus.build import exists, mul, sum_
from freshview.calculus.scope import ins, outs
from freshview.calculus.terms import Cmp, Expr, Lift, Var
from freshview.factorized.order import VariableOrder, check_order
from freshview.factorized.terms import Join, Leaf, Tree, TreeNode


def view_tree(join: Join, order: VariableOrder, listed: frozenset[str] = frozenset()) -> TreeNode:
    """One view a variable: the views below it joined, the variable added up unless it is free.

    V@X has the keys dep(X), and those free variables, and those that a function still waits for,
    which its children have. A test is made at the lowest view in which all its variables meet,
    any other function as late as can be: at the lowest of its variables, or where they meet if
    that is above all of them. At a `listed` variable there are two views: one with the variable
    as a key, and one over it without.

    >>> from freshview.calculus.text import read, show
    >>> from freshview.factorized.order import read_order
    >>> join = Join((), (read("R(A, B)"), read("S(A, C)")), (Var("B"),))
    >>> show(definition(view_tree(join, read_order("A - {B, C}"))))
    'Sum[](Sum[A](R(A, B) * B) * Sum[A](S(A, C)))'
    """
    check_order(order, join)
    builder = _Builder(join, order, listed, [_tested(f, join) for f in join.factors])
    roots: list[Tree] = [builder.at(v) for v in order.children[None]]
    roots += [Leaf(atom, ()) for atom in join.atoms if not atom.vars]
    left = tuple(builder.pending)
    if len(roots) == 1 and not left and set(roots[0].keys) == set(join.keys):
        root = roots[0]
        if isinstance(root, TreeNode) and not root.listed:
            return TreeNode(root.var, join.keys, root.children, root.factors)
    return TreeNode("", join.keys, tuple(roots), left)


def _tested(factor: Expr, join: Join) -> Expr:
    """An assignment to a variable that a relation has as well is a test."""
    if isinstance(factor, Lift) and factor.var in join.variables:
        return Cmp("=", Var(factor.var), factor.body)
    return factor


@dataclass
class _Builder:
    """The functions that still wait for their variables to meet."""

    join: Join
    order: VariableOrder
    listed: frozenset[str]
    pending: list[Expr]

    def at(self, var: str) -> TreeNode:
        """V@var."""
        below: list[Tree] = [
            Leaf(a, tuple(dict.fromkeys(a.vars)))
            for a in self.join.atoms
            if a.vars and self.order.lowest(a) == var
        ]
        below += [self.at(child) for child in self.order.children[var]]
        children = tuple(sorted(below, key=self._first))
        met = {k for child in children for k in child.keys}
        wanted = self.order.depends(var, self.join.atoms) | set(self.join.keys)
        factors = self._apply(met, frozenset(wanted) - {var})
        wanted |= {v for f in self.pending for v in ins(f)}
        path = self.order.path(var)
        ranked = [v for v in path if v in met] + sorted(met - set(path))
        keys = tuple(v for v in ranked if v in wanted)
        if var not in self.listed:
            return TreeNode(var, keys, children, factors)
        with_var = keys if var in keys else (*keys, var)
        return TreeNode(var, keys, (TreeNode(var, with_var, children, factors, listed=True),))

    def _apply(self, met: set[str], kept: frozenset[str]) -> tuple[Expr, ...]:
        """The functions whose variables have met here, unless all of them stay for views above.

        An assignment makes one more variable.
        """
        applied: list[Expr] = []
        while ready := [
            f for f in self.pending if ins(f) <= met and (isinstance(f, Cmp) or not ins(f) <= kept)
        ]:
            for f in ready:
                self.pending.remove(f)
                met |= outs(f)
            applied.extend(ready)
        return tuple(applied)

    def _first(self, t: Tree) -> int:
        """Children come in the order of the query's relations."""
        if isinstance(t, Leaf):
            return self.join.atoms.index(t.atom)
        return min(map(self._first, t.children), default=len(self.join.atoms))


def definition(t: Tree) -> Expr:
    """A view as a term over the relations, sums nested as in the tree."""
    if isinstance(t, Leaf):
        rows = sum_(t.keys, t.atom)
        return exists(rows) if t.indicator else rows
    return sum_(t.keys, mul(*(definition(c) for c in t.children), *t.factors))


def compact(t: Tree) -> Tree:
    """Views in a chain become one: a view over one view alone takes its children and functions.

    The variables that only a wide relation has make such chains (Valeanu 2018, 4.9.1).
    """
    if isinstance(t, Leaf):
        return t
    children = tuple(compact(c) for c in t.children)
    factors = t.factors
    while len(children) == 1 and isinstance(children[0], TreeNode) and not children[0].listed:
        factors = (*children[0].factors, *factors)
        children = children[0].children
    return TreeNode(t.var, t.keys, children, factors, t.listed)


def gather(t: Tree) -> Tree:
    """Listed variables in a chain share a view: that of the last has the values of all of them.

    A listed view over one other alone, which has all its keys, adds nothing but a sum.
    """
    if isinstance(t, Leaf):
        return t
    children = tuple(gather(c) for c in t.children)
    if t.listed and not t.factors and len(children) == 1:
        [over] = children
        if isinstance(over, TreeNode) and not over.factors and len(over.children) == 1:
            [last] = over.children
            if isinstance(last, TreeNode) and last.listed and set(t.keys) <= set(last.keys):
                return last
    return TreeNode(t.var, t.keys, children, t.factors, t.listed)
