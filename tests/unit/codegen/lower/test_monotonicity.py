"""Which sums are sums over a range, and on which side a condition holds."""

from __future__ import annotations

import pytest

from freshview.calculus.terms import Cmp, Sum
from freshview.calculus.text import read
from freshview.codegen.lower.monotonicity import side, trend
from freshview.codegen.lower.ranges import ranges


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("x", 1),
        ("3", 0),
        ("y + 2", 0),
        ("y - x", -1),
        ("0.5 * x + y", 1),
        ("(-2) * x", -1),
        ("x - x", None),
        ("x * y", None),
        ("{abs(x)}", None),
    ],
)
def test_trend(text: str, move: int | None) -> None:
    assert trend(read(text), {"x": 1}) == move


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("{x > 3}", 1),
        ("{x <= y}", -1),
        ("{3 > x}", -1),
        ("{y - x > 1000}", -1),
        ("{y > 3}", 0),
        ("{x = 3}", None),
        ("{x <> 3}", None),
        ("{x > x}", None),
    ],
)
def test_side(text: str, where: int | None) -> None:
    test = read(text)
    assert isinstance(test, Cmp)
    assert side(test, {"x": 1}) == where


def bounds_of(text: str, *bound: str) -> list[tuple[str, str, tuple[str, ...]]]:
    e = read(text)
    assert isinstance(e, Sum)
    return [(r.atom.name, r.x, r.groups) for r in ranges(e, set(bound))]


def test_a_sum_over_a_range() -> None:
    assert bounds_of("Sum[](M[x] * {x > y})", "y") == [("M", "x", ())]
    assert bounds_of("Sum[](M[k, x] * {x > y})", "y", "k") == [("M", "x", ())]


def test_one_range_for_each_group() -> None:
    assert bounds_of("Sum[g](M[g, x] * {x > y})", "y") == [("M", "x", ("g",))]


def test_a_condition_through_another_range() -> None:
    text = "Sum[](M[x] * (s := Sum[](N[z] * {z > x})) * {y > s})"
    assert bounds_of(text, "y") == [("M", "x", ())]


@pytest.mark.parametrize(
    "text",
    [
        "Sum[](M[x] * {x > y} * x)",  # x weighs the rows: that is not a sum of the index
        "Sum[](M[x] * {x = y})",  # a look-up
        "Sum[](M[x] * N[x] * {x > y})",  # a join
        "Sum[x](M[x] * {x > y})",  # x is part of the answer
        "Sum[](M[k, x] * {x > y})",  # k is summed over as well, in another order
        "Sum[](M[x] * {x > y} * {x < y})",  # that is one: between two ends
    ],
)
def test_what_is_no_range(text: str) -> None:
    expected = [("M", "x", ())] if "{x < y}" in text else []
    assert bounds_of(text, "y") == expected
