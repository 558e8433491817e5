"""States in files: what one process leaves, another one finds, whatever became of the first."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from freshview.codegen.kernel.source import emit
from freshview.codegen.library.compiler import find_compiler
from freshview.codegen.library.load import Instance, Kernel
from freshview.codegen.library.toolchain import build
from freshview.errors import SnapshotProblem
from freshview.ivm.compile import compile_queries
from freshview.sql.load import load

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
]

SQL = """
CREATE STREAM r (a INT NOT NULL, name STRING NOT NULL);
CREATE VIEW v AS SELECT name, SUM(a) AS total FROM r GROUP BY name;
"""


@pytest.fixture(scope="module")
def library() -> Path:
    catalog, queries = load(SQL)
    program = compile_queries(queries, list(catalog.relations.values()))
    return build(emit(program), compiler=find_compiler())


def totals(x: Instance) -> dict[object, object]:
    return {name: total for (name, total), _ in x.read_rows(0)}


def add(library: Path, state: Path, first: int, count: int, die: bool = False) -> None:
    """Add names in another process, which may end in the middle of things."""
    x = Kernel(library).open(state)
    x.apply_rows(0, [(1, f"a name that is long {i}") for i in range(first, first + count)])
    if die:
        os.kill(os.getpid(), signal.SIGKILL)


def elsewhere(*args: object, **named: object) -> int | None:
    child = multiprocessing.get_context("spawn").Process(target=add, args=args, kwargs=named)
    child.start()
    child.join()
    return child.exitcode


def test_another_process_goes_on(library: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    here = Kernel(library).open(state)
    here.apply_rows(0, [(7, "x")])
    assert elsewhere(library, state, 0, 50_000) == 0  # the file grows there
    assert len(totals(here)) == 50_001
    here.apply_rows(0, [(1, "a name that is long 1")])
    assert elsewhere(library, state, 50_000, 10, die=True) == -signal.SIGKILL
    actual = totals(here)
    assert (len(actual), actual["x"], actual["a name that is long 1"]) == (50_011, 7, 2)
    here.close()
    again = Kernel(library).open(state)
    assert totals(again) == actual


def test_static_tables_are_loaded_once(library: Path, tmp_path: Path) -> None:
    first = Kernel(library).open(tmp_path / "state")
    first.ready()
    second = Kernel(library).open(tmp_path / "state")
    second.apply_rows(0, [(1, "x")])
    assert totals(first) == {"x": 1}


def test_snapshots_of_files(library: Path, tmp_path: Path) -> None:
    here = Kernel(library).open(tmp_path / "state")
    here.apply_rows(0, [(7, "x")])
    here.save(tmp_path / "saved")
    here.apply_rows(0, [(i, f"another long name {i}") for i in range(10_000)])
    here.restore(tmp_path / "saved")
    assert totals(here) == {"x": 7}
    # What it takes now was in use before: it must be empty all the same.
    here.apply_rows(0, [(i, f"a third long name {i}") for i in range(1, 10_000)])
    assert len(totals(here)) == 10_000
    alone = Kernel(library).open()
    alone.restore(tmp_path / "saved")
    assert totals(alone) == {"x": 7}


def test_a_damaged_snapshot_leaves_nothing(library: Path, tmp_path: Path) -> None:
    here = Kernel(library).open(tmp_path / "state")
    here.apply_rows(0, [(7, "x")])
    here.save(tmp_path / "saved")
    data = bytearray((tmp_path / "saved").read_bytes())
    data[-100] ^= 1
    (tmp_path / "torn").write_bytes(data)
    with pytest.raises(SnapshotProblem, match="damaged"):
        here.restore(tmp_path / "torn")
    assert totals(here) == {}
    here.apply_rows(0, [(1, "y")])
    assert totals(here) == {"y": 1}
