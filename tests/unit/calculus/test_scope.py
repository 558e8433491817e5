"""Inputs, outputs and degrees of every kind of term."""

from __future__ import annotations

import pytest

from freshview.calculus.scope import degree, ins, outs, relations, stored
from freshview.calculus.text import read


@pytest.mark.parametrize(
    ("text", "needs", "binds"),
    [
        ("x", "x", ""),
        ("{x < y + 1}", "xy", ""),
        ("R(x, y)", "", "xy"),
        ("C[p][x]", "p", "x"),
        ("R(x) * y * S(y)", "y", "xy"),
        ("S(y) * R(x) * y", "", "xy"),
        ("R(x) + S(x, y)", "y", "x"),
        ("Sum[x](R(x, y) * z)", "z", "x"),
        ("(x := y)", "y", "x"),
        ("(x := Sum[y](R(y, z)))", "y", "x"),
        ("Exists(R(x) * y)", "y", "x"),
        ("Top[x; y; 1](R(x, y) * z)", "z", "xy"),
    ],
)
def test_scope_of(text: str, needs: str, binds: str) -> None:
    e = read(text)
    assert (ins(e), outs(e)) == (set(needs), set(binds))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x * 3", 0),
        ("R(x) * (S(x) + 1)", 2),
        ("Sum[](R(x) * S(x) + R(x))", 2),
        ("R(x) * (y := Sum[x](S(x) * R(x)))", 3),
        ("(DELTA R)(x) * M[x]", 0),
    ],
)
def test_degree_of(text: str, expected: int) -> None:
    assert degree(read(text)) == expected


def test_what_is_read() -> None:
    e = read("Exists(R(x) * M[x]) + (DELTA S)(x) * (y := Sum[](T(z) * C[x][z]))")
    assert relations(e) == {"R", "T"}
    assert stored(e) == {"M", "C"}
