"""What signals cost: calls, not groups; bytes, as the events; a change, not what is stored."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from freshview import signal as sg

PERIOD = 5


def samples(name: str = "fast", period: int = PERIOD) -> sg.UniformSignal:
    return sg.stream(name, key="sensor").to_signal().sample(period)


def finer() -> sg.UniformSignal:
    return sg.stream("slow", key="sensor").to_signal().sample(20, policy=sg.linear(20)).upsample(4)


PLANS: dict[str, Callable[[], Any]] = {
    "fir": lambda: samples().fir(np.arange(8) / 7),
    "fft": lambda: samples().windows(16, 16).fft().arrays(),
    "interpolate, join": lambda: finer() + samples(),
    "overlap-add": lambda: samples().windows(16, 8).real_fft().inverse_real_fft().overlap_add(),
}


def table(groups: int, per: int, first: int = 0, period: int = PERIOD) -> dict[str, Any]:
    return {
        "sensor": np.repeat(np.arange(groups), per),
        "time": np.tile((np.arange(per) + first) * period, groups),
        "value": np.random.default_rng(1).random(groups * per),
    }


def tables(plan: Any, groups: int, per: int, first: int = 0) -> dict[str, Any]:
    every = {
        "fast": table(groups, per, first),
        "slow": table(groups, per // 4, first // 4, 4 * PERIOD),
    }
    return {name: every[name] for name in plan.query().sources}


def calls(work: Callable[[], object]) -> int:
    """How many functions are called: loops over groups or windows in Python would show."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", PLANS)
def test_groups_cost_no_calls(name: str) -> None:
    plan = PLANS[name]()
    few, many = (tables(plan, groups, 6400 // groups) for groups in (4, 200))
    plan.over(few)
    plan.over(many)
    assert calls(lambda: plan.over(many)) < 1.5 * calls(lambda: plan.over(few))


@pytest.mark.parametrize("name", PLANS)
def test_a_change_costs_as_much_over_ten_times_the_events(name: str) -> None:
    costs, sizes = [], []
    for per in (800, 8000):
        plan = PLANS[name]()
        query = plan.query(keep_result=False)
        query.push(tables(plan, 8, per))
        query.push(tables(plan, 8, 40, per))
        sizes.append(query.bytes)
        costs.append(calls(lambda q=query, p=plan, n=per: q.push(tables(p, 8, 40, n + 40))))
    assert costs[1] < 1.5 * costs[0]
    assert sizes[1] < 12 * sizes[0]


def test_regular_events_are_kept_as_their_values() -> None:
    query = samples().fir([0.5, 0.5]).query(keep_result=False)
    query.push(tables(samples(), 10, 10_000))
    values = 100_000 * 8
    assert query.bytes < 1.2 * values, "times and groups are three numbers a run"
