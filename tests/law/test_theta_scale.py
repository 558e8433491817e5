"""Grids of up to 4,096 joiners, by counts."""

from __future__ import annotations

from itertools import pairwise

import pytest

from freshview.theta.controller import Policy
from freshview.theta.grid import optimal
from freshview.theta.simulate.scale import fluctuating, growing, study, weak_scaling
from freshview.theta.terms import Sizes


@pytest.mark.parametrize("factor", [2, 4, 6, 8])
@pytest.mark.parametrize("joiners", [64, 4096])
def test_fluctuating_streams_stay_within_1_25(factor: int, joiners: int) -> None:
    """Section 4.5.4: alternating sizes, checks after a warm-up."""
    total = 64e6
    result = study(joiners, fluctuating(total, factor), Policy(warm_up=0.008 * total))
    assert result.worst <= 1.25 + 0.01  # arrivals come in pieces
    assert result.last.migrations >= 2
    assert result.exchanged <= 6 * result.received


def test_large_grids_find_the_oracle_s_mapping() -> None:
    for joiners in (256, 1024, 4096):
        for sizes in (Sizes(1e3, 1e9), Sizes(1e8, 1e8), Sizes(3e8, 1e6)):
            result = study(joiners, growing(sizes))
            assert result.last.mapping == str(optimal(joiners, sizes))
            assert result.last.ratio == pytest.approx(1)


def test_static_squares_hold_several_times_more() -> None:
    """Section 4.5.2: a small and a large stream on 64 joiners."""
    sizes = Sizes(1e6, 60e6)
    square = study(64, growing(sizes), adaptive=False)
    adaptive = study(64, growing(sizes))
    assert square.last.load / adaptive.last.load > 3


def test_weak_scaling_to_4096_joiners() -> None:
    """With equal sides the load a joiner grows as the square root of their number: the grid's law.

    With one small side it hardly grows at all.
    """
    joiners = [16 * 4**k for k in range(5)]
    even = weak_scaling(Sizes(1e5, 1e5), joiners)
    for one, next_one in pairwise(even):
        assert next_one.last.load / one.last.load == pytest.approx(2, rel=0.01)
    uneven = weak_scaling(Sizes(10, 1e6), joiners)
    assert uneven[-1].last.load / uneven[0].last.load < 1.05
    assert all(s.worst <= 1.25 + 0.01 for s in even)


def test_migrations_end_before_the_streams_double() -> None:
    """Theorem 4.4.7: at twice the rate of new tuples a migration ends in time, in either direction.

    While 2|R|/n units of R move, a joiner receives half as many new ones: of R times n/2 and of S
    times 2m under the new mapping, so neither side doubles.
    """
    for joiners in (4, 16, 64):
        for r, s in ((1.0, 2.0), (1.0, 4.0), (3.0, 1.0), (1.0, 1.0)):
            before = optimal(joiners, Sizes(r, s))
            for new_r, new_s in ((2 * r, s), (r, 2 * s)):
                after = optimal(joiners, Sizes(new_r, new_s), before)
                if after.n < before.n:
                    units = 2 * new_r / before.n
                elif after.n > before.n:
                    units = 2 * new_s / before.m
                else:
                    continue
                assert units / 2 * after.n <= new_r * (1 + 1e-12)
                assert units / 2 * after.m <= new_s * (1 + 1e-12)
