"""Boolean matrices lie as the unions of their triggers read them."""

from __future__ import annotations

import numpy as np
import pytest

from freshview.errors import FreshviewError
from freshview.linear.execute.program import Program
from freshview.linear.kernels.semiring import Array

N = 200


def graph(seed: int, cols: int = N, share: float = 0.01) -> Array:
    return np.random.default_rng(seed).random((N, cols)) < share


def program_of(text: str, ring: str = "boolean", **values: Array) -> Program:
    return Program(text, values, semiring=ring, strategy="incremental")


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("static A(n, n); dynamic X(n, 16); output Y := A * X;", True),
        ("static A(n, n); dynamic X(n, 16); output Y := A * (A * (A * X));", True),
        ("static A(n, n); dynamic X(n, 16); output Y := A' * X;", False),
        ("static A(n, n); dynamic X(n, 16); output Y := X' * A;", False),
        ("static A(n, n); dynamic X(n, 16); output Y := X' * A';", True),
        ("static A(n, n); dynamic X(n, 16); output Y := A' * (A' * (A * X));", False),
        ("dynamic A(n, n); static X(n, 16); output Y := [A, X];", False),  # only written, by rows
    ],
)
def test_order_follows_reads(text: str, columns: bool) -> None:
    p = program_of(text, A=graph(1), X=graph(2, 16))
    a = p.values["A"]
    assert a.flags.f_contiguous == columns
    assert a.flags.c_contiguous != columns
    name = "A" if "dynamic A" in text else "X"
    assert ("by columns, as products read them: A\n" in p.explain(name)) == columns


def test_full_factors_are_counted_and_need_no_order() -> None:
    """Where the narrow side is full, ways are counted: nothing is read by columns."""
    p = program_of(
        "static A(n, n); dynamic X(n, 16); output Y := A * (A * X);",
        A=graph(1, share=0.9),
        X=graph(2, 16),
    )
    assert p.values["A"].flags.f_contiguous  # A * u_X, of one cell
    q = program_of(
        "static A(n, n); static B(n, n); dynamic X(n, 16); output Y := A * (B * X);",
        A=graph(1),
        B=graph(3, share=0.9),
        X=graph(2, 16),
    )
    assert q.values["A"].flags.c_contiguous
    assert q.values["B"].flags.f_contiguous


def test_other_semirings_stay_by_rows() -> None:
    p = program_of(
        "static A(n, n); dynamic X(n, 16); output Y := A * X;",
        "max-times",
        A=graph(1),
        X=graph(2, 16),
    )
    assert p.values["A"].flags.c_contiguous
    assert "by columns" not in p.explain("X")


def test_order_survives_updates_losses_and_errors() -> None:
    """Deltas in place, computing anew, and going back after an error keep it, and the answer."""
    text = "dynamic A(n, n); dynamic X(n, 16); output Y := A * (A * (A * (A * X)));"
    p = program_of(text, A=graph(1), X=graph(2, 16))
    assert p.values["A"].flags.f_contiguous

    def check() -> None:
        assert p.values["A"].flags.f_contiguous
        expected = p["X"].astype(int)
        for _ in range(4):
            expected = (p["A"].astype(int) @ expected > 0).astype(int)
        np.testing.assert_array_equal(p["Y"], expected > 0)

    check()
    p.update("A", rows=[3, 7], v=graph(5)[:2])
    check()
    p.update("X", cells=[(4, 5, True)])
    check()
    p.assign("A", rows=[3], to=np.zeros((1, N), dtype=bool))  # a loss: computed anew
    assert p.report.reevaluations == 1
    check()
    p.change(update={"A": {"cells": [(1, 2, True)]}, "X": {"cells": [(2, 3, True)]}})
    check()
    with pytest.raises(FreshviewError), p._undone(["A"]):
        raise FreshviewError("on purpose")
    check()
