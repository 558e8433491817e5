"""Arrow tables cross the boundary unchanged, or not at all."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from freshview.codegen.library.load import Instance
from freshview.errors import BadRow, Overflow

pytestmark = pytest.mark.native

T, N, H, S = range(4)
ROWS, SUMS = range(2)
NAMES = ["i", "d", "w", "f", "day", "at", "b", "s"]
TYPES = {
    "i": pa.int64(),
    "d": pa.decimal128(18, 2),
    "w": pa.decimal128(38, 6),
    "f": pa.float64(),
    "day": pa.date32(),
    "at": pa.timestamp("us"),
    "b": pa.bool_(),
    "s": pa.utf8(),
}
FULL = (
    7,
    Decimal("1.50"),
    Decimal("-2.000001"),
    0.25,
    date(2024, 2, 29),
    datetime(1969, 12, 31, 23, 59, 59, 999999),
    True,
    "grüße",
)
EMPTY = (None,) * 8
LONG = (-1, Decimal(0), Decimal(0), -1.0, date.min, datetime.max, False, "x" * 100)
ROWS_IN = [FULL, EMPTY, LONG, FULL]


def table(rows: list[tuple[Any, ...]] = ROWS_IN, **types: pa.DataType) -> pa.Table:
    """Rows as a table; `types` replaces those of some columns."""
    kinds = TYPES | types
    columns = {n: pa.array([r[i] for r in rows], kinds[n]) for i, n in enumerate(NAMES)}
    return pa.table(columns)


def column(name: str, values: pa.Array) -> pa.Table:
    """A table whose other columns are NULL."""
    empty = {n: pa.nulls(len(values), t) for n, t in TYPES.items()}
    return pa.table(empty | {name: values})


def rows_of(running: Instance, name: str) -> list[Any]:
    """The values of a column, in any order."""
    at = NAMES.index(name)
    rows = [row[at] for row, count in running.read_rows(ROWS) for _ in range(count)]
    return sorted(rows, key=lambda v: (v is not None, v))


def bag(running: Instance) -> dict[Any, int]:
    return dict(running.read_rows(ROWS))


def test_a_table_comes_out_as_it_went_in(running: Instance) -> None:
    running.apply_arrow(T, table())
    assert bag(running) == {FULL: 2, EMPTY: 1, LONG: 1}
    out = pa.record_batch(running.read_arrow(ROWS))
    out.validate(full=True)
    assert out.num_rows == 4
    want = TYPES | {"d": pa.decimal128(38, 2)}
    assert out.schema == pa.schema([pa.field(n, t) for n, t in want.items()])
    assert sorted(out.to_pylist(), key=str) == sorted(table().to_pylist(), key=str)
    running.apply_arrow(T, out, sign=-1)
    assert bag(running) == {}
    assert pa.table(running.read_arrow(ROWS)).num_rows == 0


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 63, 64, 65, 1000])
def test_any_number_of_rows_survives_the_way_out_and_in(running: Instance, size: int) -> None:
    rows = [
        (i, Decimal(i).scaleb(-2), None, i / 8, None, datetime(2000, 1, 1), i % 3 == 0, f"n{i}")
        if i % 5
        else EMPTY
        for i in range(size)
    ]
    running.apply_rows(T, rows)
    out = pa.record_batch(running.read_arrow(ROWS))
    out.validate(full=True)
    assert sorted(out.to_pylist(), key=str) == sorted(table(rows).to_pylist(), key=str)
    running.apply_arrow(T, out, sign=-1)
    assert bag(running) == {}


def test_columns_without_null_have_no_bitmap(running: Instance) -> None:
    running.insert_row(T)(*FULL)
    out = pa.record_batch(running.read_arrow(ROWS))
    assert [c.null_count for c in out.columns] == [0] * 8
    assert all(c.buffers()[0] is None for c in out.columns)
    sums = pa.record_batch(running.read_arrow(SUMS))
    assert not any(f.nullable for f in sums.schema)
    assert sums.to_pylist() == [{"total": 7, "fixed": 0, "readied": 1}]


def test_a_result_can_be_taken_often_and_outlives_its_instance(running: Instance) -> None:
    running.apply_arrow(T, table())
    frame = running.read_arrow(ROWS)
    first, second = pa.table(frame), pa.table(frame)
    running.close()
    del frame
    gc.collect()
    assert first.equals(second)
    only = first.column("s")
    del first, second
    gc.collect()
    assert only.null_count == 1


def test_columns_are_found_by_name(running: Instance) -> None:
    reordered = table().select(NAMES[::-1])
    running.apply_arrow(T, reordered.rename_columns([n.upper() for n in reordered.column_names]))
    assert bag(running) == {FULL: 2, EMPTY: 1, LONG: 1}


def test_missing_and_extra_columns_are_named(running: Instance) -> None:
    with pytest.raises(BadRow, match="the table has no column 'day'; 'T' needs i, d, w, f, day"):
        running.apply_arrow(T, table().drop_columns(["day"]))
    with pytest.raises(BadRow, match="'T' has no column 'more'; its columns are i, d"):
        running.apply_arrow(T, table().append_column("more", pa.nulls(4)))
    with pytest.raises(BadRow, match="'T' has no column 'i'"):
        running.apply_arrow(T, table().append_column("i", pa.nulls(4)))
    with pytest.raises(BadRow, match="the table has no column 'unused'"):
        running.apply_arrow(H, pa.table({"used": [1]}))
    empty = pa.table({"x": []}).schema.empty_table()
    with pytest.raises(BadRow, match="the table has no column 'i'"):
        running.apply_arrow(T, empty)
    assert bag(running) == {}


def test_columns_that_nobody_reads_are_not_looked_at(running: Instance) -> None:
    running.apply_arrow(H, pa.table({"used": [1, 2], "unused": [[1], None]}))
    assert running.read_rows(SUMS) == [((3, 0, 1), 1)]


def test_what_is_no_table_is_refused(running: Instance) -> None:
    with pytest.raises(BadRow, match="rows of 'T' cannot come as one Arrow column"):
        running.apply_arrow(T, pa.array([1, 2]))
    with pytest.raises(BadRow, match="'list' is not an Arrow table"):
        running.apply_arrow(T, [1, 2])


@pytest.mark.parametrize(
    "arrow",
    [
        table(),
        table().to_batches()[0],
        table().to_reader(),
        table().to_batches()[0].to_struct_array(),
        pa.concat_tables([table(ROWS_IN[:1]), table([]), table(ROWS_IN[1:])]),
        table([LONG, *ROWS_IN, LONG]).slice(1, 4),
        table([LONG, *ROWS_IN, LONG]).to_batches()[0].to_struct_array().slice(1, 4),
    ],
    ids=["table", "batch", "reader", "struct", "chunks", "slice", "struct slice"],
)
def test_anything_that_speaks_arrow_is_taken(running: Instance, arrow: Any) -> None:
    running.apply_arrow(T, arrow)
    assert bag(running) == {FULL: 2, EMPTY: 1, LONG: 1}


INTS = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
UINTS = [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]


@pytest.mark.parametrize("t", INTS + UINTS, ids=str)
def test_whole_numbers_of_any_width(running: Instance, t: pa.DataType) -> None:
    bits, signed = t.bit_width, t in INTS
    low = -(2 ** (bits - 1)) + (bits == 64) if signed else 0
    high = min(2 ** (bits - signed) - 1, 2**63 - 1)
    for name, convert in (("i", int), ("d", lambda v: Decimal(v)), ("f", float)):
        values = [low, high, None] if name != "d" or bits < 64 else [1, 2, None]
        running.apply_arrow(T, column(name, pa.array(values, t)))
        numbers = sorted(convert(v) for v in values if v is not None)
        assert rows_of(running, name) == [None, *numbers]
        running.apply_arrow(T, running.read_arrow(ROWS), sign=-1)
        running.apply_arrow(T, column(name, pa.array([1, 1], t)))  # without a bitmap
        assert rows_of(running, name) == [1, 1]
        running.apply_arrow(T, running.read_arrow(ROWS), sign=-1)


def test_floats(running: Instance) -> None:
    running.apply_arrow(T, column("f", pa.array([0.5, None, -3.0], pa.float32())))
    assert rows_of(running, "f") == [None, -3.0, 0.5]


def test_there_is_one_zero(running: Instance) -> None:
    running.apply_arrow(T, column("f", pa.array([-0.0, 0.0])))
    running.apply_arrow(T, column("f", pa.array([-0.0], pa.float32())))
    assert [(str(row[3]), n) for row, n in running.read_rows(ROWS)] == [("0.0", 3)]


@pytest.mark.parametrize("width", [pa.float32(), pa.float64()])
@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_what_is_no_finite_number_is_refused(
    running: Instance, odd: float, width: pa.DataType
) -> None:
    """As in rows: a sum that took it in would never be a number again."""
    with pytest.raises(BadRow, match=rf"row 2 of .*f cannot hold {odd}; expected a finite"):
        running.apply_arrow(T, column("f", pa.array([1.0, odd], width)))
    assert running.read_rows(ROWS) == []


@pytest.mark.parametrize(
    ("name", "t"),
    [
        ("d", pa.decimal128(38, 0)),
        ("d", pa.decimal128(20, 10)),
        ("d", pa.decimal128(5, -2)),
        ("d", pa.decimal256(76, 30)),
        ("w", pa.decimal256(40, 2)),
        ("w", pa.decimal128(38, 8)),
    ],
    ids=str,
)
def test_decimals_of_any_scale(running: Instance, name: str, t: pa.DataType) -> None:
    values = [Decimal(-300), None, Decimal(0), Decimal(1200)]
    running.apply_arrow(T, column(name, pa.array(values, t)))
    assert rows_of(running, name) == [None, -300, 0, 1200]


def test_narrow_decimals(running: Instance) -> None:
    for t in (pa.decimal32(9, 2), pa.decimal64(18, 1)):
        running.apply_arrow(T, column("d", pa.array([Decimal("-1.5"), None], t)))
    assert rows_of(running, "d") == [None, None, Decimal("-1.50"), Decimal("-1.50")]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_moments_of_any_unit(running: Instance, unit: str) -> None:
    values = [datetime(1960, 1, 2, 3, 4, 5), None, datetime(2200, 12, 31, 23, 59, 59)]
    running.apply_arrow(T, column("at", pa.array(values, pa.timestamp(unit))))
    assert rows_of(running, "at") == [None, values[0], values[2]]


def test_days_in_milliseconds(running: Instance) -> None:
    values = [date.min, None, date(1969, 12, 31), date.max]
    running.apply_arrow(T, column("day", pa.array(values, pa.date64())))
    assert rows_of(running, "day") == [None, date.min, date(1969, 12, 31), date.max]


TEXTS = ["", "short", None, "sevenbb", "eight888", "grüße", "長い文字列です" * 9, "x" * 5000]


@pytest.mark.parametrize(
    "t",
    [
        pa.utf8(),
        pa.large_utf8(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.utf8()),
        pa.dictionary(pa.uint32(), pa.large_utf8()),
        pa.dictionary(pa.int64(), pa.utf8()),
    ],
    ids=str,
)
def test_texts_of_any_layout(running: Instance, t: pa.DataType) -> None:
    want = sorted(TEXTS, key=lambda v: (v is not None, v))
    source = pa.array(TEXTS, pa.utf8())
    texts = source.dictionary_encode().cast(t) if pa.types.is_dictionary(t) else source.cast(t)
    running.apply_arrow(T, column("s", texts))
    assert rows_of(running, "s") == want
    running.apply_arrow(T, column("s", texts.slice(1, 3)), sign=-1)
    assert rows_of(running, "s") == sorted(["", *TEXTS[4:]])


def test_dictionaries_of_other_values(running: Instance) -> None:
    codes = pa.array([1, 0, None, 1, 2], pa.int32())
    days = pa.DictionaryArray.from_arrays(codes, pa.array([date.min, date.max, None]))
    running.apply_arrow(T, column("day", days))
    assert rows_of(running, "day") == [None, None, date.min, date.max, date.max]
    numbers = pa.DictionaryArray.from_arrays(codes, pa.array([5, -6, 7], pa.int16()))
    running.apply_arrow(T, column("i", numbers))
    assert rows_of(running, "i")[-4:] == [-6, -6, 5, 7]


def test_an_entry_that_no_row_picks_may_be_null(running: Instance) -> None:
    def strict(codes: list[int]) -> pa.Table:
        texts = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(["a", None]))
        return table([FULL] * len(codes)).set_column(7, "s", texts)

    running.apply_arrow(N, strict([0, 0]))
    with pytest.raises(BadRow, match=r"^row 2 of 'N': N\.s is NOT NULL"):
        running.apply_arrow(N, strict([0, 1]))


@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_nothing_but_null(running: Instance, name: str) -> None:
    running.apply_arrow(T, column(name, pa.nulls(3)))
    assert bag(running) == {EMPTY: 3}
    nulls = table([FULL, FULL]).set_column(NAMES.index(name), name, pa.nulls(2))
    with pytest.raises(BadRow, match=rf"^row 1 of 'N': N\.{name} is NOT NULL"):
        running.apply_arrow(N, nulls)


@pytest.mark.parametrize("name", NAMES)
def test_null_is_refused_where_it_is_not_allowed(running: Instance, name: str) -> None:
    row = tuple(None if n == name else v for n, v in zip(NAMES, FULL, strict=True))
    rows = [FULL] * 70 + [row]
    with pytest.raises(BadRow, match=rf"^row 71 of 'N': N\.{name} is NOT NULL; expected "):
        running.apply_arrow(N, table(rows))
    chunks = pa.concat_tables([table([FULL] * 3), table([FULL, row])])
    with pytest.raises(BadRow, match=rf"^row 5 of 'N': N\.{name} is NOT NULL; expected "):
        running.apply_arrow(N, chunks)
    assert bag(running) == {}


OUTSIDE = [
    ("i", pa.array([0, -(2**63)]), "-9223372036854775808"),
    ("i", pa.array([0, 2**63], pa.uint64()), "9223372036854775808"),
    ("d", pa.array([0, 2**64 - 1], pa.uint64()), "18446744073709551615"),
    ("d", pa.array([0, 2**62]), "4611686018427387904"),
    ("d", pa.array([Decimal("0.010"), Decimal("0.001")]), "0.001"),
    ("d", pa.array([Decimal(0), Decimal("92233720368547758.08")]), "92233720368547758.08"),
    ("d", pa.array([Decimal(0), Decimal("-92233720368547758.08")]), "-92233720368547758.08"),
    ("w", pa.array([Decimal(0), Decimal(10**32)], pa.decimal128(38, 0)), str(10**32)),
    ("w", pa.array([Decimal(0), Decimal(10**60)], pa.decimal256(76, 0)), ""),
    ("w", pa.array([Decimal(0), Decimal("1e-7")], pa.decimal128(38, 7)), "1E-7"),
    ("day", pa.array([0, -719163], pa.int32()).cast(pa.date32()), "-719163"),
    ("day", pa.array([0, 2932897], pa.int32()).cast(pa.date32()), "2932897"),
    ("day", pa.array([0, -(2**31)], pa.int32()).cast(pa.date32()), "-2147483648"),
    ("at", pa.array([0, -(2**63)], pa.int64()).cast(pa.timestamp("us")), "-9223372036854775808"),
    ("at", pa.array([0, 2**62], pa.int64()).cast(pa.timestamp("s")), "4611686018427387904"),
    ("at", pa.array([0, 1001], pa.int64()).cast(pa.timestamp("ns")), "1001"),
]


@pytest.mark.parametrize(("name", "values", "shown"), OUTSIDE, ids=lambda x: str(x)[:12])
@pytest.mark.parametrize("with_null", [False, True])
def test_values_out_of_range_are_refused(
    running: Instance, name: str, values: pa.Array, shown: str, with_null: bool
) -> None:
    if with_null:
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    with pytest.raises(
        BadRow, match=rf"^row 2 of 'T': T\.{name} cannot hold .*{shown}.*; expected"
    ):
        running.apply_arrow(T, column(name, values))
    assert bag(running) == {}


def test_half_a_day_is_no_date(running: Instance) -> None:
    odd = pa.Array.from_buffers(pa.date64(), 2, [None, pa.array([0, 43200000]).buffers()[1]])
    with pytest.raises(BadRow, match=r"^row 2 of 'T': T\.day cannot hold 43200000"):
        running.apply_arrow(T, column("day", odd))


WRONG = [
    ("i", pa.array([1.0]), "float64"),
    ("i", pa.array([True]), "bool"),
    ("i", pa.array(["1"]), "utf8"),
    ("i", pa.array([Decimal(1)]), r"decimal\(1,0\)"),
    ("i", pa.array([[1]]), r"'\+l'"),
    ("d", pa.array([1.0]), "float64"),
    ("w", pa.array(["1"]), "utf8"),
    ("f", pa.array([Decimal(1)]), r"decimal\(1,0\)"),
    ("f", pa.array([np.float16(1)]), "float16"),
    ("day", pa.array([1], pa.int32()), "int32"),
    ("day", pa.array([datetime(2024, 1, 1)]), r"timestamp\[us\]"),
    ("at", pa.array([date(2024, 1, 1)]), "date32"),
    ("at", pa.array([datetime(2024, 1, 1, tzinfo=UTC)]), r"timestamp\[us, UTC\]"),
    ("b", pa.array([1]), "int64"),
    ("s", pa.array([b"x"]), "binary"),
    ("s", pa.array([1]), "int64"),
    (
        "s",
        pa.array(["x"]).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.binary())),
        "binary",
    ),
]


@pytest.mark.parametrize(("name", "values", "shown"), WRONG, ids=lambda x: str(x)[:12])
def test_types_that_do_not_fit_are_named(
    running: Instance, name: str, values: pa.Array, shown: str
) -> None:
    with pytest.raises(BadRow, match=rf"^T\.{name} cannot hold Arrow's {shown}; expected"):
        running.apply_arrow(T, column(name, values))


BROKEN = [
    b"\x80",
    b"abc\xff",
    b"\xc0\xaf",
    b"\xc3",
    b"\xe2\x82",
    b"\xed\xa0\x80",
    b"\xe0\x80\x80",
    b"\xf0\x80\x80\x80",
    b"\xf4\x90\x80\x80",
    b"\xf8\x88\x80\x80\x80",
    b"a valid start, then \xe2\x28\xa1",
]


@pytest.mark.parametrize("broken", BROKEN, ids=repr)
@pytest.mark.parametrize("layout", ["utf8", "view", "dictionary"])
def test_texts_that_are_no_utf8_are_refused(running: Instance, broken: bytes, layout: str) -> None:
    binary = pa.array([b"fine", broken])
    texts = pa.Array.from_buffers(pa.utf8(), 2, binary.buffers())
    if layout == "view":
        views = binary.cast(pa.binary_view())
        texts = pa.Array.from_buffers(pa.string_view(), 2, views.buffers())
    if layout == "dictionary":
        texts = pa.DictionaryArray.from_arrays(pa.array([0, 1]), texts)
    where = "a dictionary" if layout == "dictionary" else "row 2"
    with pytest.raises(BadRow, match=rf"^{where} of 'T': T\.s cannot hold b.*; expected a text"):
        running.apply_arrow(T, column("s", texts))
    assert bag(running) == {}


def test_characters_may_not_be_cut_between_texts(running: Instance) -> None:
    whole = "grüße".encode()
    offsets = pa.array([0, 3, len(whole)], pa.int32()).buffers()[1]
    cut = pa.Array.from_buffers(pa.utf8(), 2, [None, offsets, pa.py_buffer(whole)])
    with pytest.raises(BadRow, match=r"^row 1 of 'T': T\.s cannot hold b'gr"):
        running.apply_arrow(T, column("s", cut))


def test_what_lies_under_null_does_not_matter(running: Instance) -> None:
    binary = pa.array([b"\xff\xff", b"fine"])
    valid = pa.array([None, 1]).buffers()[0]
    texts = pa.Array.from_buffers(pa.utf8(), 2, [valid, *binary.buffers()[1:]])
    running.apply_arrow(T, column("s", texts))
    numbers = pa.array([-(2**63), 5])
    masked = pa.Array.from_buffers(pa.int64(), 2, [valid, numbers.buffers()[1]])
    running.apply_arrow(T, column("i", masked))
    assert rows_of(running, "s") == [None, None, None, "fine"]
    assert rows_of(running, "i") == [None, None, None, 5]


def test_a_whole_row_may_not_be_null(running: Instance) -> None:
    rows = table().to_batches()[0].to_struct_array()
    mask = pa.array([False, True, False, False])
    holes = pa.StructArray.from_arrays(rows.flatten(), fields=list(rows.type), mask=mask)
    with pytest.raises(BadRow, match="row 2 of 'T' is NULL, not a row"):
        running.apply_arrow(T, holes)


def test_counts_say_how_often(running: Instance) -> None:
    counts = [1, 0, -2, 3]
    for form in (counts, np.array(counts), pa.array(counts), pa.chunked_array([[1, 0], [-2, 3]])):
        running.apply_arrow(T, table(), counts=form)  # type: ignore[arg-type]
        assert dict(running.read_map(0)) == {(*FULL, 4): 1, (*LONG, -2): 1}
        chunks = pa.concat_tables([table(ROWS_IN[:1]), table(ROWS_IN[1:])])
        running.apply_arrow(T, chunks, counts=form, sign=-1)  # type: ignore[arg-type]
        assert bag(running) == {}
    with pytest.raises(BadRow, match="4 rows of 'T' come with 1 counts"):
        running.apply_arrow(T, table(), counts=[1])
    with pytest.raises(BadRow, match="the count of row 2 of 'T' is None"):
        running.apply_arrow(T, table(), counts=[1, None, 1, 1])  # type: ignore[list-item]


def test_a_result_repeats_rows_as_they_count(running: Instance) -> None:
    running.apply_rows(T, [FULL, EMPTY, LONG], counts=[3, 2, 1])
    out = pa.record_batch(running.read_arrow(ROWS))
    out.validate(full=True)
    want = table([FULL] * 3 + [EMPTY] * 2 + [LONG])
    assert sorted(out.to_pylist(), key=str) == sorted(want.to_pylist(), key=str)


def test_overflow_takes_back_all_the_chunks(running: Instance) -> None:
    big = (2**63 - 1, *EMPTY[1:])
    chunks = pa.concat_tables([table([FULL, EMPTY]), table([LONG]), table([big]), table([FULL])])
    for counts in (None, [1, 1, 1, 1, 1], [1, 0, 5, 1, 1]):
        with pytest.raises(Overflow, match="this change of 'T'"):
            running.apply_arrow(T, chunks, counts=counts)
        assert bag(running) == {}
        assert running.read_rows(SUMS) == [((0, 0, 1), 1)]


def test_a_stream_that_breaks_changes_nothing(running: Instance) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield table().to_batches()[0]
        raise ValueError("the wire was cut")

    reader = pa.RecordBatchReader.from_batches(table().schema, batches())
    with pytest.raises(BadRow, match=r"the stream of rows of 'T' broke: .*the wire was cut"):
        running.apply_arrow(T, reader)
    assert bag(running) == {}


def test_static_tables_may_be_arrow(running: Instance) -> None:
    running.load_static(S, pa.table({"x": [1, 2, 3]}))
    assert running.read_rows(SUMS) == [((0, 6, 1), 1)]


def test_columns_of_numpy(running: Instance) -> None:
    running.apply_columns(
        T,
        {
            "i": np.array([1, 2], dtype=np.int32),
            "d": np.array([3, 4]),
            "w": [Decimal("0.5"), None],
            "f": np.array([0.5, 1.5], dtype=np.float32),
            "day": np.array(["2024-01-01", "1950-01-01"], dtype="datetime64[D]"),
            "at": np.array(["2024-01-01T00:00:01", "1950-01-01"], dtype="datetime64[ns]"),
            "b": np.array([True, False]),
            "s": np.array(["one", "two"]),
        },
        counts=np.array([1, 2]),
    )
    one = (1, 3, Decimal("0.5"), 0.5, date(2024, 1, 1), datetime(2024, 1, 1, 0, 0, 1), True, "one")
    two = (2, 4, None, 1.5, date(1950, 1, 1), datetime(1950, 1, 1), False, "two")
    assert bag(running) == {one: 1, two: 2}
    with pytest.raises(BadRow, match="these are not columns of 'T'"):
        running.apply_columns(T, {"i": np.array([1, 2]), "d": np.array([1])})
    with pytest.raises(BadRow, match="these are not columns of 'T'"):
        running.apply_columns(T, {"i": [1, "two"]})


def test_columns_may_begin_at_any_byte(running: Instance) -> None:
    data = bytearray(8 * 9)
    shifted = memoryview(data)[4:-4]
    np.frombuffer(shifted, dtype=np.int64)[:] = range(8)
    numbers = pa.Array.from_buffers(pa.int64(), 8, [None, pa.py_buffer(shifted)])
    running.apply_arrow(H, pa.table({"used": numbers, "unused": pa.nulls(8)}))
    assert running.read_rows(SUMS)[0][0][0] == 28
