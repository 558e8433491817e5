"""Changes by key: the deltas of any split into batches add up to the last row of every key."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from freshview.calculus.schema import Relation
from freshview.runtime.ingest.columns import arrow_schema, rows_of
from freshview.spark.io.keys import KeyStore
from freshview.spark.io.upsert import (
    DELETED,
    change_of_events,
    envelope_events,
    last_events,
    net_change,
)
from freshview.sql.load import load

R = load("CREATE STREAM r (v STRING, k INT, PRIMARY KEY (k))")[0].relation("r")
Event = tuple[int, str | None, bool]
EVENTS = st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", None]), st.booleans())


def table_of(batch: list[Event]) -> pa.Table:
    table = pa.table({"v": [e[1] for e in batch], "k": [e[0] for e in batch]})
    table = table.cast(arrow_schema(R.columns))
    return table.append_column(DELETED, pa.array([e[2] for e in batch], pa.bool_()))


@given(st.lists(st.lists(EVENTS, max_size=6), max_size=5))
def test_deltas_add_up_to_the_last_row_of_every_key(batches: list[list[Event]]) -> None:
    store = KeyStore(":memory:", [R])
    rows: Counter[tuple[object, ...]] = Counter()
    expected: dict[int, tuple[str | None, int]] = {}
    for version, batch in enumerate(batches, 1):
        events = last_events(R, table_of(batch))
        delta = change_of_events(R, events, store.find(R, events.select(["k"])))
        store.commit(str(version), {"r": events})
        for *row, count in rows_of(delta):
            assert count in (1, -1)
            rows[tuple(row)] += count
        for k, v, gone in batch:
            if gone:
                expected.pop(k, None)
            else:
                expected[k] = (v, k)
        assert min(rows.values(), default=0) >= 0
        assert +rows == Counter(expected.values())
    assert store.token == (str(len(batches)) if batches else None)


def as_table(rows: list[tuple[str | None, int | None]]) -> pa.Table:
    values = pa.array([v for v, _ in rows], pa.string())
    return pa.table({"v": values, "k": pa.array([k for _, k in rows], pa.int64())})


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from("ab")), max_size=8))
def test_envelopes_say_the_same_with_and_without_a_store(
    steps: list[tuple[int, int, str]],
) -> None:
    """Rows are made, changed, moved to another key and deleted, at random but as a database can."""
    stored: dict[int, tuple[str, int]] = {}
    ops: list[str] = []
    before: list[tuple[str | None, int | None]] = []
    after: list[tuple[str | None, int | None]] = []
    for k, to, v in steps:
        old = stored.pop(k, None)
        if old is not None and v == "a" and k == to:
            ops.append("d")
            before.append(old)
            after.append((None, None))
            continue
        if to in stored:
            to = k
        stored[to] = (v, to)
        ops.append("c" if old is None else "u")
        before.append(old or (None, None))
        after.append(stored[to])
    as_table = lambda rows: pa.table(  # noqa: E731
        {
            "v": pa.array([r[0] for r in rows], pa.string()),
            "k": pa.array([r[1] for r in rows], pa.int64()),
        }
    )
    events = envelope_events(R, pa.array(ops, pa.string()), as_table(before), as_table(after))
    actual = change_of_events(R, last_events(R, events), as_table([]))
    assert Counter(rows_of(actual)) == Counter((*row, 1) for row in stored.values())
    full_before = as_table([b for b in before if b[1] is not None])
    full_after = as_table([a for a in after if a[1] is not None])
    assert Counter(rows_of(net_change(R, [(full_after, 1), (full_before, -1)]))) == Counter(
        (*row, 1) for row in stored.values()
    )


def test_all_types_survive_the_store(tmp_path: Path) -> None:
    r: Relation = load(
        "CREATE STREAM r (i INT, d DECIMAL(8, 2), x DOUBLE, day DATE, t TIMESTAMP, b BOOLEAN,"
        " s STRING, PRIMARY KEY (d, day, t, b))"
    )[0].relation("r")
    row = (
        None,
        Decimal("-1.50"),
        0.1,
        date(1969, 2, 3),
        datetime(2024, 2, 29, 1, 2, 3, 4),
        False,
        "é'\"",
    )
    schema = arrow_schema(r.columns)
    columns = zip(row, schema, strict=True)
    table = pa.Table.from_arrays([pa.array([v], f.type) for v, f in columns], schema=schema)
    store = KeyStore(tmp_path / "keys.sqlite", [r])
    store.commit("7", {"r": table.append_column(DELETED, pa.array([False]))})
    store.close()
    again = KeyStore(tmp_path / "keys.sqlite", [r])
    assert again.token == "7"
    assert rows_of(again.find(r, table)) == [row]
    again.commit("8", {"r": table.append_column(DELETED, pa.array([True]))})
    assert rows_of(again.find(r, table)) == []
