"""An inverse of a badly conditioned matrix is watched by its condition, not by the calendar."""

from __future__ import annotations

import numpy as np
import pytest

from freshview import linear
from freshview.linear import Program
from freshview.linear.execute.drift import sensitivity
from freshview.linear.kernels.semiring import REAL

EPS = float(np.finfo(float).eps)


def with_condition(n: int, condition: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    random = np.random.default_rng(1)
    left, _ = np.linalg.qr(random.standard_normal((n, n)))
    right, _ = np.linalg.qr(random.standard_normal((n, n)))
    return np.asarray(left @ np.diag(np.logspace(0, -np.log10(condition), n)) @ right)


@pytest.mark.parametrize("condition", [1e3, 1e6, 1e9, 1e11])
def test_inverse_is_as_good_as_its_condition_allows(condition: float) -> None:
    """After every update; rows come and go, so that the condition improves and gets worse."""
    n = 40
    random = np.random.default_rng(2)
    p = Program({"W": linear.inverse(linear.matrix("A", "n"))}, A=with_condition(n, condition))
    worst = condition
    for step in range(60):
        u, v = 0.1 * random.standard_normal((2, n, 1))
        p.update("A", u=u, v=v)
        if step % 2:
            p.update("A", u=-u, v=v)
        wanted = np.linalg.inv(p["A"])
        worst = max(worst, float(np.linalg.cond(p["A"])))
        assert np.abs(p["W"] - wanted).max() <= 100 * EPS * worst * np.abs(wanted).max(), step


@pytest.mark.parametrize("condition", [1e2, 1e5, 1e8])
def test_sensitivity_is_estimated(condition: float) -> None:
    for n in (10, 100):
        a = with_condition(n, condition)
        p = Program({"W": linear.inverse(linear.matrix("A", "n"))}, A=a, strategy="incremental")
        estimate = sensitivity(p.normal, p.values, p.sizes, REAL) / EPS
        assert condition / 30 <= estimate <= 30 * condition


def test_well_conditioned_inverses_are_not_computed_anew() -> None:
    n = 30
    random = np.random.default_rng(3)
    start = np.eye(n) * 10
    p = Program({"W": linear.inverse(linear.matrix("A", "n"))}, A=start, strategy="incremental")
    for _ in range(200):
        p.update("A", rows=[int(random.integers(n))], v=0.01 * random.standard_normal((1, n)))
    assert p.report.reevaluations == 0
