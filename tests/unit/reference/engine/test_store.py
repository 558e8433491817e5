"""Indexes follow the rows, and what was done can be undone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from freshview.reference.engine.store import Journal, Store, picker

rows = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2))
changes = st.lists(st.tuples(rows, st.integers(-2, 2)), max_size=20)
PATTERNS = ((0,), (2, 0), (0, 1, 2))


def grouped(store: Store, positions: tuple[int, ...]) -> dict:
    groups: dict = {}
    for row, m in store.rows.items():
        groups.setdefault(picker(positions)(row), {})[row] = m
    return groups


@given(changes)
def test_indexes_hold_what_the_rows_hold(steps: list) -> None:
    store = Store()
    for positions in PATTERNS:
        store.index(positions)
    for row, m in steps:
        store.add(row, m)
    assert 0 not in store.rows.values()
    for positions in PATTERNS:
        assert store.index(positions) == grouped(store, positions)


@given(changes, changes)
def test_rollback_undoes(before: list, after: list) -> None:
    journal = Journal()
    store = Store(journal=journal)
    store.index((0,))
    for row, m in before:
        store.add(row, m)
    journal.commit()
    kept = dict(store.rows)
    for row, m in after:
        store.add(row, m)
    journal.rollback()
    assert store.rows == kept
    assert store.index((0,)) == grouped(store, (0,))


@given(changes, st.dictionaries(rows, st.integers(1, 3)), st.integers(0, 2))
def test_replacing_a_slice_leaves_the_others(steps: list, new: dict, x: int) -> None:
    store = Store()
    for row, m in steps:
        store.add(row, m)
    others = {row: m for row, m in store.rows.items() if row[0] != x}
    slice_ = {row: m for row, m in new.items() if row[0] == x}
    store.replace(slice_, ((0,), (x,)))
    assert store.rows == {**others, **slice_}
