"""Assignments are carried to their readers: what it yields, and in how many steps."""

from __future__ import annotations

from importlib import import_module

import pytest

from freshview.calculus.text import read, show
from freshview.simplify import unify

module = import_module("freshview.simplify.unify")  # the package has the function of this name

COLUMNS = 8
ROW = " * ".join(f"(x{i} := t{i})" for i in range(COLUMNS))
GIVEN = ", ".join(f"t{i}" for i in range(COLUMNS))
MAPS = " * ".join(f"M{i}[x{i}, y]" for i in range(COLUMNS))


def test_a_row_of_given_values_is_carried_in_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = []
    usual = module._unify_product
    monkeypatch.setattr(module, "_unify_product", lambda p: steps.append(p) or usual(p))
    found = unify(read(f"Sum[x3]({ROW} * {MAPS})"))
    assert found is not None
    maps = " * ".join(f"M{i}[t{i}, y]" for i in range(COLUMNS))
    assert show(found) == f"Sum[x3, {GIVEN}]((x3 := t3) * {maps})"
    assert len(steps) == 2  # the row, and that there is no more


def test_a_name_that_is_assigned_twice_is_a_test() -> None:
    found = unify(read("Sum[]((x := s) * (x := t) * R(x, y))"), known=frozenset("st"))
    assert found is not None
    assert show(found) == "Sum[s]({s = t} * R(s, y))"


def test_what_a_top_chooses_among_is_not_bound_by_a_row() -> None:
    kept = "(x := t) * Top[k; x desc; 1](R(k, x))"
    found = unify(read(f"Sum[k, y](S(y, z) * (z := u) * {kept})"))
    assert found is not None
    assert show(found) == f"Sum[k, y, u](S(y, u) * {kept})"
