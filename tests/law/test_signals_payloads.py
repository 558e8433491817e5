"""Payloads that are structs, vectors, complex numbers or functions of time; operators of the user.

As in `test_signals.py`: equal to the definition, and after every batch, bit by bit, to the same
query over all the events at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from freshview import signal as sg
from tests.law import signals as law
from tests.law.signals import Case, Lives, readings


def parts(v: float) -> dict[str, Any]:
    """A struct of a real number, a complex one, and a vector."""
    return {"a": v, "z": complex(v, v * v), "w": np.array([v, -v, 2 * v])}


def struct(s: sg.Stream) -> sg.Stream:
    return s.select(
        lambda e: {
            "a": e.value,
            "z": e.value + 1j * e.value**2,
            "w": np.stack([e.value, -e.value, 2 * e.value], axis=1),
        }
    )


def lifted(lives: Lives) -> list[tuple[int, int, Any]]:
    return [(a, b, parts(v)) for a, b, v in lives]


def each(
    meaning: Callable[[list[Any]], law.Samples], names: tuple[str, ...] = ("a", "z", "w")
) -> Callable[[Lives], law.Samples]:
    """What an operator means for every field of a struct by itself."""

    def together(lives: Lives) -> law.Samples:
        fields = [meaning([(a, b, p[n]) for a, b, p in lifted(lives)]) for n in names]
        return {t: tuple(f[t] for f in fields) for t in fields[0]}

    return together


def of_struct(name: str, query: Any, meaning: Any) -> Case:
    return Case(name, lambda s: query(struct(s).to_signal()), each(meaning))


def interpolated(history: int, value: Any) -> Any:
    return lambda g: law.interpolated(law.points(g, 4, 2), 4, 2, 30, history, value)


def sine(t: Any, e: Any) -> Any:
    return e.amplitude * np.sin(e.freq * t)


def waves(s: sg.Stream) -> sg.FunctionSignal:
    arguments = s.select(lambda e: {"amplitude": e.value, "freq": 0.1 + e.value**2})
    return arguments.to_signal().with_function(sine)


def wave(t: int, v: float) -> float:
    return v * math.sin((0.1 + v * v) * t)


def kinds(s: sg.Stream) -> sg.FunctionSignal:
    """Events of three functions, by the sign and the size of their values."""
    functions = [lambda t, e: e.value * t, lambda t, e: e.value + 0.0 * t, lambda t, e: t**2 % 7]
    arguments = s.select(
        lambda e: {"value": e.value, "kind": np.where(e.value < 0, 0, np.where(e.value < 1, 1, 2))}
    )
    return arguments.to_signal().with_function(sg.dispatch(functions))


def kind(t: int, v: float) -> float:
    return v * t if v < 0 else v if v < 1 else t**2 % 7


def function(name: str, query: Any, value: Any, shift: int = 0) -> Case:
    return Case(
        name,
        lambda s: query(s).sample(3, 1),
        lambda g: {
            t: value(t, v) for a, b, v in g for t in law.beats_in(a + shift, b + shift, 3, 1)
        },
    )


def followed(s: sg.Stream) -> sg.UniformSignal:
    return waves(s).sample(4, 2, sg.linear(30))


CASES = [
    of_struct("sample", lambda s: s.sample(3, 1), lambda g: law.sampled(g, 3, 1)),
    of_struct("linear", lambda s: s.sample(4, 2, sg.linear(30)), interpolated(2, law.line)),
    of_struct(
        "quadratic", lambda s: s.sample(4, 2, sg.quadratic(30)), interpolated(3, law.parabola)
    ),
    of_struct("step", lambda s: s.sample(4, 2, sg.step(30)), interpolated(2, law.stair)),
    of_struct(
        "scale",
        lambda s: s.scale(2j).sample(3),
        lambda g: {t: v * 2j for t, v in law.sampled(g, 3).items()},
    ),
    of_struct(
        "plus",
        lambda s: s.sample(3) + s.sample(3).scale(2.0),
        lambda g: {t: v + 2 * v for t, v in law.sampled(g, 3).items()},
    ),
    of_struct(
        "times",
        lambda s: s.sample(3) * s.sample(3),
        lambda g: {t: v * v for t, v in law.sampled(g, 3).items()},
    ),
    of_struct(
        "fir",
        lambda s: s.sample(3, 1).fir([0.5, -1.0, 2.0]),
        lambda g: law.fir(law.sampled(g, 3, 1), 3, [0.5, -1.0, 2.0]),
    ),
    Case(
        "filters of complex samples",
        lambda s: struct(s).select(lambda e: e.z).to_signal().sample(3, 1).iir([0.2], [1, 0.5]),
        lambda g: law.iir(
            law.sampled([(a, b, parts(v)["z"]) for a, b, v in g], 3, 1), 3, [0.2], [1, 0.5]
        ),
    ),
    function("functions", waves, wave),
    function("later", lambda s: waves(s).shift(5), lambda t, v: wave(t - 5, v), 5),
    function("scaled", lambda s: waves(s).scale(3.0), lambda t, v: 3 * wave(t, v)),
    function("sum", lambda s: waves(s) + kinds(s), lambda t, v: wave(t, v) + kind(t, v)),
    function("difference", lambda s: kinds(s) - waves(s), lambda t, v: kind(t, v) - wave(t, v)),
    function("product", lambda s: waves(s) * waves(s), lambda t, v: wave(t, v) ** 2),
    function("functions by event", kinds, kind),
    function(
        "a signal beside functions",
        lambda s: waves(s) * s.to_signal(),
        lambda t, v: wave(t, v) * v,
    ),
    function(
        "other arguments",
        lambda s: waves(s).select(lambda e: {"amplitude": e.amplitude * 2, "freq": e.freq}),
        lambda t, v: 2 * wave(t, v),
    ),
    function(
        "another function",
        lambda s: waves(s).select(lambda e: {"up": e.amplitude}, lambda t, e: e.up * t),
        lambda t, v: v * t,
    ),
    Case(
        "functions that are interpolated",
        followed,
        lambda g: law.interpolated(
            {t: wave(t, v) for a, b, v in g for t in {a, b - 1, *law.beats_in(a, b, 4, 2)}},
            4,
            2,
            30,
            2,
            law.line,
        ),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_a_payload_of_any_kind_means_its_definition_after_every_batch(case: Case) -> None:
    rng = np.random.default_rng(11)
    batches = law.history(rng, law.signal_events(rng, 3, 30))
    plan = case.query(readings())
    query = plan.query()
    for number, batch in enumerate(batches):
        query.push(law.table(batch))
        live = law.after(batches[: number + 1])
        law.assert_identical(query.result(), plan.over(law.all_of(live)))
        if number == len(batches) // 2:
            query = plan.restore(sg.snapshot(query))
    law.assert_means(query.result(), case, live)
    assert len(query.result())


def test_a_step_of_the_user_is_updated_by_what_left_and_what_came() -> None:
    """Sums of positive and of negative samples: of whole numbers, so that both ways agree."""
    rows = {"recompute": 0, "update": 0}

    def recompute(x: Any) -> Any:
        rows["recompute"] += len(x)
        return np.stack([np.where(x > 0, x, 0).sum(axis=1), np.where(x < 0, x, 0).sum(axis=1)], 1)

    def update(before: Any, old: Any, new: Any) -> Any:
        rows["update"] += len(before)
        assert old.shape == new.shape == (len(before), 2)
        return before + recompute(new) - recompute(old)

    rng = np.random.default_rng(3)
    values = rng.integers(-9, 9, 400).astype(np.float64)
    plan = (
        readings()
        .to_signal()
        .sample(1)
        .windows(16, 2)
        .apply(sg.Step("signs", recompute, update, every=8))
    )
    query = plan.arrays().query()
    for part in np.array_split(np.arange(400), 7):
        events = [(1, int(t), int(t) + 1, float(values[t])) for t in part]
        query.push(law.all_of(events))
    correction = [((1, 200, 201, values[200]), -1), ((1, 200, 201, 5.0), 1)]
    query.push(law.table(correction))
    values[200] = 5.0
    got = query.result().to_numpy()
    windows = np.lib.stride_tricks.sliding_window_view(values, 16)[::2]
    assert got["time"].tolist() == list(range(15, 400, 2))
    assert (got["value"] == recompute(windows)).all()
    assert rows["update"] > 150
