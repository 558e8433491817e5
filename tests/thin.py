"""Which cases of a long list the usual run takes: the others are left to the full one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def thin(cases: Iterable[Any], every: int) -> list[Any]:
    """One of so many."""
    return [c if i % every == 0 else full(c) for i, c in enumerate(cases)]


def only(cases: Iterable[Any], usual: Callable[[Any], bool]) -> list[Any]:
    """Those for which `usual` holds."""
    return [c if usual(c) else full(c) for c in cases]


def full(case: Any) -> Any:
    """A case of the full run."""
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.full)


def own_wording(case: tuple[str, ...]) -> bool:
    """A query in the words of its benchmark, not in those of the papers."""
    return case[0] != "tpch_papers"
