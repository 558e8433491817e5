"""Random views of functions are the same on the reference engine, in loops and on kernels.

`python -m tests.differential.test_function_worlds native 0 500` runs many seeds.
"""

from __future__ import annotations

import random
import sys

import pytest

import freshview
from freshview.codegen.library.compiler import find_compiler
from freshview.plan.compile import compile_queries
from freshview.program.merge import merge
from freshview.sql.load import load
from tests.differential.function_cases import TEMPLATES
from tests.differential.function_worlds import WRITTEN, Functions, calls, follow, function_world
from tests.law.loops import PASSES, Case, agree
from tests.thin import thin


@pytest.mark.parametrize("seed", thin(range(40), 10))
def test_functions_follow_their_rows(seed: int) -> None:
    follow(function_world(seed), freshview.connect(engine="reference"))


@pytest.mark.parametrize("seed", thin(range(100, 120), 10))
def test_functions_in_loops(seed: int) -> None:
    w = function_world(seed)
    catalog, queries = load(w.script())
    relations = list(catalog.relations.values())
    program = merge(compile_queries([q], relations) for q in queries)
    batches = [[("r", list(b))] for b in w.batches]
    assert agree(Case(program, batches), list(PASSES)[:3]) > 0


@pytest.mark.native
@pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("seed", thin(range(200, 220), 10))
def test_functions_on_kernels(seed: int) -> None:
    follow(function_world(seed, views=2), freshview.connect(engine="native"))


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 3000))
def test_functions_follow_their_rows_in_full(seed: int) -> None:
    follow(function_world(seed), freshview.connect(engine="reference"))


def test_worlds_call_every_function() -> None:
    draw = Functions(random.Random(1))
    text = " ".join(draw.view() for _ in range(6000))
    assert [n for n in calls() if n not in TEMPLATES and f"{n}(" not in text] == []
    assert [t for t, _, _ in WRITTEN if t.partition("{")[0] not in text] == []


def main(engine: str, first: str, end: str) -> None:
    """Run seeds and print what differs."""
    equal = 0
    for seed in range(int(first), int(end)):
        try:
            follow(function_world(seed), freshview.connect(engine=engine))  # type: ignore[arg-type]
            equal += 1
        except Exception as e:
            print(f"seed {seed}: {type(e).__name__}: {e}", flush=True)
    print(f"{equal} equal")


if __name__ == "__main__":
    main(*sys.argv[1:])
