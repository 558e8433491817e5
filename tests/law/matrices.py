"""Random matrix terms and values for the laws of matrix programs."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from freshview.linear.kernels.semiring import Array
from freshview.linear.language.build import (
    above,
    add,
    beside,
    diag,
    fill,
    identity,
    inverse,
    mul,
    scale,
    transpose,
    zeros,
)
from freshview.linear.language.meta import Meta, Scope
from freshview.linear.language.sizes import size
from freshview.linear.language.terms import Expr, Iterate, Let, Var

SIZES = {"n": 5.0, "m": 4.0, "k": 2.0}
N, M, K = size("n"), size("m"), size("k")
SCOPE: Scope = {
    "A": Meta(N, N),
    "B": Meta(N, N),
    "S": Meta(N, N, symmetric=True, of="S"),
    "X": Meta(M, N),
    "Y": Meta(M, N),
    "u": Meta(N, K),
    "v": Meta(N, K),
    "w": Meta(M, K),
}


def values(seed: int, spread: float = 0.3) -> dict[str, Array]:
    """Values for the names of SCOPE; square ones are near 3 I, so that inverses are tame."""
    random = np.random.default_rng(seed)
    matrices = {}
    for name, m in SCOPE.items():
        shape = (int(m.rows.at(SIZES)), int(m.cols.at(SIZES)))
        matrices[name] = spread * random.standard_normal(shape)
        if shape[0] == shape[1]:
            matrices[name] += 3 * np.eye(shape[0])
        if m.symmetric:
            matrices[name] = (matrices[name] + matrices[name].T) / 2
    return matrices


@st.composite
def terms(draw: st.DrawFn, rows: str = "n", cols: str = "n", depth: int = 3) -> Expr:
    """Well-shaped terms; only what is surely invertible is inverted."""
    at = {"n": N, "m": M, "k": K}
    leaves: list[Expr] = [
        Var(n) for n, m in SCOPE.items() if (m.rows, m.cols) == (at[rows], at[cols])
    ]
    leaves += [
        transpose(Var(n)) for n, m in SCOPE.items() if (m.cols, m.rows) == (at[rows], at[cols])
    ]
    leaves += [zeros(rows, cols), fill(rows, cols, 0.5)]
    if rows == cols:
        leaves += [identity(rows), diag(rows, 2.0)]
    if depth == 0:
        return draw(st.sampled_from(leaves))
    kind = draw(
        st.sampled_from(["leaf", "add", "mul", "scale", "turn", "let", "iterate", "inv", "merge"])
    )

    def sub(r: str, c: str) -> Expr:
        return draw(terms(r, c, depth - 1))

    if kind == "add":
        return add(sub(rows, cols), sub(rows, cols))
    if kind == "mul":
        inner = draw(st.sampled_from(["n", "m", "k"]))
        return mul(sub(rows, inner), sub(inner, cols))
    if kind == "scale":
        return scale(draw(st.sampled_from([-1.0, 0.5, 2.0])), sub(rows, cols))
    if kind == "turn":
        return transpose(sub(cols, rows))
    if kind == "let":
        return Let("z", sub(rows, cols), add(Var("z"), mul(sub(rows, rows), Var("z"))))
    if kind == "iterate":
        body = add(scale(0.5, Var("y")), sub(rows, cols))
        return Iterate(draw(st.integers(0, 3)), sub(rows, cols), "y", body)
    if kind == "inv" and rows == cols == "n":
        p, q = draw(st.sampled_from(["u", "v"])), draw(st.sampled_from(["u", "v"]))
        square = draw(st.sampled_from(["A", "B", "S"]))
        return inverse(add(Var(square), scale(0.1, mul(Var(p), transpose(Var(q))))))
    if kind == "merge":
        inner = draw(st.sampled_from(["m", "k"]))
        left = beside(sub(rows, inner), sub(rows, "n"))
        return mul(left, above(sub(inner, cols), sub("n", cols)))
    return draw(st.sampled_from(leaves))
