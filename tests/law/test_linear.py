"""Laws of matrix programs: rules keep the meaning, text reads back, deltas are new minus old."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshview.linear.compile.options import MatrixOptions
from freshview.linear.compile.rules import EQUIVALENCES, SIMPLIFICATIONS
from freshview.linear.compile.search import Search, alternatives
from freshview.linear.compile.simplify import simplify
from freshview.linear.compile.trigger_compiler import compile_source
from freshview.linear.cost.operations import cost
from freshview.linear.execute.evaluate import evaluate
from freshview.linear.execute.program import Program
from freshview.linear.kernels.semiring import REAL, Array, Semiring, semiring
from freshview.linear.language.meta import infer
from freshview.linear.language.show import show
from freshview.linear.language.terms import Expr, Input, Inverse, Scale, Source, Statement
from freshview.linear.language.text import read
from freshview.linear.language.walk import subterms
from tests.law.matrices import SCOPE, SIZES, terms, values

SQUARE = terms()
WIDE = terms("m", "n")


def value(e: Expr, seed: int = 0, ring: Semiring = REAL) -> Array:
    return evaluate(e, values(seed), ring, SIZES)


def close(a: Array, b: Array) -> None:
    np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8 * max(1.0, float(np.abs(b).max())))


@given(st.one_of(SQUARE, WIDE))
def test_read_is_the_inverse_of_show(e: Expr) -> None:
    assert read(show(e)) == e


@given(SQUARE)
def test_simplify_keeps_the_meaning(e: Expr) -> None:
    close(value(simplify(e, SCOPE)), value(e))


@given(SQUARE)
def test_meta_information_holds(e: Expr) -> None:
    m, actual = infer(e, SCOPE), value(e)
    assert actual.shape == (m.rows.at(SIZES), m.cols.at(SIZES))
    scale = max(1.0, float(np.abs(actual).max()))
    if m.symmetric:
        close(actual, actual.T)
    if m.lower:
        assert np.abs(np.triu(actual, 1)).max() <= 1e-9 * scale
    if m.upper:
        assert np.abs(np.tril(actual, -1)).max() <= 1e-9 * scale
    if m.rank is not None:
        assert np.linalg.matrix_rank(actual, tol=1e-8 * scale) <= m.rank.at(SIZES)


@given(st.one_of(SQUARE, WIDE))
def test_equivalences_keep_the_meaning(e: Expr) -> None:
    expected = value(e)
    for other in islice(alternatives(e, SCOPE), 30):
        close(value(other), expected)


CASES = {
    "distribute": "A * (B + S) * u",
    "extract": "A * B + A * S - 2 * A",
    "inline": "let D = u * v' in D * A + A * D",
    "share": "(A + B) * u * v' * (A + B)",
    "factorize": "u * v' * A + A * u * v'",
    "unstack": "[A, u] * [B; v']",
    "woodbury": "inv(A + u * v')",
}
SIMPLE = {
    "symmetric": "S'",
    "unroll": "iterate(2, A, x => x * B)",
    "drop_let": "let D = A in D * D",
    "zeros": "A * zeros(n, n) + B",
    "identities": "A * eye(n)",
    "one_part": "[A, zeros(n, n)] + [zeros(n, n), B]",
}


@pytest.mark.parametrize("rule", EQUIVALENCES, ids=lambda r: r.__name__)
def test_every_equivalence_has_its_case(rule: object) -> None:
    e = read(CASES[rule.__name__])  # type: ignore[attr-defined]
    rewritten = [t for other in EQUIVALENCES if other is rule for t in _anywhere(other, e)]
    assert rewritten
    for t in rewritten:
        assert t != e
        close(value(t), value(e))


def _anywhere(rule: object, e: Expr) -> list[Expr]:
    return list(rule(e, SCOPE))  # type: ignore[operator]


@pytest.mark.parametrize("rule", SIMPLIFICATIONS, ids=lambda r: r.__name__)
def test_every_simplification_has_its_case(rule: object) -> None:
    e = read(SIMPLE[rule.__name__])  # type: ignore[attr-defined]
    inner = e.terms[0] if rule.__name__ == "zeros" else e  # type: ignore[attr-defined,union-attr]
    t = rule(inner, SCOPE)  # type: ignore[operator]
    assert t is not None
    assert t != inner
    close(value(t), value(inner))


@given(SQUARE)
def test_search_never_costs_more_and_keeps_the_meaning(e: Expr) -> None:
    start = simplify(e, SCOPE)
    best = Search(SIZES, budget=60).cheapest(e, SCOPE)
    assert cost(best, SCOPE, SIZES).at(SIZES) <= cost(start, SCOPE, SIZES).at(SIZES)
    close(value(best), value(e))


def test_inlined_outer_product_beats_shared_one() -> None:
    """Lago, 5.3.3: sharing u * v' costs O(n^3), inlining it O(n^2)."""
    shared = read("let D = u * v' in D * A + A * D + D * D")
    cheapest = Search({"k": 1}).cheapest(shared, SCOPE)
    assert cost(shared, SCOPE, {}).degree(apart=("k",)) == 3
    assert cost(cheapest, SCOPE, {"k": 1}).degree(apart=("k",)) == 2
    close(value(cheapest), value(shared))


def program(e: Expr, *changing: str) -> Source:
    traits = {True: frozenset(("symmetric",)), False: frozenset[str]()}
    inputs = tuple(
        Input(n, m.rows, m.cols, n in changing, traits[m.symmetric]) for n, m in SCOPE.items()
    )
    return Source(inputs, (Statement("result", e),), ("result",))


@given(SQUARE, st.sampled_from(["A", "X", "u"]), st.sampled_from(["incremental", "hybrid"]))
def test_updates_follow_recomputation(e: Expr, name: str, strategy: str) -> None:
    p = Program(program(e, name), values(1), strategy=strategy, sizes={"k": 2})  # type: ignore[arg-type]
    random = np.random.default_rng(7)
    rows, cols = p[name].shape
    for rank in (1, 2):
        u, v = random.standard_normal((rows, rank)), random.standard_normal((cols, rank))
        p.update(name, u=0.1 * u, v=0.1 * v)
        expected = evaluate(e, p.values, REAL, SIZES)
        scale = max(1.0, float(np.abs(expected).max()))
        assert np.abs(p["result"] - expected).max() <= 1e-9 * scale


@given(terms(depth=2), st.sampled_from(["boolean", "min-plus", "max-times"]), st.integers(0, 99))
def test_semirings_are_exact(e: Expr, name: str, seed: int) -> None:
    if any(isinstance(t, Scale | Inverse) for t in subterms(e)):
        return
    ring = semiring(name)
    random = np.random.default_rng(seed)

    def cells(shape: tuple[int, ...]) -> Array:
        """Powers of two, so that sums and products are exact."""
        there = random.random(shape) < 0.3
        numbers = 2.0 ** random.integers(-3, 4, shape)
        return there if name == "boolean" else np.where(there, numbers, ring.zero)

    start = {n: cells(a.shape) for n, a in values(0).items()}
    start["S"] = ring.plus(start["S"], start["S"].T)
    p = Program(
        replace(program(e, "A"), semiring=name), start, sizes={"k": 2}, strategy="incremental"
    )
    for rank in (1, 2):
        u, v = cells((5, rank)), cells((5, rank))
        p.update("A", u=u, v=v)
        np.testing.assert_array_equal(p["result"], evaluate(e, p.values, ring, SIZES))
    p.assign("A", cells=[(1, 2, ring.zero), (3, 3, ring.zero)])
    np.testing.assert_array_equal(p["result"], evaluate(e, p.values, ring, SIZES))


@given(SQUARE)
def test_normal_form_computes_the_same(e: Expr) -> None:
    normal = compile_source(program(e), MatrixOptions(sizes=SIZES))
    known = values(3)
    for s in normal.statements:
        known[s.name] = evaluate(s.term, known, REAL, SIZES)
    close(known["result"], value(e, 3))
