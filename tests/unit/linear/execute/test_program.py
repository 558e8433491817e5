"""The maintained program: updates, batches, what is refused, drift, and safe inverses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import freshview as fv
from freshview import linear
from freshview.errors import FreshviewError
from freshview.linear import BadUpdate, Program, ShapeProblem, Singular, matrix
from freshview.linear.execute.changes import factors
from freshview.linear.kernels.semiring import REAL
from freshview.linear.language import expression
from freshview.linear.language.show import show


def square() -> Program:
    return Program("dynamic A(n, n); static B(n, n); output C := A * B;", A=np.eye(3), B=np.eye(3))


def refused(complaint: str, **update: Any) -> None:
    """A change of the square is refused with these words, and nothing changes."""
    p = square()
    with pytest.raises(BadUpdate) as e:
        p.change(**update)
    assert complaint in str(e.value)
    np.testing.assert_array_equal(p["A"], np.eye(3))


def test_it_is_part_of_freshview() -> None:
    assert fv.linear.Program is Program


def test_text_and_expressions_are_the_same_program() -> None:
    x, y = linear.matrix("X", "m", "n"), linear.matrix("Y", "m", "p", dynamic=False)
    random = np.random.default_rng(0)
    values = {"X": random.standard_normal((6, 3)), "Y": random.standard_normal((6, 2))}
    one = Program({"beta": linear.ols(x, y)}, values)
    text = "dynamic X(m, n); static Y(m, p); output beta := inv(X' * X) * (X' * Y);"
    other = Program(text, values)
    assert str(one.trigger("X")) == str(other.trigger("X"))
    np.testing.assert_array_equal(one["beta"], other["beta"])


def test_rows_of_a_batch_are_merged() -> None:
    u, v = factors("A", (5, 2), REAL, rows=[3, 1, 3, 3], v=np.ones((4, 2)))
    assert u.shape == (5, 2)
    np.testing.assert_array_equal(u @ v.T, [[0, 0], [1, 1], [0, 0], [3, 3], [0, 0]])


def test_cells_go_by_the_fewer_lines() -> None:
    u, v = factors("A", (5, 5), REAL, cells=[(0, 2, 1.0), (1, 2, 2.0), (4, 2, 3.0)])
    assert u.shape == (5, 1)
    np.testing.assert_array_equal((u @ v.T)[:, 2], [1, 2, 0, 0, 3])


def test_large_batches_are_computed_anew() -> None:
    random = np.random.default_rng(0)
    n = 60
    a = linear.matrix("A", "n")
    p = Program({"P": linear.powers(a, 4)}, A=random.standard_normal((n, n)) / n)
    assert p.choice("A", 1).strategy == "incremental"
    assert p.choice("A", n).strategy == "reevaluate"
    p.update("A", u=np.eye(n), v=random.standard_normal((n, n)) / n)
    assert p.report.reevaluations == 1
    assert "rank 60 of A" in p.report.reasons[0]
    np.testing.assert_allclose(p["P"], np.linalg.matrix_power(p["A"], 4), rtol=1e-10)


def test_a_sensitive_inverse_is_computed_anew() -> None:
    p = Program("dynamic A(n, n); output W := inv(A);", A=np.eye(4))
    p.update("A", cells=[(0, 0, -1 + 1e-9)])
    assert p.report.reevaluations == 1
    np.testing.assert_allclose(p["W"], np.linalg.inv(p["A"]), rtol=1e-12)


def test_a_singular_update_changes_nothing() -> None:
    p = Program("dynamic A(n, n); output W := inv(A);", A=2 * np.eye(3))
    with pytest.raises(Singular, match="singular"):
        p.update("A", cells=[(1, 1, -2.0)])
    np.testing.assert_array_equal(p["A"], 2 * np.eye(3))
    np.testing.assert_array_equal(p["W"], 0.5 * np.eye(3))


def test_drift_is_measured_and_removed() -> None:
    random = np.random.default_rng(0)
    p = Program(
        "dynamic A(n, n); output W := inv(A * A');",
        A=random.standard_normal((8, 8)) + 4 * np.eye(8),
        check_every=10,
    )
    p.values["W"] *= 1 + 1e-6
    for _ in range(10):
        p.update("A", rows=[0], v=0.01 * random.standard_normal((1, 8)))
    assert p.report.worst_drift > 1e-7
    assert p.report.drift < 1e-11
    assert p.report.reasons[-1].startswith("the drift")
    np.testing.assert_allclose(p["W"], np.linalg.inv(p["A"] @ p["A"].T), rtol=1e-10)


def test_symmetric_inputs_stay_so() -> None:
    p = Program("dynamic S(n, n) symmetric; output C := S' * S;", S=np.eye(3))
    assert show(p.normal.statements[0].term) == "S * S"
    p.update("S", u=np.ones((3, 1)), v=np.ones((3, 1)))
    np.testing.assert_allclose(p["C"], p["S"] @ p["S"])
    with pytest.raises(BadUpdate, match="an update would make S no longer symmetric"):
        p.update("S", cells=[(0, 1, 1.0)])


def test_only_what_is_needed_is_kept() -> None:
    random = np.random.default_rng(0)
    p = Program(
        "dynamic X(m, n); Z := X' * X; output W := inv(Z);", X=random.standard_normal((6, 3))
    )
    assert "Z" not in p.values
    p.update("X", rows=[0], v=np.ones((1, 3)))
    np.testing.assert_allclose(p["Z"], p["X"].T @ p["X"])


@pytest.mark.parametrize(
    ("update", "complaint"),
    [
        ({"rows": [3], "v": np.ones((1, 3))}, "A has no row 3; it has 3, counted from 0"),
        ({"rows": [0]}, "an update of A by rows needs v as well"),
        ({"rows": [0], "v": np.ones((1, 2))}, "1 lines of A change by 1 x 2 values"),
        ({"u": np.ones(3)}, "an update of A by u needs v as well"),
        ({"u": np.ones(3), "v": np.ones(2)}, "A is 3 x 3, but u is 3 x 1 and v is 2 x 1"),
        ({"rows": [0], "cols": [1]}, "takes rows, columns or cells, not several"),
        ({"rows": [0.5], "v": np.ones((1, 3))}, "are whole numbers"),
    ],
)
def test_bad_updates(update: dict[str, object], complaint: str) -> None:
    refused(complaint, update={"A": update})


def test_other_complaints() -> None:
    p = square()
    with pytest.raises(FreshviewError, match="B is static; declare it dynamic"):
        p.update("B", rows=[0], v=np.ones((1, 3)))
    with pytest.raises(FreshviewError, match="there is no input X; there is A, B"):
        p.update("X", rows=[0], v=np.ones((1, 3)))
    with pytest.raises(FreshviewError, match="there is no matrix Q; there is A, B, C"):
        p["Q"]
    with pytest.raises(FreshviewError, match="B has a side of 2, but 3"):
        Program("dynamic A(n, n); static B(n, n); output C := A * B;", A=np.eye(3), B=np.eye(2))
    with pytest.raises(FreshviewError, match="there is no semiring 'odd'"):
        Program("dynamic A(n, n); output C := A * A;", A=np.eye(3), semiring="odd")
    with pytest.raises(FreshviewError, match="there is no strategy 'odd'"):
        Program("dynamic A(n, n); output C := A * A;", A=np.eye(3), strategy="odd")  # type: ignore[arg-type]
    with pytest.raises(ShapeProblem, match="A \\+ B adds n x m and m x n"):
        linear.matrix("A", "n", "m") + linear.matrix("B", "m", "n")
    with pytest.raises(FreshviewError, match="A is declared twice, and differently"):
        linear.matrix("A", "n") + linear.matrix("A", "n", dynamic=False)


def test_explain_tells_strategy_cost_and_views() -> None:
    text = square().explain("A")
    assert text.startswith("A: incremental, since incremental takes the fewest operations")
    assert "views: C (72 bytes)" in text


def test_seconds_decide_where_they_are_measured() -> None:
    a = linear.matrix("A", "n")
    p = Program({"P": linear.powers(a, 16)}, A=np.eye(300) / 2, measure=True)
    choice = p.choice("A", 300)
    assert choice.strategy == "reevaluate"
    assert "is expected to be fastest for an update of rank 300" in choice.why
    p.update("A", rows=[1, 2], v=np.full((2, 300), 1e-3))
    np.testing.assert_allclose(p["P"], np.linalg.matrix_power(p["A"], 16), rtol=1e-9, atol=1e-12)


def test_assign_replaces() -> None:
    p = square()
    p.assign("A", rows=[2, 0, 2], to=[[9, 9, 9], [1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(p["A"], [[1, 2, 3], [0, 1, 0], [4, 5, 6]])
    p.assign("A", cols=[1], to=[[7], [8], [9]])
    np.testing.assert_array_equal(p["A"], [[1, 7, 3], [0, 8, 0], [4, 9, 6]])
    p.assign("A", cells=[(0, 0, 5.0), (2, 2, 1.0), (0, 0, 2.0)])
    np.testing.assert_array_equal(p["A"], [[2, 7, 3], [0, 8, 0], [4, 9, 1]])
    np.testing.assert_array_equal(p["C"], p["A"])


@pytest.mark.parametrize(
    ("assign", "complaint"),
    [
        ({}, "the update of A replaces nothing"),
        ({"rows": [0]}, "by rows needs to as well"),
        ({"rows": [0], "to": [[1, 2]]}, "1 lines of A change by 1 x 2 values"),
        ({"cells": [(0, 7, 1.0)]}, "A has no column 7"),
        ({"cells": [(0, 0, np.nan)]}, "a value for A is infinite or not a number"),
        ({"rows": [0], "to": [[1, 2, np.inf]]}, "a value for A is infinite or not a number"),
    ],
)
def test_bad_replacements(assign: dict[str, object], complaint: str) -> None:
    refused(complaint, assign={"A": assign})


def test_polynomials_of_a_symmetric_matrix_are_symmetric() -> None:
    p = Program(
        "dynamic S(n, n) symmetric; dynamic A(n, n); output R := (S * S + 2 * S + eye(n)) * S; "
        "output P := S * A;",
        S=np.eye(3),
        A=np.eye(3),
    )
    known = {n: p.normal.scope[n].symmetric for n in ("R", "P")}
    assert known == {"R": True, "P": False}


def test_several_inputs_change_at_once_or_not_at_all() -> None:
    source = "dynamic A(n, n); dynamic B(n, n); output W := inv(A) * B;"
    p = Program(source, A=np.eye(3), B=np.eye(3), strategy="incremental")
    p.change(update={"A": {"cells": [(0, 1, 1.0)]}}, assign={"B": {"rows": [2], "to": [[1, 2, 3]]}})
    np.testing.assert_allclose(p["W"], np.linalg.inv(p["A"]) @ p["B"])
    assert p.report.updates == 1
    before = {n: p[n] for n in ("A", "B", "W")}
    for bad in (
        {"A": {"cells": [(2, 2, -1.0)]}},  # singular
        {"A": {"cells": [(0, 9, 1.0)]}},  # out of range
        {"A": {"rows": [0]}},
    ):
        with pytest.raises(FreshviewError):
            p.change(update={"B": {"cells": [(0, 0, 5.0)]}, **bad})  # type: ignore[dict-item]
        for n, a in before.items():
            np.testing.assert_array_equal(p[n], a)
    assert p.report.updates == 1
    with pytest.raises(BadUpdate, match="A is updated and assigned at once"):
        p.change(update={"A": {"u": [1, 0, 0], "v": [1, 0, 0]}}, assign={"A": {"cells": []}})
    with pytest.raises(BadUpdate, match="a change of A by 'row' is not known; use rows, cols"):
        p.update("A", row=[1])  # type: ignore[call-arg]


def test_an_inverse_may_be_missing_on_the_way() -> None:
    """A without B's change is singular; both together are not."""
    source = "dynamic A(n, n); dynamic B(n, n); output W := inv(A + B);"
    p = Program(source, A=np.eye(2), B=np.zeros((2, 2)))
    p.change(update={"A": {"cells": [(0, 0, -1.0)]}, "B": {"cells": [(0, 0, 3.0)]}})
    np.testing.assert_allclose(p["W"], np.diag([1 / 3, 1.0]))
    assert p.report.reevaluations == 1


def test_what_is_assigned_is_there_as_it_was_given() -> None:
    a = matrix("A", "n")
    p = Program({"B": a @ a}, A=[[1e12, 0.0], [0.0, 1.0]])
    p.assign("A", cells=[(0, 0, 0.1)])  # 1e12 + (0.1 - 1e12) is another number
    assert p["A"].tolist() == [[0.1, 0.0], [0.0, 1.0]]
    p.assign("A", rows=[1], to=[[0.3, 1e16]])
    p.assign("A", rows=[1], to=[[0.3, 0.7]])
    assert p["A"].tolist() == [[0.1, 0.0], [0.3, 0.7]]
    p.assign("A", cols=[1], to=[[5e15], [1]])
    p.assign("A", cols=[1], to=[[0.9], [0.7]])
    assert p["A"].tolist() == [[0.1, 0.9], [0.3, 0.7]]
    assert np.allclose(p["B"], p["A"] @ p["A"], rtol=1e-11, atol=0)


@pytest.mark.parametrize("strategy", ["incremental", "hybrid", "auto"])
def test_what_came_and_went_leaves_no_rounding_behind(strategy: Any) -> None:
    a = matrix("A", "m", "n")
    start = np.random.default_rng(3).standard_normal((8, 6))
    for huge in (1e6, 1e12, 1e200):
        p = Program({"Z": a.T @ a}, A=start, strategy=strategy)
        with np.errstate(over="ignore", invalid="ignore"):
            p.assign("A", rows=[2], to=np.full((1, 6), huge))
            p.assign("A", rows=[2], to=start[2:3])
        assert np.allclose(p["Z"], start.T @ start, rtol=0, atol=1e-9), huge


def test_small_updates_do_not_measure_the_drift_each_time() -> None:
    a = matrix("A", "n")
    p = Program({"B": a @ a}, A=np.eye(30), strategy="incremental")
    measured = []
    p.check = lambda: measured.append(1) or 0.0  # type: ignore[method-assign,func-returns-value]
    for i in range(60):
        p.update("A", cells=[(i % 30, 3, 1.0 if i < 30 else -1.0)])
    assert measured == []


@pytest.mark.parametrize(
    ("misuse", "words"),
    [
        (lambda p, a: p.update("A", cells=[(0, 0)]), "the cells of A cannot be .*; give triples"),
        (lambda p, a: p.update("A", cells=5), "the cells of A cannot be 5; give triples"),
        (lambda p, a: p.assign("A", cells=[(0, 0)]), "the cells of A cannot be .*; give triples"),
        (lambda p, a: p.update("A", u=1, v=1), "u and v of A are not matrices"),
        (lambda p, a: p.change(update={"A": 5}), "a change cannot be {'A': 5}; give, by the"),
        (lambda p, a: p.change(assign=5), "a change cannot be 5; give, by the"),
        (lambda p, a: a * "x", "a matrix is multiplied by 'x'; use a finite real number"),
        (lambda p, a: 2j * a, r"a matrix is multiplied by 2j"),
        (lambda p, a: a * math.nan, "a matrix is multiplied by nan"),
        (lambda p, a: a / 0, "a matrix is divided by 0"),
        (lambda p, a: linear.pagerank(a, damping=math.nan), "a matrix is multiplied by nan"),
        (lambda p, a: expression.fill("n", "n", math.inf), "a matrix is multiplied by inf"),
        (lambda p, a: linear.beside(), "there is no matrix to join"),
        (lambda p, a: linear.iterate(3, a, lambda x: None), "the step of an iteration gives None"),
        (lambda p, a: linear.iterate(1.5, a, lambda x: x), "an iteration runs 0 times or more"),
    ],
)
def test_misuse_is_told_in_one_sentence(misuse: Any, words: str) -> None:
    a = matrix("A", "n")
    p = Program({"B": a @ a}, A=np.eye(2))
    with pytest.raises(FreshviewError, match=words):
        misuse(p, a)
    assert p["B"].tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(("ring", "bad"), [("min-plus", -math.inf), ("max-times", math.inf)])
def test_what_has_no_product_with_the_zero_of_a_semiring_is_refused(ring: str, bad: float) -> None:
    a = matrix("A", "n")
    zero = math.inf if ring == "min-plus" else 0.0
    p = Program({"B": a @ a}, A=[[zero, zero], [zero, zero]], semiring=ring)
    with pytest.raises(BadUpdate, match=r"a value for A is .*infini"):
        p.update("A", cells=[(0, 0, bad)])
    with pytest.raises(BadUpdate, match=r"a value for A is .*infini"):
        Program({"B": a @ a}, A=[[bad]], semiring=ring)
    assert p["B"].tolist() == [[zero, zero], [zero, zero]]


def test_a_text_may_nest_far() -> None:
    text = "dynamic A(n, n); output B := " + "(" * 3000 + "A" + ")" * 3000 + ";"
    assert Program(text, A=[[2.0]])["B"].tolist() == [[2.0]]
