"""Rows that come in the order of their key: found by a search, refused as everywhere else."""

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
from freshview.calculus.types import DATE, INT, STRING, TIMESTAMP, Type, decimal
from freshview.calculus.types import Value as Cell
from freshview.codegen.library.row_store import row_store_source
from freshview.errors import BadRow
from freshview.runtime.ingest.change import counted_change
from freshview.runtime.relations.base import Base
from freshview.runtime.relations.stored_base import StoredBase
from tests.native.conftest import library_of

pytestmark = pytest.mark.native


def stored(relation: Relation) -> StoredBase:
    return StoredBase(relation, library_of(row_store_source()))


def outcome(base: Base | StoredBase, changes: dict[Row, int]) -> str:
    try:
        base.enter(counted_change(base.relation, list(changes.items())))
    except BadRow as e:
        return str(e)
    return ""


def key_cell(kind: Type, n: int) -> Cell:
    if kind == DATE:
        return date(1999, 1, 1) + timedelta(days=n)
    return datetime(1999, 1, 1) + timedelta(hours=n) if kind == TIMESTAMP else n


def relation_of(draw: random.Random) -> Relation:
    """One to three columns of a key, among others, in any places."""
    kinds = [draw.choice((INT, DATE, TIMESTAMP)) for _ in range(draw.choice((1, 2, 2, 3)))]
    columns = [Column(f"k{i}", kind) for i, kind in enumerate(kinds)]
    columns.insert(draw.randrange(len(columns) + 1), Column("s", STRING))
    columns.insert(draw.randrange(len(columns) + 1), Column("m", decimal(2)))
    key = [c.name for c in columns if c.name.startswith("k")]
    return Relation("R", tuple(columns), key=tuple(key))


def rising(draw: random.Random, relation: Relation, last: list[int], many: int) -> list[Row]:
    """Rows with keys that rise from the last one on, many of them with the same beginning."""
    rows = []
    for _ in range(many):
        at = draw.choice(range(len(last)))
        last[at] += draw.choice((1, 1, 1, 2, 100))
        last[at + 1 :] = [draw.randrange(3) for _ in last[at + 1 :]]
        n = iter(last)
        cells: list[Cell] = []
        for c in relation.columns:
            if c.name == "s":
                cells.append(draw.choice(("", "a", "a text of more than seven bytes")))
            elif c.name == "m":
                cells.append(Decimal(draw.choice((1, 1000, 10**9))) / 10)
            else:
                cells.append(key_cell(c.type, next(n)))
        rows.append(tuple(cells))
    return rows


@pytest.mark.parametrize("seed", range(40))
def test_a_sorted_store_is_the_dictionary(seed: int, tmp_path: Path) -> None:
    """Keys rise, and now and then they do not; rows go, also such as are not there."""
    draw = random.Random(seed)
    relation = relation_of(draw)
    plain, store = Base(relation), stored(relation)
    last, calm = [0] * len(relation.key), draw.choice((0.0, 0.0, 0.2))
    for _ in range(14):
        rows = rising(draw, relation, last, draw.choice((0, 1, 5, 70, 400)))
        changes = dict.fromkeys(rows, 1)
        held = list(plain.rows)
        gone = draw.sample(held, min(len(held), draw.choice((0, 1, 3, 60, 300))))
        changes |= dict.fromkeys(gone, -1)
        if held and draw.random() < calm:  # out of order, or a key that is there
            changes |= {draw.choice(held): draw.choice((1, -1, -2))}
            changes |= dict.fromkeys(rising(draw, relation, [0] * len(last), 2), 1)
        if draw.random() < 0.2:  # rows that are gone, that never came, that differ in a value
            wrong = [*gone[:1], *rising(draw, relation, [*last[:-1], last[-1] + 9], 1), *held[:1]]
            row = list(draw.choice(wrong))
            row[[c.name for c in relation.columns].index("s")] = "another text, a longer one"
            changes[tuple(row)] = -1
        order = draw.sample(list(changes), len(changes)) if draw.random() < 0.1 else list(changes)
        changes = {row: changes[row] for row in order}
        refused = outcome(plain, changes)
        assert outcome(store, changes) == refused
        if not refused and draw.random() < 0.3:
            change = counted_change(relation, list(changes.items()))
            plain.leave(change)
            store.leave(change)
        assert store.rows == plain.rows
        assert store.size == len(plain.rows)
        for row in (*draw.sample(list(plain.rows), min(len(plain.rows), 5)), *gone[:2]):
            assert store.count(row) == plain.rows.get(row, 0)
        if draw.random() < 0.2:
            store.instance.save(tmp_path / "rows")
            store = stored(relation)
            store.instance.restore(tmp_path / "rows")


KEYED = Relation("R", (Column("k", INT), Column("x", INT)), key=("k",))


def numbered(first: int, end: int, step: int = 1) -> pa.RecordBatch:
    keys = np.arange(first, end, step)
    return pa.RecordBatch.from_pydict({"k": keys, "x": keys % 7})


def test_rising_keys_need_no_index() -> None:
    store, shuffled = stored(KEYED), stored(KEYED)
    rows = numbered(0, 300_000)
    for first in range(0, 300_000, 10_000):
        store.instance.apply_arrow(0, rows.slice(first, 10_000))
    store.instance.apply_arrow(0, numbered(5, 200_000, 3), None, -1)
    shuffled.instance.apply_arrow(0, rows.take(np.random.default_rng(1).permutation(300_000)))
    assert store.instance.stats().bytes < 0.75 * shuffled.instance.stats().bytes
    assert store.count((5, 5)) == 0
    assert store.count((4, 4)) == 1
    assert store.size == 300_000 - 66_665


def test_keys_that_jump_and_lie_close_are_found() -> None:
    """A guess by even spread is far off: a few keys lie far beyond all others."""
    keys = np.concatenate([np.arange(100_000), 2**62 + np.arange(100), [2**63 - 1]])
    store = stored(KEYED)
    store.instance.apply_arrow(0, pa.RecordBatch.from_pydict({"k": keys, "x": keys % 7}))
    gone = np.random.default_rng(1).permutation(keys)[:5000]
    store.instance.apply_arrow(0, pa.RecordBatch.from_pydict({"k": gone, "x": gone % 7}), None, -1)
    assert store.size == len(keys) - 5000
    assert store.count((int(gone[0]), int(gone[0] % 7))) == 0


def test_a_sorted_store_with_many_holes_is_indexed_and_gives_memory_back() -> None:
    store = stored(KEYED)
    for first in range(0, 2_000_000, 50_000):
        store.instance.apply_arrow(0, numbered(first, first + 50_000))
        if first:
            store.instance.apply_arrow(0, numbered(first - 50_000, first), None, -1)
    assert store.size == 50_000
    assert store.instance.stats().bytes < 12_000_000
    assert store.count((1_999_999, 1_999_999 % 7)) == 1


def test_a_key_comes_again_after_its_row_is_gone() -> None:
    store = stored(KEYED)
    store.instance.apply_arrow(0, numbered(0, 1000))
    store.instance.apply_arrow(0, numbered(500, 510), None, -1)
    store.instance.apply_arrow(0, numbered(500, 505))
    assert store.size == 995
    assert store.count((502, 502 % 7)) == 1
    assert store.count((507, 507 % 7)) == 0
