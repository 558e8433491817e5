"""The row store against the dictionary: the same rows, the same refusals, nothing left of them."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshview.calculus.rows import Row
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import BOOL, DATE, DOUBLE, INT, STRING, TIMESTAMP, Type, decimal
from freshview.errors import BadRow, Overflow
from freshview.runtime.compile import kernels
from freshview.runtime.ingest.change import Change, counted_change
from freshview.runtime.relations.base import Base
from freshview.runtime.relations.stored_base import StoredBase

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("native")]


def nullable(t: Type) -> Type:
    return Type(t.kind, t.scale, True)


EVERY_KIND = (INT, decimal(2), DOUBLE, DATE, TIMESTAMP, BOOL, STRING)
VALUES = {
    "int": [0, -(2**63) + 1, 2**63 - 1],
    "decimal": [Decimal("0.00"), Decimal("-99999999999999999999.99"), Decimal("1.50")],
    "double": [0.0, -1.5, 1e300],
    "date": [date(1970, 1, 1), date(1, 1, 1)],
    "timestamp": [datetime(1970, 1, 1), datetime(2024, 5, 6, 7, 8, 9, 10)],
    "bool": [True, False],
    "string": ["", "short", "a text of more than seven bytes"],
}
PLAIN = Relation("R", tuple(Column(f"c{i}", nullable(t)) for i, t in enumerate(EVERY_KIND)))
KEYED = Relation(
    "K", (Column("k", INT), Column("t", STRING), Column("v", nullable(INT))), key=("t", "k")
)
NARROW = Relation("N", (Column("a", INT), Column("b", BOOL)))


def rows_of(relation: Relation) -> st.SearchStrategy[Row]:
    def values(c: Column) -> st.SearchStrategy[object]:
        pool = VALUES[c.type.kind][:2]
        return st.sampled_from([*pool, None] if c.type.nullable else pool)

    return st.tuples(*map(values, relation.columns))  # type: ignore[arg-type]


def batches_of(relation: Relation) -> st.SearchStrategy[list[list[tuple[Row, int]]]]:
    counts = st.sampled_from([1, 1, 1, 2, -1, -1, -2])
    return st.lists(st.lists(st.tuples(rows_of(relation), counts), max_size=6), max_size=10)


def stored(relation: Relation) -> StoredBase:
    return StoredBase(relation, kernels.row_store())


def outcome(base: Base | StoredBase, change: Change) -> str:
    try:
        base.enter(change)
    except BadRow as e:
        return str(e)
    return ""


@pytest.mark.parametrize("relation", [PLAIN, KEYED, NARROW], ids=lambda r: r.name)
@settings(deadline=None)
@given(data=st.data())
def test_a_row_store_is_the_dictionary(relation: Relation, data: st.DataObject) -> None:
    """Batches with deletions, repeated rows, NULLs and second rows of keys; some are taken back."""
    plain, store = Base(relation), stored(relation)
    for batch in data.draw(batches_of(relation)):
        change = counted_change(relation, batch)
        refused = outcome(plain, change)
        assert outcome(store, counted_change(relation, batch)) == refused
        if not refused and data.draw(st.booleans()):
            plain.leave(change)
            store.leave(change)
        assert store.rows == plain.rows
        assert all(store.count(row) == n for row, n in plain.rows.items())


def test_a_log_becomes_an_index_with_the_first_row_that_goes() -> None:
    """Blocks of the store, repeated rows among many, and the order in which they come."""
    plain, store = Base(NARROW), stored(NARROW)
    for part in range(3):
        rows = [((i * 7919 % 90_000, i % 2 == 0), 1) for i in range(part, 150_000, 2)]
        for base in (plain, store):
            base.enter(counted_change(NARROW, rows))
    gone = [((i * 7919 % 90_000, i % 2 == 0), -1) for i in range(0, 100_000, 2)]
    for base in (plain, store):
        base.enter(counted_change(NARROW, gone))
    assert store.rows == plain.rows
    assert store.size >= plain.size


def test_a_refused_batch_leaves_a_large_store_as_it_was() -> None:
    store = stored(NARROW)
    store.enter(counted_change(NARROW, [((i, True), 1) for i in range(5000)]))
    before = store.rows
    bad = [((i, True), -1) for i in range(4000)] + [((i, False), 1) for i in range(3000)]
    with pytest.raises(BadRow, match=r"does not hold \(9999, True\)"):
        store.enter(counted_change(NARROW, [*bad, ((9999, True), -1)]))
    assert store.rows == before
    store.enter(counted_change(NARROW, bad))
    assert store.size == 4000


def test_a_batch_in_pieces_is_one_change() -> None:
    """A row may go in the first piece of a table that brings it in the second."""
    store = stored(NARROW)
    pieces = [pa.table({"a": [1], "b": [True]}), pa.table({"a": [1, 2], "b": [True, True]})]
    change = Change(NARROW, None, pa.concat_tables(pieces), [-1, 1, 1])
    store.enter(change)
    assert store.rows == {(2, True): 1}
    store.leave(change)
    assert store.rows == {}


def test_multiplicities_beyond_31_bits_are_for_dictionaries() -> None:
    store = stored(NARROW)
    row = (1, True)
    store.enter(counted_change(NARROW, [(row, 2**31 - 1)]))
    with pytest.raises(Overflow):
        store.enter(counted_change(NARROW, [(row, 2**31)]))
    assert store.rows == {row: 2**31 - 1}
    store.enter(counted_change(NARROW, [(row, 1), ((2, True), -1), ((2, True), 1)]))
    assert store.rows == {row: 2**31}
    store.enter(counted_change(NARROW, [(row, -(2**31 - 1))]))
    assert store.rows == {row: 1}


def test_a_log_of_few_rows_many_times_is_counted() -> None:
    store = stored(NARROW)
    table = pa.table({"a": [i % 10 for i in range(1 << 19)], "b": [True] * (1 << 19)})
    for _ in range(3):
        store.enter(Change(NARROW, None, table))
    assert store.size == 10
    assert sum(store.rows.values()) == 3 << 19


def test_a_snapshot_brings_the_rows_back(tmp_path: Path) -> None:
    store = stored(KEYED)
    store.enter(counted_change(KEYED, [((1, "a long key of many bytes", None), 1)]))
    store.instance.save(tmp_path / "rows")
    again = stored(KEYED)
    again.instance.restore(tmp_path / "rows")
    assert again.rows == store.rows
    with pytest.raises(BadRow, match="two rows with the key"):
        again.enter(counted_change(KEYED, [((1, "a long key of many bytes", 5), 1)]))
    other = stored(NARROW)
    with pytest.raises(Exception, match="another program"):
        other.instance.restore(tmp_path / "rows")
