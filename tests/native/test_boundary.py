"""Rows cross the boundary unchanged, or not at all: single rows and batches of Python values."""

from __future__ import annotations

import enum
import gc
import math
import threading
import weakref
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from freshview.calculus.schema import Column
from freshview.calculus.types import Type, read_type
from freshview.codegen.library.load import Instance, Kernel
from freshview.errors import BadRow, BuildProblem, Overflow, ProgramProblem, UnknownName

pytestmark = pytest.mark.native

T, N, H, S = range(4)
ROWS, SUMS = range(2)

FULL = (
    7,
    Decimal("1.50"),
    Decimal("-2.000001"),
    0.25,
    date(2024, 2, 29),
    datetime(1969, 12, 31, 23, 59, 59, 999999),
    True,
    "grüße, world",
)
EMPTY = (None,) * 8
EXTREMES = [
    (
        -(2**63) + 1,
        Decimal("-92233720368547758.07"),
        Decimal("-" + "9" * 32 + ".999999"),
        -1.7976931348623157e308,
        date.min,
        datetime.min,
        False,
        "",
    ),
    (
        2**63 - 1,
        Decimal("92233720368547758.07"),
        Decimal("9" * 32 + ".999999"),
        5e-324,
        date.max,
        datetime.max,
        True,
        "\U0001f600" * 1000,
    ),
]


def replaced(column: int, value: object) -> tuple[object, ...]:
    return (*FULL[:column], value, *FULL[column + 1 :])


def total(running: Instance) -> object:
    return running.read_rows(SUMS)[0][0][0]


def test_a_kernel_tells_what_it_has(kernel: Kernel) -> None:
    assert [r.name for r in kernel.relations] == ["T", "N", "H", "S"]
    assert [r.static for r in kernel.relations] == [False, False, False, True]
    assert kernel.relations[T].columns[1] == Column("d", Type("decimal", 2, nullable=True))
    kinds = ["int", "decimal(2)", "decimal(6)", "double", "date", "timestamp", "bool", "string"]
    assert kernel.relations[N].types == tuple(map(read_type, kinds))
    assert (kernel.relation("H"), kernel.query("sums"), kernel.map("bag")) == (H, SUMS, 0)
    with pytest.raises(UnknownName, match="no query 'q'; the kernel has: rows, sums"):
        kernel.query("q")


def test_what_is_no_kernel_is_not_loaded(tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("no library")
    with pytest.raises(BuildProblem, match="cannot be loaded as a kernel"):
        Kernel(text)


@pytest.mark.parametrize("row", [FULL, EMPTY, *EXTREMES])
def test_a_row_comes_out_as_it_went_in(running: Instance, row: tuple[object, ...]) -> None:
    running.insert_row(T)(*row)
    (actual, count), *rest = running.read_rows(ROWS)
    assert (actual, count, rest) == (row, 1, [])
    assert [type(v) for v in actual] == [type(v) for v in row]
    assert [str(v) for v in actual] == [str(v) for v in row]  # decimals with all their digits
    running.delete_row(T)(*row)
    assert running.read_rows(ROWS) == []


def test_values_take_the_type_of_their_column(running: Instance) -> None:
    class Level(enum.IntEnum):
        HIGH = 3

    class Word(str):
        pass

    when = type("When", (datetime,), {})(2024, 1, 1, 12)
    day = type("Day", (date,), {})(2024, 1, 1)
    row = (Level.HIGH, 2, Decimal("1E+3"), 5, day, when, False, Word("word"))
    running.apply_rows(T, [row])
    ((actual, _),) = running.read_rows(ROWS)
    wide = Decimal("1000.000000")
    want = (
        3,
        Decimal("2.00"),
        wide,
        5.0,
        date(2024, 1, 1),
        datetime(2024, 1, 1, 12),
        False,
        "word",
    )
    assert actual == want
    assert list(map(str, actual)) == list(map(str, want))


def test_zero_has_no_sign(running: Instance) -> None:
    running.insert_row(T)(*replaced(3, -0.0))
    ((row, _),) = running.read_rows(ROWS)
    assert math.copysign(1, row[3]) == 1
    running.insert_row(T)(*replaced(3, np.float64(0.0)))
    assert [count for _, count in running.read_rows(ROWS)] == [2]


BAD = [
    (0, 2**63),
    (0, -(2**63)),
    (0, 10**30),
    (0, 1.5),
    (0, True),
    (0, "1"),
    (0, Decimal("1.5")),
    (0, np.float64(1.5)),
    (0, np.uint64(2**63)),
    (1, Decimal("0.001")),
    (1, Decimal("0.101")),
    (1, 1.555),
    (1, True),
    (1, "1.555"),
    (1, "1_0"),
    (1, "NaN"),
    (1, Decimal("NaN")),
    (1, Decimal("-Infinity")),
    (1, Decimal("92233720368547758.08")),
    (1, 2**62),
    (1, 10**40),
    (1, Decimal("1E+999999")),
    (2, Decimal("1E+32")),
    (2, 10**32),
    (3, math.nan),
    (3, math.inf),
    (3, Decimal(1)),
    (3, True),
    (3, 10**400),
    (3, "1"),
    (4, datetime(2024, 1, 1, 1)),
    (4, "2024-1-1"),
    (4, "2023-02-29"),
    (4, 0),
    (5, "2024-01-01 25:00"),
    (5, datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=1)))),
    (5, np.datetime64("NaT")),
    (5, 0),
    (6, 1),
    (6, "true"),
    (7, b"bytes"),
    (7, 1),
    (7, "\ud800"),
    (7, frozenset()),
]


@pytest.mark.parametrize(("column", "value"), BAD, ids=lambda x: repr(x)[:24])
def test_what_a_column_does_not_hold_is_refused(
    running: Instance, column: int, value: object
) -> None:
    row = replaced(column, value)
    name = running.kernel.relations[T].columns[column].name
    with pytest.raises(BadRow, match=rf"^row 1 of 'T': T\.{name} cannot hold .*; expected "):
        running.insert_row(T)(*row)
    with pytest.raises(BadRow, match=rf"^row 2 of 'T': T\.{name} cannot hold .*; expected "):
        running.apply_rows(T, [FULL, row])
    assert running.read_rows(ROWS) == []


@pytest.mark.parametrize("column", range(8))
def test_null_is_refused_where_it_is_not_allowed(running: Instance, column: int) -> None:
    with pytest.raises(BadRow, match=r"^row 1 of 'N': N\.\w+ is NOT NULL; expected "):
        running.insert_row(N)(*replaced(column, None))
    with pytest.raises(BadRow, match=r"^row 1 of 'N': N\.\w+ is NOT NULL; expected "):
        running.apply_rows(N, [replaced(column, None)])


def test_rows_of_another_length_are_refused(running: Instance) -> None:
    for row in (FULL[:-1], (*FULL, 1), ()):
        with pytest.raises(BadRow, match=rf"a row of 'T' has {len(row)} values; expected 8"):
            running.insert_row(T)(*row)
        with pytest.raises(BadRow, match=rf"a row of 'T' has {len(row)} values; expected 8"):
            running.apply_rows(T, [row])


def test_a_row_may_be_a_list_or_a_mapping(running: Instance) -> None:
    running.apply_rows(T, [list(FULL), {"S": "only", "i": 1}, FULL])
    assert dict(running.read_rows(ROWS)) == {FULL: 2, (1, *EMPTY[:6], "only"): 1}
    with pytest.raises(BadRow, match="'T' has no column 'x'"):
        running.apply_rows(T, [FULL, {"x": 1}])
    with pytest.raises(BadRow, match="a row of 'T' cannot be 3"):
        running.apply_rows(T, [FULL, 3])  # type: ignore[list-item]


def test_rows_may_come_from_anywhere(running: Instance) -> None:
    running.apply_rows(T, (FULL for _ in range(3)))
    running.apply_rows(T, {FULL: None}, sign=-1)
    assert running.read_rows(ROWS) == [(FULL, 2)]

    def broken() -> object:
        yield FULL
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        running.apply_rows(T, broken())  # type: ignore[arg-type]
    assert running.read_rows(ROWS) == [(FULL, 2)]


def test_counts_say_how_often(running: Instance) -> None:
    other = replaced(0, 1)
    running.apply_rows(T, [FULL, other, EMPTY], counts=[3, 0, -1])
    assert dict(running.read_map(0)) == {(*FULL, 3): 1, (*EMPTY, -1): 1}
    running.apply_rows(T, [FULL, EMPTY], counts=np.array([3, -1]), sign=-1)
    assert running.read_rows(ROWS) == []
    running.apply_rows(T, [FULL, EMPTY], counts=np.array([3, 1], dtype=np.int8))
    assert dict(running.read_rows(ROWS)) == {FULL: 3, EMPTY: 1}
    running.apply_rows(T, [], counts=[])
    running.apply_rows(T, [FULL], counts=[0])


def test_bad_counts_are_refused(running: Instance) -> None:
    for bad in (1.5, True, None, "1", -(2**63)):
        with pytest.raises(BadRow, match=r"the count of row 2 of 'T' is .*; give an integer"):
            running.apply_rows(T, [FULL, FULL], counts=[1, bad])  # type: ignore[list-item]
    with pytest.raises(BadRow, match="2 rows of 'T' come with 3 counts"):
        running.apply_rows(T, [FULL, FULL], counts=[1, 1, 1])
    with pytest.raises(BadRow, match="2 rows of 'T' come with 1 counts"):
        running.apply_rows(T, [FULL, FULL], counts=np.array([1]))
    with pytest.raises(BadRow, match="the count of row 1 of 'T' is"):
        running.apply_rows(T, [FULL], counts=np.array([-(2**63)]))
    with pytest.raises(BadRow, match="the count of row 1 of 'T' is"):
        running.apply_rows(T, [FULL], counts=np.array([1.0]))
    assert running.read_rows(ROWS) == []


def test_columns_that_nobody_reads_are_not_looked_at(running: Instance) -> None:
    running.insert_row(H)(5, object())
    running.apply_rows(H, [(6, None)])
    assert total(running) == 11


def test_overflow_changes_nothing(running: Instance) -> None:
    big = replaced(0, 2**63 - 1)
    running.insert_row(T)(*big)
    for attempt in (
        lambda: running.insert_row(T)(*FULL),
        lambda: running.apply_rows(T, [EMPTY, FULL]),
        lambda: running.apply_rows(T, [EMPTY, FULL], counts=[4, 2]),
        lambda: running.apply_rows(T, [replaced(0, -7)], counts=[-1]),
    ):
        with pytest.raises(Overflow, match="this change of 'T' takes a number of a view out of"):
            attempt()
        assert running.read_rows(ROWS) == [(big, 1)]
        assert total(running) == 2**63 - 1
    running.delete_row(T)(*FULL)
    assert total(running) == 2**63 - 8


def test_overflow_while_reading_is_told(running: Instance) -> None:
    running.insert_row(H)(666, None)
    with pytest.raises(Overflow, match="a number of 'sums' leaves its range when it is read"):
        running.read_rows(SUMS)
    running.insert_row(H)(1, None)
    assert total(running) == 667


def test_static_tables_come_first(running: Instance) -> None:
    running.load_static(S, [(1,), (2,)])
    running.load_static(S, [(4,)])
    running.ready()
    running.ready()
    assert running.read_rows(SUMS) == [((0, 7, 1), 1)]
    too_late = "'S' is a static table, and a view was read or a change"
    with pytest.raises(ProgramProblem, match=too_late):
        running.load_static(S, [(1,)])
    with pytest.raises(ProgramProblem, match="'T' is a stream; apply its rows"):
        running.load_static(T, [FULL])


@pytest.mark.parametrize("first", ["row", "rows", "read"])
def test_the_first_change_or_read_makes_it_ready(running: Instance, first: str) -> None:
    if first == "row":
        running.insert_row(T)(*FULL)
    elif first == "rows":
        running.apply_rows(T, [FULL])
    else:
        running.read_rows(ROWS)
    assert running.read_rows(SUMS)[0][0][2] == 1
    with pytest.raises(ProgramProblem, match="static table"):
        running.load_static(S, [(1,)])


def test_static_tables_that_overflow_leave_nothing(running: Instance) -> None:
    running.load_static(S, [(1000001,)])
    with pytest.raises(Overflow, match="static tables take a number"):
        running.insert_row(T)(*FULL)
    running.load_static(S, [(3,)])
    running.insert_row(T)(*FULL)
    assert running.read_rows(SUMS) == [((7, 3, 1), 1)]


def test_instances_know_nothing_of_each_other(kernel: Kernel) -> None:
    one, two = kernel.open(), kernel.open()
    one.insert_row(T)(*FULL)
    assert (one.read_rows(ROWS), two.read_rows(ROWS)) == ([(FULL, 1)], [])


def test_a_function_outlives_its_instance(kernel: Kernel) -> None:
    running = kernel.open()
    insert = running.insert_row(T)
    mark = weakref.ref(running)
    del running
    gc.collect()
    insert(*FULL)
    assert mark() is None


def test_a_closed_kernel_refuses_everything(kernel: Kernel, tmp_path: Path) -> None:
    running = kernel.open()
    insert = running.insert_row(T)
    running.save(tmp_path / "before")
    running.close()
    running.close()
    for call in (
        lambda: insert(*FULL),
        lambda: running.apply_rows(T, [FULL]),
        lambda: running.load_static(S, [(1,)]),
        lambda: running.read_rows(ROWS),
        lambda: running.read_arrow(ROWS),
        running.ready,
        running.stats,
        lambda: running.save(tmp_path / "after"),
        lambda: running.restore(tmp_path / "before"),
    ):
        with pytest.raises(ProgramProblem, match="the kernel is closed; open another one"):
            call()  # type: ignore[no-untyped-call]
    assert [p.name for p in tmp_path.iterdir()] == ["before"]


def test_numbers_that_nothing_has_are_refused(running: Instance) -> None:
    for call in (running.insert_row, running.read_rows, running.read_map, running.read_arrow):
        for index in (-1, 99):
            with pytest.raises(ValueError, match="nothing of this number"):
                call(index)  # type: ignore[operator]


def test_stats_tell_size_and_work(running: Instance) -> None:
    before = running.stats()
    running.apply_rows(T, [FULL, EMPTY])
    after = running.stats()
    assert after.sizes == {"bag": 2}
    assert after.bytes > before.bytes > 0
    assert (after.visits, after.writes) == (0, 0)  # not compiled to count


def test_readers_on_other_threads_see_whole_batches(running: Instance) -> None:
    """The rows of a batch sum up to zero; no reader sees another sum, nor a deadlock."""
    batch = [(n, None) for n in range(1, 501)] + [(-n, None) for n in range(1, 501)]
    seen: list[object] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            seen.append(total(running))
            running.stats()

    def write() -> None:
        for _ in range(100):
            running.apply_rows(H, batch)
            insert(0, None)

    insert = running.insert_row(H)
    writers = [threading.Thread(target=write) for _ in range(3)]
    readers = [threading.Thread(target=read) for _ in range(2)]
    for t in (*writers, *readers):
        t.start()
    for t in writers:
        t.join()
    stop.set()
    for t in readers:
        t.join()
    assert set(seen) == {0}


def test_a_batch_may_change_its_list_while_it_runs(running: Instance) -> None:
    rows = [(None, None, None, None, None, None, None, f"{i % 50}" * 40) for i in range(2000)]
    batch = [list(r) for r in rows]
    done = threading.Event()

    def spoil() -> None:
        while not done.is_set():
            for r in batch:
                r[7] = "x"
            batch.append(list(rows[0]))
            del batch[1000:]

    thread = threading.Thread(target=spoil)
    thread.start()
    for _ in range(20):
        running.apply_rows(T, batch)
    done.set()
    thread.join()
    assert running.stats().sizes["bag"] <= 51
