"""The fixture `golden`: a text must be what a file says; `--update-golden` rewrites the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Golden = Callable[[Path, str], None]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare a text with a file, or write the file when asked to."""
    update = request.config.getoption("--update-golden")

    def compare(path: Path, text: str) -> None:
        if update:
            path.write_text(text)
        remedy = "if this is meant: pytest tests/golden --update-golden"
        assert path.exists(), f"there is no {path}; {remedy}"
        assert text == path.read_text(), f"{path} has changed; {remedy}"

    return compare
