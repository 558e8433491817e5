"""What is known of a run at once is what its events say one by one, bit by bit.

Signals are mostly regular, with gaps and now and then an event off the beat; each operator answers
from runs and, with the search for runs turned off, from events.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from freshview import signal as sg
from freshview.signal.columns import native, runs
from tests.law import signals as law

Plan = Callable[[sg.Stream, sg.Stream], Any]


def fine(s: sg.Stream, period: int = 5, window: int = 30) -> sg.UniformSignal:
    return s.to_signal().sample(period, policy=sg.linear(window))


PLANS: dict[str, Plan] = {
    "events": lambda a, b: a.to_signal(),
    "where": lambda a, b: a.where(lambda e: e.value > 0.9).to_signal(),
    "shift": lambda a, b: a.to_signal().shift(7).sample(5, offset=2),
    "sample": lambda a, b: a.to_signal().sample(5),
    "coarse": lambda a, b: a.to_signal().sample(10),
    "off the beat": lambda a, b: a.to_signal().sample(5, offset=1),
    "lifetime": lambda a, b: a.lifetime(3).to_signal().sample(5),
    "linear": lambda a, b: fine(a),
    "linear, finer": lambda a, b: fine(a, 1, 8),
    "linear, near": lambda a, b: fine(a, 1, 3),
    "step": lambda a, b: a.to_signal().sample(1, policy=sg.step(30)),
    "last": lambda a, b: a.to_signal().sample(1, policy=sg.last(12)),
    "constant": lambda a, b: a.to_signal().sample(1, policy=sg.constant(2.5, 12)),
    "quadratic": lambda a, b: a.to_signal().sample(1, policy=sg.quadratic(40)),
    "upsample": lambda a, b: fine(a, 20, 20).upsample(4) + b.to_signal().sample(5),
    "minus": lambda a, b: a.to_signal().sample(5) - b.to_signal().sample(5),
    "side by side": lambda a, b: a.to_signal().join(b.to_signal()),
    "union": lambda a, b: a.union(b),
    "fir": lambda a, b: a.to_signal().sample(5).fir([0.5, -1.0, 0.25, 2.0]),
    "fir, long": lambda a, b: a.to_signal().sample(5).fir(np.arange(40) / 7),
    "fir, invalid": lambda a, b: a.to_signal().sample(5).fir([0.5, -1.0, 0.25], missing="invalid"),
    "fir, sparse": lambda a, b: a.to_signal().sample(1).fir(np.arange(12) / 7),
    "fir, complex": lambda a, b: a.to_signal().sample(5).fir([0.5, 1j, 2.0]),
    "windows": lambda a, b: a.to_signal().sample(5).windows(8, 8).fft().arrays(),
    "overlapping": lambda a, b: a.to_signal().sample(5).windows(8, 3).fft().arrays(),
    "invalid": lambda a, b: a.to_signal().sample(5).windows(8, 4, missing="invalid").fft().arrays(),
    "mean": lambda a, b: a.to_signal().sample(5).mean(4, 2),
    "overlap-add": lambda a, b: fine(a).windows(8, 4).real_fft().inverse_real_fft().overlap_add(),
    "overlap-mean": lambda a, b: fine(a).windows(8, 3).fft().inverse_fft().overlap_add("mean"),
    "spread": lambda a, b: fine(a).windows(4, 6).fft().inverse_fft().overlap_add("sum"),
    "least": lambda a, b: fine(a).windows(9, 4).real_fft().inverse_real_fft(9).overlap_add("min"),
    "iir": lambda a, b: a.to_signal().sample(5).iir([0.2, 0.3], [1.0, -0.4]),
    "gaps": lambda a, b: a.to_signal().gaps(7),
}


def batches(seed: int) -> list[dict[str, dict[str, Any]]]:
    """Regular samples of sensors, in a few batches, the later ones with corrections."""
    rng = np.random.default_rng(seed)
    sides: list[dict[str, list[tuple[int, ...]]]] = [{} for _ in range(4)]
    for name in "ab":
        for batch in sides:
            batch[name] = []
        for sensor in range(3):
            time = int(rng.integers(-4, 4)) * 5
            for _ in range(int(rng.integers(1, 90))):
                time += int(rng.choice([5, 10, 35, 5 * 40, 3], p=[0.94, 0.02, 0.02, 0.01, 0.01]))
                kept = rng.random() < 0.97
                value = rng.random()
                late = rng.random() < 0.04
                at = 3 if late else min(max(time, 0) // 150, 2)
                sides[at][name].append((sensor, time, value, 1))
                if not kept and at < 3:
                    sides[3][name].append((sensor, time, value, -1))
    result = []
    for batch in sides:
        columns: dict[str, dict[str, Any]] = {}
        for name, rows in batch.items():
            if rng.random() < 0.5:
                rows = sorted(rows, key=lambda r: (r[1], r[0]))  # by time, sensors beside others
            sensor, times, value, count = (
                (np.array(c) for c in zip(*rows, strict=True)) if rows else [[]] * 4
            )
            columns[name] = {
                "sensor": np.array(sensor, np.int64),
                "time": np.array(times, np.int64),
                "value": np.array(value, np.float64),
            }
            if (np.array(count) < 0).any():
                columns[name]["__count"] = np.array(count, np.int64)
        result.append(columns)
    return result


def answers(plan: Any, seed: int) -> list[sg.Events]:
    query = plan.query()
    every = [
        query.push({s: t for s, t in batch.items() if s in query.sources})
        for batch in batches(seed)
    ]
    return [*every, query.result()]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", PLANS)
def test_runs_change_no_bit(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = (sg.stream(s, ["value"], key="sensor") for s in "ab")
    plan = PLANS[name](a, b)
    monkeypatch.setattr(runs, "FEWEST", 2)
    by_run = answers(plan, seed)
    monkeypatch.setattr(runs, "FEWEST", 1 << 40)
    for x, y in zip(by_run, answers(plan, seed), strict=True):
        law.assert_identical(x, y)


@pytest.mark.native
def test_without_a_compiler_sums_are_as_near_as_doubles_allow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(1)
    x, taps = rng.random(300), rng.random(50)
    begin, before, count = np.array([0, 100, 290]), np.array([0, 0, 90]), np.array([100, 190, 10])
    own = native.fir(x, taps, begin, before, count)
    breaks = native.time_breaks(np.array([0, 5, 10, 17, 22]), 5, 3)
    monkeypatch.setattr(native, "library", lambda: None)
    assert np.allclose(own, native.fir(x, taps, begin, before, count), rtol=1e-12)
    again = native.time_breaks(np.array([0, 5, 10, 17, 22]), 5, 3)
    assert breaks is not None
    assert again is not None
    assert breaks.tolist() == again.tolist() == [3]
    assert native.time_breaks(np.array([0, 4, 10, 17, 22]), 5, 2) is None
