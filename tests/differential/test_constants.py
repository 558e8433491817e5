"""Intervals, narrow casts, zones and patterns: the values that Spark gave, as constants."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

import freshview as fv
from freshview.errors import FreshviewError
from tests.differential.record_constants import lines


@pytest.mark.parametrize(("expression", "answer"), lines(), ids=[e for e, _ in lines()])
def test_as_spark_has_it(expression: str, answer: str) -> None:
    db = fv.connect(engine="reference")
    if answer == "refused":
        with pytest.raises(FreshviewError):
            db.sql(f"SELECT {expression} AS x").rows()
        return
    known = eval(answer, {"datetime": datetime, "Decimal": Decimal})
    assert db.sql(f"SELECT {expression} AS x").rows() == [(known,)]
