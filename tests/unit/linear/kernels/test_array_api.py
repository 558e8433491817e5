"""Programs on other arrays: NumPy behind a thin namespace always, PyTorch and CuPy where present.

Needs nothing but numpy, pytest, and one of those. On a machine without the other dependencies:
PYTHONPATH=src pytest -c /dev/null --rootdir=. --noconftest tests/unit/linear/test_array_api.py
"""

from __future__ import annotations

from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from freshview import linear
from freshview.errors import FreshviewError
from freshview.linear import Program, Singular
from tests.thin import full

Array = np.ndarray[Any, Any]
N, M = 18, 30

USED = (
    "abs all any asarray eye full isfinite isnan logical_or max maximum min minimum sum where "
    "float32 float64"
)
"""All that a namespace must have, beside `concat`, `bool`, the operator @ and `linalg.inv`."""

thin = SimpleNamespace(
    __name__="thin",
    matmul=np.matmul,
    concat=np.concatenate,
    bool=np.bool_,
    linalg=SimpleNamespace(inv=np.linalg.inv),
    **{name: getattr(np, name) for name in USED.split()},
)


OTHERS = ("torch", "cupy", "array_api_strict")


def places() -> list[Any]:
    """Backends and devices to run on: those that are installed."""
    params = [pytest.param(thin, None, id="thin")]
    params += [pytest.param(name, None, id=name) for name in OTHERS if find_spec(name)]
    if find_spec("torch"):
        import torch  # type: ignore[import-not-found,unused-ignore]

        if torch.cuda.is_available():
            params.append(pytest.param("torch", "cuda", id="torch on cuda"))
    return params


PLACES = pytest.mark.parametrize(("backend", "device"), places())


def here(value: Any) -> Array:
    """An array of any backend as NumPy's."""
    for way in ("cpu", "get"):
        if not isinstance(value, np.ndarray) and hasattr(value, way):
            value = getattr(value, way)()
    return np.asarray(value)


def change(p: Program, name: str, random: np.random.Generator, step: int) -> None:
    rows, cols = p[name].shape
    if step % 5 == 0:
        p.update(name, rows=[random.integers(rows)], v=0.1 * random.standard_normal((1, cols)))
    elif step % 5 == 1:
        p.update(name, cells=[(1, 2 % cols, 0.1), (3, 0, -0.1)])
    elif step % 5 == 2:
        u, v = random.standard_normal((rows, 2)), random.standard_normal((cols, 2))
        p.update(name, u=p.ring.put(0.05 * u), v=p.ring.put(v))
    elif step % 5 == 3:
        p.assign(name, cols=[0], to=random.standard_normal((rows, 1)))
    else:
        p.assign(name, rows=[2], to=random.standard_normal((1, cols)))


def programs() -> dict[str, tuple[Any, dict[str, Array]]]:
    random = np.random.default_rng(0)
    x, y = linear.matrix("X", "m", "n"), linear.matrix("Y", "m", "p")
    a, b = linear.matrix("A", "n"), linear.matrix("B", "n")
    tall = {"X": random.standard_normal((M, N)), "Y": random.standard_normal((M, 2))}
    square = {"A": random.standard_normal((N, N)) / 9, "B": random.standard_normal((N, N)) / 9}
    two = linear.above(linear.beside(a, b), linear.beside(b.T, linear.identity("n")))
    return {
        "ols": (linear.ols(x, y), tall),
        "ridge": (linear.ridge(x, y, 0.5), tall),
        "descent": (linear.gradient_descent(x, y, linear.zeros("n", "p"), 8, 0.002), tall),
        "powers": (linear.powers(a, 8), {"A": square["A"]}),
        "stacks": (two @ two + linear.ones(two.rows, two.cols), square),
        "ranks": (linear.pagerank(a), {"A": square["A"] / 9}),
        "direction": (
            linear.power_iteration(a + linear.identity("n"), linear.ones("n", 1), tolerance=1e-13),
            {"A": np.diag(np.arange(1.0, N + 1))},
        ),
    }


@PLACES
@pytest.mark.parametrize("strategy", ["auto", full("incremental"), "reevaluate"])
@pytest.mark.parametrize("name", programs())
def test_results_are_those_of_numpy(name: str, strategy: Any, backend: Any, device: Any) -> None:
    term, values = programs()[name]
    p = Program({"result": term}, values, strategy=strategy, backend=backend, device=device)
    q = Program({"result": term}, values, strategy="reevaluate")
    one, other = np.random.default_rng(1), np.random.default_rng(1)
    for step in range(5 if name == "direction" else 10):
        if name == "direction":
            p.update("A", cells=[(step, step + 1, 0.5)])
            q.update("A", cells=[(step, step + 1, 0.5)])
        else:
            changed = sorted(values)[step % len(values)]
            change(p, changed, one, step)
            change(q, changed, other, step)
        np.testing.assert_allclose(
            here(p["result"]), q["result"], rtol=1e-9, atol=1e-9 * np.abs(q["result"]).max()
        )
    assert p.check() < 1e-11


@PLACES
@pytest.mark.parametrize("ring", ["boolean", "min-plus", "max-times"])
def test_semirings_are_exact(ring: str, backend: Any, device: Any) -> None:
    random = np.random.default_rng(2)
    zero = {"boolean": False, "min-plus": np.inf, "max-times": 0.0}[ring]
    there = random.random((N, N)) < 0.1
    weights = 2.0 ** -random.integers(1, 4, (N, N))
    start = there if ring == "boolean" else np.where(there, weights, zero)
    g = linear.matrix("G", "n")
    results = {"R": linear.shortest_paths(g, 4), "any": linear.shortest_paths(g)}
    both = [
        Program(results, G=start, semiring=ring, backend=b, device=d, strategy="incremental")
        for b, d in ((backend, device), ("numpy", None))
    ]
    for step in range(12):
        i, j = (int(k) for k in random.integers(0, N, 2))
        for p in both:
            if step % 4 == 3:
                p.assign("G", cells=[(i, j, zero)])
            else:
                p.update("G", cells=[(i, j, True if ring == "boolean" else 0.5)])
        for name in ("R", "any", "G"):
            np.testing.assert_array_equal(here(both[0][name]), both[1][name])


@PLACES
def test_a_singular_update_changes_nothing(backend: Any, device: Any) -> None:
    p = Program(
        "dynamic A(n, n); dynamic B(n, n); output W := inv(A) * B;",
        A=2 * np.eye(3),
        B=np.eye(3),
        strategy="incremental",
        backend=backend,
        device=device,
    )
    with pytest.raises(Singular):
        p.change(update={"B": {"cells": [(0, 0, 5.0)]}, "A": {"cells": [(1, 1, -2.0)]}})
    np.testing.assert_array_equal(here(p["A"]), 2 * np.eye(3))
    np.testing.assert_array_equal(here(p["B"]), np.eye(3))
    np.testing.assert_allclose(here(p["W"]), 0.5 * np.eye(3))


@PLACES
def test_rates_and_arrays_of_the_backend(backend: Any, device: Any) -> None:
    a = linear.matrix("A", "n")
    p = Program({"P": linear.powers(a, 4)}, A=np.eye(300) / 2, backend=backend, device=device)
    assert "is expected to be fastest" in p.choice("A").why
    again = Program({"T": a.T}, A=p["A"], strategy="incremental", backend=backend, device=device)
    again.update("A", cells=[(0, 1, 1.0)])
    assert here(again["T"])[1, 0] == 1.0
    assert here(p["A"])[0, 1] == 0.0


def test_what_is_no_backend() -> None:
    a = linear.matrix("A", "n")
    with pytest.raises(FreshviewError, match=r"the backend no_such_thing cannot be imported: .*"):
        Program({"B": a @ a}, A=np.eye(2), backend="no_such_thing")
    with pytest.raises(FreshviewError, match="'math' has no asarray; a backend follows the array"):
        Program({"B": a @ a}, A=np.eye(2), backend="math")
    with pytest.raises(FreshviewError, match="NumPy has no device 'cuda'; name a backend"):
        Program({"B": a @ a}, A=np.eye(2), device="cuda")


@pytest.mark.parametrize("name", OTHERS)
def test_a_backend_that_is_not_installed_is_named(name: str) -> None:
    if find_spec(name):
        pytest.skip(f"{name} is installed")
    with pytest.raises(FreshviewError, match=name):
        Program({"B": 2 * linear.matrix("A", "n")}, A=np.eye(2), backend=name)
