"""A Delta table with its change feed goes in, and the changes of a view go out to another."""

from __future__ import annotations

import pytest

from tests.maven.conftest import Alone

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("connectors")]


def test_a_change_feed_goes_in_and_changes_go_out(alone: Alone) -> None:
    alone("-m", "tests.maven.on_delta")
