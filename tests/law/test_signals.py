"""Signals are functions of the events that are there, whatever batches brought them.

Each operator is compared with its definition, written out in `signals.py`; and after every batch,
with late events, deletions, corrections and restarts, bit by bit with the same query over all the
events at once.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from freshview import signal as sg
from tests.law import signals as law
from tests.law.signals import Case, Lives, readings

TAPS = [0.5, -1.0, 0.25, 2.0]
IIR = ([0.2, 0.3, 0.1], [1.0, -0.4, 0.2])
WIDE = [0.1 * k - 1 for k in range(23)]


def uniform(s: sg.Stream) -> sg.UniformSignal:
    return s.to_signal().sample(3, 1)


def fine(s: sg.Stream) -> sg.UniformSignal:
    return s.to_signal().sample(3, 1, sg.linear(40))


def x(lives: Lives) -> law.Samples:
    return law.sampled(lives, 3, 1)


def xi(lives: Lives) -> law.Samples:
    return law.interpolated(law.points(lives, 3, 1), 3, 1, 40, 2, law.line)


def interpolation(name: str, policy: sg.Policy, history: int, value: Any) -> Case:
    return Case(
        name,
        lambda s: s.to_signal().sample(4, 2, policy),
        lambda g: law.interpolated(law.points(g, 4, 2), 4, 2, policy.window, history, value),
    )


class Through:
    """Linear interpolation, point by point."""

    def __init__(self) -> None:
        self.points: list[tuple[int, Any]] = []

    def advance_time(self, t: int) -> None:
        self.points = [p for p in self.points if t - p[0] <= 30]

    def add_point(self, t: int, value: Any) -> None:
        self.points = [*self.points[-1:], (t, value)]

    def can_interpolate(self, t: int) -> bool:
        return len(self.points) == 2 and self.points[0][0] <= t <= self.points[1][0]

    def interpolate(self, t: int) -> Any:
        (t0, v0), (t1, v1) = self.points
        return v0 + (v1 - v0) * (t - t0) / (t1 - t0)


def hopped(name: str, size: int, hop: int, missing: str, f: Any, query: Any) -> Case:
    def meaning(g: Lives) -> dict[int, Any]:
        windows = law.framed(x(g), 3, 1, size, hop, missing)
        values = {t: f([v for v in w if not math.isnan(v)]) for t, w in windows.items()}
        return {t: v for t, v in values.items() if v is not None}

    return Case(name, lambda s: query(uniform(s)), meaning)


def piped(name: str, size: int, hop: int, missing: str, f: Any, query: Any, of: Any = fine) -> Case:
    base = xi if of is fine else x
    return Case(
        name,
        lambda s: query(of(s).windows(size, hop, missing)),
        lambda g: {t: f(w) for t, w in law.framed(base(g), 3, 1, size, hop, missing).items()},
    )


def overlap(name: str, size: int, hop: int, merge: str, f: Any, query: Any) -> Case:
    def meaning(g: Lives) -> law.Samples:
        windows = law.framed(xi(g), 3, 1, size, hop, "zero")
        return law.laid_out({t: f(w) for t, w in windows.items()}, 3, merge)

    return Case(name, lambda s: query(fine(s).windows(size, hop)).overlap_add(merge), meaning)


def quantile(values: list[float], q: float) -> float:
    ordered = sorted(values)
    at = (len(ordered) - 1) * q
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def zscores(g: Lives) -> dict[int, Any]:
    result = {}
    for t, window in law.framed(x(g), 3, 1, 6, 1, "skip").items():
        before = [v for v in window[:-1] if not math.isnan(v)]
        if len(before) < 2 or math.isnan(window[-1]):
            continue
        mean = sum(before) / len(before)
        deviation = math.sqrt(sum((v - mean) ** 2 for v in before) / len(before))
        if len(set(before)) == 1:
            distance = window[-1] - before[0]
            result[t] = math.copysign(math.inf, distance) if distance else 0.0
        else:
            result[t] = (window[-1] - mean) / deviation
    return result


def edit(spectrum: list[complex]) -> list[complex]:
    return [v * (1 + k) for k, v in enumerate(spectrum)]


def ema(g: Lives) -> dict[int, Any]:
    result, y = {}, None
    for a, b, v in g:
        y = v if y is None else y + 0.3 * (v - y)
        result[a] = (b, y)
    return result


def gaps(g: Lives) -> dict[int, Any]:
    return {p[1]: (n[0], n[0] - p[1]) for p, n in pairwise(g) if n[0] - p[1] > 2}


def sessions(g: Lives) -> dict[int, Any]:
    result: dict[int, Any] = {}
    begin, end, count = None, 0, 0
    for a, b, _ in g:
        if begin is None or a - end > 7:
            begin, end, count = a, b, 0
        end, count = max(end, b), count + 1
        result[begin] = (end, count)
    return result


def correlation(window: list[float]) -> list[float]:
    size = len(window)
    return [
        sum(window[n] * window[n - lag] for n in range(size) if 0 <= n - lag < size)
        for lag in range(1 - size, size)
    ]


def power(window: list[float]) -> list[float]:
    size = len(window)
    half = law.dft(window)[: size // 2 + 1]
    twice = [0 < k < size / 2 for k in range(len(half))]
    return [abs(v) ** 2 / (2.0 * size) * (1 + d) for v, d in zip(half, twice, strict=True)]


def custom_ff(v: Any, _: Any) -> Any:
    return v[:, 0] * v[:, 2] - v[:, 1]


CASES = [
    Case("signal", lambda s: s.to_signal(), lambda g: {a: (b, v) for a, b, v in g}, True),
    Case(
        "where, select, scale, shift",
        lambda s: (
            s.to_signal()
            .where(lambda e: e.value > 0)
            .select(lambda e: e.value**2)
            .scale(3.0)
            .shift(7)
        ),
        lambda g: {a + 7: (b + 7, v * v * 3) for a, b, v in g if v > 0},
        True,
    ),
    Case("sample", uniform, x),
    interpolation(
        "constant", sg.constant(9.0, 25), 2, lambda t, ts, vs, w: None if ts[1] - ts[0] > w else 9.0
    ),
    interpolation("last", sg.last(9), 2, law.latest),
    interpolation("step", sg.step(9), 2, law.stair),
    interpolation("linear", sg.linear(30), 2, law.line),
    interpolation("quadratic", sg.quadratic(30), 3, law.parabola),
    interpolation("pointwise", sg.pointwise(Through, history=2, window=30), 2, law.line),
    interpolation(
        "custom",
        sg.custom(lambda t, ts, vs: vs.mean(axis=0) + (t - ts[0]), history=4, window=60),
        4,
        lambda t, ts, vs, w: None if ts[-1] - ts[0] > w else sum(vs) / 4 + t - ts[0],
    ),
    Case(
        "upsample",
        lambda s: uniform(s).upsample(3, sg.linear(7)),
        lambda g: law.interpolated(x(g), 1, 0, 7, 2, law.line),
    ),
    Case(
        "downsample",
        lambda s: uniform(s).downsample(4),
        lambda g: {t: v for t, v in x(g).items() if (t - 1) % 12 == 0},
    ),
    Case(
        "resample",
        lambda s: fine(s).resample(2, 1, sg.quadratic(9)),
        lambda g: law.interpolated(xi(g), 2, 1, 9, 3, law.parabola),
    ),
    hopped("sum", 5, 2, "skip", sum, lambda u: u.sum(5, 2)),
    hopped("mean", 4, 4, "skip", lambda v: sum(v) / len(v), lambda u: u.mean(4, 4)),
    hopped("min", 3, 1, "skip", min, lambda u: u.min(3)),
    hopped("max", 3, 7, "skip", max, lambda u: u.max(3, 7)),
    hopped("std", 6, 1, "skip", np.std, lambda u: u.std(6)),
    hopped("quantile", 7, 3, "skip", lambda v: quantile(v, 0.3), lambda u: u.quantile(0.3, 7, 3)),
    hopped(
        "rolling",
        4,
        1,
        "invalid",
        lambda v: v[0] * v[3],
        lambda u: u.rolling(4, 1, lambda w: w[:, 0] * w[:, 3], missing="invalid"),
    ),
    Case("z-score", lambda s: uniform(s).zscore(5), zscores),
    Case(
        "anomalies",
        lambda s: uniform(s).anomalies(5, 1.5),
        lambda g: {t: v for t, v in zscores(g).items() if abs(v) > 1.5},
    ),
    Case("fir", lambda s: uniform(s).fir(TAPS), lambda g: law.fir(x(g), 3, TAPS)),
    Case("wide fir", lambda s: uniform(s).fir(WIDE), lambda g: law.fir(x(g), 3, WIDE)),
    Case("one tap", lambda s: uniform(s).fir([2.0]), lambda g: law.fir(x(g), 3, [2.0])),
    Case(
        "complex fir",
        lambda s: uniform(s).convolve([1j, 2 - 1j]),
        lambda g: law.fir(x(g), 3, [1j, 2 - 1j]),
    ),
    Case(
        "invalid fir",
        lambda s: uniform(s).fir(TAPS, "invalid"),
        lambda g: law.fir(x(g), 3, TAPS, "invalid"),
    ),
    Case("correlate", lambda s: uniform(s).correlate(TAPS), lambda g: law.fir(x(g), 3, TAPS[::-1])),
    Case("iir", lambda s: uniform(s).iir(*IIR), lambda g: law.iir(x(g), 3, *IIR)),
    Case(
        "invalid iir",
        lambda s: uniform(s).iir(*IIR, missing="invalid"),
        lambda g: law.iir(x(g), 3, *IIR, "invalid"),
    ),
    Case(
        "filter",
        lambda s: uniform(s).filter(sg.DigitalFilter(custom_ff, 3)),
        lambda g: {t: x(g).get(t - 6, 0.0) * v - x(g).get(t - 3, 0.0) for t, v in x(g).items()},
    ),
    Case(
        "feedback",
        lambda s: uniform(s).filter(
            sg.DigitalFilter(
                lambda v, y: (
                    0.2 * v[:, 2] + 0.3 * v[:, 1] + 0.1 * v[:, 0] + 0.4 * y[:, 1] - 0.2 * y[:, 0]
                ),
                3,
                2,
            )
        ),
        lambda g: law.iir(x(g), 3, *IIR),
    ),
    Case("ema", lambda s: s.to_signal().ema(0.3), ema, True),
    Case("gaps", lambda s: s.to_signal().gaps(2), gaps, True),
    Case("sessions", lambda s: s.sessions(7), sessions, True),
    piped("arrays", 4, 2, "zero", list, lambda w: w.arrays(), uniform),
    piped("sparse arrays", 3, 5, "zero", list, lambda w: w.arrays(), uniform),
    piped("whole arrays", 4, 1, "invalid", list, lambda w: w.arrays(), uniform),
    piped("fft", 8, 3, "zero", law.dft, lambda w: w.fft().arrays()),
    piped("real fft", 6, 6, "invalid", lambda v: law.dft(v)[:4], lambda w: w.real_fft().arrays()),
    piped("sliding fft", 6, 1, "zero", law.dft, lambda w: w.sliding_fft(4).arrays()),
    piped(
        "sliding fft by two", 6, 2, "zero", law.dft, lambda w: w.sliding_fft(3).arrays(), uniform
    ),
    piped("psd", 6, 2, "zero", power, lambda w: w.psd(2.0).arrays()),
    piped("odd psd", 5, 2, "zero", power, lambda w: w.psd(2.0).arrays()),
    piped("autocorrelation", 5, 5, "zero", correlation, lambda w: w.autocorrelation().arrays()),
    overlap("overlap-add", 8, 4, "sum", lambda w: w, lambda w: w),
    overlap(
        "edited spectrum",
        8,
        4,
        "sum",
        lambda w: [v / 8 for v in law.dft(edit(law.dft(w)), 1)],
        lambda w: w.fft().select(lambda a: a * (1 + np.arange(8))).inverse_fft(),
    ),
    overlap(
        "mean of windows", 7, 3, "mean", lambda w: w[::-1], lambda w: w.select(lambda a: a[:, ::-1])
    ),
    overlap("maximum", 5, 2, "max", lambda w: w[1:], lambda w: w.select(lambda a: a[:, 1:])),
    overlap("minimum, with room", 3, 5, "min", lambda w: w, lambda w: w),
    overlap("longer arrays", 4, 2, "sum", correlation, lambda w: w.autocorrelation()),
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_an_operator_means_its_definition_after_every_batch(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    batches = law.history(rng, law.signal_events(rng))
    plan = case.query(readings())
    query = plan.query()
    restart = int(rng.integers(0, len(batches)))
    counts: dict[Any, int] = {}
    for number, batch in enumerate(batches):
        changes = query.push(law.table(batch))
        columns = changes.to_numpy()
        names = [n for n in columns if n != "__count"]
        for k in range(len(changes)):
            row = tuple(columns[n][k].tobytes() for n in names)
            counts[row] = counts.get(row, 0) + int(columns["__count"][k])
        live = law.after(batches[: number + 1])
        law.assert_identical(query.result(), plan.over(law.all_of(live)))
        if number == restart:
            query = plan.restore(sg.snapshot(query))
    law.assert_means(query.result(), case, live)
    columns = query.result().to_numpy()
    rows = [tuple(columns[n][k].tobytes() for n in names) for k in range(len(query.result()))]
    assert {row: n for row, n in counts.items() if n} == dict.fromkeys(rows, 1)


def test_a_result_does_not_lie_in_the_arrays_of_the_user() -> None:
    columns = law.all_of([(1, t, t + 1, 1.0) for t in range(5)])
    result = readings().to_signal().sample(1).over(columns)
    query = readings().to_signal().sample(1).sum(2).query()
    query.push(columns)
    columns["value"][:] = 7.0
    columns["time"][:] = 7
    assert result.to_numpy()["value"].tolist() == [1.0] * 5
    assert result.to_numpy()["time"].tolist() == [0, 1, 2, 3, 4]
    query.push(law.all_of([(1, 5, 6, 1.0)]))
    assert query.result().to_numpy()["value"].tolist() == [2.0] * 5


def test_a_result_without_events_has_its_columns() -> None:
    result = readings().to_signal().sample(1).query().result()
    assert list(result.to_numpy()) == ["sensor", "time", "value"]
