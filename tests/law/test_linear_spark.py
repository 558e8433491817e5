"""Spread over workers, a matrix program is what it is in one process, whatever the program."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.linear.execute.evaluate import evaluate
from freshview.linear.kernels.semiring import REAL, Array, semiring
from freshview.linear.language.terms import Expr, Inverse, Scale, Source
from freshview.linear.language.walk import subterms
from freshview.spark.matrix.program import SparkProgram
from tests.law.matrices import SIZES, terms, values
from tests.law.test_linear import program


@contextmanager
def spread(source: Source, start: dict[str, Array], **options: Any) -> Iterator[SparkProgram]:
    """A program on workers of this process."""
    folder = Path(tempfile.mkdtemp())
    flow_settings = FlowSettings(snapshot_every=2, memory=str(folder / "memory"))
    runner = InlineRunner()
    try:
        yield SparkProgram(
            source,
            start,
            spark=runner,
            checkpoint=folder / "checkpoint",
            settings=flow_settings,
            sizes={"k": 2},
            **options,
        )
    finally:
        shutil.rmtree(folder)


@settings(max_examples=15)
@given(
    terms(),
    st.sampled_from(["A", "X", "u"]),
    st.sampled_from(["incremental", "hybrid", "reevaluate"]),
    st.sampled_from([0, 8, 19]),  # everything is spread; u, v and w are not; nor are X and Y
    st.booleans(),
    st.integers(1, 4),
)
def test_updates_follow(
    e: Expr, name: str, strategy: str, cells: int, copies: bool, workers: int
) -> None:
    options = {"driver_cells": cells, "copies": copies, "workers": workers}
    with spread(program(e, name), values(1), strategy=strategy, **options) as p:
        random = np.random.default_rng(7)
        rows, cols = p.values[name].shape
        for rank in (1, 2):
            u, v = random.standard_normal((rows, rank)), random.standard_normal((cols, rank))
            p.update(name, u=0.1 * u, v=0.1 * v)
            now = {i.name: p[i.name] for i in p.normal.inputs}
            expected = evaluate(e, now, REAL, SIZES)
            scale = max(1.0, float(np.abs(expected).max()))
            assert np.abs(p["result"] - expected).max() <= 1e-9 * scale
        assert p.check() < 1e-9


@settings(max_examples=12)
@given(terms(depth=2), st.sampled_from(["boolean", "min-plus", "max-times"]), st.booleans())
def test_semirings_are_exact(e: Expr, name: str, copies: bool) -> None:
    if any(isinstance(t, Scale | Inverse) for t in subterms(e)):
        return
    ring, random = semiring(name), np.random.default_rng(5)

    def cells(shape: tuple[int, ...]) -> Array:
        there = random.random(shape) < 0.3
        numbers = 2.0 ** random.integers(-3, 4, shape)
        return there if name == "boolean" else np.where(there, numbers, ring.zero)

    start = {n: cells(a.shape) for n, a in values(0).items()}
    start["S"] = ring.plus(start["S"], start["S"].T)
    source = replace(program(e, "A"), semiring=name)
    with spread(source, start, driver_cells=8, copies=copies, workers=3) as p:

        def same() -> None:
            now = {i.name: p[i.name] for i in p.normal.inputs}
            np.testing.assert_array_equal(p["result"], evaluate(e, now, ring, SIZES))

        p.update("A", u=cells((5, 2)), v=cells((5, 2)))
        same()
        p.assign("A", cells=[(1, 2, ring.zero), (3, 3, ring.zero)])
        same()
        p.assign("A", cols=[4, 0], to=cells((5, 2)))
        same()
        p.assign("A", rows=[3], to=cells((1, 5)))
        same()
