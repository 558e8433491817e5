"""Iterative models: all their forms are the same matrix, and the tables choose among them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from freshview import linear
from freshview.errors import FreshviewError
from freshview.linear.compile.options import MatrixOptions, Strategy
from freshview.linear.compile.trigger_compiler import compile_source, trigger
from freshview.linear.language.source import source_of
from freshview.linear.library.iteration_plan import Form, cheapest, table

N, P, K = 12, 3, 8
FORMS: list[Form] = ["linear", "exponential", 2, 4, "auto"]


@pytest.mark.parametrize("form", FORMS)
def test_forms_agree(form: Form) -> None:
    random = np.random.default_rng(1)
    a0 = random.standard_normal((N, N)) / 5
    b0, t0 = random.standard_normal((2, N, P))
    a, b, t = (linear.matrix(n, "n", s) for n, s in (("A", "n"), ("B", "p"), ("T", "p")))
    p = linear.Program(
        {
            "power": linear.powers(a, K, form),
            "sum": linear.sums_of_powers(a, K, form),
            "general": linear.iteration(a, b, t, K, form),
        },
        A=a0,
        B=b0,
        T=t0,
    )
    p.update("A", u=random.standard_normal((N, 2)) / 5, v=random.standard_normal((N, 2)) / 5)
    p.update("B", rows=[1], v=random.standard_normal((1, P)))
    p.update("T", cols=[1], u=random.standard_normal((N, 1)))
    a1, b1, t1 = p["A"], p["B"], p["T"]
    np.testing.assert_allclose(p["power"], np.linalg.matrix_power(a1, K), rtol=1e-9, atol=1e-12)
    summed = sum(np.linalg.matrix_power(a1, i) for i in range(K))
    np.testing.assert_allclose(p["sum"], summed, rtol=1e-9, atol=1e-12)
    for _ in range(K):
        t1 = a1 @ t1 + b1
    np.testing.assert_allclose(p["general"], t1, rtol=1e-9, atol=1e-12)


def test_forms_that_are_none() -> None:
    a = linear.matrix("A", "n")
    with pytest.raises(FreshviewError, match="6 rounds have no form 'exponential'"):
        linear.powers(a, 6, "exponential")
    with pytest.raises(FreshviewError, match="8 rounds have no form 3"):
        linear.powers(a, 8, 3)


@pytest.mark.parametrize("strategy", ["incremental", "reevaluate"])
@pytest.mark.parametrize(("form", "s"), [("linear", 1), ("exponential", 16), (4, 4)])
def test_compiled_costs_grow_as_the_table_says(form: Form, s: int, strategy: Strategy) -> None:
    ratios = {}
    for n in (1000, 4000):
        options = MatrixOptions(sizes={"n": n}, strategy=strategy)
        source = source_of({"P": linear.powers(linear.matrix("A", "n"), 16, form)}, "real")
        cost = trigger(compile_source(source, options), "A", options).cost()
        ratios[n] = cost.at({"n": n, "k": 1}) / table("powers", n, 0, 16, s)[strategy]
    assert ratios[1000] == pytest.approx(ratios[4000], rel=0.1)
    assert 0.5 < ratios[4000] < 8


def test_narrow_models_are_hybrid_and_wide_ones_incremental() -> None:
    assert cheapest("general", 10_000, 1, 16).strategy == "hybrid"
    assert cheapest("general", 10_000, 1, 4).form == "linear"
    assert cheapest("general", 10_000, 5_000, 16).strategy == "incremental"
    assert cheapest("general", 10_000, 5_000, 16).form == "exponential"
    assert cheapest("powers", 4_000, 0, 16).strategy == "incremental"
    assert cheapest("powers", 2, 0, 1024).strategy == "reevaluate"


def test_compiler_agrees_with_the_table_on_the_strategy() -> None:
    for width, wanted in ((1, "hybrid"), (500, "incremental")):
        a, b = linear.matrix("A", "n"), linear.matrix("B", "n", "p", dynamic=False)
        random = np.random.default_rng(0)
        values = {"A": random.standard_normal((500, 500)), "B": np.ones((500, width))}
        p = linear.Program({"T": linear.iteration(a, b, b, 8, "linear")}, values)
        assert p.choice("A").strategy == wanted


def test_narrow_factors_travel_and_matrices_stay() -> None:
    options = MatrixOptions(sizes={"n": 4000})
    source = source_of({"P": linear.powers(linear.matrix("A", "n"), 16, "exponential")}, "real")
    program = compile_source(source, options)
    by_factors = trigger(program, "A", replace(options, strategy="incremental")).traffic()
    anew = trigger(program, "A", replace(options, strategy="reevaluate")).traffic()
    assert by_factors.degree(apart=("k",)) == 1
    assert anew.degree(apart=("k",)) == 2
