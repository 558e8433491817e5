"""What the scalar functions answer, also within the exact decimal context."""

from __future__ import annotations

import decimal
from datetime import date, datetime
from decimal import Decimal

import pytest

from freshview.algebra import EXACT
from freshview.calculus.functions import BUILTINS, Function, call
from freshview.calculus.types import INT, Value
from freshview.errors import UnknownName


@pytest.mark.parametrize(
    ("fn", "args", "answer"),
    [
        ("div", (Decimal(1), 4), 0.25),
        ("div", (1, 0), None),
        ("mod", (-7, 3), -1),
        ("mod", (7, 0), None),
        ("mod", (Decimal("-7.5"), 2), Decimal("-1.5")),
        ("mod", (Decimal("1.5"), 2.0), 1.5),
        ("round", (Decimal("1.235"), 2), Decimal("1.24")),
        ("round", (Decimal("-2.5"),), Decimal("-3")),
        ("round", (17,), 17),
        ("round", (15, -1), 20),
        ("round", (2.5,), 3.0),
        ("floor", (Decimal("-1.5"),), -2),
        ("ceil", (Decimal("-1.5"),), -1),
        ("sqrt", (-1,), None),
        ("power", (2, 3), 8.0),
        ("power", (-8, 0.5), None),
        ("power", (0, -1), None),
        ("power", (10.0, 400), None),
        ("or", (None, True), True),
        ("and", (None, True), False),
        ("not", (None,), None),
        ("in", (None, 1), False),
        ("in", (2, 1, 2), True),
        ("like", ("a.b\nc", "a._%"), True),
        ("like", ("axb", "a.b"), False),
        ("substring", ("hello", 2, 3), "ell"),
        ("substring", ("hello", 0, 2), "he"),
        ("substring", ("hello", -3), "llo"),
        ("substring", ("hello", -10, 7), "he"),
        ("substring", ("hello", 2, -1), ""),
        ("add_months", (date(2020, 1, 31), 1), date(2020, 2, 29)),
        ("add_months", (date(2020, 1, 15), -1), date(2019, 12, 15)),
        ("add_months", (datetime(2020, 11, 30, 5), 1), datetime(2020, 12, 30, 5)),
        ("add_days", (date(2020, 2, 28), 2), date(2020, 3, 1)),
        ("days_between", (datetime(2020, 1, 2, 9), date(2020, 1, 1)), 1),
        ("date", (datetime(2020, 1, 2, 9),), date(2020, 1, 2)),
        ("quarter", (date(2020, 10, 1),), 4),
        ("coalesce", (None, 2, 3), 2),
        ("coalesce", (None, None), None),
        ("greatest", (1, None), None),
        ("concat", ("a", "b"), "ab"),
        ("vec_length", (2.0, 3.0, 6.0), 7.0),
    ],
)
def test_answer_of(fn: str, args: tuple[Value, ...], answer: Value) -> None:
    with decimal.localcontext(EXACT):
        actual = call(BUILTINS[fn], args)
    assert actual == answer
    assert type(actual) is type(answer)


def test_a_registry_does_not_change() -> None:
    more = BUILTINS.with_(Function("twice", lambda x: 2 * x, lambda *_: INT, (1, 1)))
    assert call(more["twice"], (4,)) == 8
    assert "twice" not in BUILTINS
    with pytest.raises(UnknownName, match="there is no function 'twice'; register it"):
        BUILTINS["twice"]
