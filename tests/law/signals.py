"""Signals for tests: random histories with late and corrected events, and what they should give.

The definitions are written out sample by sample, group by group, with dicts from times to values.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from freshview import signal as sg

Event = tuple[int, int, int, float]
"""Sensor, start, end, value."""
Batch = list[tuple[Event, int]]
Samples = dict[int, Any]
Lives = list[tuple[int, int, float]]
"""Start, end, value of the events of a group, in order."""


def signal_events(rng: Any, sensors: int = 5, count: int = 40) -> list[Event]:
    """Events that do not overlap within a sensor, at irregular times, with gaps."""
    events: list[Event] = []
    for sensor in range(sensors):
        time = int(rng.integers(-50, 50))
        for _ in range(int(rng.integers(0, count))):
            length = int(rng.choice([1, 1, 2, 7, 13]))
            events.append((sensor, time, time + length, float(rng.standard_normal())))
            time += length + int(
                rng.choice([0, 0, 1, 3, 8, 90], p=[0.3, 0.2, 0.2, 0.15, 0.1, 0.05])
            )
    return events


def history(rng: Any, events: list[Event]) -> list[Batch]:
    """The events in batches, roughly in order of time, with deletions and corrections between."""
    order = np.argsort([e[1] + rng.normal(0, 12) for e in events], kind="stable")
    batches: list[Batch] = []
    live: list[Event] = []
    at = 0
    while at < len(events):
        size = int(rng.choice([1, 2, 5, 20, 60]))
        batch: Batch = [(events[k], 1) for k in order[at : at + size]]
        at += size
        changed = rng.choice(len(live), min(len(live), int(rng.integers(0, 3))), replace=False)
        for k in sorted(changed.tolist(), reverse=True):
            old = live.pop(k)
            batch.append((old, -1))
            if rng.random() < 0.6:
                new = (*old[:3], float(rng.standard_normal()))
                batch.append((new, 1))
        live += [e for e, n in batch if n > 0]
        rng.shuffle(batch)
        batches.append(batch)
    return batches


def after(batches: list[Batch]) -> list[Event]:
    """The events that are there in the end."""
    counts: dict[Event, int] = {}
    for batch in batches:
        for event, n in batch:
            counts[event] = counts.get(event, 0) + n
    return [e for e, n in counts.items() for _ in range(n)]


def table(batch: Batch) -> dict[str, Any]:
    """A batch as columns."""
    rows = [(*event, n) for event, n in batch]
    sensor, time, end, value, count = zip(*rows, strict=True) if rows else ([],) * 5
    return {
        "sensor": np.array(sensor, np.int64),
        "time": np.array(time, np.int64),
        "end": np.array(end, np.int64),
        "value": np.array(value, np.float64),
        "__count": np.array(count, np.int64),
    }


def all_of(events: list[Event]) -> dict[str, Any]:
    """Events that all come."""
    return table([(e, 1) for e in events])


def readings(name: str = "readings", delay: int | None = None) -> sg.Stream:
    return sg.stream(name, ["value"], key="sensor", end="end", delay=delay)


def by_sensor(events: list[Event]) -> dict[int, Lives]:
    groups: dict[int, Lives] = {}
    for sensor, start, end, value in sorted(events):
        groups.setdefault(sensor, []).append((start, end, value))
    return groups


# What operators mean, for one group.


def beats_in(low: int, high: int, period: int, offset: int) -> range:
    """The beats in [low, high)."""
    first = -(-(low - offset) // period) * period + offset
    return range(first, high, period)


def sampled(lives: Lives, period: int, offset: int = 0) -> Samples:
    return {t: v for a, b, v in lives for t in beats_in(a, b, period, offset)}


def points(lives: Lives, period: int, offset: int = 0) -> Samples:
    result = {}
    for a, b, v in lives:
        for t in {a, b - 1, *beats_in(a, b, period, offset)}:
            result[t] = v
    return result


def interpolated(
    known: Samples, period: int, offset: int, window: int, history: int, value: Callable[..., Any]
) -> Samples:
    """`value(t, times, values, window)` at the beats between two points, if it is not None."""
    result = {t: v for t, v in known.items() if (t - offset) % period == 0}
    times = sorted(known)
    for k in range(history - 1, len(times)):
        some = times[k - history + 1 : k + 1]
        for t in beats_in(some[-2] + 1, some[-1], period, offset):
            got = value(t, some, [known[x] for x in some], window)
            if got is not None:
                result[t] = got
    return result


def line(t: int, times: list[int], values: list[Any], window: int) -> Any:
    if times[-1] - times[0] > window:
        return None
    slope = (values[1] - values[0]) / (times[1] - times[0])
    return values[0] + slope * (t - times[0])


def parabola(t: int, times: list[int], values: list[Any], window: int) -> Any:
    if times[-1] - times[0] > window:
        return None
    total = 0.0
    for i, (ti, vi) in enumerate(zip(times, values, strict=True)):
        weight = 1.0
        for j, tj in enumerate(times):
            if j != i:
                weight *= (t - tj) / (ti - tj)
        total += weight * vi
    return total


def stair(t: int, times: list[int], values: list[Any], window: int) -> Any:
    return None if times[-1] - times[0] > window else values[-2]


def latest(t: int, times: list[int], values: list[Any], window: int) -> Any:
    return None if t - times[-2] > window else values[-2]


def framed(
    samples: Samples, period: int, offset: int, size: int, hop: int, missing: str
) -> dict[int, list[Any]]:
    """Windows by the time of their last beat."""
    result: dict[int, list[Any]] = {}
    if not samples:
        return result
    first, last = ((t - offset) // period for t in (min(samples), max(samples)))
    for k in range(first, last - size + 2):
        if k % hop:
            continue
        window = [samples.get((k + i) * period + offset) for i in range(size)]
        if all(v is None for v in window):
            continue
        if missing == "invalid" and any(v is None for v in window):
            continue
        fill = math.nan if missing == "skip" else 0.0
        end = (k + size - 1) * period + offset
        result[end] = [fill if v is None else v for v in window]
    return result


def fir(samples: Samples, period: int, taps: list[Any], missing: str = "zero") -> Samples:
    result = {}
    for t in samples:
        inputs = [samples.get(t - i * period) for i in range(len(taps))]
        if missing == "invalid" and None in inputs:
            continue
        result[t] = sum(a * (0.0 if x is None else x) for a, x in zip(taps, inputs, strict=True))
    return result


def iir(
    samples: Samples, period: int, b: list[float], a: list[float], missing: str = "zero"
) -> Samples:
    result: Samples = {}
    x: list[float] = []
    y: list[float] = []
    before = None
    for t in sorted(samples):
        silent = 0 if before is None else (t - before) // period - 1
        if silent and missing == "invalid":
            x, y, silent = [], [], 0
        for value in [0.0] * silent + [samples[t]]:
            x.append(value)
            out = sum(c * x[-1 - i] for i, c in enumerate(b) if i < len(x))
            out -= sum(c * y[-i] for i, c in enumerate(a) if 0 < i <= len(y))
            y.append(out / a[0])
        result[t], before = y[-1], t
    return result


def dft(x: list[Any], sign: int = -1) -> list[complex]:
    size = len(x)
    turn = [cmath.exp(sign * 2j * cmath.pi * k / size) for k in range(size)]
    return [sum(v * turn[f * n % size] for n, v in enumerate(x)) for f in range(size)]


def laid_out(arrays: dict[int, list[Any]], period: int, merge: str) -> Samples:
    values: dict[int, list[Any]] = {}
    for end, array in arrays.items():
        for i, v in enumerate(array):
            values.setdefault(end - (len(array) - 1 - i) * period, []).append(v)
    merges: dict[str, Callable[[list[Any]], Any]] = {
        "sum": sum,
        "mean": lambda v: sum(v) / len(v),
        "min": min,
        "max": max,
    }
    return {t: merges[merge](v) for t, v in values.items()}


@dataclass(frozen=True)
class Case:
    """A query over the readings, and its meaning for one group: times to values.

    Where lifetimes count, times to the end and the value.
    """

    name: str
    query: Callable[[sg.Stream], sg.Stream]
    meaning: Callable[[Lives], dict[int, Any]]
    lifetimes: bool = False


def result_of(events: sg.Events, case: Case) -> dict[tuple[int, int], Any]:
    """The result as a dict by sensor and time."""
    columns = events.to_numpy()
    names = [n for n in columns if n not in ("sensor", "time", "end", "__count")]
    result: dict[tuple[int, int], Any] = {}
    for k in range(len(events)):
        key = (int(columns["sensor"][k]), int(columns["time"][k]))
        values = [columns[n][k] for n in names]
        value = values[0] if len(values) == 1 else tuple(values)
        assert key not in result
        result[key] = (int(columns["end"][k]), value) if case.lifetimes else value
    return result


def same(a: Any, b: Any) -> bool:
    """Equal within 1e-9."""
    if isinstance(b, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(np.allclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True))


def assert_means(events: sg.Events, case: Case, live: list[Event]) -> None:
    got = result_of(events, case)
    want = {
        (sensor, t): value
        for sensor, lives in by_sensor(live).items()
        for t, value in case.meaning(lives).items()
    }
    assert got.keys() == want.keys(), case.name
    for key, value in want.items():
        assert same(got[key], value), (case.name, key, got[key], value)


def assert_identical(a: sg.Events, b: sg.Events) -> None:
    """Bit by bit."""
    left, right = a.to_numpy(), b.to_numpy()
    assert list(left) == list(right)
    for name, values in left.items():
        assert values.dtype == right[name].dtype or not len(values), name
        assert values.shape == right[name].shape, name
        assert np.array_equal(values, right[name], equal_nan=values.dtype.kind in "fc"), name
        assert values.tobytes() == right[name].tobytes(), name
