"""View trees on one screen: what is joined, and in which views it is kept (F-IVM 2018, 2 and 3).

    Q[keys] = sum over the other variables of  R1[..] * ... * Rn[..] * f1(X) * ... * fm(Y)

is a `Join`. A `Tree` computes it bottom up: a `Leaf` is a relation, a `TreeNode` joins its
children, applies the functions whose variables have met there, and adds up over all but its keys.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from freshview.calculus.schema import Relation
from freshview.calculus.terms import Expr, Rel


@dataclass(frozen=True, slots=True)
class Join:
    """An aggregate over a join; `factors` are functions of variables: lifts, values, tests."""

    keys: tuple[str, ...]
    atoms: tuple[Rel, ...]
    factors: tuple[Expr, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the relations, in the order in which they are met."""
        return tuple(dict.fromkeys(v for atom in self.atoms for v in atom.vars))


def natural_join(
    relations: tuple[Relation, ...], keys: tuple[str, ...] = (), factors: tuple[Expr, ...] = ()
) -> Join:
    """R NATURAL JOIN S ...: columns of one name are one variable."""
    atoms = tuple(Rel(r.name, tuple(c.name for c in r.columns)) for r in relations)
    return Join(keys, atoms, factors)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A relation; an indicator is 1 for those of its keys that some row has, else 0."""

    atom: Rel
    keys: tuple[str, ...]
    indicator: bool = False


@dataclass(frozen=True, slots=True)
class TreeNode:
    """V@var[keys]: the join of the children, with functions, added up over all but the keys.

    A `listed` node is part of the result that the user reads (`conjunctive.py`): it stays.
    """

    var: str
    keys: tuple[str, ...]
    children: tuple[Tree, ...]
    factors: tuple[Expr, ...] = ()
    listed: bool = False


Tree: TypeAlias = Leaf | TreeNode

COPY = re.compile(r"(_\d+)+\b")
"""What a second copy of a query adds to the names of its variables."""


def trees(t: Tree) -> Iterator[Tree]:
    """A tree and all the trees inside it, from the root down."""
    yield t
    if isinstance(t, TreeNode):
        for child in t.children:
            yield from trees(child)


def relations(t: Tree) -> Counter[str]:
    """The relations under a view, each as often as it occurs."""
    return Counter(leaf.atom.name for leaf in trees(t) if isinstance(leaf, Leaf))


def view_name(t: Tree) -> str:
    """V_ST@C, written so that it is a name: V_ST_at_C.

    >>> r, s = (Leaf(Rel(n, ("A",)), ("A",)) for n in ("R", "S"))
    >>> view_name(TreeNode("A", (), (r, s))), view_name(r), view_name(Leaf(s.atom, ("A",), True))
    ('V_RS_at_A', 'V_R', 'CNT_S_A')
    """
    if isinstance(t, Leaf):
        name = t.atom.name
        return f"CNT_{name}_{'_'.join(t.keys)}" if t.indicator else f"V_{name}"
    names = list(
        dict.fromkeys(x.atom.name for x in trees(t) if isinstance(x, Leaf) and not x.indicator)
    )
    joined = "".join(names) if all(len(n) == 1 for n in names) else "_".join(names)
    return f"V_{joined}_at_{COPY.sub('', t.var) or 'top'}"
