"""What a batch of a theta join costs follows the batch and its pairs, not what is stored."""

from __future__ import annotations

from typing import Any

import pytest

from freshview.temporal import Sliding
from freshview.theta import Band, Comparison, Source, ThetaJoin
from freshview.theta.controller import choose
from freshview.theta.local.predicate import BoundTheta
from freshview.theta.local.store import ArrayStore
from freshview.theta.terms import Groups, Sizes

FEW, MANY = 500, 5000
SLACK = 30
"""Keys are random: a row may have another number of copies."""
PREDICATES = {
    "equality": Comparison("k", "=", "k"),
    "band": Band("k", "k", -1, 1),
    "band and inequality": (Comparison("v", "!=", "v"), Band("k", "k", 0, 2)),
}


class Work:
    """Candidates that are checked, and rows that are stored."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.count = 0
        holds, append = BoundTheta.holds, ArrayStore._append

        def counted_holds(theta: Any, r: Any, i: Any, *rest: Any) -> Any:
            self.count += len(i)
            return holds(theta, r, i, *rest)

        def counted_append(store: Any, tuples: Any) -> None:
            self.count += len(tuples)
            append(store, tuples)

        patch.setattr(BoundTheta, "holds", counted_holds)
        patch.setattr(ArrayStore, "_append", counted_append)


def stored(on: Any, rows: int, **options: Any) -> ThetaJoin:
    columns = {"k": "int", "v": "int", "t": "int"}
    r, s = (Source(name, columns, time="t") for name in "rs")
    join = ThetaJoin(r, s, on, joiners=8, scheme="square", engine="numpy", **options)
    join.push({"r": [(3 * k, k, k) for k in range(rows)]})
    join.push({"s": [(3 * k + 10**6, k, k) for k in range(rows)]})
    return join


def one_batch(join: ThetaJoin) -> None:
    join.push({"r": [(7, 1, 5), (10**6 + 1, 1, 5)], "s": [(31, 2, 6), (10**6 + 2, 2, 6)]})


@pytest.mark.parametrize("on", PREDICATES.values(), ids=PREDICATES)
def test_a_batch_does_not_grow_with_the_state(on: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    for rows in (FEW, MANY):
        join, work = stored(on, rows), Work(monkeypatch)
        one_batch(join)
        counts.append(work.count)
        monkeypatch.undo()
    assert abs(counts[1] - counts[0]) <= SLACK


def test_a_window_bounds_what_a_cross_product_looks_at(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    for rows in (FEW, MANY):
        join, work = stored((), rows, window=Sliding(4)), Work(monkeypatch)
        one_batch(join)
        counts.append(work.count)
        monkeypatch.undo()
    assert abs(counts[1] - counts[0]) <= SLACK


def test_a_batch_while_state_moves_does_not_grow_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It pays for its new rows, whatever waits."""
    counts = []
    for rows in (FEW, MANY):
        join = stored(PREDICATES["band"], rows, pace=1)
        assert isinstance(join.placement, Groups)
        join.migrate(choose(Sizes(1, 1000), join.placement))
        work = Work(monkeypatch)
        one_batch(join)
        counts.append(work.count)
        monkeypatch.undo()
        assert join.is_migrating
    assert abs(counts[1] - counts[0]) <= SLACK
