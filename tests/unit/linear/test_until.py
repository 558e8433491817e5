"""Iteration to a tolerance: the fixpoint that recomputation finds, from the last one on."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import pytest

from freshview import linear
from freshview.errors import FreshviewError
from freshview.linear import NotConverged, Program
from freshview.linear.kernels.semiring import Array
from freshview.linear.language.show import show
from freshview.linear.language.text import read

N = 40


def links(seed: int = 0) -> Array:
    random = np.random.default_rng(seed)
    there = (random.random((N, N)) < 0.2) + np.eye(N)
    return np.asarray(there / there.sum(0))


def ranks(matrix: Array) -> Array:
    """The fixpoint of 0.85 L x + 0.15, by solving."""
    return np.linalg.solve(np.eye(N) - 0.85 * matrix, np.full((N, 1), 0.15))


@pytest.mark.parametrize("strategy", ["auto", "incremental", "hybrid", "reevaluate"])
def test_pagerank_follows_to_a_tolerance(strategy: str) -> None:
    p = Program({"rank": linear.pagerank(linear.matrix("L", "n"))}, L=links(), strategy=strategy)  # type: ignore[arg-type]
    random = np.random.default_rng(1)
    for step in range(12):
        j = int(random.integers(N))
        column = random.random((N, 1)) * (random.random((N, 1)) < 0.3) + 1e-3
        p.assign("L", cols=[j], to=column / column.sum())
        np.testing.assert_allclose(p["rank"], ranks(p["L"]), rtol=1e-9, err_msg=str(step))


def test_it_goes_on_from_the_last_result() -> None:
    p = Program({"rank": linear.pagerank(linear.matrix("L", "n"))}, L=links())
    cold = p.report.rounds["rank"]
    p.update("L", cells=[(0, 1, 1e-6), (2, 1, -1e-6)])
    warm = p.report.rounds["rank"]
    assert p.choice("L").strategy != "reevaluate"
    assert warm < cold / 1.5
    assert f"rank is iterated, from its last value on; last in {warm} rounds" in p.explain("L")
    p.reevaluate()
    assert p.report.rounds["rank"] == cold


def test_rounds_multiply_by_factors() -> None:
    """No round adds u * v' to the whole matrix."""
    p = Program({"rank": linear.pagerank(linear.matrix("L", "n"))}, L=links(), strategy="hybrid")
    text = str(p.trigger("L"))
    assert "v_L' * x0" in text
    assert p.trigger("L").cost().degree(apart=("k",)) == 2


def test_what_depends_on_it_follows() -> None:
    a, b = linear.matrix("L", "n"), linear.matrix("B", "m", "n")
    p = Program({"seen": b @ linear.pagerank(a)}, L=links(), B=np.arange(3.0 * N).reshape(3, N))
    p.change(
        update={"L": {"cells": [(0, 1, 1e-3), (2, 1, -1e-3)]}},
        assign={"B": {"rows": [1], "to": np.ones((1, N))}},
    )
    np.testing.assert_allclose(p["seen"], p["B"] @ ranks(p["L"]), rtol=1e-9)


def test_a_round_computes_only_what_changes() -> None:
    source = """
        dynamic A(n, n); dynamic b(n, 1);
        output x := until(1e-13, b, y => 0.5 * inv(A) * A' * y + A * A * b);
    """
    random = np.random.default_rng(3)
    symmetric = np.eye(6) + 0.01 * random.standard_normal((6, 6))
    p = Program(source, A=symmetric, b=np.ones((6, 1)))
    assert [show(s.term) for s in p.normal.statements].count("inv(A)") == 1
    for _ in range(5):
        p.update("A", rows=[2], v=0.01 * random.standard_normal((1, 6)))
        p.update("b", u=random.standard_normal((6, 1)), v=[[1.0]])
        a, b = p["A"], p["b"]
        wanted = np.linalg.solve(np.eye(6) - 0.5 * np.linalg.inv(a) @ a.T, a @ a @ b)
        np.testing.assert_allclose(p["x"], wanted, rtol=1e-9)


def test_direction_of_the_dominant_eigenvector() -> None:
    random = np.random.default_rng(4)
    start = random.random((N, N)) + 5 * np.eye(N)
    a, s = linear.matrix("A", "n"), linear.matrix("s", "n", 1, dynamic=False)
    p = Program({"v": linear.power_iteration(a, s)}, A=-start, s=np.ones((N, 1)))
    for _ in range(4):
        p.update("A", rows=[3], v=-random.random((1, N)))
        values, vectors = np.linalg.eig(p["A"])
        wanted = np.real(vectors[:, [np.abs(values).argmax()]])
        wanted *= np.sign(wanted.flat[np.abs(wanted).argmax()])
        np.testing.assert_allclose(p["v"], wanted, rtol=1e-8)


def closure(graph: Array) -> Array:
    reached = np.eye(len(graph), dtype=bool)
    for _ in graph:
        reached = reached | ((graph.astype(int) @ reached.astype(int)) > 0)
    return reached


def test_closure_of_a_graph() -> None:
    random = np.random.default_rng(5)
    g = linear.matrix("G", "n")
    p = Program({"R": linear.reachability(g)}, G=random.random((N, N)) < 0.01, semiring="boolean")
    for _ in range(10):
        i, j = (int(k) for k in random.integers(0, N, 2))
        p.update("G", cells=[(i, j, True)])
        np.testing.assert_array_equal(p["R"], closure(p["G"]))
    there = np.argwhere(p["G"])[0]
    p.assign("G", cells=[(int(there[0]), int(there[1]), False)])
    np.testing.assert_array_equal(p["R"], closure(p["G"]))


def test_what_never_settles_is_refused_and_nothing_changes() -> None:
    p = Program("dynamic A(n, n); output x := until(1e-9, ones(n, 1), y => A * y);", A=np.eye(2))
    with pytest.raises(NotConverged, match=r"until\(1e-09, .* grows beyond all bounds after"):
        p.update("A", cells=[(0, 0, 1.0)])
    np.testing.assert_array_equal(p["A"], np.eye(2))
    np.testing.assert_array_equal(p["x"], np.ones((2, 1)))
    assert p.report.updates == 0
    with pytest.raises(NotConverged, match="still changes after 10,000 rounds"):
        p.assign("A", rows=[0, 1], to=[[0, 1], [-1, 0]])
    with pytest.raises(FreshviewError, match=r"a tolerance cannot be 2; use 1e-10 or so"):
        linear.until(2, linear.matrix("s", "n", 1), lambda x: x)
    with pytest.raises(FreshviewError, match="depends on the round of another"):
        Program(
            "dynamic A(n, n); output x := "
            "until(1e-9, A, y => until(1e-9, A, z => 0.1 * z + 0.1 * y));",
            A=np.eye(2),
        )


def test_text_reads_back() -> None:
    for text in ("until(1e-09, s, x => 0.5 * A * x + s)", "direction(0, s, x => A * x)"):
        assert show(read(text)) == text


def test_as_numpy_code() -> None:
    p = Program({"rank": linear.pagerank(linear.matrix("L", "n"))}, L=links())
    space: dict[str, Any] = {}
    exec(p.code("L", "numpy"), space)
    u, v = 1e-3 * np.eye(N)[:, [0]], np.eye(N)[:, [1]]
    *views, _, _ = signature(space["on_L"]).parameters
    actual = space["on_L"](*(p[name] for name in views), u, v)
    p.update("L", u=u, v=v)
    np.testing.assert_allclose(actual[-1], p["rank"], rtol=1e-10)
    assert "while true" in p.code("L", "octave")
