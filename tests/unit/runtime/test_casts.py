"""CAST on both engines, of constants and of columns, as Spark's ANSI mode has it."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, datetime
from decimal import Decimal, localcontext
from typing import Any

import pytest

import freshview
from freshview.errors import BadValue, FreshviewError, TypeProblem, UnsupportedSql
from tests.differential.casts import REFUSED, TYPES, Asked, table
from tests.unit.databases import Connect


def is_answer(actual: Any, a: Asked) -> bool:
    """Whether this is the answer, written in the same way."""
    if isinstance(actual, float) and actual == 0:
        return a.answer is not REFUSED and a.answer == 0.0  # zero has no sign
    return type(actual) is type(a.answer) and str(actual) == str(a.answer)


def test_constants_are_cast_as_spark_does() -> None:
    wrong = []
    for a in table():
        db = freshview.connect(engine="reference")  # views that stand together are merged
        sql = f"CREATE VIEW v AS SELECT CAST({a.constant} AS {a.type}) AS x"
        try:
            (view,) = db.execute(sql)
            (actual,) = view.rows()[0]
        except FreshviewError as e:
            actual = REFUSED if e.at is not None and e.instead else e
        if actual is not a.answer if a.answer is REFUSED else not is_answer(actual, a):
            wrong.append((a, actual))
    assert wrong == []


def of_columns(source: type) -> dict[str, list[Asked]]:
    """The casts of a type's columns, by the type that they go to."""
    by_type: dict[str, list[Asked]] = defaultdict(list)
    for a in table():
        written = source is Decimal and a.type == "STRING"  # which depends on the column's type
        if type(a.value) is source and not written and not _is_wide(a):
            by_type[a.type].append(a)
    kinds = {k: asked for k, asked in by_type.items() if _is_possible(source, k)}
    assert kinds
    return kinds


def _is_wide(a: Asked) -> bool:
    """Decimals beyond what columns hold: those are tested where the domain of values is."""
    return a.type == "DECIMAL(38,2)" or (isinstance(a.value, Decimal) and abs(a.value) > 1 << 60)


def _is_possible(source: type, kind: str) -> bool:
    try:
        freshview.connect(engine="reference").execute(
            f"CREATE STREAM t (x {TYPES[source]}); SELECT CAST(x AS {kind}) AS y FROM t"
        )
    except (UnsupportedSql, TypeProblem) as e:
        return "there is no " not in str(e)
    return True


@pytest.mark.parametrize("source", TYPES, ids=lambda t: t.__name__)
def test_columns_are_cast_as_constants_are(connect: Connect, source: type) -> None:
    """All the values at once by TRY_CAST, which is NULL where CAST refuses."""
    kinds = of_columns(source)
    values = list({repr(a.value): a.value for asked in kinds.values() for a in asked}.values())
    db = connect(keep_rows=False)
    tried = ", ".join(f"TRY_CAST(x AS {kind}) AS y{i}" for i, kind in enumerate(kinds))
    db.execute(
        f"CREATE STREAM t (id BIGINT NOT NULL, x {TYPES[source]});"
        f"CREATE VIEW v AS SELECT id, {tried} FROM t"
    )
    db.insert("t", [*enumerate(values), (-1, None)])
    rows = {row[0]: row[1:] for row in db.view("v").rows()}
    assert rows.pop(-1) == (None,) * len(kinds)
    for column, asked in enumerate(kinds.values()):
        answers = {repr(a.value): a for a in asked}
        for number, value in enumerate(values):
            a, actual = answers.get(repr(value)), rows[number][column]
            if a is not None:
                assert actual is None if a.answer is REFUSED else is_answer(actual, a), a
    db.delete("t", list(enumerate(values)))
    assert len(db.view("v").rows()) == 1


@pytest.mark.parametrize("source", [str, float], ids=lambda t: t.__name__)
def test_a_batch_with_a_value_that_cannot_be_cast_is_refused_whole(
    connect: Connect, source: type
) -> None:
    kinds = of_columns(source)
    db = connect(keep_rows=False)
    chosen = ", ".join(
        f"CASE WHEN k = {i} THEN CAST(x AS {kind}) END AS y{i}" for i, kind in enumerate(kinds)
    )
    db.execute(
        f"CREATE STREAM t (k BIGINT NOT NULL, x {TYPES[source]});"
        f"CREATE VIEW v AS SELECT k, {chosen} FROM t"
    )
    for k, asked in enumerate(kinds.values()):
        good = [(k, a.value) for a in asked if a.answer is not REFUSED]
        db.insert("t", good)
        before = db.view("v").rows()
        for a in asked:
            if a.answer is REFUSED:
                with pytest.raises(BadValue, match="cannot be cast to") as raised:
                    db.insert("t", [*good[:2], (k, a.value), *good[:1]])
                assert str(raised.value).startswith(f"row {min(len(good), 2) + 1} of 't': ")
        assert db.view("v").rows() == before
        db.delete("t", good)
        assert db.view("v").rows() == []


def test_decimals_are_written_with_the_digits_of_their_type(connect: Connect) -> None:
    db = connect(keep_rows=False)
    db.execute(
        "CREATE STREAM t (x DECIMAL(20, 0), y DECIMAL(20, 2), z DECIMAL(20, 6));"
        "CREATE VIEW v AS SELECT CAST(x AS STRING) AS a, CAST(y AS STRING) AS b,"
        " CAST(z AS STRING) AS c FROM t;"
        "CREATE VIEW w AS SELECT CAST(SUM(x) AS STRING) AS a, CAST(SUM(y) AS STRING) AS b,"
        " CAST(SUM(z) AS STRING) AS c, CAST(COALESCE(SUM(y), 1) AS STRING) AS d FROM t"
    )
    scales = (0, 2, 6)
    with localcontext(prec=50):
        numbers = (0, 1, -1, 5, -10, 12345678901, 999999999999999999)
        rows = [tuple(Decimal(n).scaleb(-s) for s in scales) for n in numbers]
    db.insert("t", rows)
    written = {tuple(f"{x:.{s}f}" for x, s in zip(row, scales, strict=True)) for row in rows}
    assert set(db.view("v").rows()) == written
    db.delete("t", rows[1:])
    assert db.view("w").rows() == [("0", "0.00", "0.000000", "0.00")]


def test_every_day_and_moment_is_written_and_read(connect: Connect) -> None:
    db = connect(keep_rows=False)
    db.execute(
        "CREATE STREAM t (d DATE NOT NULL, m TIMESTAMP NOT NULL);"
        "CREATE VIEW v AS SELECT d, CAST(CAST(d AS STRING) AS DATE) AS e, m,"
        " CAST(CAST(m AS STRING) AS TIMESTAMP) AS n, CAST(m AS DATE) AS f FROM t"
    )
    days = [date(1, 1, 1), date(1582, 10, 15), date(1900, 2, 28), date(2000, 2, 29)]
    days += [date(1969, 12, 31), date(1970, 1, 1), date(9999, 12, 31)]
    times = [(0, 0, 0, 0), (23, 59, 59, 999999), (1, 2, 3, 400000), (12, 0, 0, 1)]
    rows = [(d, datetime(d.year, d.month, d.day, *t)) for d in days for t in times]
    db.insert("t", rows)
    assert sorted(db.view("v").rows()) == sorted((d, d, m, m, d) for d, m in rows)
