"""Numbers that ask for texts longer than memory are refused before a text is made."""

from __future__ import annotations

import pytest

import freshview
from freshview.errors import BadValue


@pytest.mark.parametrize(
    "call", ["LPAD('a', n, 'x')", "RPAD('a', n)", "REPEAT('a', n)", "SPACE(n)"]
)
def test_a_length_that_no_memory_holds(call: str) -> None:
    db = freshview.connect(engine="reference")
    db.execute(f"CREATE STREAM t (n BIGINT); CREATE VIEW v AS SELECT n, LENGTH({call}) AS l FROM t")
    db.insert("t", [(3,), (-1,), (None,)])
    before = db.view("v").rows()
    for n in (1 << 27, 1 << 40, 1 << 62):
        with pytest.raises(BadValue, match="too long a text"):
            db.insert("t", [(5,), (n,)])
    assert db.view("v").rows() == before
