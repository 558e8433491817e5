"""Assignments are carried to their readers in few steps."""

from __future__ import annotations

from importlib import import_module

import pytest

from freshview.calculus.text import read, show
from freshview.simplify import unify

module = import_module("freshview.simplify.unify")  # the package has the function of this name

COLUMNS = 8
ROW = " * ".join(f"(x{i} := t{i})" for i in range(COLUMNS))
PARAMS = ", ".join(f"t{i}" for i in range(COLUMNS))
MAPS = " * ".join(f"M{i}[x{i}, y]" for i in range(COLUMNS))


def test_a_row_of_given_values_is_carried_in_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = []
    usual = module._unify_product
    monkeypatch.setattr(module, "_unify_product", lambda p: steps.append(p) or usual(p))
    term = unify(read(f"Sum[x3]({ROW} * {MAPS})"))
    assert term is not None
    maps = " * ".join(f"M{i}[t{i}, y]" for i in range(COLUMNS))
    assert show(term) == f"Sum[x3, {PARAMS}]((x3 := t3) * {maps})"
    assert len(steps) == 2  # the row, and that there is no more
