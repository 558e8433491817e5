"""Signal queries beside SciPy called group by group, by pandas and by Spark, and beside polars.

The five queries of the thesis (7.5). FFT and FIR run over one long signal, beside one call of SciPy
on its array; the others over 10 to 1,000,000 groups. `refresh` takes in the last 0.1% of the
events, and is compared with computing everything anew. Seconds are of the CPU, but those of Spark
of the clock. A way that does not end within its limit has no figure.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import fft, signal

from bench.apart import apart
from bench.report import show, times, write
from freshview.signal import linear, stream
from freshview.signal.language.events import EventOperators

Table = dict[str, Any]
Tables = dict[str, Table]

LIMIT = 300.0
FFT_SIZES, TAPS, GROUPS = (64, 256, 1024, 2048), (64, 256, 1024, 2048), (10, 1_000, 10_000)
MANY = (*GROUPS, 100_000, 1_000_000)
PATTERN = np.random.default_rng(1).normal(0, 1, 32)
WIDE, NARROW = 256, 8
"""Windows of overlap-add, in long groups and in short ones."""

CALL_BAR, PANDAS_BAR, SPARK_BAR, FEW_BAR, REFRESH_BAR = 1.3, 3.0, 10.0, 1.2, 50.0
"""What is wanted: at most so many times one call, at least so many times faster from 10,000 groups
on, at most so many times the best at 10 groups, and refreshing to recomputing."""


@dataclass(frozen=True)
class Query:
    """A query of many groups: ours, and what others call for each group."""

    name: str
    plan: Callable[[int], EventOperators]
    each: Callable[[pd.DataFrame, int], pd.DataFrame]
    polars: Callable[[Tables], Any] | None = None
    is_of_two: bool = False


def events(count: int, groups: int, period: int = 5) -> Table:
    """Samples of groups, one group after the other."""
    per = max(count // groups, 1)
    rng = np.random.default_rng(7)
    return {
        "sensor": np.repeat(np.arange(groups), per),
        "time": np.tile(np.arange(per) * period, groups),
        "value": rng.random(groups * per),
    }


def every(table: Table, n: int) -> Table:
    """Those at multiples of so many periods."""
    wanted = table["time"] % (5 * n) == 0
    return {name: values[wanted] for name, values in table.items()}


def window(per: int) -> int:
    """How long the windows of overlap-add are, for groups of so many samples."""
    return WIDE if per >= 2 * WIDE else NARROW


# -- ours ------------------------------------------------------------------------------------------


def samples(name: str = "fast", period: int = 5) -> Any:
    """A uniform signal of every sensor."""
    return stream(name, key="sensor").to_signal().sample(period)


def correlated(per: int) -> EventOperators:
    """The product of every 32 samples with a pattern; fewer, where groups are short."""
    return samples().correlate(PATTERN[: min(32, per)], missing="invalid")


def interpolated(per: int) -> EventOperators:
    """One signal upsampled by lines, plus another; extreme sums."""
    slow = stream("slow", key="sensor").to_signal().sample(20, policy=linear(20))
    return (slow.upsample(4) + samples()).where(lambda e: (e.value < 1e-4) | (e.value > 1.9999))


def added(per: int) -> EventOperators:
    """Windows through a transform and back, added where they overlap."""
    size = window(per)
    return samples().windows(size, size // 2).real_fft().inverse_real_fft().overlap_add()


# -- group by group --------------------------------------------------------------------------------


def correlate_each(frame: pd.DataFrame, per: int) -> pd.DataFrame:
    """As `correlated`, for one group."""
    size = min(32, per)
    value = signal.correlate(frame["value"].to_numpy(), PATTERN[:size], "valid")
    rest = frame.iloc[size - 1 :]
    return pd.DataFrame({"sensor": rest["sensor"], "time": rest["time"], "value": value})


def interpolate_each(frame: pd.DataFrame, per: int) -> pd.DataFrame:
    """As `interpolated`, for one group; where there is no slow sample, its column has NaN."""
    time_, slow = frame["time"].to_numpy(), frame["slow"].to_numpy()
    known = ~np.isnan(slow)
    until = time_ <= time_[known][-1]
    total = frame["value"].to_numpy()[until] + np.interp(time_[until], time_[known], slow[known])
    wanted = (total < 1e-4) | (total > 1.9999)
    columns = {"time": time_[until][wanted], "value": total[wanted]}
    return pd.DataFrame({"sensor": frame["sensor"].iloc[0], **columns})


def add_each(frame: pd.DataFrame, per: int) -> pd.DataFrame:
    """As `added`, for one group."""
    size = window(per)
    x, half = frame["value"].to_numpy(), size // 2
    count = max((len(x) - size) // half + 1, 0)
    if not count:
        return pd.DataFrame(
            {"sensor": frame["sensor"][:0], "time": frame["time"][:0], "value": x[:0]}
        )
    windows = np.lib.stride_tricks.sliding_window_view(x, size)[::half][:count]
    back = fft.irfft(fft.rfft(windows, axis=1), n=size, axis=1)
    total = np.zeros((count + 1) * half)
    total[: count * half] += back[:, :half].ravel()
    total[half:] += back[:, half:].ravel()
    rest = frame.iloc[: len(total)]
    return pd.DataFrame({"sensor": rest["sensor"], "time": rest["time"], "value": total})


def interpolate_in_polars(tables: Tables) -> Any:
    """The only query whose operators polars has."""
    slow, fast = (pl.DataFrame(tables[name]) for name in ("slow", "fast"))
    finer = slow.upsample("time", every="5i", group_by="sensor", maintain_order=True)
    finer = finer.with_columns(
        pl.col("sensor").forward_fill(), pl.col("value").interpolate().over("sensor")
    )
    both = finer.join(fast, on=["sensor", "time"], suffix="_fast")
    total = pl.col("value") + pl.col("value_fast")
    return both.select("sensor", "time", value=total).filter(
        (pl.col("value") < 1e-4) | (pl.col("value") > 1.9999)
    )


QUERIES = (
    Query("correlation", correlated, correlate_each),
    Query("interpolation", interpolated, interpolate_each, interpolate_in_polars, True),
    Query("overlap-add", added, add_each),
)


def tables_of(query: Query, count: int, groups: int) -> Tables:
    """The inputs by source."""
    fast = events(count, groups)
    return {"slow": every(fast, 4), "fast": fast} if query.is_of_two else {"fast": fast}


def frame_of(tables: Tables) -> pd.DataFrame:
    """The inputs as one data frame, so that each group is one call."""
    frame = pd.DataFrame(tables["fast"])
    if "slow" in tables:
        slow = pd.DataFrame(tables["slow"]).rename(columns={"value": "slow"})
        frame = frame.merge(slow, on=["sensor", "time"], how="left")
    return frame


# -- ways ------------------------------------------------------------------------------------------


def least(work: Callable[[], object], rounds: int) -> float:
    """The least CPU seconds of so many runs."""
    spent = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return min(spent)


def ours(query: Query, tables: Tables, per: int, rounds: int) -> tuple[float, float]:
    """Seconds, and the most MB that the process has taken more."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    plan = query.plan(per)
    seconds = least(lambda: plan.over(tables), rounds)
    return seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def by_pandas(query: Query, tables: Tables, per: int, rounds: int) -> tuple[float, int]:
    """SciPy called for each group of a data frame; and how many events come out."""
    frame = frame_of(tables)

    def work() -> pd.DataFrame:
        groups = frame.groupby("sensor", sort=False)
        return pd.concat([query.each(group, per) for _, group in groups])

    return least(work, rounds), len(work())


def by_polars(query: Query, tables: Tables, rounds: int) -> tuple[float, int]:
    """Polars; all its threads together."""
    assert query.polars is not None
    return least(lambda: query.polars(tables), rounds), len(query.polars(tables))


def by_spark(query: Query, tables: Tables, per: int, spark: Any) -> tuple[float, int]:
    """`applyInPandas`, the data in Spark's memory before."""
    frame = spark.createDataFrame(frame_of(tables)).cache()
    frame.count()
    began = time.perf_counter()
    result = frame.groupBy("sensor").applyInPandas(
        lambda group: query.each(group.sort_values("time"), per),
        "sensor long, time long, value double",
    )
    count = result.count()
    seconds = time.perf_counter() - began
    frame.unpersist()
    return seconds, count


def refreshed(query: Query, tables: Tables, per: int) -> tuple[float, float]:
    """Seconds of the last 0.1% of the events, by time, and of everything."""
    plan = query.plan(per)
    running = plan.query(keep_result=False)
    later = {n: t["time"] >= np.quantile(t["time"], 0.999) for n, t in tables.items()}
    if per < 1000:  # groups are too short to cut each: some groups get all their events later
        groups = int(tables["fast"]["sensor"][-1]) + 1
        later = {n: t["sensor"] % 1000 == 0 for n, t in tables.items()} if groups > 1000 else later
    old, new = (
        {n: {c: v[m == is_new] for c, v in tables[n].items()} for n, m in later.items()}
        for is_new in (False, True)
    )
    running.push(old)
    began = time.process_time()
    running.push(new)
    return time.process_time() - began, least(lambda: plan.over(tables), 1)


# -- tables ----------------------------------------------------------------------------------------


def plain(count: int, rounds: int, sizes: Iterable[int], taps: Iterable[int]) -> Table:
    """FFT and FIR over one signal beside one call of SciPy on its array."""
    table = events(count, 1)
    x, rows, ratios = table["value"], [], {}
    for size in sizes:
        whole = x[: len(x) // size * size].reshape(-1, size)
        plan = samples().windows(size, size).fft().arrays()
        mine = least(lambda p=plan: p.over(table), rounds)  # type: ignore[misc]
        call = least(lambda w=whole: fft.fft(w, axis=-1), rounds)  # type: ignore[misc]
        rows.append((f"FFT of {size}", mine, call, times(mine / call), ""))
        ratios[f"fft {size}"] = call / mine
    for number in taps:
        weights = np.random.default_rng(3).normal(0, 1, number)
        plan = samples().fir(weights)
        mine = least(lambda p=plan: p.over(table), rounds)  # type: ignore[misc]
        call = least(lambda w=weights: signal.lfilter(w, 1.0, x), rounds)  # type: ignore[misc]
        quick = least(lambda w=weights: signal.oaconvolve(x, w)[: len(x)], rounds)  # type: ignore[misc]
        rows.append((f"FIR of {number}", mine, call, times(mine / call), times(mine / quick)))
        ratios[f"fir {number}"] = call / mine
    columns = ("over one signal", "ours (s)", "SciPy (s)", "ours to it", "to oaconvolve")
    show(f"{count:,} events, one signal (wanted: {CALL_BAR})", columns, rows)
    return ratios


def grouped(count: int, groups: Iterable[int], rounds: int, spark: Any, only: str) -> Table:
    """Queries of many groups, every way in a process of its own."""
    rows, ratios = [], {}
    for query in QUERIES:
        for number in groups if only in ("", query.name) else ():
            tables, per = tables_of(query, count, number), max(count // number, 1)
            mine, why = apart(ours, query, tables, per, rounds, limit=LIMIT)
            pandas, _ = apart(by_pandas, query, tables, per, 1, limit=LIMIT)
            polars = (
                apart(by_polars, query, tables, rounds, limit=LIMIT)[0] if query.polars else None
            )
            far = by_spark(query, tables, per, spark) if spark and number <= 10_000 else None
            fresh, _ = apart(refreshed, query, tables, per, limit=LIMIT)
            if mine is None:
                print(f"{query.name}, {number:,} groups: {why}")
                continue
            seconds, megabytes = mine
            others = [w and w[0] for w in (pandas, polars, far)]
            shown = [times(w and w / seconds) for w in others]
            again = fresh and fresh[1] / fresh[0]
            rows.append((f"{query.name}, {number:,}", seconds, megabytes, *shown, times(again)))
            names = ("pandas", "polars", "Spark")
            ratios |= {
                f"{query.name}, {number:,}: {n}": w / seconds
                for n, w in zip(names, others, strict=True)
                if w
            }
            if again:
                ratios[f"{query.name}, {number:,}: refresh"] = again
    columns = ("query, groups", "ours (s)", "MB", "pandas", "polars", "Spark", "refresh")
    note = (
        f"wanted from 10,000 groups on: pandas and polars {PANDAS_BAR:.0f}x, "
        f"Spark {SPARK_BAR:.0f}x; at 10 groups {1 / FEW_BAR:.2f}x of the best; "
        f"refresh {REFRESH_BAR:.0f}x"
    )
    show(f"{count:,} events in groups: how much longer others take", columns, rows, note)
    return ratios


def agree(count: int = 20_000) -> None:
    """All ways give the same events."""
    for query in QUERIES:
        for groups in (10, 500):
            tables, per = tables_of(query, count, groups), count // groups
            result = len(query.plan(per).over(tables))
            assert by_pandas(query, tables, per, 1)[1] == result, (query.name, groups)
            assert not query.polars or by_polars(query, tables, 1)[1] == result, query.name


def growth(count: int, rounds: int) -> Table:
    """Seconds and memory by events, at 1,000 groups."""
    rows = []
    for part in (4, 2, 1):
        tables = tables_of(QUERIES[1], count // part, 1_000)
        (seconds, megabytes), _ = apart(
            ours, QUERIES[1], tables, count // part // 1_000, rounds, limit=LIMIT
        )
        rows.append((f"{count // part:,}", seconds, megabytes))
    show("interpolation, 1,000 groups, by events", ("events", "ours (s)", "MB"), rows)
    return {"growth of time": rows[0][1] * 4 / rows[-1][1]}


def main() -> None:
    """All of it, or a first look."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the events, fewer sizes")
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--only", choices=["plain", "grouped", "growth"])
    parser.add_argument("--query", choices=[q.name for q in QUERIES], default="")
    parser.add_argument("--no-spark", action="store_true", help="leave Spark out")
    args = parser.parse_args()
    count = min(args.events, 1_000_000) if args.quick else args.events
    rounds = 2 if args.quick else 3
    agree()
    ratios: Table = {}
    if args.only in (None, "plain"):
        sizes = (64, 2048) if args.quick else FFT_SIZES
        ratios |= plain(count, rounds, sizes, sizes if args.quick else TAPS)
    if args.only in (None, "growth"):
        ratios |= growth(count, rounds)
    if args.only in (None, "grouped"):
        spark = None
        if not args.no_spark:
            from freshview.spark.start_session import start_session

            spark = start_session("local[2]")
        groups = (10, 10_000, 100_000) if args.quick else MANY
        ratios |= grouped(count, groups, rounds, spark, args.query)
        if spark:
            spark.stop()
    write("signal", {"ratios": ratios})
    if ratios:
        print(f"median ratio: {times(statistics.median(ratios.values()))}")


if __name__ == "__main__":
    main()
