"""Matrix programs of the theses, phase by phase."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshview.linear.compile.options import MatrixOptions
from freshview.linear.compile.trigger_compiler import compile_source, trigger
from freshview.linear.language.text import read_source
from tests.golden.conftest import Golden
from tests.golden.linear.programs import PROGRAMS, text

HERE = Path(__file__).parent / "linear"


@pytest.mark.parametrize("name", PROGRAMS)
def test_phases(name: str, golden: Golden) -> None:
    golden(HERE / f"{name}.txt", text(name))


def test_ranks_double_with_every_squaring() -> None:
    source, changed, options = PROGRAMS["powers"]
    ranks = trigger(compile_source(read_source(source), options), changed, options).ranks()
    assert [str(r) for r in ranks.values()] == ["k", "2*k", "4*k", "8*k", "16*k"]


def test_least_squares_has_no_cubic_operation() -> None:
    source = read_source(PROGRAMS["least_squares"][0])
    for side in ("left", "right"):
        options = MatrixOptions(strategy="incremental", second_order=side)
        compiled = trigger(compile_source(source, options), "X", options)
        assert compiled.cost().degree(apart=("k",)) == 2
    again = trigger(compile_source(source), "X", MatrixOptions(strategy="reevaluate"))
    assert again.cost().degree(apart=("k",)) == 3
