"""One profile for all the laws: no deadline, since machines differ; more examples on request."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "freshet",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("freshet")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of single suites: only the outermost conftest can declare them."""
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the files of tests/golden/queries"
    )
