"""Densities are what independent cells come to, and decide what follows a sparse program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from freshview.linear.compile.options import MatrixOptions
from freshview.linear.compile.trigger_compiler import compile_source
from freshview.linear.cost.density import densities, density, multiplied
from freshview.linear.cost.operations import Work
from freshview.linear.execute.evaluate import evaluate
from freshview.linear.execute.program import Program
from freshview.linear.kernels.semiring import BOOLEAN, MIN_PLUS, Array, semiring
from freshview.linear.language.meta import Meta
from freshview.linear.language.sizes import size
from freshview.linear.language.terms import Inverse, Ones, Until, Var, Zero
from freshview.linear.language.text import read
from freshview.linear.strategy.fill import RECOUNT, Counted, rounded
from freshview.linear.strategy.sparse_cost import operations

SIZES = {"n": 300.0, "m": 120.0}
SCOPE = {
    "A": Meta(size("n"), size("n")),
    "B": Meta(size("n"), size("n")),
    "X": Meta(size("n"), size("m")),
    "L": Meta(size("n"), size("n"), lower=True),
    "D": Meta(size("n"), size("n"), symmetric=True, lower=True, upper=True),
}
KNOWN = {"A": 0.003, "B": 0.02, "X": 0.1, "L": 0.01, "D": 1 / 300}


def drawn(seed: int) -> dict[str, Array]:
    """Independent cells, as many as `KNOWN` says on average; L and D keep their form."""
    random = np.random.default_rng(seed)
    matrices = {
        name: random.random((int(m.rows.at(SIZES)), int(m.cols.at(SIZES)))) < KNOWN[name]
        for name, m in SCOPE.items()
    }
    matrices["L"] = np.tril(random.random((300, 300)) < 2 * KNOWN["L"])
    matrices["D"] = np.eye(300, dtype=bool)
    return matrices


@pytest.mark.parametrize(
    "text",
    [
        "A * B",
        "A * A",
        "A * B * X",
        "X * X'",
        "A + B",
        "A + B + A * B",
        "A + eye(n)",
        "[A, X]",
        "[A; B]",
        "D * D",
        "D * B",
        "L * L",
        "let C = A * B in C + A'",
        "iterate(2, A, x => x * B + A)",
        "ones(n, 1) * zeros(1, n)",
    ],
)
def test_expected_density_bounds_what_there_is(text: str) -> None:
    e = read(text)
    expected = density(e, SCOPE, KNOWN, SIZES)
    shares = [BOOLEAN.density(evaluate(e, drawn(s), BOOLEAN, SIZES)) for s in range(5)]
    assert np.mean(shares) <= 1.1 * expected + 1e-9
    assert np.mean(shares) >= expected / 4  # a bound, not just a full matrix


def test_densities_of_constants_and_of_what_nobody_knows() -> None:
    n = size("n")
    for term, expected in [
        (Ones(n, n), 1.0),
        (Zero(n, n), 0.0),
        (read("eye(n)"), 1 / 300),
        (Inverse(Var("A")), 1.0),
        (Inverse(Var("D")), 1 / 300),
        (Inverse(Var("L")), 301 / 600),
        (Until(0.0, Var("A"), "x", Var("x")), 1.0),
    ]:
        assert density(term, SCOPE, KNOWN, SIZES) == pytest.approx(expected)
    assert density(Var("A"), SCOPE, {}, SIZES) == 1.0


def test_statements_in_order() -> None:
    source = "dynamic A(n, n); B := A * A; output C := B * A;"
    program = compile_source(Program(source, A=np.eye(3)).source, MatrixOptions())
    shares = densities(program.statements, program.scope, {"A": 0.01}, {"n": 50.0})
    assert shares["B"] == pytest.approx(multiplied(0.01, 0.01, 50))
    assert shares["C"] == pytest.approx(multiplied(shares["B"], 0.01, 50))


@pytest.mark.parametrize(
    ("ring", "along", "filled", "expected"),
    [
        ("min-plus", (500, 500, 500), (1.0, 1.0), 500**3),
        ("min-plus", (500, 500, 500), (0.01, 1.0), 500**2 + 0.01 * 500**3),
        ("min-plus", (500, 500, 500), (0.1, 0.0), 500**3),  # too full to go by rows
        ("min-plus", (500, 500, 1), (1.0, 1.0), 500 + 500**2),
        ("min-plus", (500, 500, 1), (1.0, 0.002), 500 + 500),  # one row is there
        ("min-plus", (1, 500, 500), (0.002, 1.0), 500 + 500),
        ("min-plus", (40, 40, 40), (0.01, 0.01), 40**3),  # too small to look
        ("boolean", (500, 500, 500), (0.01, 1.0), 2 * 500**2 + 0.1 * 500**3),
        ("boolean", (500, 500, 500), (0.2, 0.01), 500**3),
        ("boolean", (500, 500, 8), (0.5, 0.1), 500 * 8 + 0.1 * 500 * 500 * 8),
    ],
)
def test_operations_are_counted_as_kernels_skip(
    ring: str, along: tuple[int, int, int], filled: tuple[float, float], expected: float
) -> None:
    w = Work("product", tuple(size(s) for s in along), filled=filled)
    assert operations(w, {}, ring) == pytest.approx(expected)
    assert operations(replace(w, times=3), {}, ring) == pytest.approx(3 * expected)


def graph(share: float, ring: str, n: int = 300) -> Array:
    random = np.random.default_rng(3)
    there = random.random((n, n)) < share
    if ring == "boolean":
        return there
    return np.where(there, random.integers(1, 9, (n, n)), semiring(ring).zero).astype(float)


@pytest.mark.parametrize("ring", ["min-plus", "boolean", "max-times"])
def test_sparsity_turns_the_choice(ring: str) -> None:
    """Forty sparse rows are more than a sparse product, but less than a full one."""
    text = "dynamic A(n, n); output C := A * A;"
    sparse, full = (Program(text, A=graph(s, ring), semiring=ring) for s in (0.003, 0.9))
    assert sparse.choice("A", 40).strategy == "reevaluate"
    assert full.choice("A", 40).strategy == "incremental"
    assert sparse.choice("A", 1).strategy == "incremental"
    rows = np.arange(40)
    new = graph(0.003, ring)[::-1][:40]
    for p in (sparse, full):
        p.update("A", rows=rows, v=new)
        p.update("A", rows=rows[:1], v=new[1:2])
        np.testing.assert_array_equal(p["C"], semiring(ring).multiply(p["A"], p["A"]))
    assert (sparse.report.reevaluations, full.report.reevaluations) == (1, 0)


def test_factors_of_an_update_count_as_full_as_they_are() -> None:
    """A full update leaves a full input: what was a sparse product is none after it."""
    a = graph(0.003, "min-plus")
    p = Program("dynamic A(n, n); output C := A * A;", A=a, semiring="min-plus")
    p.update("A", u=np.full((300, 40), 9.0), v=np.full((300, 40), 9.0))
    assert p.report.reevaluations == 0
    np.testing.assert_array_equal(p["C"], MIN_PLUS.multiply(p["A"], p["A"]))


def test_explain_tells_what_is_mostly_empty() -> None:
    text = "dynamic A(n, n); output C := A * A;"
    text_of_plan = Program(text, A=graph(0.003, "min-plus"), semiring="min-plus").explain("A")
    line = next(x for x in text_of_plan.splitlines() if x.startswith("taken to be mostly empty"))
    assert line.endswith("(share of cells): A 0.0032, C 0.0031, u_A 0.0039, v_A 0.0039")
    full = Program(text, A=np.ones((3, 3)), semiring="min-plus").explain("A")
    assert "mostly empty" not in full
    assert "mostly empty" not in Program(text, A=np.eye(9)).explain("A")  # BLAS does not skip


def test_inputs_are_counted_again() -> None:
    p = Program(
        "dynamic A(n, n); output C := A * A;", A=np.full((90, 90), np.inf), semiring="min-plus"
    )
    assert p.choice("A", 10).strategy == "reevaluate"
    for i in range(RECOUNT):
        p.update("A", rows=[i], v=np.ones((1, 90)))
    assert p.choice("A", 10).strategy == "incremental"
    np.testing.assert_array_equal(p["C"], MIN_PLUS.multiply(p["A"], p["A"]))


def test_recount_tells_whether_it_matters() -> None:
    p = Program(
        "dynamic A(n, n); output C := A * A;", A=graph(0.003, "boolean"), semiring="boolean"
    )
    counted = Counted(p.normal, p.values, p.ring, p.sizes)
    assert not counted.recount(1, {"A": np.ones((300, 300), bool)})
    assert not counted.recount(RECOUNT, p.values)
    assert not counted.recount(RECOUNT + 1, {"A": np.ones((300, 300), bool)})
    assert counted.recount(2 * RECOUNT, {"A": np.ones((300, 300), bool)})
    assert rounded(counted.known["A"]) == 1.0
