"""The ratios of a run, one way up: larger is better. They are compared with those of earlier runs.

A part may tell its own, as `ratios` in what it writes; of the others they are made of its results.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

Ratios = dict[str, float]
FALL = 0.10
"""A ratio that has lost more than this share is shown."""
RECENT = 5
"""With how many of the last runs a run is compared: with their median."""


def _join_sum(results: Any) -> Ratios:
    rates = results["rates"]
    groups: dict[str, dict[str, float]] = {"native": {}, "connect": {}, "": {}}
    for name, rate in rates.items():
        kind = next(k for k in groups if name.startswith(k))
        groups[kind][name] = rate
    best = max(groups["native"].values())
    out = {f"native over {name}": best / rate for name, rate in groups[""].items()}
    return out | {f"{name} over native": r / best for name, r in groups["connect"].items()}


def _versus_duckdb(results: Any) -> Ratios:
    return {
        f"{name}: maintained over DuckDB": median(f["recompute"]) / median(f["native"])
        for name, f in results.items()
        if "native" in f
    }


def _versus_dicts(results: Any) -> Ratios:
    out = {}
    for name, f in results.items():
        for way, rate in f.items():
            if "plain" in f and isinstance(rate, float) and way not in ("plain", "by hand"):
                out[f"{name} {way}: over dictionaries"] = rate / f["plain"]
    return out


def _memory(results: Any) -> Ratios:
    out = {}
    for name, f in results.items():
        for other in ("floor", "duckdb"):
            if other in f and "kernel" in f:
                out[f"{name}: bytes of {other} over kernel"] = f[other] / f["kernel"]
    return out


def _growth(results: Any) -> Ratios:
    out = {}
    for name, by_size in results.items():
        times = [f["ns"] for f in by_size.values() if f]
        if len(times) > 1:
            out[f"{name}: smallest over largest book"] = times[0] / times[-1]
    return out


def _factorized(results: Any) -> Ratios:
    return {
        f"{name}: factorized over {way}": rates["factorized"][0] / rate
        for name, rates in results.items()
        for way, (rate, _) in rates.items()
        if way != "factorized" and "factorized" in rates
    }


def _front_door(results: Any) -> Ratios:
    out = {
        f"{x['query']}: kernel over {way}": 1 / ratio
        for x in results.get("queries", ())
        for way, ratio in x["ratios"].items()
    }
    rates = {name: median(each) for name, each in results.get("rates", {}).items()}
    for name, rate in rates.items():
        way, _, size = name.partition(", ")
        kernel = rates.get(f"kernel alone, {size}")
        if kernel and way != "kernel alone":
            out[f"join and sum, {name}: over the kernel"] = rate / kernel
    return out


def _first_rows(results: Any) -> Ratios:
    reads: dict[str, list[float]] = {}
    for x in results:
        reads.setdefault(x["plan"], []).append(x["read"])
    return {
        f"{plan}: a read at the fewest over the most groups": r[0] / r[-1]
        for plan, r in reads.items()
    }


def _subscribers(results: Any) -> Ratios:
    return {
        f"{x['way']}, {x['groups']:,} groups: alone over subscribed": x["alone"] / x["subscribed"]
        for x in results
    }


READERS: Mapping[str, Callable[[Any], Ratios]] = {
    "join_sum": _join_sum,
    "versus_duckdb": _versus_duckdb,
    "versus_dicts": _versus_dicts,
    "memory": _memory,
    "growth": _growth,
    "factorized": _factorized,
    "front_door": _front_door,
    "subscribers": _subscribers,
    "first_rows": _first_rows,
}


def ratios_of(part: str, results: Any) -> Ratios:
    """The ratios of a part's results; none where it has nothing to compare.

    >>> ratios_of("machine", {"ratios": {"q01": 0.5}}), ratios_of("growth", {"x": {"1": None}})
    ({'machine: q01': 0.5}, {})
    """
    stored = results.get("ratios") if isinstance(results, dict) else None
    ratios = stored if stored is not None else READERS.get(part, lambda _: {})(results)
    return {f"{part}: {name}": float(value) for name, value in ratios.items()}


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the suite: when, of which commit, with how much data, and its ratios."""

    at: str
    commit: str
    quick: bool
    ratios: Ratios


def past_runs(path: Path, quick: bool) -> list[Run]:
    """The runs of a history with the same amount of data, the oldest first."""
    return [run for run in _runs(path) if run.quick == quick]


def _runs(path: Path) -> Iterator[Run]:
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            yield Run(**json.loads(line))


def add_run(path: Path, run: Run) -> None:
    """One more line of a history."""
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"at": run.at, "commit": run.commit, "quick": run.quick, "ratios": run.ratios}
    with path.open("a", encoding="utf-8") as out:
        out.write(json.dumps(record) + "\n")


def before(past: Sequence[Run]) -> Ratios:
    """What each ratio was in the last runs: their median."""
    values: dict[str, list[float]] = {}
    for run in past[-RECENT:]:
        for name, value in run.ratios.items():
            values.setdefault(name, []).append(value)
    return {name: median(each) for name, each in values.items()}


def fallen(now: Ratios, then: Ratios) -> list[str]:
    """The ratios that have lost more than a tenth.

    >>> fallen({"a": 0.85, "b": 1.0, "c": 9.0}, {"a": 1.0, "b": 1.05})
    ['a']
    """
    return [name for name, value in now.items() if value < (1 - FALL) * then.get(name, 0.0)]
