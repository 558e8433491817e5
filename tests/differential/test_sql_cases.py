"""Every construct of the front end, maintained by every strategy under changes of every kind."""

from __future__ import annotations

from zlib import crc32

import pytest

from freshview.ivm.options import Mode
from tests.differential.sql_cases import CASES, THRESHOLDS
from tests.differential.streams import MODES, PAIRS, STATIC, STRATEGIES, Script, agree
from tests.thin import thin

VARIANTS = list(STATIC)


def choices(sql: str) -> list[tuple[str, str, Mode]]:
    """Two of all the combinations of variant, strategy and mode: the same ones in every run."""
    number = crc32(sql.encode())
    variant = VARIANTS[number // len(PAIRS) % len(VARIANTS)]
    # An odd step: one of the two is for single rows, the other for batches.
    return [(variant, *PAIRS[(number + step) % len(PAIRS)]) for step in (0, 7)]


@pytest.mark.parametrize("sql", thin(CASES, 3))
def test_view_follows_its_tables(sql: str) -> None:
    for variant, strategy, mode in choices(sql):
        agree(Script(sql), variant, strategy, mode, seed=sql, batches=12)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sql", THRESHOLDS)
def test_thresholds(sql: str, mode: Mode) -> None:
    """What is recomputed is put together from maps that are not."""
    for variant in VARIANTS:
        agree(Script(sql), variant, "higher-order", mode, seed=(variant, sql), batches=12)


def test_the_sample_meets_every_combination() -> None:
    met = [choice for sql in CASES for choice in choices(sql)]
    assert {(strategy, mode) for _, strategy, mode in met} == set(PAIRS)
    assert {variant for variant, _, _ in met} == set(VARIANTS)


@pytest.mark.full
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("sql", CASES)
def test_view_follows_its_tables_by_every_strategy(sql: str, strategy: str, mode: Mode) -> None:
    for variant in VARIANTS:
        agree(Script(sql), variant, strategy, mode, seed=(variant, sql), batches=12)
