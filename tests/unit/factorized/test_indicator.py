"""Cyclic joins: indicators keep the views over part of a cycle as small as its relations."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from freshview.calculus.schema import Column, Relation
from freshview.calculus.terms import Rel
from freshview.calculus.text import show
from freshview.calculus.types import INT
from freshview.codegen.kernel.source import write
from freshview.factorized.compile import ViewTreeCompiler, compile_joins
from freshview.factorized.indicator import add_indicators
from freshview.factorized.options import ViewTreeOptions
from freshview.factorized.order import read_order
from freshview.factorized.terms import Join, Leaf, TreeNode, trees
from freshview.factorized.viewtree import compact, definition, view_tree
from freshview.program.check import check_program
from freshview.program.terms import Program
from freshview.reference.engine.run import Engine

TRIANGLE = Join((), (Rel("R", ("A", "B")), Rel("S", ("B", "C")), Rel("T", ("C", "A"))))
ORDER = read_order("A - B - C")


def relations(names: str, static: str = "") -> list[Relation]:
    columns = (Column("x", INT), Column("y", INT))
    return [Relation(n, columns, n in static) for n in names]


def program(join: Join, names: str, mode: Any = "batch", **rest: Any) -> Program:
    compiled = compile_joins({"Q": join}, relations(names), ViewTreeOptions(mode=mode, **rest))
    check_program(compiled)
    return compiled


def test_a_triangle_is_watched_where_two_of_its_sides_meet() -> None:
    tree = add_indicators(compact(view_tree(TRIANGLE, ORDER)))
    assert show(definition(tree)) == (
        "Sum[](R(A, B) * Sum[A, B](S(B, C) * T(C, A) * Exists(R(A, B))))"
    )


def test_an_acyclic_join_is_not_watched() -> None:
    path = Join((), TRIANGLE.atoms[:2])
    tree = compact(view_tree(path, ORDER))
    assert add_indicators(tree) == tree


def test_a_loop_of_four_with_a_chord_watches_the_chord_in_both_triangles() -> None:
    sides = [("R", "AB"), ("S", "BC"), ("T", "CD"), ("U", "DA"), ("V", "AC")]
    join = Join((), tuple(Rel(name, tuple(over)) for name, over in sides))
    tree = add_indicators(compact(view_tree(join, read_order("A - C - {B, D}"))))
    watched = [
        t.var
        for t in trees(tree)
        if isinstance(t, TreeNode)
        for c in t.children
        if isinstance(c, Leaf) and c.indicator and c.atom.name == "V"
    ]
    assert watched == ["B", "D"]


@pytest.mark.parametrize("mode", ["batch", "tuple"])
@pytest.mark.parametrize("indicators", [True, False])
@pytest.mark.parametrize("self_join", [True, False])
def test_triangles_are_counted_under_random_changes(
    mode: str, indicators: bool, self_join: bool
) -> None:
    names = "EEE" if self_join else "RST"
    atoms = tuple(Rel(n, a.vars) for n, a in zip(names, TRIANGLE.atoms, strict=True))
    used = "".join(sorted(set(names)))
    options = {"indicators": indicators, "orders": {"Q": ORDER}}
    engine = Engine(program(Join((), atoms), used, mode, **options))
    rng = random.Random(5)
    live: dict[str, Counter[Any]] = {n: Counter() for n in used}
    for _ in range(40):
        name = rng.choice(used)
        batch: list[Any] = []
        for _ in range(rng.randint(1, 5)):
            there = list(live[name].elements())
            gone = bool(there) and rng.random() < 0.4
            row = rng.choice(there) if gone else (rng.randrange(4), rng.randrange(4))
            live[name][row] += -1 if gone else 1
            batch.append((row, -1 if gone else 1))
        engine.apply(name, batch)
        r, s, t = (live[n] for n in names)
        want = sum(n * s[(b, c)] * t[(c, a)] for (a, b), n in r.items() for c in range(4))
        assert engine.rows("Q") == [(want,)]


def test_with_an_indicator_a_view_over_two_sides_is_as_large_as_the_third() -> None:
    spokes = 60
    sizes = {}
    for indicators in (True, False):
        options = {"indicators": indicators, "orders": {"Q": ORDER}}
        engine = Engine(program(TRIANGLE, "RST", **options))
        engine.apply("R", [((i, i), 1) for i in range(spokes)])
        engine.apply("S", [((i, 0), 1) for i in range(spokes)])
        engine.apply("T", [((0, i), 1) for i in range(spokes)])
        assert engine.rows("Q") == [(spokes,)]
        sizes[indicators] = engine.state()["V_ST_at_C"]
    assert sizes == {True: spokes, False: spokes * spokes}


@pytest.mark.parametrize("mode", ["batch", "tuple"])
def test_an_indicator_turns_off_with_the_last_row(mode: str) -> None:
    """Ex. B.2: Q[A] is the indicator of R(A, B) on A, here beside a table that has every A."""
    watched = Leaf(Rel("R", ("A", "B")), ("A",), True)
    tree = TreeNode("A", ("A",), (watched, Leaf(Rel("S", ("A",)), ("A",))))
    declared = (
        Relation("R", (Column("A", INT), Column("B", INT))),
        Relation("S", (Column("A", INT),), static=True),
    )
    compiler = ViewTreeCompiler(declared, ViewTreeOptions(mode=mode))
    compiler.name_params(set("AB"))
    access = compiler.keep(tree, "Q")
    engine = Engine(compiler.program([]))
    check_program(compiler.program([]))
    engine.load({"S": [(1,), (2,)]})
    engine.apply("R", [((1, 1), 1), ((1, 2), 1), ((2, 3), 1)])
    assert access.name == "Q"
    assert engine.contents("Q") == {(1,): 1, (2,): 1}
    engine.apply("R", [((1, 2), -1)])
    assert engine.contents("Q") == {(1,): 1, (2,): 1}  # one row of a1 is left: nothing changes
    engine.apply("R", [((1, 1), -1)])
    assert engine.contents("Q") == {(2,): 1}
    assert engine.contents("CNT_R_A") == {(2,): 1}


def test_a_row_of_the_watched_side_is_found_by_its_columns() -> None:
    kernel = write(program(TRIANGLE, "RST", "tuple", orders={"Q": ORDER}))
    assert kernel.scans == ()
