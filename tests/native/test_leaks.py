"""Whatever is given, read and refused: nothing of it stays in memory."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from freshview.codegen.library.load import Instance, Kernel
from freshview.errors import FreshviewError

pytestmark = pytest.mark.native

T, N, H, S = range(4)
NOTHING = (None,) * 5
ROW = (1, Decimal("2.50"), *NOTHING, "some text that is kept apart")
BATCH = [(i, Decimal(i), *NOTHING, f"text number {i}") for i in range(300)]
TABLE = pa.table({"used": list(range(1000)), "unused": ["x"] * 1000})
BROKEN = TABLE.set_column(0, "used", pa.array([None] * 1000, pa.int64()))


def resident() -> int:
    """Bytes of this process that are in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def inserted_and_deleted(x: Instance) -> None:
    x.apply_rows(T, BATCH)
    x.apply_rows(T, BATCH, counts=np.full(300, -1))


def rows_read(x: Instance) -> None:
    x.apply_rows(T, [ROW])
    x.read_rows(0)
    x.read_map(0)
    x.apply_rows(T, [ROW], sign=-1)


def frames_read(x: Instance) -> None:
    x.apply_rows(T, BATCH[:50], counts=[2] * 50)
    frame = x.read_arrow(0)
    pa.table(frame)
    schema, array = frame.__arrow_c_array__()
    del schema, array
    x.apply_arrow(T, frame, sign=-1)


def tables_applied(x: Instance) -> None:
    x.apply_arrow(H, TABLE)
    x.apply_arrow(H, TABLE.to_batches()[0], counts=[-1] * 1000)


def refusals(x: Instance) -> None:
    for call in (
        lambda: x.apply_arrow(H, BROKEN),
        lambda: x.apply_arrow(T, TABLE),
        lambda: x.apply_rows(T, [*BATCH, (1,)]),
        lambda: x.apply_rows(T, BATCH, counts=[1]),
        lambda: x.insert_row(T)(*ROW[:-1], b"bytes"),
        lambda: x.apply_rows(H, [(2**62, None)] * 100),
    ):
        with suppress(FreshviewError):
            call()  # type: ignore[no-untyped-call]


def instances(x: Instance) -> None:
    other = x.kernel.open()
    other.insert_row(T)(*ROW)
    del other
    again = x.kernel.open()
    again.delete_row(T)
    again.close()


WORK = [inserted_and_deleted, rows_read, frames_read, tables_applied, refusals, instances]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="asks Linux for its memory")
@pytest.mark.parametrize("work", WORK, ids=lambda w: w.__name__)
def test_memory_stays_as_it_is(running: Instance, work: Callable[[Instance], None]) -> None:
    for _ in range(30):
        work(running)
    gc.collect()
    before = resident()
    for _ in range(150):
        work(running)
    gc.collect()
    assert resident() - before < 2_000_000


def test_references_are_given_back(kernel: Kernel) -> None:
    text = "a text that only this test has"
    number = Decimal("123.45")
    row = (1, number, *NOTHING, text)
    rows = [row, list(row), {"s": text, "d": number}]
    running = kernel.open()
    insert = running.insert_row(T)
    counts = [sys.getrefcount(x) for x in (text, number, row, rows, None)]
    for _ in range(1000):
        insert(*row)
        running.apply_rows(T, rows)
        with suppress(FreshviewError):
            running.apply_rows(N, rows)
        with suppress(FreshviewError):
            insert(text, number)
        running.read_rows(0)
    now = [sys.getrefcount(x) for x in (text, number, row, rows, None)]
    assert all(abs(a - b) < 100 for a, b in zip(counts, now, strict=True))
