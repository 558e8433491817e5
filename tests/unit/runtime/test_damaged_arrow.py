"""Arrow columns that are damaged or out of the domain: both engines take and refuse the same."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from freshview.errors import BadRow
from tests.unit.databases import Connect

Make = Callable[[], pa.Array]


def texts(offsets: list[int], data: bytes = b"abcdefgh", large: bool = False) -> pa.Array:
    kind, code = (pa.large_string(), "q") if large else (pa.string(), "i")
    buffers = [None, pa.py_buffer(array(code, offsets).tobytes()), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, len(offsets) - 1, buffers)


def views(*words: int) -> pa.Array:
    buffers = [None, pa.py_buffer(array("i", words).tobytes()), pa.py_buffer(b"x" * 20)]
    return pa.Array.from_buffers(pa.string_view(), len(words) // 4, buffers)


def too_long() -> pa.Array:
    """A decimal with more digits than its Arrow type says."""
    digits = pa.array([Decimal("1.00"), Decimal("99999.99")], pa.decimal128(10, 2)).buffers()[1]
    return pa.Array.from_buffers(pa.decimal128(5, 2), 2, [None, digits])


def codes(indices: list[int], entries: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(indices), entries, safe=False)


BAD: dict[str, tuple[str, Make]] = {
    "offsets go back": ("STRING", lambda: texts([0, 5, 2])),
    "large offsets go back": ("STRING", lambda: texts([0, 5, 2], large=True)),
    "offsets jump and come back": ("STRING", lambda: texts([0, 2000000000, 2])),
    "no UTF-8": ("STRING", lambda: texts([0, 1, 2], b"\xff\xfe")),
    "a surrogate in UTF-8": ("STRING", lambda: texts([0, 3], b"\xed\xa0\x80")),
    "a code past the dictionary": ("STRING", lambda: codes([0, 7], pa.array(["a"]))),
    "a negative code": ("STRING", lambda: codes([0, -7], pa.array(["a"]))),
    "a damaged dictionary": ("STRING", lambda: codes([0, 1], texts([0, 5, 2]))),
    "a view past its buffer": ("STRING", lambda: views(20, 0, 0, 0, 20, 0, 0, 5)),
    "a view of no buffer": ("STRING", lambda: views(20, 0, 5, 0)),
    "digits past the type": ("DECIMAL(8, 2)", too_long),
    "39 digits": ("DECIMAL(38, 2)", lambda: pa.array([Decimal("9" * 37)], pa.decimal128(38, 0))),
    "a day too late": ("DATE", lambda: pa.array([2932897], pa.int32()).cast(pa.date32())),
    "a day too early": ("DATE", lambda: pa.array([-(2**31)], pa.int32()).cast(pa.date32())),
    "a moment too late": (
        "TIMESTAMP",
        lambda: pa.array([2**62], pa.int64()).cast(pa.timestamp("us")),
    ),
    "a moment in seconds": (
        "TIMESTAMP",
        lambda: pa.array([2**62], pa.int64()).cast(pa.timestamp("s")),
    ),
    "the smallest integer": ("BIGINT", lambda: pa.array([-(2**63)])),
    "64 bits without sign": ("BIGINT", lambda: pa.array([2**64 - 1], pa.uint64())),
    "an infinity": ("DOUBLE", lambda: pa.array([float("inf")])),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_column_is_refused_whole(connect: Connect, name: str) -> None:
    kind, make = BAD[name]
    db = connect()
    db.execute(f"CREATE STREAM t (x {kind}); CREATE VIEW v AS SELECT COUNT(x) AS n FROM t")
    for form in (pa.table, pa.record_batch):
        with pytest.raises(BadRow):
            db.insert("t", form({"x": make()}))
    assert (db.view("v").rows(), db.version) == ([(0,)], 0)


GOOD: dict[str, tuple[str, Make, list[Any]]] = {
    "slices": ("STRING", lambda: pa.array(["z", "a", "é", "c"]).slice(1, 2), ["a", "é"]),
    "views": ("STRING", lambda: pa.array(["a" * 50, "b"], pa.string_view()), ["a" * 50, "b"]),
    "nothing": ("STRING", lambda: pa.array([], pa.string()), []),
    "NULL": ("STRING", lambda: pa.array([None, "a"]), ["a", None]),
    "no sign": ("DOUBLE", lambda: pa.array([2**64 - 1], pa.uint64()), [float(2**64)]),
    "smallest": ("DOUBLE", lambda: pa.array([-(2**63)]), [float(-(2**63))]),
    "decimal": ("DECIMAL(20, 0)", lambda: pa.array([-(2**63)]), [Decimal(-(2**63))]),
    "256 bits": (
        "DECIMAL(38, 2)",
        lambda: pa.array([Decimal("9" * 36 + ".99")], pa.decimal256(50, 2)),
        [Decimal("9" * 36 + ".99")],
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_column_is_taken(connect: Connect, name: str) -> None:
    kind, make, expected = GOOD[name]
    db = connect()
    db.execute(f"CREATE STREAM t (x {kind}); CREATE VIEW v AS SELECT x FROM t")
    db.insert("t", pa.table({"x": make()}))
    assert sorted((row[0] for row in db.view("v").rows()), key=repr) == sorted(expected, key=repr)
