"""Random SELECTs, maintained by every strategy, give DuckDB's rows after every batch.

To look at one seed: `python -c "from tests.differential.random_sql import random_script as f;
print(f(7))"`; to run it by all the strategies, put it into SEEDS of a scratch copy, or use
`pytest -k 'seed-7-'`.
"""

from __future__ import annotations

import random

import pytest

from freshet.ivm.options import Mode
from tests.differential.random_sql import random_script
from tests.differential.streams import PAIRS, STATIC, Script, agree

VARIANTS = list(STATIC)
BATCHES = 8
SEEDS = range(120)
MORE_SEEDS = range(1000, 1400)

# Texts that once failed, made small; each is kept under every strategy.
FOUND: tuple[Script, ...] = ()


def choice(seed: int) -> tuple[str, str, Mode]:
    """A variant, a strategy and a mode: neighbours differ, so few seeds cover all of them."""
    return VARIANTS[seed // len(PAIRS) % len(VARIANTS)], *PAIRS[seed % len(PAIRS)]


@pytest.mark.parametrize("seed", SEEDS, ids="seed-{}-".format)
def test_random_view_follows_its_tables(seed: int) -> None:
    variant, strategy, mode = choice(seed)
    agree(random_script(seed), variant, strategy, mode, seed=seed, batches=BATCHES)


@pytest.mark.full
@pytest.mark.parametrize("seed", MORE_SEEDS, ids="seed-{}-".format)
def test_random_view_follows_its_tables_by_every_strategy(seed: int) -> None:
    variant = random.Random(seed).choice(VARIANTS)
    for strategy, mode in PAIRS:
        agree(random_script(seed), variant, strategy, mode, seed=seed, batches=BATCHES)


@pytest.mark.parametrize("script", FOUND, ids=str)
def test_view_that_once_failed_follows_its_tables(script: Script) -> None:
    for number, (strategy, mode) in enumerate(PAIRS):
        variant = VARIANTS[number % len(VARIANTS)]
        agree(script, variant, strategy, mode, seed=number, batches=BATCHES)
