"""The hops of docs/internals/path.md are those that a query really takes."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import freshview
from freshview.codegen.library.compiler import find_compiler
from freshview.runtime.database import tiering
from tests.house.imports import SOURCE
from tests.house.rooms import ROOT
from tests.house.test_house import CALL

QUERY = """
CREATE STREAM orders (id INT NOT NULL, customer INT NOT NULL);
CREATE STREAM items (id INT NOT NULL, price INT NOT NULL);
CREATE VIEW revenue AS
  SELECT o.customer, SUM(i.price) AS total
  FROM orders o, items i WHERE o.id = i.id GROUP BY o.customer;
"""
ELSEWHERE = {
    ("durable/task.py", "run_stage"),
    ("durable/worker.py", "Worker"),
    ("spark/nodes/perform.py", "perform"),
    ("spark/nodes/kernel_node.py", "KernelNode"),
}
"""Hops of tasks, which run in processes of their own."""
UNSEEN = {("factorized/compile.py", "compile_queries"), ("program/terms.py", "Program")}
"""Hops of plans that this query does not get, and of records, whose code has no file."""

Hop = tuple[str, str]


def hops(title: str) -> set[Hop]:
    """The hops of one chapter of the page."""
    page = (ROOT / "docs" / "internals" / "path.md").read_text()
    [chapter] = re.findall(rf"^## {title}\n(.*?)(?=^## )", page, re.S | re.M)
    calls = set(CALL.findall(chapter))
    assert len(calls) > 15
    return calls


def forget() -> None:
    """Empty the compiler's caches: other tests of this process may have compiled the same query."""
    passes = ("calculus", "simplify", "ivm", "program", "plan")
    rooms = tuple(f"freshview.{room}" for room in passes)
    for module in [m for name, m in sys.modules.items() if name.startswith(rooms)]:
        for value in list(vars(module).values()):
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def calls(work: Callable[[], None]) -> set[Hop]:
    """The functions and the classes of Freshview that are called on the way, in any thread."""
    seen: set[Hop] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(SOURCE)):
            file = str(Path(frame.f_code.co_filename).relative_to(SOURCE))
            seen.update((file, name) for name in frame.f_code.co_qualname.split("."))

    forget()
    sys.setprofile(note)
    threading.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return seen


@pytest.mark.native
@pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
def test_from_sql_to_a_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(tiering, "TIER_UP_ROWS", 2)

    def work() -> None:
        db = freshview.connect()
        db.execute(QUERY)
        for _ in range(2):
            orders = [((1, 10), 1), ((2, 20), 1)]
            db.apply({"orders": orders, "items": [((1, 5), 1), ((2, 7), 1)]})
            for build in db._tiering.jobs:
                build.wait()
        assert db.view("revenue").to_arrow().num_rows == 2
        assert db.view("revenue").statistics().engine == "native"

    assert hops("From SQL to a kernel") - calls(work) - UNSEEN == set()


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.native
@pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
def test_from_sql_to_the_stages_of_a_spark_job(tmp_path: Path, spark: Any) -> None:
    def work() -> None:
        flow = freshview.pipeline(QUERY, spark=spark, checkpoint=tmp_path / "checkpoint")
        with flow.start():
            flow.push({"orders": [(1, 10)], "items": [(1, 5)]})
            assert flow.view("revenue").to_arrow().num_rows == 1

    assert hops("From SQL to the stages of a Spark job") - calls(work) - ELSEWHERE == set()
