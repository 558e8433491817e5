"""Every construct of the front end, maintained by every strategy under changes of every kind."""

from __future__ import annotations

from zlib import crc32

import pytest

from freshet.ivm.options import Mode
from tests.differential.sql_cases import CASES
from tests.differential.streams import MODES, PAIRS, STATIC, STRATEGIES, Script, agree

VARIANTS = list(STATIC)


def choice(sql: str) -> tuple[str, str, Mode]:
    """One of all the combinations of variant, strategy and mode: the same in every run."""
    number = crc32(sql.encode())
    variant = VARIANTS[number // len(PAIRS) % len(VARIANTS)]
    return variant, *PAIRS[number % len(PAIRS)]


@pytest.mark.parametrize("sql", CASES)
def test_view_follows_its_tables(sql: str) -> None:
    variant, strategy, mode = choice(sql)
    agree(Script(sql), variant, strategy, mode, seed=sql, batches=12)


def test_the_sample_meets_every_combination() -> None:
    assert {choice(sql)[1:] for sql in CASES} == set(PAIRS)
    assert {choice(sql)[0] for sql in CASES} == set(VARIANTS)


@pytest.mark.full
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("sql", CASES)
def test_view_follows_its_tables_by_every_strategy(sql: str, strategy: str, mode: Mode) -> None:
    for variant in VARIANTS:
        agree(Script(sql), variant, strategy, mode, seed=(variant, sql), batches=12)
