"""What is logged of a batch: rows that count, in few bytes; and what a load makes of it."""

from __future__ import annotations

from collections import Counter
from concurrent import futures
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from threading import Event
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from freshview.durable import versions
from freshview.durable.runner import InlineRunner
from freshview.durable.settings import FlowSettings
from freshview.durable.storage.blocks import unpack
from freshview.durable.task import run_stage
from freshview.pipelines.flow import Flow
from freshview.runtime.ingest.columns import COUNT, rows_of
from freshview.spark.batches.narrow_types import FEWEST_ROWS, narrow_types
from freshview.spark.batches.partition import partition_rows, rows_of_worker
from tests.unit.pipelines.shop import shop

SQL = """
CREATE STREAM sales (id BIGINT NOT NULL, shop BIGINT NOT NULL, day DATE NOT NULL,
  price DECIMAL(10, 2) NOT NULL);
CREATE VIEW late AS SELECT shop, SUM(price) AS total, COUNT(*) AS n FROM sales
  WHERE day >= DATE '2024-03-01' GROUP BY shop;
"""
START, MARCH = date(2024, 1, 1), date(2024, 3, 1)
SIZE = 16 * FEWEST_ROWS


def sales(size: int = SIZE) -> pa.Table:
    """Sales of four months, every seventh one taken back, in narrow decimals."""
    prices = pa.array([Decimal(i % 97) / 4 for i in range(size)], pa.decimal128(12, 2))
    return pa.table(
        {
            "id": range(size),
            "shop": [i % 5 for i in range(size)],
            "day": [START + timedelta(days=i % 120) for i in range(size)],
            "price": prices.cast(pa.decimal64(12, 2)),
            COUNT: [-1 if i % 7 == 0 else 1 for i in range(size)],
        }
    )


def late(table: pa.Table) -> dict[int, tuple[Decimal, int]]:
    """The view, by hand."""
    total: Counter[int] = Counter()
    count: Counter[int] = Counter()
    for _, at, day, price, n in rows_of(table):
        if day >= MARCH:
            total[at] += price * n
            count[at] += n
    return {at: (total[at], count[at]) for at in count}


class Late:
    """A flow of the view."""

    def __init__(self, folder: Path, native: bool, runner: Any = None) -> None:
        self.place = folder / "checkpoint"
        self.settings = FlowSettings(memory=str(folder / "memory"), native=native, snapshot_every=2)
        self.distributed, self.runner = shop(SQL), runner or InlineRunner()
        options = {"workers": 2, "checkpoint": self.place, "settings": self.settings}
        self.flow = Flow.start(self.distributed, self.runner, **options)

    def restart(self) -> None:
        options = {"checkpoint": self.place, "settings": self.settings}
        self.flow = Flow.restart(self.distributed, self.runner, **options)

    def logged(self) -> list[pa.RecordBatch]:
        """The rows in the log."""
        files = self.place.glob("log/*-rows-*")
        names = [str(p.relative_to(self.place)) for p in files]
        blocks = [self.flow.work.folder.read(n) for n in names]
        return [b for data in blocks for b in unpack(data or b"")["sales"]]

    def check(self, table: pa.Table) -> None:
        actual = {shop: (total, n) for shop, total, n in rows_of(self.flow.read("late"))}
        assert actual == late(table)


def test_rows_that_do_not_count_are_not_logged(tmp_path: Path, native: bool) -> None:
    s, much = Late(tmp_path, native), sales()
    s.flow.apply({"sales": much})
    s.check(much)
    assert s.flow.stats[-1].rows == SIZE  # those that were given
    written = s.logged()
    assert sum(b.num_rows for b in written) == sum(d >= MARCH for d in much["day"].to_pylist())
    for b in written:
        kinds = {n: str(t) for n, t in zip(b.schema.names, b.schema.types, strict=True)}
        assert kinds["shop"] == "int32"
        assert kinds[COUNT] == "int8"
        assert kinds["price"] == "decimal64(12, 2)"
    s.flow.close()


def test_a_batch_of_which_nothing_counts(tmp_path: Path, native: bool) -> None:
    s = Late(tmp_path, native)
    assert s.flow.apply({"sales": sales(50)}) == 1  # of January and February
    s.check(sales(50))
    s.flow.close()


class Dies(InlineRunner):
    """Workers of which one does three versions and is heard of no more."""

    def run(self, orders: Any) -> Any:
        if orders[0].kind == "follow":
            list(run_stage(replace(orders[0], versions=range(1, 4)), 0, []))
            raise KeyboardInterrupt
        return super().run(orders)


def test_a_load_that_dies_with_a_worker_half_way_goes_on(tmp_path: Path, native: bool) -> None:
    s, much = Late(tmp_path, native, Dies()), sales()
    append_rows, append_calls, dead = s.flow._commit_log.append_rows, [], Event()

    def waits(*args: Any) -> Any:
        append_calls.append(args)
        assert len(append_calls) < 4 or dead.wait(10)
        return append_rows(*args)

    def wait(writers: Any) -> Any:
        dead.set()
        return futures.wait(writers)

    patches = (
        mock.patch.object(s.flow._commit_log, "append_rows", waits),
        mock.patch.object(versions, "wait", wait),
    )
    with patches[0], patches[1], pytest.raises(KeyboardInterrupt):
        s.flow.load({"sales": much}, rows=SIZE // 4)
    s.runner = InlineRunner()
    s.restart()
    assert s.flow.version == 3  # it was logged, and is done
    assert s.flow.load({"sales": much}, rows=SIZE // 4) == 4
    s.check(much)
    s.flow.close()


def test_a_load_that_dies_before_a_piece_is_logged_goes_on(tmp_path: Path) -> None:
    s, much = Late(tmp_path, native=False), sales()
    append, done = s.flow._commit_log.append, []

    def die(*args: Any) -> None:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(args)
        append(*args)

    with mock.patch.object(s.flow._commit_log, "append", die), pytest.raises(KeyboardInterrupt):
        s.flow.load({"sales": much}, rows=SIZE // 4)
    s.restart()
    assert s.flow.version == 2
    assert s.flow.load({"sales": much}, rows=SIZE // 4) == 4
    s.check(much)
    s.flow.close()


def test_numbers_that_need_their_width_keep_it() -> None:
    wide = [0] * FEWEST_ROWS + [1 << 40]
    many = pa.record_batch({"a": wide, "b": [1] * len(wide), COUNT: [1] * FEWEST_ROWS + [300]})
    narrow = narrow_types(many)
    assert [str(t) for t in narrow.schema.types] == ["int64", "int32", "int64"]
    assert narrow.to_pydict() == many.to_pydict()
    few = many.slice(0, 10)
    assert narrow_types(few) is few


@pytest.mark.parametrize(
    ("most", "kind"),
    [(10**9 - 1, "decimal32(9, 2)"), (10**9, "decimal64(18, 2)"), (10**18, "decimal128(20, 2)")],
)
def test_decimals_take_as_few_bytes_as_hold_them(most: int, kind: str) -> None:
    numbers = [Decimal(n).scaleb(-2) for n in (most, -most, 0, *range(FEWEST_ROWS))]
    many = pa.record_batch({"d": pa.array(numbers, pa.decimal128(20, 2))}).slice(1)
    narrow = narrow_types(many)
    assert str(narrow.schema.types[0]) == kind
    assert narrow.to_pydict() == many.to_pydict()
    order = np.arange(many.num_rows, dtype=np.int32)[::-3]
    assert narrow_types(many, order).to_pylist() == many.to_pylist()[::-3]


def test_what_may_be_missing_or_is_text_is_taken_as_it_is() -> None:
    many = pa.record_batch(
        {"a": [None, *range(FEWEST_ROWS)], "t": [f"t{i}" for i in range(FEWEST_ROWS + 1)]}
    )
    order = np.array([FEWEST_ROWS, 0, 3, 3], np.int32)
    assert narrow_types(many, order).to_pylist() == [
        many.to_pylist()[i] for i in (FEWEST_ROWS, 0, 3, 3)
    ]
    assert narrow_types(many).schema == many.schema


@pytest.mark.parametrize("workers", [1, 2, 5, 7])
def test_sifted_rows_of_several_blocks_find_their_workers(workers: int) -> None:
    many = pa.record_batch({"a": range(150_000), "b": [i % 7 for i in range(150_000)]})
    kept = pc.less(many["b"], 3)
    parts = partition_rows(many, [0], workers, kept)
    assert len(parts) == workers
    for i, part in enumerate(parts):
        assert part.to_pydict() == rows_of_worker(many.filter(kept), [0], i, workers).to_pydict()
