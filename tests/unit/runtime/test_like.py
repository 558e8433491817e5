"""LIKE in a kernel: the pieces of a known pattern say what the whole pattern says."""

from __future__ import annotations

import random

import pytest

from freshview.calculus.functions import BUILTINS
from tests.unit.databases import Connect

PATTERNS = ("", "%", "%%", "a", "a%", "%a", "%a%", "a%b", "%ab%b", "ab%ab", "%é%a", "%b%ab%", "_a%")


@pytest.mark.parametrize("column", ["w TEXT", "w TEXT NOT NULL"])
def test_pieces_are_found_where_the_pattern_matches(connect: Connect, column: str) -> None:
    marks = random.Random(5)
    texts = {"".join(marks.choices("abé", k=marks.randrange(7))) for _ in range(300)}
    db = connect()
    tests = ", ".join(f"w LIKE '{p}' AS m{i}" for i, p in enumerate(PATTERNS))
    [view] = db.execute(
        f"CREATE STREAM words ({column}); CREATE VIEW v AS SELECT w, {tests} FROM words"
    )
    like = BUILTINS["like"].compute
    expected = {(t, *(like(t, p) for p in PATTERNS)) for t in texts}
    if "NOT" not in column:
        texts.add(None)
        expected.add((None,) * (len(PATTERNS) + 1))
    db.insert("words", [(t,) for t in texts])
    assert set(view.rows()) == expected


def test_a_pattern_of_many_parts_does_not_try_all_the_ways() -> None:
    like = BUILTINS["like"].compute
    assert not like("a" * 3000, "%a" * 12 + "%b")
    assert like("a" * 3000, "%a" * 12)
