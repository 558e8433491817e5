"""Boolean products, by unions of packed rows or by counting, are the definition's."""

from __future__ import annotations

import numpy as np
import pytest

from freshview.linear.kernels.boolean import _narrow, _unions, counted, some


@pytest.mark.parametrize("share", [0.0, 0.003, 0.05, 0.6, 1.0])
@pytest.mark.parametrize(("n", "m", "p"), [(1, 1, 1), (100, 130, 70), (200, 90, 3), (5, 90, 200)])
def test_ways(share: float, n: int, m: int, p: int) -> None:
    random = np.random.default_rng(n)
    a, b = random.random((n, m)) < share, random.random((m, p)) < share
    expected = (a.astype(int) @ b.astype(int)) > 0
    for product in (some, _narrow, _unions, counted):
        np.testing.assert_array_equal(product(a, b), expected)
        turned = product(np.asfortranarray(a), np.asfortranarray(b))
        np.testing.assert_array_equal(turned, expected)
