"""The worked programs of the theses, each with the options that make it comparable."""

from __future__ import annotations

from freshview.linear.compile.options import MatrixOptions
from freshview.linear.compile.trigger_compiler import compile_source
from freshview.linear.language.text import read_source
from freshview.linear.strategy.choose import phases

PROGRAMS = {
    # LINVIEW, listing 6.4: A^4
    "fourth_power": (
        "dynamic A(n, n); B := A * A; output C := B * B;",
        "A",
        MatrixOptions(strategy="incremental"),
    ),
    # Lago, figures 5.7 and 5.12: two hops of a graph
    "reachability": (
        "semiring boolean; dynamic G(n, n);"
        "output P := iterate(2, eye(n), acc => G * acc + eye(n));",
        "G",
        MatrixOptions(strategy="incremental", second_order="left"),
    ),
    # Lago, figure 5.13: U0 .. V3
    "least_squares": (
        "dynamic X(m, n); static Y(m, p); output beta := inv(X' * X) * X' * Y;",
        "X",
        MatrixOptions(sizes={"p": 10}, strategy="incremental", second_order="left"),
    ),
    # Lago, figure 5.14: ranks 2, 4, 8, 16
    "powers": (
        "dynamic A(n, n); output P := iterate(4, A, acc => acc * acc);",
        "A",
        MatrixOptions(strategy="incremental"),
    ),
    # LINVIEW, 6.4: T = A T + B with a narrow T, where whole deltas are cheaper than factors
    "narrow_iteration": (
        "dynamic A(n, n); static B(n, p); output T := iterate(4, B, t => A * t + B);",
        "A",
        MatrixOptions(sizes={"p": 1}),
    ),
}


def text(name: str) -> str:
    """The program and all the phases of its compilation."""
    program, changed, options = PROGRAMS[name]
    return program + "\n" + phases(compile_source(read_source(program), options), changed, options)
