"""The operator in this process: what comes out, when, and what stays inside."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from freshview.errors import BadRow, FreshviewError, UnknownName
from freshview.temporal import (
    BadWindow,
    CountingClock,
    ManualClock,
    Sliding,
    Tumbling,
    TupleCount,
)
from freshview.theta import (
    Band,
    Comparison,
    Dynamic,
    Function,
    Policy,
    Sizes,
    Source,
    Static,
    ThetaJoin,
    prometheus,
)
from freshview.theta.controller import choose
from freshview.theta.operator.exchange import LOCAL_PACE, NEW_BYTES_PAID, Exchange
from freshview.theta.operator.options import BadJoin
from freshview.theta.terms import Groups, Mapping

COLUMNS = {"k": "int", "v": "int"}
LESS = Comparison("k", "<", "k")
EQUAL = Comparison("k", "=", "k")


def a_join(on: Any = LESS, **options: Any) -> ThetaJoin:
    sources = {"retracts": options.pop("retracts", False)}
    return ThetaJoin(
        Source("r", COLUMNS, **sources), Source("s", COLUMNS, **sources), on, **options
    )


def some_rows(random: Random, count: int, most: int = 50) -> list[tuple[int, int]]:
    return [(random.randrange(most), random.randrange(1000)) for _ in range(count)]


def mapping_of(join: ThetaJoin) -> Mapping:
    assert isinstance(join.placement, Groups)
    return join.placement.grids[0].mapping


# --- results ------------------------------------------------------------------------------------


def test_a_pair_comes_with_the_later_of_its_rows() -> None:
    join = a_join()
    assert join.push({"r": [(1, 10), (5, 20)]}).rows() == []
    assert join.push({"s": [(3, 30)]}).rows() == [((1, 10, 3, 30), 1)]
    assert join.push({"r": [(2, 40)], "s": [(9, 50)]}).net() == Counter(
        {(2, 40, 3, 30): 1, (1, 10, 9, 50): 1, (5, 20, 9, 50): 1, (2, 40, 9, 50): 1}
    )


def test_rows_columns_and_tables_are_read_alike() -> None:
    rows_r, rows_s = some_rows(Random(1), 30), some_rows(Random(2), 30)
    outputs = []
    for shape in (
        lambda rows: rows,
        lambda rows: [{"v": v, "k": k} for k, v in rows],
        lambda rows: pa.table({"k": [k for k, _ in rows], "v": [v for _, v in rows]}),
        lambda rows: {"v": np.array([v for _, v in rows]), "k": [k for k, _ in rows]},
        lambda rows: pa.record_batch({"k": [k for k, _ in rows], "v": [v for _, v in rows]}),
    ):
        join = a_join()
        outputs.append(join.push({"r": shape(rows_r), "s": shape(rows_s)}).net())
    assert outputs[0]
    assert all(output == outputs[0] for output in outputs)


def test_outputs_are_tables_with_weights_and_times() -> None:
    r = Source("r", {"t": "int", "d": "date?"}, time="t")
    s = Source("s", {"t": "int", "w": "string"}, time="t")
    for which, time in (("min", 3), ("max", 8)):
        join = ThetaJoin(r, s, window=Sliding(6), output_time=which)  # type: ignore[arg-type]
        table = join.push({"r": [(3, None)], "s": [(8, "x"), (9, "y")]}).to_arrow()
        assert table.to_pylist() == [
            {"r.t": 3, "r.d": None, "s.t": 8, "s.w": "x", "weight": 1, "time": time}
        ]
    empty = join.push({}).to_arrow()
    assert empty.num_rows == 0
    assert empty.schema.field("s.w").type == pa.string()


def test_sinks_hear_every_batch() -> None:
    heard: list[int] = []
    join = a_join().to(lambda output: heard.append(len(output)))
    join.push({"r": [(1, 1)]})
    join.push({"s": [(2, 1), (3, 1)]})
    assert heard == [0, 2]


def test_joins_compose() -> None:
    """Three relations, joined two by two, with deletions, against DuckDB."""
    random = Random(5)
    first = ThetaJoin(
        Source("a", {"k": "int"}, retracts=True), Source("b", {"k": "int"}, retracts=True), LESS
    )
    second = ThetaJoin(
        Source("ab", {"a": "int", "b": "int"}, retracts=True),
        Source("c", {"k": "int"}, retracts=True),
        Band("b", "k", 0, 2),
    )
    total: Counter[Any] = Counter()
    rows: dict[str, list[int]] = {"a": [], "b": [], "c": []}
    db = duckdb.connect()
    for _ in range(8):
        changes: dict[str, list[Any]] = {name: [] for name in rows}
        for name, values in rows.items():
            for _ in range(4):
                if values and random.random() < 0.3:
                    changes[name].append(((values.pop(),), -1))
                else:
                    values.append(random.randrange(12))
                    changes[name].append(((values[-1],), 1))
        middle = first.apply({"a": changes["a"], "b": changes["b"]})
        total.update(second.apply({"ab": middle.rows(), "c": changes["c"]}).net())
        for name, values in rows.items():
            db.register(name, pa.table({"k": pa.array(values, pa.int64())}))
        wanted = Counter(
            db.execute(
                "SELECT a.k, b.k, c.k FROM a, b, c WHERE a.k < b.k AND c.k - b.k BETWEEN 0 AND 2"
            ).fetchall()
        )
        assert Counter({row: n for row, n in total.items() if n}) == wanted


def test_a_deletion_may_come_before_its_row() -> None:
    join = a_join(retracts=True)
    join.push({"s": [(5, 0)]})
    assert join.apply({"r": [((1, 1), -1)]}).net() == Counter({(1, 1, 5, 0): -1})
    assert join.apply({"r": [((1, 1), 1)]}).net() == Counter({(1, 1, 5, 0): 1})
    assert join.push({"s": [(6, 0)]}).rows() == []


def test_a_row_may_come_several_times() -> None:
    join = a_join(retracts=True)
    join.apply({"r": [((1, 1), 3)], "s": []})
    assert join.apply({"s": [((2, 2), 2)]}).net() == Counter({(1, 1, 2, 2): 6})


def test_a_batch_that_raises_leaves_no_trace() -> None:
    def picky(r: Any, s: Any) -> bool:
        if r[1] == 13:
            raise ValueError("unlucky")
        return True

    join, other = (a_join((LESS, Function(picky)), joiners=3) for _ in range(2))
    total, wanted = Counter[Any](), Counter[Any]()
    random = Random(8)
    for _ in range(12):
        batch = {"r": some_rows(random, 5), "s": some_rows(random, 5)}
        bad = {"r": [*batch["r"], (-1, 13)], "s": batch["s"]}
        with pytest.raises(ValueError, match="unlucky"):
            join.push(bad)
        total += join.push(batch).net()
        wanted += other.push(batch).net()
        assert total == wanted
        assert join._exchange.stored == other._exchange.stored


# --- windows ------------------------------------------------------------------------------------


def timed_join(window: Any, delay: int = 2, **options: Any) -> ThetaJoin:
    columns = {"t": "int", "k": "int"}
    r, s = (Source(name, columns, time="t", delay=delay) for name in "rs")
    return ThetaJoin(r, s, options.pop("on", LESS), window=window, **options)


def test_windows_let_state_go() -> None:
    join = timed_join(Sliding(10))
    most = 0
    for t in range(0, 2000, 5):
        join.push({"r": [(t, 1)], "s": [(t, 2)]})
        most = max(most, join.metrics.load)
    assert most <= 16 * 2 * 8
    assert join.metrics.purged_bytes > 0
    assert join.metrics.pairs == 400 + 2 * 399


def test_the_last_rows_are_kept_and_no_more() -> None:
    join = a_join(window=TupleCount(5), joiners=1)
    for k in range(500):
        join.push({"r": [(k, 0)], "s": [(k, 0)]})
    assert join.metrics.load <= 16 * 2 * 8
    # A row of S joins the four rows of R before it: that of its own batch is not smaller.
    assert join.metrics.pairs == sum(min(4, k) for k in range(500))


def test_late_rows_are_handed_back() -> None:
    join = timed_join(Sliding(5))
    join.push({"r": [(100, 1)]})
    output = join.push({"r": [(98, 1), (97, 1)], "s": [(99, 2)]})
    assert output.late == {"r": [(97, 1)]}
    assert len(output) == 2
    assert join.metrics.late == {"r": 1, "s": 0}
    join.advance({"s": 1000})
    assert join.push({"s": [(999, 5)]}).late == {"s": [(999, 5)]}


def test_clocks_give_times_to_rows_without() -> None:
    clock = ManualClock()
    r = Source("r", COLUMNS, clock=clock)
    s = Source("s", COLUMNS, clock=clock)
    join = ThetaJoin(r, s, LESS, window=Tumbling(10))
    join.push({"r": [(1, 0)]})
    clock.now = 9
    assert len(join.push({"s": [(2, 0)]})) == 1
    clock.now = 10
    assert len(join.push({"s": [(2, 0)]})) == 0
    counting = ThetaJoin(
        Source("r", COLUMNS, clock=CountingClock()),
        Source("s", COLUMNS, clock=CountingClock()),
        LESS,
        window=Sliding(2),
    )
    assert len(counting.push({"r": [(1, 0)] * 3, "s": [(2, 0)]})) == 2


def test_a_stored_table_joins_a_stream_in_every_window() -> None:
    table = Source("brokers", {"k": "int"}, table=True)
    bids = Source("bids", {"t": "int", "k": "int"}, time="t", delay=0)
    join = ThetaJoin(bids, table, EQUAL, window=Sliding(5))
    join.push({"brokers": [(1,), (2,)]})
    for t in (1, 50, 1000):
        assert len(join.push({"bids": [(t, 1)]})) == 1


# --- migrations ---------------------------------------------------------------------------------


def grown_join(pace: int | None, rows: int = 400, joiners: int = 8) -> ThetaJoin:
    join = a_join(joiners=joiners, scheme="square", pace=pace)
    random = Random(3)
    join.push({"r": some_rows(random, rows), "s": some_rows(random, rows)})
    return join


def test_state_moves_in_steps_that_pay_for_new_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """While state moves, a joiner settles its pace, or twice its new bytes if that is more."""
    received: dict[int, int] = {}
    routed = Exchange._routed

    def noted(self: Exchange, batch: Any) -> Any:
        parts, new = routed(self, batch)
        received.update(new)
        return parts, new

    def waiting() -> dict[tuple[int, str], int]:
        joiners = join._exchange.joiners
        return {(h, side): r.bytes for h, j in joiners.items() for side, r in j.retiring.items()}

    monkeypatch.setattr(Exchange, "_routed", noted)
    join, random = grown_join(pace=200), Random(4)
    join.migrate(choose(Sizes(1, 1000), join.placement))  # type: ignore[arg-type]
    batches = 0
    while join.is_migrating:
        before = waiting()
        join.push({"s": some_rows(random, 3 * batches)})
        after = waiting()
        for at, had in before.items():
            budget = max(200, NEW_BYTES_PAID * max(received.values()))
            budget *= 1 if at[1] == "R" else LOCAL_PACE
            passed = had - after.get(at, 0)
            assert min(budget - 16, had) <= passed <= budget
        batches += 1
    assert batches > 3
    assert mapping_of(join) == Mapping(1, 8)


def test_a_migration_begins_at_no_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a row is looked at before the next batch, however many there are."""
    join = grown_join(pace=1)

    def refuse(*_: object) -> None:
        raise AssertionError("rows were looked at")

    with monkeypatch.context() as patch:
        patch.setattr("freshview.theta.migration.Transfers.moves", refuse)
        patch.setattr("freshview.theta.local.store.ArrayStore._append", refuse)
        join.migrate(choose(Sizes(1, 1000), join.placement))  # type: ignore[arg-type]
    assert join.is_migrating


def test_a_blocking_migration_ends_before_the_next_batch() -> None:
    join = grown_join(pace=None)
    join.migrate(choose(Sizes(1000, 1), join.placement))  # type: ignore[arg-type]
    join.push({"r": [(1, 1)]})
    assert not join.is_migrating
    assert join.metrics.moved_bytes > 0


def test_a_migration_ends_before_the_streams_double() -> None:
    join = a_join(EQUAL, joiners=16, scheme="dynamic", pace=1)
    random = Random(6)
    join.push({"r": some_rows(random, 500), "s": some_rows(random, 500)})
    sizes, durations = Sizes(0, 0), []
    for side in ("r", "s", "r", "s"):
        for _ in range(150):
            was_moving = join.is_migrating
            before = Sizes(join._exchange.stored["R"], join._exchange.stored["S"])
            join.push({side: some_rows(random, 10, most=10**9)})
            if join.is_migrating and not was_moving:
                sizes = before
            if was_moving and not join.is_migrating:
                now = join._exchange.stored
                durations.append((now["R"] / sizes.r, now["S"] / sizes.s))
    assert len(durations) >= 2
    assert all(r <= 2 and s <= 2 for r, s in durations)


def test_the_load_follows_the_optimum() -> None:
    """Streams whose sizes fluctuate by a factor of four; joiners hold what the bound admits.

    Parts of random keys differ by some percent, and a checkpoint may be late by a batch.
    """
    join = a_join(EQUAL, joiners=16, scheme="dynamic", pace=1 << 30)
    counts, random = {"r": 400, "s": 400}, Random(7)
    join.push({name: some_rows(random, 400) for name in counts})
    side, ratios = "r", []
    for _ in range(200):
        join.push({side: some_rows(random, 50, most=10**9)})
        counts[side] += 50
        other = "s" if side == "r" else "r"
        side = other if counts[side] > 4 * counts[other] else side
        mean = sum(join.metrics.storage.values()) / 16
        ratios.append(mean / join.metrics.optimum)
        assert join.metrics.skew < 1.35
    assert max(ratios) <= 1.25 * 1.02
    assert join.metrics.migrations >= 3


def test_joiners_are_added_at_their_cap_and_released_again() -> None:
    cap = 4000
    join = timed_join(
        Sliding(400),
        joiners=1,
        scheme="dynamic",
        policy=Policy(cap=cap, epsilon=0.25, shrinking=True),
    )
    joiners = set()
    for t in range(0, 600, 4):
        rows = [(t, k) for k in range(4)]
        join.push({"r": rows, "s": rows})
        assert join.metrics.load <= cap
        joiners.add(len(join.metrics.storage))
    assert joiners >= {1, 4, 16}
    for t in range(2000, 12000, 200):
        join.push({"r": [(t, 10)], "s": [(t, 11)]})
    assert len(join.metrics.storage) == 1


def test_only_one_migration_at_a_time() -> None:
    join = grown_join(pace=1)
    join.migrate(choose(Sizes(1, 1000), join.placement))  # type: ignore[arg-type]
    with pytest.raises(BadJoin, match="on its way"):
        join.migrate(choose(Sizes(1000, 1), join.placement))  # type: ignore[arg-type]


# --- schemes ------------------------------------------------------------------------------------


def skewed(random: Random, count: int, exponent: float) -> list[tuple[int, int]]:
    weights = [1 / (k + 1) ** exponent for k in range(200)]
    keys = random.choices(range(200), weights, k=count)
    return [(k, random.randrange(10**6)) for k in keys]


def run_scheme(scheme: Any, exponent: float, joiners: int = 16) -> ThetaJoin:
    join, random = a_join(EQUAL, joiners=joiners, scheme=scheme), Random(9)
    for _ in range(10):
        join.push({"r": skewed(random, 40, exponent), "s": skewed(random, 400, exponent)})
    return join


def test_all_schemes_give_the_same_pairs() -> None:
    joins = [
        run_scheme(scheme, 1.0)
        for scheme in ("hash", "square", "dynamic", "hybrid", "auto", Static(16, Sizes(1, 10)))
    ]
    assert len({join.metrics.pairs for join in joins}) == 1
    assert {type(join.scheme).__name__ for join in joins} == {
        "SymmetricHash", "Static", "Dynamic", "HybridByKey"
    }  # fmt: skip


def test_grids_do_not_mind_skew() -> None:
    by_hash, dynamic, hybrid = (run_scheme(s, 1.6) for s in ("hash", "dynamic", "hybrid"))
    assert by_hash.metrics.skew > 5
    assert dynamic.metrics.skew < 1.3
    assert hybrid.metrics.skew < by_hash.metrics.skew / 2.5
    assert hybrid.metrics.load < by_hash.metrics.load / 2.5
    assert "heavy" in hybrid.explain()


def test_without_skew_the_hybrid_stores_what_the_hash_does() -> None:
    by_hash, hybrid, dynamic = (run_scheme(s, 0.0) for s in ("hash", "hybrid", "dynamic"))
    assert sum(hybrid.metrics.storage.values()) == sum(by_hash.metrics.storage.values())
    assert sum(dynamic.metrics.storage.values()) > 2 * sum(by_hash.metrics.storage.values())


def test_values_that_were_heavy_become_light_again() -> None:
    join, random = a_join(EQUAL, joiners=8, scheme="hybrid", retracts=True), Random(2)
    heavy = [(7, k) for k in range(200)]
    join.push({"r": heavy, "s": heavy})
    assert len(join.placement.heavy) == 1  # type: ignore[union-attr]
    join.apply({name: [(row, -1) for row in heavy[5:]] for name in "rs"})
    for _ in range(6):
        join.push({name: some_rows(random, 300, most=10**6) for name in "rs"})
    assert len(join.placement.heavy) == 0  # type: ignore[union-attr]
    assert len(join.push({"r": [(7, -1)]})) == 5


def test_counts_may_be_those_of_a_sample() -> None:
    join = a_join(EQUAL, joiners=16, scheme=Dynamic(16, Policy(), sample=16))
    random = Random(1)
    for _ in range(20):
        join.push({"r": some_rows(random, 20), "s": some_rows(random, 1000, most=10**9)})
    assert mapping_of(join) in (Mapping(1, 16), Mapping(2, 8))


def test_explain_says_which_and_why() -> None:
    assert "dynamic: a grid of 8 joiners" in a_join(joiners=8).explain()
    assert "1.25" in a_join(joiners=8).explain()
    assert "1.4" in a_join(joiners=8, retracts=True).explain()
    assert "2.5" in a_join(joiners=7).explain()
    assert "ordered index" in a_join(joiners=8).explain()
    assert "hash index" in a_join(EQUAL).explain()
    assert "all the rows" in a_join(()).explain()
    assert "the times" in timed_join(Sliding(3), on=()).explain()
    assert "1.4" in timed_join(Sliding(3), policy=Policy()).explain()
    assert "(2, 4)" in a_join(joiners=8, scheme="square").explain()


# --- metrics and errors -------------------------------------------------------------------------


def test_metrics_are_prometheus_s_text() -> None:
    join = grown_join(pace=100)
    join.migrate(choose(Sizes(1, 1000), join.placement))  # type: ignore[arg-type]
    join.push({"r": [(1, 1)]})
    lines = prometheus(join.metrics, 'a "join"').splitlines()
    names = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    values = {}
    for line in lines:
        if not line.startswith("#"):
            labels, value = line.rsplit(" ", 1)
            assert labels.split("{")[0] in names
            assert 'join="a \\"join\\""' in labels
            values[labels.split("{")[0]] = float(value)
    assert values["freshview_theta_migrations_total"] == 1
    assert values["freshview_theta_migrating"] == 1
    assert values["freshview_theta_moved_bytes_total"] == join.metrics.moved_bytes
    assert values["freshview_theta_load_ratio"] == pytest.approx(join.metrics.load_ratio, 1e-4)
    assert sum(line.startswith("freshview_theta_storage_bytes") for line in lines) == 8


def test_what_cannot_be_is_refused() -> None:
    r, s = Source("r", COLUMNS), Source("s", COLUMNS)
    refused: list[tuple[type[FreshviewError], Any]] = [
        (BadJoin, lambda: ThetaJoin(r, r)),
        (BadJoin, lambda: ThetaJoin(r, s, LESS, scheme="hash")),
        (BadJoin, lambda: ThetaJoin(r, s, LESS, scheme="hybrid")),
        (BadWindow, lambda: ThetaJoin(r, s, LESS, window=Sliding(3))),
        (BadWindow, lambda: a_join(window=TupleCount(3), retracts=True)),
        (BadWindow, lambda: Source("r", COLUMNS, retracts=True, clock=ManualClock())),
        (BadWindow, lambda: Source("r", {"w": "string"}, time="w")),
        (UnknownName, lambda: Source("r", COLUMNS, time="t")),
        (UnknownName, lambda: Source("r", {})),
        (UnknownName, lambda: a_join().push({"q": []})),
        (BadRow, lambda: a_join().apply({"r": [((1, 1), -1)]})),
        (BadRow, lambda: a_join().push({"r": [(1, None)]})),
        (BadRow, lambda: a_join().push({"r": [(1,)]})),
        (BadRow, lambda: a_join().push({"r": 5})),
        (BadRow, lambda: a_join().push({"r": pa.table({"k": [1]})})),
        (BadRow, lambda: a_join().push({"r": pa.table({"k": [1], "v": [None]})})),
    ]
    for error, build in refused:
        with pytest.raises(error):
            build()


def test_doubles_are_finite() -> None:
    join = ThetaJoin(Source("r", {"x": "double"}), Source("s", {"x": "double"}))
    for rows in ([(float("nan"),)], {"x": np.array([np.inf])}):
        with pytest.raises(BadRow, match="finite"):
            join.push({"r": rows})


@pytest.mark.parametrize("scheme", ["dynamic", "hybrid"])
def test_a_batch_that_fails_does_not_count_for_a_migration(scheme: Any) -> None:
    def sick(r: Any, s: Any) -> bool:
        if s[1] == -1:
            raise ValueError("unlucky")
        return True

    on = [EQUAL, Function(sick)]
    join, twin = (a_join(on, scheme=scheme, joiners=4, policy=Policy()) for _ in range(2))
    rows = [(k % 3, k) for k in range(40)]
    for each in (join, twin):
        each.push({"r": rows, "s": rows})
    for _ in range(3):
        with pytest.raises(ValueError, match="unlucky"):
            join.push({"s": [(1, -1)] * 30})
    for k in range(12):
        for each in (join, twin):
            each.push({"s": [(1, k)] * 5})
        assert join.placement == twin.placement
        assert join.metrics.migrations == twin.metrics.migrations


def test_a_frequent_value_that_has_no_partners_is_spread_as_well() -> None:
    """Its tuples are stored all the same, since partners may come."""
    join = a_join(EQUAL, joiners=8, scheme="hybrid")
    join.push({"s": [(k % 50, k) for k in range(400)]})
    for start in range(0, 4000, 400):
        join.push({"s": [(7, start + k) for k in range(400)]})
    assert join.metrics.skew < 1.6
    pairs = join.push({"r": [(7, 1), (8, 2)]}).net()
    assert sum(pairs.values()) == 4008 + 8
