"""Standalone code against DuckDB: the program on files and events, and the library from C."""

from __future__ import annotations

import csv
import ctypes
import importlib.util
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from decimal import Decimal
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

from freshview.calculus.schema import Query, Relation
from freshview.cli.output import field
from freshview.cli.standalone import write_package
from freshview.codegen.library import toolchain
from freshview.codegen.library.compiler import CppCompiler, Flags
from freshview.codegen.standalone.write import LIBRARY_SOURCES, build_words
from freshview.runtime.compile import kernels
from freshview.runtime.compile.standalone import Standalone, plan_standalone
from freshview.runtime.ingest.csv import read
from freshview.runtime.settings import DatabaseSettings
from freshview.sql.load import load
from tests.differential import harness
from tests.differential.duck import Duck, plain
from tests.thin import thin
from workloads import Event

pytestmark = pytest.mark.native

SETS = [
    ("finance", ("axf", "bsp", "bsv", "mst", "psp", "vwap")),
    ("tpch", ("q01", "q03", "q05", "q13", "q14", "q22")),
    ("tpch", ("q02", "q11", "q15", "q18")),
    ("retailer", ("r_units", "r_stock")),
]

SCRIPT = """
CREATE STREAM orders (id BIGINT NOT NULL, customer STRING);
CREATE STREAM items (
  id BIGINT NOT NULL, price DECIMAL(10, 2), w DOUBLE, d DATE, at TIMESTAMP, ok BOOLEAN
);
CREATE VIEW revenue AS
  SELECT o.customer, SUM(i.price) AS total, MAX(i.d) AS last
  FROM orders o, items i WHERE o.id = i.id GROUP BY o.customer ORDER BY total DESC, customer;
CREATE VIEW items_now AS SELECT id, price, w, d, at, ok FROM items;
"""


def compiler() -> CppCompiler:
    compiler_here = kernels.compiler()
    if compiler_here is None:
        pytest.skip("there is no C++ compiler")
    return compiler_here


def planned(queries: Iterable[Query], catalog: Any) -> Standalone:
    plan = plan_standalone(list(queries), catalog, DatabaseSettings(), print)
    assert plan is not None
    return plan


def written(plan: Standalone, folder: Path) -> Path:
    for name, text in plan.files.items():
        (folder / name).write_text(text)
    return folder


def built(plan: Standalone, folder: Path) -> Path:
    """The program, built as its user is told to, with nothing but what lies in the folder."""
    this = compiler()
    words = [*this.command, *Flags(optimize=0, baseline="native").words(this.kind)]
    subprocess.run(shlex.split(build_words(words, written(plan, folder))), check=True)
    return folder / "views"


def put_rows(path: Path, rows: Iterable[Iterable[Any]], delimiter: str = ",") -> None:
    with path.open("w", newline="") as out:
        csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(
            [field(v) for v in row] for row in rows
        )


def shown(program: Path, query: Query, *words: object) -> Counter[tuple[Any, ...]]:
    """The rows of a view as the program prints them, read back."""
    done = subprocess.run(
        [program, "--view", query.name, *map(str, words)], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    names, _, body = done.stdout.partition("\n")
    assert next(csv.reader([names])) == [c.name for c in query.columns]
    path = program.parent / "shown.csv"
    path.write_text(body)
    rows = read(path, Relation(query.name, query.columns))
    return Counter(tuple(plain(v) for v in row) for row in rows)


@pytest.mark.parametrize(("workload", "names"), thin(SETS, 2))
def test_the_program_prints_what_duckdb_computes(
    workload: str, names: tuple[str, ...], tmp_path: Path
) -> None:
    cases = [harness.case(workload, name) for name in names]
    work, catalog = cases[0].workload, harness.schema_of(workload)
    plan = planned([c.query for c in cases], catalog)
    program = built(plan, tmp_path)
    duck = Duck(catalog)
    tables = work.tables(seed=3)
    events: list[Event] = [*chain(*work.stream(seed=3, batches=25, max_size=200, live=200))]
    for name, rows in tables.items():
        duck.apply((name, row, 1) for row in rows)
    duck.apply(events)
    for relation in plan.program.relations:
        source = catalog.sources[relation.name.lower()]
        delimiter = str(dict(source.options).get("delimiter", ","))
        rows = tables.get(relation.name, [])
        put_rows(tmp_path / str(source.arguments[0]), rows, delimiter)
    used = {r.name for r in plan.program.relations}
    lines = [(name if sign > 0 else f"-{name}", *row) for name, row, sign in events if name in used]
    put_rows(tmp_path / "events.csv", lines)
    for c in cases:
        for name, columns, sql in c.views:
            duck.create_view(name, sql, columns)
        expected = duck.query(c.sql)
        for batch in (1, 1000):
            words = ("--data", tmp_path, "--events", tmp_path / "events.csv", "--batch", batch)
            assert harness.same(shown(program, c.query, *words), expected), c.query.name


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Standalone, Path]:
    catalog, queries = load(SCRIPT)
    plan = planned(queries, catalog)
    return plan, built(plan, tmp_path_factory.mktemp("small"))


def run(program: Path, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *words], input=text, capture_output=True, text=True)


def test_rows_come_and_go_by_standard_input(small: tuple[Standalone, Path]) -> None:
    _, program = small
    lines = [
        "\ufefforders,1,ann",
        'orders,2,"bo ""b"", x"',
        "",
        'ORDERS,3,"two\nlines"',
        "items,1,3.50,0.1,2024-01-05,2024-01-05 12:30:00.25,true,",
        "items,2,+1e1,1e20,2024-02-29,2024-02-29,f",
        "items,3,,,,,",
        "items,9,1,,,,",
        "-items,9,1.00,,,,",
    ]
    done = run(program, "\r\n".join(lines))
    assert done.stderr == ""
    assert done.stdout == (
        "-- revenue\n"
        "customer,total,last\n"
        '"bo ""b"", x",10.00,2024-02-29\n'
        "ann,3.50,2024-01-05\n"
        '"two\nlines",,\n'
        "\n-- items_now\n"
        "id,price,w,d,at,ok\n"
        "1,3.50,0.1,2024-01-05,2024-01-05 12:30:00.250000,true\n"
        "2,10.00,1e+20,2024-02-29,2024-02-29 00:00:00,false\n"
        "3,,,,,\n"
    )


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("items,1,3.505,,,,", "column price"),
        ("items,,1,,,,", "column id"),
        ("items,9223372036854775808,1,,,,", "column id"),
        ("items,1,1,nan,,,", "column w"),
        ("items,1,1,1d,,,", "column w"),
        ("items,1,1,,2023-02-29,,", "column d"),
        ("items,1,1,,,2024-01-01 25:00:00,", "column at"),
        ("items,1,1,,,,yes", "column ok"),
        ("items,1,1", "number of fields"),
        ("parts,1", "no view reads a relation 'parts'"),
        ('items,"1', "never closed"),
        ('items,"1"x,1', "behind a quoted field"),
    ],
)
def test_the_program_refuses_what_a_column_does_not_hold(
    small: tuple[Standalone, Path], line: str, word: str
) -> None:
    done = run(small[1], f"orders,1,a\n{line}\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("freshview: ")
    assert word in done.stderr


EMBEDDED = r"""
#include <stdio.h>
#include "views.h"

int main(void) {
  freshview* views = freshview_open();
  freshview_value order[2] = {freshview_number(1), freshview_text("ann")};
  freshview_value items[12];
  for (int i = 0; i < 12; i++) items[i] = freshview_null();
  items[0] = items[6] = freshview_number(1);
  items[1] = freshview_number(350);
  items[7] = freshview_number(-50);
  int64_t counts[2] = {2, 1};
  if (freshview_apply_row(views, RELATION_ORDERS, order, 1)) return 3;
  if (freshview_apply_rows(views, RELATION_ITEMS, items, 2, counts)) return 4;
  items[0] = freshview_null();
  if (freshview_apply_rows(views, RELATION_ITEMS, items, 1, 0) != FRESHVIEW_BAD_VALUE) return 5;
  printf("%s\n", freshview_error(views));
  if (freshview_apply_row(views, 7, order, 1) != FRESHVIEW_BAD_CALL) return 6;
  freshview_rows* rows = freshview_read(views, VIEW_REVENUE);
  for (int64_t i = 0; i < freshview_rows_size(rows); i++) {
    freshview_value name, total;
    freshview_rows_value(rows, i, 0, &name);
    freshview_rows_value(rows, i, 1, &total);
    printf("%.*s %lld\n", (int)name.size, name.text, (long long)total.number);
  }
  freshview_rows_free(rows);
  freshview_close(views);
  return 0;
}
"""


def library(plan: Standalone) -> Path:
    flags = Flags(optimize=0)
    return toolchain.build_files(plan.files, LIBRARY_SOURCES, compiler=compiler(), flags=flags)


def test_a_program_in_c_embeds_the_views(small: tuple[Standalone, Path], tmp_path: Path) -> None:
    plan, program = small
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    (tmp_path / "app.c").write_text(EMBEDDED)
    (tmp_path / "libviews.so").write_bytes(library(plan).read_bytes())
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{program.parent}"]
    words = ["cc", *flags, "app.c", "-o", "app", "-L.", "-lviews", "-Wl,-rpath,$ORIGIN"]
    subprocess.run(words, check=True, cwd=tmp_path)
    done = subprocess.run([tmp_path / "app"], capture_output=True, text=True)
    refused = "row 1 of 'items': id cannot hold this value; expected a 64-bit integer"
    assert (done.returncode, done.stdout) == (0, f"{refused}\nann 650\n")


@pytest.fixture
def package(small: tuple[Standalone, Path], tmp_path: Path) -> Iterator[ModuleType]:
    folder = write_package(tmp_path / "shop", library(small[0]).read_bytes())
    spec = importlib.util.spec_from_file_location("shop", folder / "__init__.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["shop"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["shop"]


ITEM = (1, Decimal("-3.50"), 0.5, date(2024, 1, 5), datetime(1969, 12, 31, 23, 59), True)


def test_the_package_keeps_views(package: ModuleType) -> None:
    with package.connect() as views:
        views.insert("orders", [(1, "ann"), (2, "bé"), (3, None)])
        views.insert("items", [ITEM, (3, 4, None, None, None, None)])
        assert views.rows("revenue") == [
            (None, Decimal("4.00"), None),
            ("ann", Decimal("-3.50"), date(2024, 1, 5)),
        ]
        views.apply("items", [ITEM], [2])
        assert views.rows("ITEMS_NOW")[:3] == [ITEM] * 3
        views.delete("items", [ITEM] * 3)
        assert views.rows("items_now") == [(3, Decimal("4.00"), None, None, None, None)]
    with pytest.raises(package.ViewsError, match="closed"):
        views.rows("revenue")


@pytest.mark.parametrize(
    "row", [(1,), (None, *ITEM[1:]), (1, Decimal("1.234"), *ITEM[2:]), (1 << 63, *ITEM[1:])]
)
def test_the_package_refuses_a_batch_whole(package: ModuleType, row: tuple[object, ...]) -> None:
    with package.connect() as views:
        with pytest.raises(package.ViewsError):
            views.insert("items", [ITEM, row])
        assert views.rows("items_now") == []


def test_tables_come_and_go_by_arrow(package: ModuleType) -> None:
    views = package.connect()
    calls, handle = views._library, views._handle
    columns = {
        "Customer": pa.array(["ann", None, "a customer of a long name"]),
        "id": pa.array([1, 2, 3], pa.int32()),
    }
    batch = pa.record_batch(columns)
    schema, array = batch.schema.__arrow_c_schema__(), batch.__arrow_c_array__()[1]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    at = [ctypes.c_void_p(pointer(schema, b"arrow_schema"))]
    at.append(ctypes.c_void_p(pointer(array, b"arrow_array")))
    orders = views._relations["orders"][0]
    counts = (ctypes.c_int64 * 3)(1, 0, 2)
    assert calls.freshview_apply_arrow(handle, orders, *at, counts) == 0
    views.insert("items", [(3, 5, None, None, None, None)])
    assert views.rows("revenue") == [("a customer of a long name", Decimal("10.00"), None)]
    assert calls.freshview_apply_arrow(handle, views._relations["items"][0], *at, None) == 2
    assert calls.freshview_error(handle) == b"the table for 'items' has no column 'price'"
    out = [ctypes.create_string_buffer(80), ctypes.create_string_buffer(80)]
    places = [ctypes.addressof(x) for x in out]
    assert calls.freshview_read_arrow(handle, 0, *map(ctypes.c_void_p, places)) == 0
    table = pa.RecordBatch._import_from_c(places[1], places[0])
    views.close()
    assert table.to_pylist() == [
        {"customer": "a customer of a long name", "total": Decimal("10.00"), "last": None}
    ]


def test_a_change_out_of_range_leaves_everything_as_it_was(package: ModuleType) -> None:
    with package.connect() as views:
        views.insert("orders", [(1, "ann")])
        views.insert("items", [ITEM])
        before = views.rows("revenue"), views.rows("items_now")
        with pytest.raises(package.ViewsError, match="range"):
            views.apply("items", [(2, 1, None, None, None, None), ITEM], [1, (1 << 63) - 1])
        assert (views.rows("revenue"), views.rows("items_now")) == before
        views.delete("items", [ITEM])
        assert views.rows("revenue") == []


def test_views_that_need_batches_make_all_the_views_take_them() -> None:
    """A kernel follows a relation in one way, so a script may mix what suits each view alone."""
    catalog, queries = load(
        "CREATE STREAM r (a BIGINT, b BIGINT); CREATE STREAM s (a BIGINT, b BIGINT);"
        "CREATE VIEW v AS SELECT a, SUM(b) AS n FROM r GROUP BY a;"
        "CREATE VIEW w AS SELECT COUNT(*) AS n FROM r, s WHERE r.a + s.a < r.b * s.b;"
    )
    alone = [planned([q], catalog).program for q in queries]
    assert [{t.event for t in p.triggers} for p in alone] == [{"insert", "delete"}, {"batch"}]
    both = planned(queries, catalog).program
    assert {t.event for t in both.triggers} == {"batch"}
    assert [q.name for q in both.queries] == ["v", "w"]
