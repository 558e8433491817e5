"""With a watermark, late events are set aside, and what is forgotten makes no difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from freshview import signal as sg
from freshview.signal.columns import store
from tests.law import signals as law
from tests.law.test_signals import CASES
from tests.law.test_signals_of_two import CASES as PAIRS

DELAY = 60


def long_signal(rng: Any, sensors: int = 4, count: int = 150) -> list[law.Event]:
    """Events that do not overlap; two sensors fall silent now and then, one for good."""
    events: list[law.Event] = []
    for sensor in range(sensors):
        time = int(rng.integers(0, 30))
        for k in range(count):
            length = int(rng.choice([1, 2, 7]))
            events.append((sensor, time, time + length, float(rng.standard_normal())))
            gap = 400 if sensor > 1 and rng.random() < 0.01 else int(rng.choice([0, 1, 5]))
            time += length + gap
            if sensor == 3 and k > count // 3:
                break
    return events


def batches(rng: Any, events: list[law.Event]) -> list[law.Batch]:
    """In order of time, up to disorder within the delay and a few that are far too late."""
    late = [rng.normal(0, 15) + (500 if rng.random() < 0.01 else 0) for _ in events]
    order = np.argsort([e[1] + d for e, d in zip(events, late, strict=True)], kind="stable")
    result: list[law.Batch] = [[(events[k], 1) for k in part] for part in np.array_split(order, 60)]
    gone: set[law.Event] = set()
    for number in range(3, len(result)):
        latest = max(e[1] for b in result[:number] for e, n in b if n > 0)
        recent = [e for b in result[number - 3 : number] for e, n in b if n > 0]
        near = [e for e in recent if e[1] >= latest - DELAY // 2]
        if near and rng.random() < 0.5:
            old = near[int(rng.integers(0, len(near)))]
            if old not in gone:
                gone.add(old)
                result[number].append((old, -1))
                result[number].append(((*old[:3], 0.25), 1))
    return result


def admitted(batch: law.Batch, watermark: int | None) -> law.Batch:
    return [(e, n) for e, n in batch if watermark is None or e[1] >= watermark]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PATIENCE", 16)


@pytest.mark.parametrize("seed", [1])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_forgetting_changes_nothing(case: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrivals = batches(rng, long_signal(rng))
    plan = case.query(law.readings(delay=DELAY))
    whole = case.query(law.readings())
    query, late = plan.query(), 0
    accepted: list[law.Batch] = []
    known: set[law.Event] = set()
    for number, batch in enumerate(arrivals):
        # A correction of an event that came too late is too late as well.
        batch = [(e, n) for e, n in batch if n > 0 or e in known]
        accepted.append(admitted(batch, query.watermark()))
        known |= {e for e, _ in accepted[-1]}
        late += len(batch) - len(accepted[-1])
        query.push(law.table(batch))
        if number % 7 == 0:
            query.advance()
        if number == 30:
            query = plan.restore(sg.snapshot(query))
        if number % 20 == 19 or number == len(arrivals) - 1:
            law.assert_identical(query.result(), whole.over(law.all_of(law.after(accepted))))
    assert query.late_count() == late > 0
    query.advance()
    everything = whole.query()
    everything.push(law.all_of(law.after(accepted)))
    if everything.stored:
        assert query.stored < 0.9 * everything.stored


@pytest.mark.parametrize("case", PAIRS, ids=lambda c: c.name)
def test_forgetting_changes_nothing_of_two_sources(case: Any) -> None:
    rng = np.random.default_rng(5)
    sides = [batches(rng, long_signal(rng)), batches(rng, long_signal(rng))]
    plan = case.query(law.readings("left", DELAY), law.readings("right", DELAY))
    whole = case.query(law.readings("left"), law.readings("right"))
    query = plan.query()
    accepted: list[list[law.Batch]] = [[], []]
    known: list[set[law.Event]] = [set(), set()]
    for number in range(len(sides[0])):
        tables = {}
        for side, name in enumerate(("left", "right")):
            batch = [(e, n) for e, n in sides[side][number] if n > 0 or e in known[side]]
            accepted[side].append(admitted(batch, query.watermark(name)))
            known[side] |= {e for e, _ in accepted[side][-1]}
            tables[name] = law.table(batch)
        query.push(tables)
        if number % 7 == 0:
            query.advance()
        if number % 15 == 14:
            query = plan.restore(sg.snapshot(query))
            live = [law.all_of(law.after(a)) for a in accepted]
            now = whole.over({"left": live[0], "right": live[1]})
            law.assert_identical(query.result(), now)


def test_late_events_are_counted_and_set_aside() -> None:
    plan = law.readings(delay=10).to_signal().sample(5)
    query = plan.query()
    query.push(law.all_of([(1, 100, 101, 1.0), (2, 95, 96, 2.0), (1, 50, 51, 5.0)]))
    assert query.late_count() == 0, "events of one batch are not late for each other"
    assert query.watermark() == 90
    change = query.push(law.table([((1, 80, 81, 7.0), 1), ((1, 50, 51, 5.0), -1)]))
    assert len(change) == 0
    assert query.late_count() == 2
    assert query.late().to_numpy()["time"].tolist() == [80, 50]
    assert query.late().to_numpy()["__count"].tolist() == [1, -1]
    query.advance(readings=200)
    query.push(law.all_of([(1, 199, 200, 7.0)]))
    assert query.late_count() == 3


def test_a_silent_source_holds_nothing_up_once_it_says_so() -> None:
    plan = law.readings("left", 0).to_signal() + law.readings("right", 0).to_signal()
    query = plan.query()
    stored = []
    for part in range(40):
        events = [(1, t, t + 1, 0.0) for t in range(part * 100, part * 100 + 100)]
        query.push({"left": law.all_of(events)})
        query.advance(right=part * 100)
        stored.append(query.stored)
    assert max(stored) < 3000
