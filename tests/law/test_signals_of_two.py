"""Queries over two sources, and over streams whose events overlap, against their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from freshview import signal as sg
from tests.law import signals as law
from tests.law.signals import Lives, readings

Two = Callable[[Lives, Lives], dict[Any, Any]]


@dataclass(frozen=True)
class Pair:
    """A query over two sources, and its meaning for a group: times to ends and values."""

    name: str
    query: Callable[[sg.Stream, sg.Stream], sg.Stream]
    meaning: Two


def overlaps(f: Any) -> Two:
    def meaning(left: Lives, right: Lives) -> dict[Any, Any]:
        return {
            max(a, c): (min(b, d), f(v, w))
            for a, b, v in left
            for c, d, w in right
            if max(a, c) < min(b, d)
        }

    return meaning


def beats(left: Any, right: Any, f: Any) -> Two:
    """Samples that both have, at equal times."""

    def meaning(a: Lives, b: Lives) -> dict[Any, Any]:
        x, y = left(a), right(b)
        return {t: (t + 1, f(v, y[t])) for t, v in x.items() if t in y}

    return meaning


def as_of(direction: str, tolerance: float, keep: bool = False) -> Two:
    def meaning(left: Lives, right: Lives) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for a, b, v in left:
            before = [r for r in right if r[0] <= a and a - r[0] <= tolerance]
            after = [r for r in right if r[0] >= a and r[0] - a <= tolerance]
            best = {"backward": before[-1:], "forward": after[:1]}.get(direction)
            if best is None:
                both = [*before[-1:], *after[:1]]
                best = sorted(both, key=lambda r: abs(r[0] - a))[:1]
            if best or keep:
                result[a] = (b, (v, best[0][2] if best else math.nan))
        return result

    return meaning


def plus(v: float, w: float) -> float:
    return v + w


def grid(period: int, offset: int, window: int = 0) -> Any:
    if not window:
        return lambda g: law.sampled(g, period, offset)
    return lambda g: law.interpolated(
        law.points(g, period, offset), period, offset, window, 2, law.line
    )


def finer(g: Lives) -> law.Samples:
    return law.interpolated(law.sampled(g, 6, 1), 2, 1, 20, 2, law.line)


def shifted(g: Lives) -> law.Samples:
    return {t - 1: v for t, v in law.sampled(g, 3, 2).items()}


CASES = [
    Pair("plus", lambda a, b: a.to_signal() + b.to_signal(), overlaps(plus)),
    Pair("minus", lambda a, b: a.to_signal() - b.to_signal(), overlaps(lambda v, w: v - w)),
    Pair("times", lambda a, b: a.to_signal() * b.to_signal(), overlaps(lambda v, w: v * w)),
    Pair("join", lambda a, b: a.to_signal().join(b.to_signal()), overlaps(lambda v, w: (v, w))),
    Pair(
        "equal grids",
        lambda a, b: a.to_signal().sample(3, 1) - b.to_signal().sample(3, 1),
        beats(grid(3, 1), grid(3, 1), lambda v, w: v - w),
    ),
    Pair(
        "other offset",
        lambda a, b: a.to_signal().sample(3, 1) + b.to_signal().sample(3, 2),
        beats(grid(3, 1), shifted, plus),
    ),
    Pair(
        "larger period on the right",
        lambda a, b: (
            a.to_signal().sample(2, 1) - b.to_signal().sample(6, 1).resample(6, 1, sg.linear(20))
        ),
        beats(grid(2, 1), finer, lambda v, w: v - w),
    ),
    Pair(
        "larger period on the left",
        lambda a, b: (
            a.to_signal().sample(6, 1).resample(6, 1, sg.linear(20)) - b.to_signal().sample(2, 1)
        ),
        beats(finer, grid(2, 1), lambda v, w: v - w),
    ),
    Pair(
        "a signal and samples",
        lambda a, b: a.to_signal() - b.to_signal().sample(3, 1),
        beats(grid(3, 1), grid(3, 1), lambda v, w: v - w),
    ),
    Pair(
        "samples and a signal",
        lambda a, b: a.to_signal().sample(3, 1) - b.to_signal(),
        beats(grid(3, 1), grid(3, 1), lambda v, w: v - w),
    ),
    Pair(
        "interpolated, then selected",
        lambda a, b: (
            a.to_signal()
            .reduce(b.to_signal(), lambda p, q: p.sample(4, 0, sg.linear(20)) + q.sample(4, 0))
            .where(lambda e: e.value > 0.2)
        ),
        lambda a, b: {
            t: v for t, v in beats(grid(4, 0, 20), grid(4, 0), plus)(a, b).items() if v[1] > 0.2
        },
    ),
    Pair("as of", lambda a, b: a.as_of(b.to_signal()), as_of("backward", math.inf)),
    Pair(
        "as of, after", lambda a, b: a.as_of(b.to_signal(), "forward"), as_of("forward", math.inf)
    ),
    Pair(
        "as of, nearest",
        lambda a, b: a.as_of(b.to_signal(), "nearest", tolerance=9),
        as_of("nearest", 9),
    ),
    Pair(
        "as of, kept",
        lambda a, b: a.as_of(b.to_signal(), tolerance=4, keep=True),
        as_of("backward", 4, True),
    ),
]


def histories(rng: Any, delay: int | None = None) -> tuple[list[Any], list[Any]]:
    sides = [law.history(rng, law.signal_events(rng, 3, 30)) for _ in range(2)]
    size = max(len(s) for s in sides)
    return tuple(s + [[]] * (size - len(s)) for s in sides)  # type: ignore[return-value]


def rows_of(events: sg.Events) -> dict[Any, Any]:
    columns = events.to_numpy()
    names = [n for n in columns if n not in ("sensor", "time", "end", "__count")]
    result = {}
    for k in range(len(events)):
        end = columns["end"][k] if "end" in columns else columns["time"][k] + 1
        values = tuple(columns[n][k] for n in names)
        value = values[0] if len(values) == 1 else values
        result[int(columns["sensor"][k]), int(columns["time"][k])] = (int(end), value)
    return result


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_a_query_over_two_sources_means_its_definition_after_every_batch(
    case: Pair, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    left, right = histories(rng)
    plan = case.query(readings("left"), readings("right"))
    query = plan.query()
    for number, (a, b) in enumerate(zip(left, right, strict=True)):
        if rng.random() < 0.5:
            query.push({"left": law.table(a), "right": law.table(b)})
        else:
            query.push({"right": law.table(b)})
            query.push({"left": law.table(a)})
        live = [law.after(side[: number + 1]) for side in (left, right)]
        whole = {"left": law.all_of(live[0]), "right": law.all_of(live[1])}
        law.assert_identical(query.result(), plan.over(whole))
        if number == len(left) // 2:
            query = plan.restore(sg.snapshot(query))
    groups = [law.by_sensor(side) for side in live]
    want = {
        (sensor, t): value
        for sensor in range(3)
        for t, value in case.meaning(*(g.get(sensor, []) for g in groups)).items()
    }
    got = rows_of(query.result())
    assert got.keys() == want.keys()
    assert all(got[k][0] == want[k][0] and law.same(got[k][1], want[k][1]) for k in want)
    assert want


def crowd(rng: Any) -> list[law.Event]:
    """Events that overlap, some of them twice the same."""
    events = []
    for _ in range(70):
        start = int(rng.integers(0, 60))
        length = int(rng.choice([1, 2, 5, 15]))
        event = (int(rng.integers(0, 2)), start, start + length, float(rng.integers(0, 9)) / 3)
        events += [event] * int(rng.choice([1, 1, 2]))
    return events


@pytest.mark.parametrize("seed", range(6))
def test_snapshots_aggregate_the_events_alive(seed: int) -> None:
    rng = np.random.default_rng(seed)
    events = crowd(rng)
    plan = readings().aggregate(
        value="mean", total=("sum", "value"), n="count", low=("min", "value"), top=("max", "value")
    )
    query = plan.query()
    live: list[law.Event] = []
    for batch in np.array_split(rng.permutation(len(events)), 11):
        gone = [live.pop(int(rng.integers(0, len(live)))) for _ in range(min(3, len(live)))]
        come = [events[k] for k in batch]
        live += come
        query.push(law.table([(e, 1) for e in come] + [(e, -1) for e in gone]))
        law.assert_identical(query.result(), plan.over(law.all_of(live)))
    want = {}
    for sensor, lives in law.by_sensor(live).items():
        bounds = sorted({t for a, b, _ in lives for t in (a, b)})
        for low, high in pairwise(bounds):
            alive = [v for a, b, v in lives if a <= low < b]
            if alive:
                mean = sum(alive) / len(alive)
                numbers = (mean, sum(alive), len(alive), min(alive), max(alive))
                want[sensor, low] = (high, numbers)
    got = rows_of(query.result())
    assert got.keys() == want.keys()
    assert all(got[k][0] == want[k][0] and law.same(got[k][1], want[k][1]) for k in want)


@pytest.mark.parametrize("seed", range(4))
def test_a_temporal_join_of_streams_counts_every_pair(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sides = [crowd(rng), crowd(rng)]
    plan = readings("left").join(readings("right")).select(lambda e: e.value_1 * 10 + e.value_2)
    query = plan.query()
    live: list[list[law.Event]] = [[], []]
    for batch in range(8):
        tables = {}
        for side, name in enumerate(("left", "right")):
            come = sides[side][batch::8]
            gone = [live[side].pop(0) for _ in range(min(2, len(live[side])))]
            live[side] += come
            tables[name] = law.table([(e, 1) for e in come] + [(e, -1) for e in gone])
        query.push(tables)
    want = sorted(
        (s, max(a, c), min(b, d), v * 10 + w)
        for s, a, b, v in live[0]
        for z, c, d, w in live[1]
        if s == z and max(a, c) < min(b, d)
    )
    columns = query.result().to_numpy()
    got = sorted(
        zip(*(columns[n].tolist() for n in ("sensor", "time", "end", "value")), strict=True)
    )
    assert [g[:3] for g in got] == [w[:3] for w in want]
    assert np.allclose([g[3] for g in got], [w[3] for w in want])
