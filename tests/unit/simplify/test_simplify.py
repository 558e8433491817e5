"""Simplification of terms that share parts: a part is worked on once."""

from __future__ import annotations

from freshview.calculus.terms import Expr
from freshview.calculus.text import read
from freshview.simplify import everywhere, simplify, unify


def test_a_part_of_several_terms_is_worked_on_once() -> None:
    seen: list[Expr] = []

    def declines(e: Expr) -> Expr | None:
        seen.append(e)
        return None

    part, other = read("Sum[a](R(a, b) * S(b, c))"), read("T(a)")
    for text in ("{p} * T(a)", "{p} * {{a < 3}}", "{p} + T(a)"):
        e = read(text.format(p="Sum[a](R(a, b) * S(b, c))"))
        assert simplify(e, (declines,)) is e
    assert seen.count(part) == seen.count(other) == 1
    assert len(seen) == len(set(seen))


def test_variables_known_outside_matter_only_to_the_terms_that_have_them() -> None:
    e = read("Sum[a](S(c) * Sum[a](R(a, b) * (x := b)))")
    first = simplify(e, (unify,), frozenset("p"))
    misses = everywhere.cache_info().misses
    assert simplify(e, (unify,), frozenset("q")) is first
    assert everywhere.cache_info().misses == misses
    assert simplify(e, (unify,), frozenset("qx")) is not first
