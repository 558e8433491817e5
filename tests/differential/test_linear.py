"""Maintained matrix programs beside recomputation with NumPy, after every update of a stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from freshview import linear
from freshview.linear import Program
from freshview.linear.compile.options import Strategy
from tests.thin import thin

Array = np.ndarray[Any, Any]
N, M, P = 24, 40, 3


def ols() -> tuple[Program, Callable[[Program], Array]]:
    x, y = linear.matrix("X", "m", "n"), linear.matrix("Y", "m", "p")
    random = np.random.default_rng(1)
    values = {"X": random.standard_normal((M, N)), "Y": random.standard_normal((M, P))}
    wanted = lambda p: np.linalg.inv(p["X"].T @ p["X"]) @ p["X"].T @ p["Y"]  # noqa: E731
    return Program({"result": linear.ols(x, y)}, values), wanted


def ridge() -> tuple[Program, Callable[[Program], Array]]:
    x, y = linear.matrix("X", "m", "n"), linear.matrix("Y", "m", "p")
    random = np.random.default_rng(2)
    values = {"X": random.standard_normal((M, N)), "Y": random.standard_normal((M, P))}

    def wanted(p: Program) -> Array:
        return np.linalg.solve(p["X"].T @ p["X"] + 2 * np.eye(N), p["X"].T @ p["Y"])

    return Program({"result": linear.ridge(x, y, 2.0)}, values), wanted


def descent(form: Any) -> tuple[Program, Callable[[Program], Array]]:
    x, y = linear.matrix("X", "m", "n"), linear.matrix("Y", "m", "p")
    start = linear.zeros("n", "p")
    random = np.random.default_rng(3)
    values = {"X": random.standard_normal((M, N)), "Y": random.standard_normal((M, P))}

    def wanted(p: Program) -> Array:
        theta = np.zeros((N, P))
        for _ in range(8):
            theta = theta - 0.002 * p["X"].T @ (p["X"] @ theta - p["Y"])
        return theta

    program = linear.gradient_descent(x, y, start, 8, 0.002, form)
    return Program({"result": program}, values), wanted


def powers() -> tuple[Program, Callable[[Program], Array]]:
    a = linear.matrix("A", "n")
    random = np.random.default_rng(4)
    program = Program({"result": linear.powers(a, 16)}, A=random.standard_normal((N, N)) / 8)
    return program, lambda p: np.linalg.matrix_power(p["A"], 16)


def pagerank() -> tuple[Program, Callable[[Program], Array]]:
    links = linear.matrix("L", "n")
    random = np.random.default_rng(5)
    values = random.random((N, N)) * (random.random((N, N)) < 0.2) + np.eye(N)

    def wanted(p: Program) -> Array:
        rank = np.ones((N, 1))
        for _ in range(10):
            moved = 0.85 * p["L"] @ rank
            rank = moved + (N - moved.sum()) / N
        return rank

    return Program({"result": linear.pagerank(links, 10)}, L=values / values.sum(0)), wanted


def power_iteration() -> tuple[Program, Callable[[Program], Array]]:
    a, start = linear.matrix("A", "n"), linear.matrix("s", "n", 1, dynamic=False)
    random = np.random.default_rng(6)
    values = {"A": random.random((N, N)) / N, "s": np.ones(N)}
    program = Program({"result": linear.power_iteration(a, start, 12)}, values)
    return program, lambda p: np.linalg.matrix_power(p["A"], 12) @ p["s"]


PROGRAMS: dict[str, Callable[[], tuple[Program, Callable[[Program], Array]]]] = {
    "ols": ols,
    "ridge": ridge,
    "descent": lambda: descent("auto"),
    "descent, linear": lambda: descent("linear"),
    "descent, exponential": lambda: descent("exponential"),
    "descent, two at a time": lambda: descent(2),
    "powers": powers,
    "pagerank": pagerank,
    "power iteration": power_iteration,
}


def change(p: Program, name: str, random: np.random.Generator, step: int) -> None:
    """One random update of one of the kinds that there are."""
    rows, cols = p[name].shape
    size = 0.1 * np.abs(p[name]).mean()
    kind = step % 6
    if kind == 0:
        p.update(name, rows=[random.integers(rows)], v=size * random.standard_normal((1, cols)))
    elif kind == 1:
        p.update(name, cols=[random.integers(cols)], u=size * random.standard_normal((rows, 1)))
    elif kind == 2:
        cell = (int(random.integers(rows)), int(random.integers(cols)), size)
        p.update(name, cells=[cell, cell])
    elif kind == 3:
        u, v = random.standard_normal((rows, 2)), random.standard_normal((cols, 2))
        p.update(name, u=size * u, v=0.3 * v)
    elif kind == 4:  # a batch: rows come more than once
        places = random.integers(0, rows, 12) // 3
        p.update(name, rows=places, v=size * random.standard_normal((12, cols)) / 4)
    else:
        place = int(random.integers(rows))
        p.assign(name, rows=[place], to=p[name][[place]] * 0.9)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("strategy", thin(["auto", "incremental", "hybrid", "reevaluate"], 2))
def test_results_follow(name: str, strategy: Strategy) -> None:
    program, wanted = PROGRAMS[name]()
    p = Program(
        program.source, {i.name: program[i.name] for i in program.normal.inputs}, strategy=strategy
    )
    random = np.random.default_rng(11)
    dynamic = [i.name for i in p.normal.inputs if i.dynamic]
    for step in range(30):
        change(p, dynamic[step % len(dynamic)], random, step)
        expected = wanted(p)
        error = np.abs(p["result"] - expected).max() / np.abs(expected).max()
        assert error < 1e-9, (step, error)


def hops(p: Program, count: int) -> Array:
    ring, graph = p.ring, p["G"]
    reached = ring.identity(len(graph))
    for _ in range(count):
        reached = ring.plus(ring.multiply(graph, reached), ring.identity(len(graph)))
    return reached


@pytest.mark.parametrize("strategy", ["auto", "incremental"])
@pytest.mark.parametrize("ring", ["boolean", "min-plus", "max-times"])
def test_paths_are_exact(ring: str, strategy: Strategy) -> None:
    random = np.random.default_rng(8)
    graph = linear.matrix("G", "n")
    zero = {"boolean": False, "min-plus": np.inf, "max-times": 0.0}[ring]

    def weight() -> Any:
        return True if ring == "boolean" else float(2.0 ** random.integers(-2, 3))

    start = np.full((N, N), zero)
    p = Program({"R": linear.shortest_paths(graph, 4)}, semiring=ring, strategy=strategy, G=start)
    for step in range(40):
        cells = [(int(random.integers(N)), int(random.integers(N)), weight()) for _ in range(3)]
        if step % 8 == 7:
            p.assign("G", cells=[(i, j, zero) for i, j, _ in cells])
        else:
            p.update("G", cells=cells)
        np.testing.assert_array_equal(p["R"], hops(p, 4))


def test_paths_lost_are_computed_anew_and_said_so() -> None:
    graph = linear.matrix("G", "n")
    start = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    p = Program({"R": linear.reachability(graph, 2)}, semiring="boolean", G=start)
    assert p["R"][0, 2]
    p.assign("G", cells=[(1, 2, False)])
    assert not p["R"][0, 2]
    assert p.report.reasons == ["what G loses cannot be subtracted in boolean"]
