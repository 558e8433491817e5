"""Deltas of view trees: every view's delta is found once, however many views stand above it."""

from __future__ import annotations

from freshview.calculus.terms import Expr, Rel, View
from freshview.calculus.text import show
from freshview.factorized.delta import Deltas
from freshview.factorized.terms import Leaf, Tree, TreeNode, view_name
from freshview.program.updates import Update

DEPTH = 8


def chain() -> list[Tree]:
    """R under a node a variable, each beside a relation of its own; from the leaf to the root."""
    views: list[Tree] = [Leaf(Rel("R", ("X0", "A")), ("X0", "A"))]
    for i in range(DEPTH):
        beside = Leaf(Rel(f"S{i}", (f"X{i}", f"X{i + 1}")), (f"X{i}", f"X{i + 1}"))
        views.append(TreeNode(f"X{i}", (f"X{i + 1}",), (views[-1], beside)))
    return views


def test_a_delta_is_found_once_for_all_the_views_above_it() -> None:
    reads: list[str] = []

    def read(t: Tree) -> Expr:
        reads.append(view_name(t))
        return View(view_name(t), t.keys)

    deltas = Deltas(read)
    views = chain()
    changes = [deltas.of(v, Update("R")) for v in views]
    assert reads == [f"V_S{i}" for i in range(DEPTH)]
    assert [len(c) for c in changes] == [1] * (DEPTH + 1)
    assert show(changes[2][0].term) == (
        "Sum[X2](Sum[X1]((DELTA R)(X0, A) * V_S0[X0, X1]) * V_S1[X1, X2])"
    )
    assert [deltas.of(v, Update("R")) for v in views] == changes


def test_the_deltas_of_several_updates_are_kept_apart() -> None:
    deltas = Deltas(lambda t: View(view_name(t), t.keys))
    _, view, *_ = chain()
    insert, delete = (deltas.of(view, Update("R", ("x", "a"), sign)) for sign in (1, -1))
    assert [show(c.term) for c in insert] == ["V_S0[x, X1]"]
    assert [show(c.term) for c in delete] == ["-V_S0[x, X1]"]
