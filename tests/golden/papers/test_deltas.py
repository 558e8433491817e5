"""The deltas that the papers print, before any map is chosen."""

from __future__ import annotations

from freshview.calculus.scope import outs
from freshview.calculus.terms import Expr
from freshview.calculus.text import read, show
from freshview.ivm.delta import delta
from freshview.ivm.domains import extract_domain
from freshview.ivm.restrict import restrict
from freshview.program.updates import Update
from freshview.reference.oracle.evaluate import Database, evaluate
from freshview.simplify import finish, simplify
from tests.golden.papers.compare import normal, same_sum


def same(actual: Expr, expected: str, bound: str = "") -> None:
    """Equal up to names and algebra; `given` are the trigger variables."""
    known = frozenset(bound.split())
    wanted = read(expected)
    keys = tuple(sorted(outs(wanted) | known))
    assert not same_sum(normal(actual, keys, known), normal(wanted, keys, known), known)


def test_example_6() -> None:
    """Inserting into R: S(C, D) * (y = C) * x * D, summed."""
    q = read("Sum[](R(A, B) * S(C, D) * {B = C} * A * D)")
    same(delta(q, Update("R", ("x", "y"))), "Sum[y](S(y, D) * x * D)", "x y")
    same(delta(q, Update("R", ("x", "y"), -1)), "-Sum[y](S(y, D) * x * D)", "x y")


def test_example_7() -> None:
    """A nested aggregate correlated on an inequality: new minus old, for every row of R."""
    q = read("Sum[A, B](R(A, B) * (z := Sum[](S(C, D) * {A > C} * D)) * {B < z})")
    new = "R(A, B) * (z := Sum[](S(C, D) * {A > C} * D) + {A > x} * y) * {B < z}"
    old = "R(A, B) * (z := Sum[](S(C, D) * {A > C} * D)) * {B < z}"
    same(delta(q, Update("S", ("x", "y"))), f"Sum[A, B]({new}) - Sum[A, B]({old})", "x y")


def test_example_12() -> None:
    """The delta (2 * R(x) + 1) * S(B), in a statement that loops over B only."""
    change = simplify(delta(read("R(A) * R(A) * S(B)"), Update("R", ("x",))), known=frozenset("x"))
    same(change, "(A := x) * (2 * R(A) + 1) * S(B)", "x")
    [(keys, term)] = restrict(("A", "B"), change, frozenset("x"))
    assert keys == ("x", "B")
    assert show(finish(term, frozenset("x"))) == "(2 * R(x) + 1) * S(B)"


def test_example_13() -> None:
    """The delta of a lifted count is bounded by the row that changed."""
    change = delta(read("(B := R(A))"), Update("R", ("x",)))
    same(change, "(A := x) * ((B := R(A) + 1) - (B := R(A)))", "x")
    simple = simplify(change, known=frozenset("x"))
    [(keys, term)] = restrict(("A", "B"), simple, frozenset("x"))
    assert keys == ("x", "B")
    same(term, "(B := R(x) + 1) - (B := R(x))", "x")


def test_section_6_1() -> None:
    """Q18a, inserting into LI: three terms, all of the order that changed."""
    nested = "(x := Sum[OK](LI(OK, QTY1) * QTY1))"
    q = read(f"Sum[CK](C(CK) * O(CK, OK) * LI(OK, QTY) * QTY * {nested} * {{100 < x}})")
    total = "Sum[ok](LI(ok, QTY1) * QTY1)"
    same(
        delta(q, Update("LI", ("ok", "qty"))),
        f"""Sum[CK, ok](C(CK) * O(CK, ok) * (
              Sum[ok](LI(ok, QTY) * QTY) * (x := {total} + qty)
              - Sum[ok](LI(ok, QTY) * QTY) * (x := {total})
              + qty * (x := {total} + qty)) * {{100 < x}})""",
        "ok qty",
    )


DISTINCT = "Exists(Sum[A](R(A, B) * {B > 3}))"


def test_example_3_4_1() -> None:
    """DISTINCT: the domain is projected on A, with the condition on B."""
    domain = extract_domain(read("Sum[A]((DELTA R)(A, B) * {B > 3})"))
    assert [show(d) for d in domain] == ["Exists(Sum[A](Exists((DELTA R)(A, B_d)) * {B_d > 3}))"]
    same(
        delta(read(DISTINCT), Update("R")),
        """Exists(Sum[A](Exists((DELTA R)(A, B)) * {B > 3})) * (
             Exists(Sum[A](R(A, B1) * {B1 > 3}) + Sum[A]((DELTA R)(A, B1) * {B1 > 3}))
             - Exists(Sum[A](R(A, B1) * {B1 > 3})))""",
    )


def test_domain_counts_once() -> None:
    """Two new rows of one A are one new result: without the outer Exist it would count 2."""
    batch = {(1, 4): 1, (1, 5): 1, (2, 3): 1, (3, 9): -1}
    db = Database({"R": {(3, 9): 1, (4, 8): 1}}, {"R": batch})
    change = delta(read(DISTINCT), Update("R"))
    assert evaluate(change, db) == {(1,): 1, (3,): -1}
    assert evaluate(simplify(change), db) == {(1,): 1, (3,): -1}


def test_domain_keeps_rows_that_cancel() -> None:
    """A domain over-approximates: a row that leaves and one that comes do not hide each other."""
    db = Database({"R": {(1, 4): 1}}, {"R": {(1, 4): -1, (1, 5): 1}})
    assert evaluate(delta(read(DISTINCT), Update("R")), db) == {}
    domain = extract_domain(read("Sum[A]((DELTA R)(A, B) * {B > 3})"))
    assert evaluate(domain[0], db) == {(1,): 1}
