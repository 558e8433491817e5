"""Every form of input is the same change; what does not fit is refused with its place."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from freshview.errors import BadRow, FreshviewError
from freshview.runtime.database.database import Database
from tests.unit.databases import Connect

SCRIPT = """
CREATE STREAM r (k BIGINT NOT NULL, t STRING, p DECIMAL(8, 2), d DATE);
CREATE VIEW all_r AS SELECT k, t, p, d FROM r;
"""
ROWS = [(1, "a", Decimal("1.50"), date(2024, 2, 29)), (2, None, None, None)]
NAMES = ("k", "t", "p", "d")
COLUMNS = {name: [row[i] for row in ROWS] for i, name in enumerate(NAMES)}


class Stream:
    """Something that speaks Arrow's C interface and nothing else, once."""

    def __init__(self, table: pa.Table) -> None:
        self.reader = table.to_reader()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.reader.__arrow_c_stream__(requested_schema)


def frame(library: str) -> Any:
    return pytest.importorskip(library).DataFrame(COLUMNS)


FORMS: dict[str, Callable[[], Any]] = {
    "tuples": lambda: ROWS,
    "an iterator": lambda: iter(ROWS),
    "a tuple of rows": lambda: tuple(ROWS),
    "lists": lambda: [list(row) for row in ROWS],
    "mappings": lambda: [dict(zip(NAMES, row, strict=True)) for row in ROWS],
    "mappings that leave NULL out": lambda: [{"K": 2}, dict(zip(NAMES, ROWS[0], strict=True))],
    "columns": lambda: COLUMNS,
    "NumPy columns": lambda: {**COLUMNS, "k": np.array([1, 2])},
    "a table": lambda: pa.table(COLUMNS),
    "a table in pieces": lambda: pa.concat_tables([pa.table(COLUMNS).slice(i, 1) for i in (0, 1)]),
    "other order and case": lambda: pa.table({n.upper(): COLUMNS[n] for n in reversed(NAMES)}),
    "a record batch": lambda: pa.RecordBatch.from_pydict(COLUMNS),
    "a reader": lambda: pa.table(COLUMNS).to_reader(),
    "a stream": lambda: Stream(pa.table(COLUMNS)),
    "pandas": lambda: frame("pandas").astype({"k": "int64"}),
    "polars": lambda: frame("polars"),
}


@pytest.fixture
def db(connect: Connect) -> Database:
    db = connect()
    db.execute(SCRIPT)
    return db


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_are_the_same_rows(db: Database, form: str) -> None:
    db.insert("r", FORMS[form]())
    assert db.view("all_r").rows() == ROWS
    db.delete("r", FORMS[form]())
    assert db.view("all_r").rows() == []


@pytest.mark.parametrize("one", [ROWS[0], dict(zip(NAMES, ROWS[0], strict=True))])
def test_one_row_may_stand_alone(db: Database, one: object) -> None:
    db.insert("r", one)
    assert db.view("all_r").rows() == ROWS[:1]
    db.delete("r", one)
    assert db.view("all_r").rows() == []


def test_nothing_is_a_change_too(db: Database) -> None:
    for nothing in ([], (), iter(()), pa.table(COLUMNS).slice(0, 0)):
        db.insert("r", nothing)
    assert (db.view("all_r").rows(), db.version) == ([], 4)


COUNTS: dict[str, Callable[[], Any]] = {
    "pairs": lambda: [(ROWS[0], 3), (ROWS[1], 1), (ROWS[0], -2)],
    "two pairs": lambda: ((ROWS[0], 1), (ROWS[1], 1)),
    "rows and counts": lambda: ([*ROWS, ROWS[0]], [3, 1, -2]),
    "a table and counts": lambda: (pa.table(COLUMNS), np.array([1, 1])),
    "a table and small counts": lambda: (pa.table(COLUMNS), pa.array([1, 1], pa.int8())),
    "columns and counts": lambda: (COLUMNS, (1, 1)),
    "a table with counts": lambda: pa.table({**COLUMNS, "__count": [1, 1]}),
}


@pytest.mark.parametrize("form", COUNTS)
def test_multiplicities_come_in_several_forms(db: Database, form: str) -> None:
    db.apply({"r": COUNTS[form]()})
    assert db.view("all_r").rows() == ROWS


BAD: dict[str, tuple[Any, str]] = {
    "a text": ("abc", "'r' cannot take 'abc'"),
    "a number": (5, "'r' cannot take 5"),
    "numbers": ([1, 2], "row 1 of 'r': a row of 'r' cannot be 1"),
    "NULL": ([ROWS[0], (None, "a", None, None)], "row 2 of 'r': r.k is NOT NULL"),
    "a wrong type": ([ROWS[0], (1, 5, None, None)], "row 2 of 'r': r.t cannot hold 5"),
    "a short row": ([ROWS[0], (1,)], "row 2 of 'r': a row of 'r' has 1 values"),
    "an unknown column": ({"z": [1, 2], **COLUMNS}, "'r' has no column 'z'"),
    "columns that are not as long": ({**COLUMNS, "k": [1]}, "these are not columns of 'r'"),
    "a missing column": (pa.table({"k": [1]}), "the table has no column 't'"),
    "one column more": (pa.table({**COLUMNS, "z": [1, 2]}), "'r' has no column 'z'"),
    "NULL in a table": (pa.table({**COLUMNS, "k": [1, None]}), "r.k is NOT NULL"),
    "a wrong column": (pa.table({**COLUMNS, "k": ["a", "b"]}), "r.k cannot hold"),
    "too many digits": ([(1, "a", Decimal("1.005"), None)], "r.p cannot hold"),
    "a large integer": ([(1 << 63, None, None, None)], "r.k cannot hold"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_refused(db: Database, case: str) -> None:
    change, said = BAD[case]
    db.insert("r", ROWS)
    with pytest.raises(BadRow, match=said):
        db.insert("r", change)
    assert (db.view("all_r").rows(), db.version) == (ROWS, 1)


def test_bad_utf8_is_refused(db: Database) -> None:
    text = pa.StringArray.from_buffers(
        1, pa.py_buffer(np.array([0, 2], np.int32)), pa.py_buffer(b"\xff\xfe")
    )
    bad = pa.table({**{n: c[:1] for n, c in COLUMNS.items()}, "t": text})
    with pytest.raises(BadRow, match=r"xff"):
        db.insert("r", bad)
    assert db.view("all_r").rows() == []


def test_counts_must_be_as_many_integers(db: Database) -> None:
    for counts in ([1], [1, 2, 3], [1, 0.5], [1, True], np.array([0.5, 1.0])):
        with pytest.raises(FreshviewError):
            db.apply({"r": (ROWS, counts)})
    with pytest.raises(BadRow, match="cannot be 7"):
        db.apply({"r": [7]})
    assert (db.view("all_r").rows(), db.version) == ([], 0)


def test_a_hook_sees_every_row_first(db: Database) -> None:
    seen = []

    def hook(row: Any, count: int) -> Any:
        seen.append((row, count))
        if row[0] == 1:
            return None
        return [row, {"k": row[0] * 10}]

    end = db.on_event("R", hook)
    db.insert("r", pa.table(COLUMNS))
    db.apply({"r": [({"k": 1}, 2)]})
    assert seen == [(ROWS[0], 1), (ROWS[1], 1), ((1, None, None, None), 2)]
    assert db.view("all_r").rows() == [ROWS[1], (20, None, None, None)]
    end()
    db.insert("r", ROWS[0])
    assert len(db.view("all_r").rows()) == 3


def test_hooks_form_a_chain_and_rows_are_checked_after_it(db: Database) -> None:
    db.on_event("r", lambda row, _: (row[0] + 1, *row[1:]))
    db.on_event("r", lambda row, _: (str(row[0]), *row[1:]) if row[0] > 5 else row)
    db.insert("r", ROWS[0])
    assert db.view("all_r").rows() == [(2, *ROWS[0][1:])]
    with pytest.raises(BadRow, match=r"r\.k cannot hold '6'"):
        db.insert("r", (5, None, None, None))


def runs(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Each value twice, as runs."""
    ends = pa.array([2 * (i + 1) for i in range(len(values))], kind)
    return pa.RunEndEncodedArray.from_arrays(ends, values)


def test_every_engine_takes_the_same_forms_of_columns(connect: Connect) -> None:
    db = connect()
    db.execute(
        "CREATE STREAM t (i BIGINT, f DOUBLE, s STRING, p DECIMAL(8, 2));"
        "CREATE VIEW v AS SELECT * FROM t;"
    )
    table = pa.table(
        {
            "i": runs(pa.array([7, None]), pa.int16())[1:],
            "f": pa.array(np.array([1, 2, 3], np.float16)),
            "s": pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}", None, "[]"])),
            "p": pa.array([Decimal("1.5"), None, Decimal("2")], pa.decimal128(38, 10)),
        }
    )
    db.insert("t", table)
    db.insert("t", table.to_batches()[0])
    db.delete("t", table)
    assert sorted(db.view("v").rows(), key=repr) == [
        (7, 1.0, "{}", Decimal("1.50")),
        (None, 2.0, None, None),
        (None, 3.0, "[]", Decimal("2.00")),
    ]
    assert str(db.view("v").rows()).count("Decimal('1.50')") == 1
    long = {"p": pa.array([Decimal("1.5"), Decimal("1.501")])}
    with pytest.raises(BadRow, match=r"row 2 of 't': t\.p cannot hold .*1\.501"):
        db.insert("t", pa.table({**{name: pa.nulls(2) for name in "ifs"}, **long}))


@pytest.mark.parametrize(
    "column",
    [
        [{"a": 1}],
        [[1]],
        pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])]),
        pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1], pa.int8())),
    ],
    ids=["struct", "list", "union", "bool8"],
)
def test_nested_and_foreign_columns_are_refused_by_their_names(db: Database, column: Any) -> None:
    with pytest.raises(BadRow, match=r"r\.t cannot hold"):
        db.insert("r", {"k": [1], "t": column, "p": [None], "d": [None]})
    assert db.view("all_r").rows() == []


def test_frames_that_are_no_tables_are_refused(db: Database) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"k": [1, 2], "t": [1, "a"], "p": [None, None], "d": [None, None]})
    twice = pandas.DataFrame([[1, 2]], columns=["k", "k"])
    sparse = pandas.DataFrame({"k": pandas.arrays.SparseArray([1, 0])})
    for bad in (frame, twice, sparse, pandas.DataFrame({"k": [1j]})):
        with pytest.raises(BadRow, match="the table of rows of 'r' cannot be read"):
            db.insert("r", bad)
    with pytest.raises(BadRow, match="cannot take a Series of pandas; give a DataFrame"):
        db.insert("r", pandas.Series([1]))
    with pytest.raises(BadRow, match="'r' has no column '5'"):
        db.insert("r", [{5: 1}])
    assert db.version == 0
