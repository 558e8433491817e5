"""Products and updates in place, dense and mostly empty, are what the definition says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from freshview.linear.kernels.semiring import BLOCKS, SEMIRINGS, SPARSE, Array, Semiring


def cells(ring: Semiring, shape: tuple[int, int], share: float, seed: int) -> Array:
    random = np.random.default_rng(seed)
    there = random.random(shape) < share
    if ring.name == "boolean":
        return there
    return np.where(there, 2.0 ** random.integers(-2, 3, shape), ring.zero)


def by_definition(ring: Semiring, a: Array, b: Array) -> Array:
    out = np.full((a.shape[0], b.shape[1]), ring.zero, dtype=ring.dtype)
    for j in range(a.shape[1]):
        out = ring.plus(out, ring.times(a[:, j : j + 1], b[j : j + 1]))
    return out


@pytest.mark.parametrize("ring", SEMIRINGS.values(), ids=lambda r: r.name)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5])
@pytest.mark.parametrize(
    ("n", "m", "p"), [(90, 80, 3), (3, 80, 90), (90, 2, 80), (5, 6, 7), (4, 0, 4), (100, 100, 100)]
)
def test_product(ring: Semiring, share: float, n: int, m: int, p: int) -> None:
    a, b = cells(ring, (n, m), share, 1), cells(ring, (m, p), share, 2)
    np.testing.assert_array_equal(ring.product(a, b), by_definition(ring, a, b))
    np.testing.assert_array_equal(ring.product(b.T, a.T), by_definition(ring, a, b).T)


@pytest.mark.parametrize("ring", SEMIRINGS.values(), ids=lambda r: r.name)
@pytest.mark.parametrize("shares", [(0.01, 0.9), (0.9, 0.01), (0.9, 0.9), (0.0, 0.5), (0.9, 0.0)])
@pytest.mark.parametrize("rank", [1, 3])
def test_accumulate(ring: Semiring, shares: tuple[float, float], rank: int) -> None:
    left = cells(ring, (300, rank), shares[0], 1)
    right = cells(ring, (200, rank), shares[1], 2)
    into = cells(ring, (300, 200), 0.5, 3)
    expected = ring.plus(into, by_definition(ring, left, right.T))
    ring.accumulate(into, left, right)
    np.testing.assert_array_equal(into, expected)


@pytest.mark.parametrize("ring", SEMIRINGS.values(), ids=lambda r: r.name)
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_symmetric_products_are_computed_by_half(ring: Semiring, share: float) -> None:
    n = BLOCKS * SPARSE + 3
    a = cells(ring, (n, n), share, 1)
    a = ring.plus(a, a.T)
    asked: list[int] = []

    def counted(x: Array, y: Array) -> Array:
        asked.append(x.shape[0] * y.shape[1])
        return ring.multiply(x, y)

    actual = replace(ring, multiply=counted).mirrored(a, a)
    np.testing.assert_array_equal(actual, ring.product(a, a))
    assert sum(asked) < 0.6 * n * n
