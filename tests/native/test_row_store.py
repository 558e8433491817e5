"""The row store by its own calls: blocks, the index, undoing, and what it finds."""

from __future__ import annotations

import random
from collections import Counter
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from freshview.calculus.rows import Row
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import BOOL, DATE, DOUBLE, INT, STRING, TIMESTAMP, decimal
from freshview.codegen.library.load import Kernel
from freshview.codegen.library.row_store import KEY_OF, ROW_OF, row_kernel, row_store_source
from freshview.errors import NotAdmitted
from tests.native.conftest import library_of

pytestmark = pytest.mark.native

PLAIN = Relation("r", (Column("a", INT), Column("s", STRING), Column("b", BOOL)))
KEYED = Relation("k", (Column("k", INT), Column("x", DOUBLE), Column("m", decimal(2))), key=("k",))
WIDE = Relation("w", tuple(Column(f"c{i}", STRING if i % 3 else INT) for i in range(40)))


@pytest.fixture(scope="module")
def library() -> Kernel:
    return library_of(row_store_source())


def counted(rows: list[tuple[Row, int]]) -> dict[Row, int]:
    """How often each row is there; a store may tell it in several parts."""
    out: dict[Row, int] = {}
    for row, n in rows:
        out[row] = out.get(row, 0) + n
    return out


def plain_row(n: int) -> Row:
    return n, f"text {n % 50}" * (n % 4), n % 3 == 0


def wide_row(n: int) -> Row:
    return tuple(f"{n} in column {i}" if i % 3 else n for i in range(40))


def day_of(n: int) -> date:
    return date(1970, 1, 1) + timedelta(days=abs(n) % 2_900_000)


def moment_of(n: int) -> datetime:
    return datetime(1970, 1, 1) + timedelta(microseconds=n % 10**15)


@pytest.mark.parametrize(("relation", "row_of"), [(PLAIN, plain_row), (WIDE, wide_row)])
def test_random_batches_against_a_dictionary(
    library: Kernel, relation: Relation, row_of: object
) -> None:
    """Sizes around those of blocks, so that records are reused and the index grows and shrinks."""
    draw = random.Random(5)
    store, model = row_kernel(library, relation).open(), dict[Row, int]()
    for size in (1, 63, 64, 65, 700, 3, 255, 256, 257, 1200, 1, 900):
        rows = [row_of(draw.randrange(1500)) for _ in range(size)]  # type: ignore[operator]
        counts = [draw.choice((1, 1, 2)) for _ in rows]
        for row in draw.sample(list(model), len(model) // 3):
            rows.append(row)
            counts.append(-model[row])
        store.apply_rows(0, rows, counts)
        for row, n in zip(rows, counts, strict=True):
            model[row] = model.get(row, 0) + n
        model = {row: n for row, n in model.items() if n}
        with pytest.raises(NotAdmitted):
            store.apply_rows(0, [*rows, row_of(-1)], [*counts, -1])  # type: ignore[operator]
        held = store.read_rows(ROW_OF)
        assert counted(held) == model
        assert store.stats().sizes["rows"] == len(held) >= len(model)


def test_keys_are_looked_at_when_the_batch_is_in(library: Kernel) -> None:
    store = row_kernel(library, KEYED).open()
    rows = [(k, k / 2, k) for k in range(500)]
    store.apply_rows(0, rows)
    updated = [(k, k / 2, k + 1) for k in range(500)]
    store.apply_rows(0, [*updated, *rows], [1] * 500 + [-1] * 500)
    for bad in ([(7, 0.0, 0)], [(900, 0.0, 0), (900, 0.0, 1)], [(901, 0.0, 0)] * 2):
        with pytest.raises(NotAdmitted):
            store.apply_rows(0, bad)
    assert store.find_rows(KEY_OF, [7]) == [((7, 3.5, 8), 1)]
    assert store.find_rows(KEY_OF, [900]) == []
    assert store.stats().sizes["rows"] == 500


def test_rows_that_were_the_last_to_come_go_without_an_index(library: Kernel) -> None:
    store = row_kernel(library, PLAIN).open()
    for n in range(0, 3000, 300):
        store.apply_rows(0, [plain_row(i) for i in range(n, n + 300)])
    before = store.stats().bytes
    for n in range(2700, 0, -300):
        store.apply_rows(0, [plain_row(i) for i in range(n, n + 300)], sign=-1)
    assert store.stats().bytes == before  # an index would have taken more
    store.apply_rows(0, [plain_row(i) for i in range(5, 400)])
    store.apply_rows(0, [plain_row(299), plain_row(3)], sign=-1)
    assert sum(n for _, n in store.read_rows(ROW_OF)) == 300 + 395 - 2


def test_a_state_that_is_restored_goes_on(library: Kernel, tmp_path: Path) -> None:
    store = row_kernel(library, KEYED).open()
    store.apply_rows(0, [(k, 0.5, k) for k in range(300)])
    store.save(tmp_path / "state")
    again = row_kernel(library, KEYED).open()
    again.restore(tmp_path / "state")
    again.apply_rows(0, [(k, 0.5, k) for k in range(0, 300, 2)], sign=-1)
    assert again.stats().sizes["rows"] == 150
    again.apply_rows(0, [(k, 1.5, k) for k in range(0, 300, 2)])
    with pytest.raises(NotAdmitted):
        again.apply_rows(0, [(3, 1.5, 3)])


def test_chained_rows_are_taken_by_all_or_none(library: Kernel) -> None:
    first, second = row_kernel(library, KEYED).open(), row_kernel(library, KEYED).open()
    seen: list[object] = []

    def undo(others: int, row: Row) -> None:
        seen.append(("undo", others))
        first.apply_rows(0, [row], sign=-1)

    chain = [lambda: seen.append("lock"), lambda: seen.append("free"), undo, second.insert_row(0)]
    insert = first.insert_row(0, lambda *row: seen.append(row), chain)
    insert(1, 0.5, 1)
    assert (seen, first.divert(0, False)) == (["lock", "free"], 1)
    second.apply_rows(0, [(2, 0.5, 2)])
    insert(2, 0.5, 7)
    assert seen[2:] == ["lock", ("undo", 0), "free", (2, 0.5, 7)]
    assert [x.stats().sizes["rows"] for x in (first, second)] == [1, 2]
    insert(1, 0.5, 9)  # the first one refuses it
    chain.clear()
    insert(3, 0.5, 3)
    assert seen[6:] == ["lock", "free", (1, 0.5, 9), (3, 0.5, 3)]
    assert first.divert(0, False) == 0


def test_columns_are_as_wide_as_their_values_need(library: Kernel) -> None:
    """The ends of every width, and NULL, which is the smallest of each; then rows go again."""
    columns = (INT, decimal(2), DATE, TIMESTAMP, STRING, BOOL, DOUBLE)
    relation = Relation("v", tuple(Column(f"c{i}", t.or_null()) for i, t in enumerate(columns)))
    store, model = row_kernel(library, relation).open(), list[Row]()
    wide = 10**30
    for step, ends in enumerate(
        ((0, 127, -127), (128, -128, 32767), (-32768, 2**31 - 1), (-(2**31), 2**63 - 1), (wide,))
    ):
        rows: list[Row] = [
            (min(e, 2**63 - 1), e, day_of(e), moment_of(e), "a" * (step % 3), e > 0, float(e))
            for e in ends
        ]
        rows += [(None,) * 7, (step, None, day_of(step), None, "", None, 0.5)]
        for row in rows:
            store.apply_rows(0, [row])
        store.apply_rows(0, rows * 30)
        model += rows * 31
        assert counted(store.read_rows(ROW_OF)) == Counter(model)
    random.Random(3).shuffle(model)
    half = len(model) // 2
    store.apply_rows(0, model[:half], sign=-1)
    assert counted(store.read_rows(ROW_OF)) == Counter(model[half:])
    with pytest.raises(NotAdmitted):
        store.apply_rows(0, [(None, None, None, None, "a", None, None)], sign=-1)
    store.apply_rows(0, model[half:], sign=-1)
    assert store.stats().sizes["rows"] == 0
