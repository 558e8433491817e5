from __future__ import annotations

from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshview.distributed.partition import worker
from freshview.spark.batches.partition import partition_rows, rows_of_worker, workers_of

COLUMNS: dict[str, tuple[Any, pa.DataType]] = {
    "int": (st.integers(-(1 << 63), (1 << 63) - 1), pa.int64()),
    "double": (st.floats(allow_nan=False, allow_infinity=False), pa.float64()),
    "decimal": (st.decimals(-(10**34), 10**34, places=2), pa.decimal128(38, 2)),
    "date": (st.dates(), pa.date32()),
    "timestamp": (st.datetimes(), pa.timestamp("us")),
    "bool": (st.booleans(), pa.bool_()),
    "string": (st.text(st.characters(codec="utf-8")), pa.string()),
}


@pytest.mark.parametrize("kind", COLUMNS)
@given(data=st.data(), workers=st.sampled_from([1, 2, 3, 5, 1009]))
def test_columns_and_rows_agree(kind: str, data: st.DataObject, workers: int) -> None:
    values, arrow = COLUMNS[kind]
    rows = data.draw(st.lists(values | st.none(), max_size=20))
    column = pa.array([None, *rows], arrow).slice(1)
    numbers = workers_of([column, column], len(rows), workers).tolist()
    assert numbers == [worker((v, v), workers) for v in rows]


@given(st.integers(-(1 << 53), 1 << 53))
def test_equal_numbers_name_the_same_worker(n: int) -> None:
    columns = [
        pa.array([n], pa.int64()),
        pa.array([float(n)], pa.float64()),
        pa.array([Decimal(n)], pa.decimal128(38, 4)),
    ]
    assert len({workers_of([c], 1, 1009)[0] for c in columns}) == 1


def test_a_date_is_midnight() -> None:
    day, midnight = pa.array([date(1969, 7, 20)]), pa.array([datetime(1969, 7, 20)])
    assert workers_of([day], 1, 1009) == workers_of([midnight], 1, 1009)


@pytest.mark.parametrize("workers", [2, 3, 4, 8])
def test_small_numbers_are_spread(workers: int) -> None:
    numbers = Counter(worker((i,), workers) for i in range(10_000))
    assert min(numbers.values()) > 9_000 / workers


def test_every_row_is_spread_once() -> None:
    batch = pa.record_batch({"a": [1, 2, None, 4, 5], "b": ["x", "y", "z", "x", None]})
    parts = partition_rows(batch, [1, 0], 3)
    assert sum(p.num_rows for p in parts) == 5
    for i, part in enumerate(parts):
        assert part.equals(rows_of_worker(batch, [1, 0], i, 3))
