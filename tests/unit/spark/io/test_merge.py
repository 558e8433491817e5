"""Changes merged by key leave the view, or all that it ever was, however often they come."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any
from unittest import mock

import duckdb
import pyarrow as pa
import pytest

from freshview.errors import FreshviewError
from freshview.runtime.ingest.columns import COUNT
from freshview.runtime.ingest.counted_rows import difference
from freshview.spark.io import sinks
from freshview.spark.io.merge import (
    VERSION,
    check_rows,
    last_by_key,
    merge_history,
    merge_rows,
)

COLUMNS, KEY = ["k", "a b", "s"], ["k", "a b"]
SCHEMA = pa.schema([("k", pa.int64()), ("a b", pa.string()), ("s", pa.int64())])
View = dict[tuple[Any, ...], Any]


def versions(seed: int) -> list[View]:
    """A view by its key, whose columns may be NULL, after each of some changes."""
    rng, view, every = random.Random(f"merge {seed}"), {}, [{}]
    for _ in range(12):
        view = dict(view)
        for _ in range(rng.randint(0, 4)):
            key = (rng.choice([None, 1, 2, 3]), rng.choice([None, "x", "`y`"]))
            if key in view and rng.random() < 0.4:
                del view[key]
            else:
                view[key] = rng.choice([None, 7, 8])
        every.append(view)
    return every


def table(view: View) -> pa.Table:
    rows = [dict(zip(COLUMNS, (*key, s), strict=True)) for key, s in view.items()]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def merged(db: Any, statement: str, changes: pa.Table, version: int) -> None:
    """Run a statement over the changes of a version; DuckDB has other quotes than Spark."""
    number = pa.repeat(pa.scalar(version, pa.int64()), changes.num_rows)
    db.register("arrived", changes.append_column(VERSION, number))
    db.execute("CREATE OR REPLACE TEMP TABLE changes AS SELECT * FROM arrived")
    db.execute(statement.replace("`", '"'))


@pytest.mark.parametrize("seed", range(20))
def test_a_table_by_key_is_the_view(seed: int) -> None:
    statement = merge_rows("target", "changes", COLUMNS, KEY)
    before = {}
    with duckdb.connect() as db:
        db.execute(f'CREATE TABLE target (k BIGINT, "a b" TEXT, s BIGINT, {VERSION} BIGINT)')
        for version, view in enumerate(versions(seed)):
            changes = difference(table(before), table(view))
            for _ in range(random.Random(f"{seed} {version}").randint(1, 2)):
                merged(db, statement, last_by_key(changes, KEY), version)
                rows = db.execute('SELECT k, "a b", s FROM target').fetchall()
                assert Counter(rows) == Counter((*key, s) for key, s in view.items())
            before = view


@pytest.mark.parametrize("seed", range(20))
def test_a_history_has_every_version(seed: int) -> None:
    statement = merge_history("target", "changes", COLUMNS, KEY)
    every = versions(seed)
    with duckdb.connect() as db:
        bounds = "__from BIGINT, __until BIGINT"
        db.execute(f'CREATE TABLE target (k BIGINT, "a b" TEXT, s BIGINT, {bounds})')
        for version, view in enumerate(every[1:], 1):
            changes = difference(table(every[version - 1]), table(view))
            for _ in range(random.Random(f"{seed} {version}").randint(1, 3)):
                merged(db, statement, changes, version)
        for version, view in enumerate(every):
            rows = db.execute(
                'SELECT k, "a b", s FROM target '
                "WHERE __from <= ? AND (__until IS NULL OR __until > ?)",
                [version, version],
            ).fetchall()
            assert Counter(rows) == Counter((*key, s) for key, s in view.items()), version


def test_rows_that_a_key_does_not_tell_apart_are_refused() -> None:
    same = pa.table({"k": [1, 1], "s": [1, 2], COUNT: [1, 1]})
    with pytest.raises(FreshviewError, match=r"'v' has several rows of one key \(k\); name"):
        check_rows("v", same, ["k"])
    with pytest.raises(FreshviewError, match="several rows"):
        check_rows("v", pa.table({"k": [1], COUNT: [2]}), ["k"])
    check_rows("v", pa.table({"k": [1, 1], "s": [1, 2], COUNT: [-1, 1]}), ["k"])
    check_rows("v", same, ["k", "s"])


@pytest.mark.parametrize(
    ("choices", "why"),
    [
        ({"key": ("x",)}, "has 'x', which is no column of it; name some of item, n"),
        ({"history": True}, "keeps a history and has no key"),
        ({"key": ("item",), "changes": False}, "has a key and takes no changes"),
    ],
)
def test_what_cannot_be_merged_is_refused(choices: dict[str, Any], why: str) -> None:
    with pytest.raises(FreshviewError, match=why):
        sinks.Delta("totals", mock.MagicMock(), "out", **choices).check(["item", "n"])


@pytest.mark.parametrize("history", [False, True])
def test_delta_merges_what_it_receives(monkeypatch: pytest.MonkeyPatch, history: bool) -> None:
    owner, frames = mock.MagicMock(), []
    monkeypatch.setattr(sinks, "frame", lambda _, t: frames.append(t) or mock.MagicMock())
    sink = sinks.Delta("totals", owner, "/out", key=("item",), history=history)
    sink.emit(4, pa.table({"item": ["a", "a"], "n": [1, 2], COUNT: [-1, 1]}))
    made, changes = frames
    own = ["__from", "__until"] if history else ["__version"]
    assert (made.num_rows, made.column_names) == (0, ["item", "n", *own])
    assert changes.num_rows == (2 if history else 1)
    assert set(changes.column("__version").to_pylist()) == {4}
    [[statement]] = [call.args for call in owner.spark.sql.call_args_list]
    assert statement.startswith(
        "MERGE INTO delta.`/out` AS t USING freshview_changes AS s ON t.`item`"
    )
    sink.emit(5, changes.slice(0, 0))
    assert len(frames) == 2, "nothing changed"
