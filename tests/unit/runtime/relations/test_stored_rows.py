"""How a row store keeps rows: every form of Arrow, indexes that climb, holes, and what it costs."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from freshview.calculus.rows import Row
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import BOOL, DATE, DOUBLE, INT, STRING, TIMESTAMP, Type, decimal
from freshview.codegen.library.row_store import row_store_source
from freshview.errors import BadRow
from freshview.runtime.ingest.change import Change, counted_change
from freshview.runtime.relations.base import Base
from freshview.runtime.relations.stored_base import StoredBase
from tests.native.conftest import library_of

pytestmark = pytest.mark.native

KINDS = (INT, decimal(2), DOUBLE, DATE, TIMESTAMP, BOOL, STRING)
FORMS: dict[str, list[pa.DataType]] = {
    "int": [pa.int64(), pa.int32(), pa.int16(), pa.dictionary(pa.int8(), pa.int64())],
    "decimal": [
        pa.decimal128(30, 2),
        pa.decimal64(15, 2),
        pa.decimal32(8, 2),
        pa.decimal128(20, 1),
    ],
    "double": [pa.float64(), pa.float32()],
    "date": [pa.date32(), pa.date64()],
    "timestamp": [pa.timestamp("us"), pa.timestamp("s")],
    "bool": [pa.bool_()],
    "string": [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int16(), pa.string()),
    ],
}
"""The types in which an Arrow table may bring the values of a kind."""

TEXTS = ("", "a", "sevenby", "eight by", "über", "a text of more than seven bytes", "x" * 70_000)


def relation_of(draw: random.Random) -> Relation:
    """A relation of some kinds of columns, some of them with NULLs, maybe with a key."""
    types = [draw.choice(KINDS) for _ in range(draw.randrange(1, 9))]
    columns = tuple(
        Column(f"c{i}", Type(t.kind, t.scale, draw.random() < 0.3)) for i, t in enumerate(types)
    )
    plain = [c.name for c in columns if not c.type.nullable]
    key = draw.sample(plain, min(len(plain), 2)) if draw.random() < 0.4 else []
    return Relation("R", columns, key=tuple(key))


def value_of(draw: random.Random, type_: Type, few: int) -> object:
    if type_.nullable and draw.random() < 0.1:
        return None
    n = draw.randrange(few)
    match type_.kind:
        case "int":
            return n
        case "decimal":
            return Decimal(n) / 10 if n % 7 else Decimal(10**20 + n)
        case "double":
            return float(n) / 4
        case "date":
            return date(2000, 1, 1) + timedelta(days=n)
        case "timestamp":
            return datetime(2000, 1, 1) + timedelta(seconds=n)
        case "bool":
            return n % 2 == 0
    return TEXTS[n] if n < len(TEXTS) else f"{n} is a text, too"


def table_of(draw: random.Random, relation: Relation, rows: list[Row]) -> pa.RecordBatch:
    """Rows as an Arrow batch of any types that hold them, maybe a slice of a longer one."""
    lead = draw.choice((0, 3))
    arrays = []
    for i, c in enumerate(relation.columns):
        values = [row[i] for row in rows[:lead] + rows]
        while True:
            form = draw.choice(FORMS[c.type.kind])
            try:
                whole = pa.array(values, form.value_type if pa.types.is_dictionary(form) else form)
                arrays.append(whole.dictionary_encode() if pa.types.is_dictionary(form) else whole)
                break
            except (pa.ArrowInvalid, OverflowError):
                continue
    batch = pa.RecordBatch.from_arrays(arrays, [c.name for c in relation.columns])
    return batch.slice(min(lead, len(rows)))


def outcome(base: Base | StoredBase, change: Change) -> str:
    try:
        base.enter(change)
    except BadRow as e:
        return str(e)
    return ""


def stored(relation: Relation) -> StoredBase:
    return StoredBase(relation, library_of(row_store_source()))


@pytest.mark.parametrize("seed", range(60))
def test_a_store_is_the_dictionary_whatever_arrow_brings(seed: int, tmp_path: Path) -> None:
    """Random relations and batches: rows that come again and go, refusals, undoing, restarts."""
    draw = random.Random(seed)
    relation, few = relation_of(draw), draw.choice((2, 5, 40, 4000))
    plain, store = Base(relation), stored(relation)
    for step in range(12):
        size = draw.choice((1, 3, 30, 300))
        rows = [tuple(value_of(draw, c.type, few) for c in relation.columns) for _ in range(size)]
        counts = [draw.choice((1, 1, 1, 2)) for _ in rows]
        for row in draw.sample(list(plain.rows), min(len(plain.rows), draw.choice((0, 0, 9, 200)))):
            rows.append(row)
            counts.append(-draw.choice((plain.rows[row], 1, plain.rows[row] + (step % 4 == 0))))
        order = draw.sample(range(len(rows)), len(rows))
        rows, counts = [rows[i] for i in order], [counts[i] for i in order]
        change = counted_change(relation, list(zip(rows, counts, strict=True)))
        refused = outcome(plain, change)
        arrow = Change(relation, None, table_of(draw, relation, rows), np.array(counts))
        assert outcome(store, arrow) == refused
        if not refused and draw.random() < 0.3:
            plain.leave(change)
            store.leave(arrow)
        assert store.rows == plain.rows
        for row in draw.sample(list(plain.rows), min(len(plain.rows), 5)):
            assert store.count(row) == plain.rows[row]
        if draw.random() < 0.2:
            store.instance.save(tmp_path / "rows")
            store = stored(relation)
            store.instance.restore(tmp_path / "rows")


def test_many_rows_come_and_go_at_random() -> None:
    """Buckets of the index overflow, blocks fill and are moved: all rows are found."""
    relation = Relation("R", (Column("k", INT), Column("s", STRING)), key=("k",))
    store, rng = stored(relation), np.random.default_rng(3)
    held = np.zeros(0, np.int64)
    for _ in range(40):
        fresh = np.setdiff1d(rng.integers(0, 150_000, 12_000), held)
        gone = rng.choice(held, min(len(held), 11_000), replace=False)
        keys = np.concatenate([fresh, gone])
        counts = np.repeat([1, -1], [len(fresh), len(gone)]).astype(np.int64)
        texts = pa.array([f"the text of {k}" for k in keys])
        store.enter(Change(relation, None, pa.record_batch({"k": keys, "s": texts}), counts))
        held = np.concatenate([np.setdiff1d(held, gone), fresh])
    assert store.rows == {(int(k), f"the text of {k}"): 1 for k in held}
    with pytest.raises(BadRow, match="two rows with the key"):
        store.enter(Change(relation, [(int(held[0]), "another")]))


def pairs(numbers: np.ndarray, others: np.ndarray) -> pa.RecordBatch:
    return pa.record_batch({"a": numbers, "b": others})


PAIRS = Relation("P", (Column("a", INT), Column("b", INT)))


def strays_per_delete(same: int) -> float:
    """Rows looked at in vain by each of 1,000 deletes, where so many rows have one number."""
    store = stored(PAIRS)
    unique = np.arange(20_000)
    store.enter(Change(PAIRS, None, pairs(unique, unique % 7)))
    store.enter(Change(PAIRS, None, pairs(unique[:1], unique[:1]), sign=-1))
    store.enter(Change(PAIRS, None, pairs(np.full(same, -1), np.arange(same))))
    before = store.instance.stats().visits
    for n in range(0, 1000, 10):
        gone = np.arange(n, n + 10)
        store.enter(Change(PAIRS, None, pairs(np.full(10, -1), gone), sign=-1))
    assert sum(store.rows.values()) == 20_000 - 1 + same - 1000
    return (store.instance.stats().visits - before) / 1000


def test_a_delete_costs_the_same_however_many_rows_share_a_number() -> None:
    """The index is by `a` at first, which tells rows apart no more: so it climbs."""
    assert strays_per_delete(5000) < 3
    assert strays_per_delete(80_000) < 3


def test_equal_rows_are_counted_where_they_are_many() -> None:
    """Rows that are there many times end as counts, with deletes between, at no growing cost."""
    store = stored(PAIRS)
    few = np.arange(100_000) % 10
    for _ in range(20):
        store.enter(Change(PAIRS, None, pairs(few, few)))
        gone = few[10:0:-1]  # not the order in which they came: an index is needed
        store.enter(Change(PAIRS, None, pairs(gone, gone), sign=-1))
    stats = store.instance.stats()
    assert store.rows == {(n, n): 20 * 9999 for n in range(10)}
    assert stats.sizes["rows"] == 10
    assert stats.visits < 1_000_000
    assert stats.bytes < 20_000_000


@pytest.mark.parametrize("keyed", [False, True])
def test_rows_that_come_and_go_for_ever_take_no_more_memory(keyed: bool) -> None:
    relation = Relation("R", (Column("k", INT), Column("s", STRING)), key=("k",) if keyed else ())
    store = stored(relation)
    sizes = []
    for n in range(0, 600_000, 3000):
        keys = np.arange(n, n + 3000)
        texts = pa.array([f"a text as long as others, of {k}" for k in keys])
        store.enter(Change(relation, None, pa.record_batch({"k": keys, "s": texts})))
        if n >= 6000:
            old = keys - 6000
            texts = pa.array([f"a text as long as others, of {k}" for k in old])
            store.enter(Change(relation, None, pa.record_batch({"k": old, "s": texts}), sign=-1))
        sizes.append(store.instance.stats().bytes)
    assert sizes[-1] <= 1.5 * max(sizes[: len(sizes) // 4])
    assert store.size == 6000


def test_the_rows_that_stay_among_others_that_go_are_moved_together() -> None:
    """One row of twenty stays: memory is that of those, not of all that ever came."""
    relation = Relation("R", (Column("k", INT), Column("s", STRING), Column("m", decimal(2))))
    store = stored(relation)
    draw = random.Random(8)
    kept: list[Row] = []
    waiting: list[Row] = []
    for n in range(0, 300_000, 3000):
        rows = [
            (k, f"a text as long as others, of {k}", Decimal(k) / 4) for k in range(n, n + 3000)
        ]
        store.enter(Change(relation, rows))
        store.enter(Change(relation, waiting, sign=-1))
        kept += rows[::20]
        waiting = [row for i, row in enumerate(rows) if i % 20]
        draw.shuffle(waiting)
    store.enter(Change(relation, waiting, sign=-1))
    assert store.rows == dict.fromkeys(kept, 1)
    assert store.instance.stats().bytes < 6_000_000


def test_refused_batches_leave_no_memory_behind() -> None:
    relation = Relation("R", (Column("k", INT), Column("s", STRING)), key=("k",))
    store = stored(relation)
    store.enter(Change(relation, [(-1, "the first")]))
    texts = pa.array(["a text that is not short " * 4] * 2000)
    bad = pa.record_batch({"k": np.append(np.arange(1999), -1), "s": texts})
    sizes = set()
    for _ in range(30):
        with pytest.raises(BadRow, match="two rows with the key"):
            store.enter(Change(relation, None, bad))
        sizes.add(store.instance.stats().bytes)
    assert len(sizes) <= 2
    assert store.rows == {(-1, "the first"): 1}


def test_a_batch_with_many_rows_of_one_key_is_refused_soon() -> None:
    relation = Relation("R", (Column("a", INT), Column("b", INT)), key=("a",))
    store = stored(relation)
    numbers = np.arange(50_000)
    before = store.instance.stats().visits
    with pytest.raises(BadRow, match="two rows with the key"):
        store.enter(Change(relation, None, pairs(np.zeros(50_000, np.int64), numbers)))
    assert store.instance.stats().visits - before < 2_000_000
    rows = [((0, n), count) for n in range(300) for count in (1, -1)]
    store.enter(counted_change(relation, [*rows, ((0, 7), 1)]))
    assert store.rows == {(0, 7): 1}


def test_a_store_owns_its_rows() -> None:
    """Arrow lends the memory of NumPy, which its owner may write to afterwards."""
    numbers, reals = np.arange(5000), np.arange(5000) / 8
    relation = Relation("R", (Column("n", INT), Column("x", DOUBLE)))
    store = stored(relation)
    store.enter(Change(relation, None, pa.record_batch({"n": numbers, "x": reals})))
    numbers[:], reals[:] = -1, -1.0
    assert store.rows == {(n, n / 8): 1 for n in range(5000)}
    store.enter(Change(relation, [(n, n / 8) for n in range(5000)], sign=-1))
    assert store.rows == {}


def test_a_large_decimal_widens_the_rows_that_are_there() -> None:
    relation = Relation("R", (Column("m", decimal(2)), Column("s", STRING), Column("b", BOOL)))
    store = stored(relation)
    small = [(Decimal(n) / 100, f"text number {n}", n % 2 == 0) for n in range(50)]
    large = (Decimal("123456789012345678901.25"), "large", True)
    store.enter(Change(relation, small))
    store.enter(Change(relation, [large]))
    assert store.rows == dict.fromkeys([*small, large], 1)
    store.enter(Change(relation, [small[3], large], sign=-1))
    assert store.rows == dict.fromkeys([r for r in small if r != small[3]], 1)
