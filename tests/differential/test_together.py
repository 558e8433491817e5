"""Several random views in one pipeline or database: after every batch each has DuckDB's rows.

`pytest -m full -k "hundred and spark" tests/differential/test_together.py` runs a hundred seeds on
Spark, `-k "hundred and kernels"` with workers in this process. A seed that fails stays, in
REGRESSIONS.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from freshview.codegen.library.compiler import find_compiler
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from tests.differential.together import agree, agree_in_process, together

COMPILED = pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")

pytestmark = pytest.mark.filterwarnings("error:.*the compiler refuses the kernel")

SEEDS = (0, 5, 6, 12, 15)
"""Those whose views are planned in a second or so."""

SHARING = (6, 12, 15)
"""Those of them with views that read a common table."""

REGRESSIONS: tuple[int, ...] = (1055,)
"""Seeds that once failed."""

HUNDRED = range(100)


@pytest.mark.parametrize("seed", SEEDS)
def test_views_follow_their_tables_together(tmp_path: Path, seed: int) -> None:
    agree(together(seed), tmp_path, InlineRunner(), _settings(tmp_path, native=False))


@pytest.mark.native
@COMPILED
@pytest.mark.parametrize("seed", [5, 12, *REGRESSIONS])
def test_kernels_follow_their_tables_together(tmp_path: Path, seed: int) -> None:
    agree(together(seed), tmp_path, InlineRunner(), _settings(tmp_path, native=True))


@pytest.mark.native
@COMPILED
@pytest.mark.parametrize("seed", SHARING)
def test_views_of_a_database_follow_their_tables_together(seed: int) -> None:
    assert max(agree_in_process(together(seed), "native")) > 1


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("seed", [5])
def test_pipelines_follow_their_tables_together(tmp_path: Path, spark: Any, seed: int) -> None:
    """With all the defaults."""
    agree(together(seed), tmp_path, spark, None)


@pytest.mark.full
@pytest.mark.native
@COMPILED
@pytest.mark.parametrize("seed", HUNDRED)
def test_a_hundred_seeds_in_a_database(seed: int) -> None:
    agree_in_process(together(seed), "native")


@pytest.mark.full
@pytest.mark.native
@COMPILED
@pytest.mark.parametrize("seed", HUNDRED)
def test_a_hundred_seeds_with_kernels(tmp_path: Path, seed: int) -> None:
    agree(together(seed), tmp_path, InlineRunner(), _settings(tmp_path, native=True))


@pytest.mark.full
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("seed", HUNDRED)
def test_a_hundred_seeds_on_spark(tmp_path: Path, spark: Any, seed: int) -> None:
    agree(together(1000 + seed), tmp_path, spark, None)


def _settings(folder: Path, *, native: bool) -> FlowSettings:
    return FlowSettings(snapshot_every=3, memory=str(folder / "memory"), native=native)
