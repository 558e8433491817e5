"""The limits of the machine, and the floor that they imply beside what kernels reach.

Loads that wait for one another (a pointer chase), loads at random places that do not, and reading
in order, by the size of what is read. The floor of an event is the bytes of its columns read in
order, and one load that waits for no other for each record that it looks at or writes, in a state
of the size that the kernel has: no arithmetic, no hashing, no calls. Records are counted by a
kernel that is built to count.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bench import data
from bench.apart import apart
from bench.native import runs_of, stream_for, tables
from bench.queries import drive, program_of, start, static_of, streams_of
from bench.report import show, times, write
from freshview.codegen.library.compiler import Flags, find_compiler

LINE = 64
SIZES = (32 << 10, 1 << 20, 32 << 20, 256 << 20)
QUERIES = (("tpch_papers", "q01"), ("tpch_papers", "q03"), ("tpch_papers", "q06"))
QUERIES += (("tpch_papers", "q18"), ("finance", "bsv"), ("finance", "axf"))


@cache
def _library() -> Any:
    """The loops that are measured, compiled as kernels are."""
    compiler = find_compiler()
    if compiler is None:
        raise SystemExit("there is no C++ compiler on this machine")
    folder = tempfile.mkdtemp(prefix="freshview-machine-")
    target = str(Path(folder) / "machine.so")
    source = str(Path(__file__).with_name("machine.cpp"))
    words = [*compiler.command, *Flags(3).words(compiler.kind), "-fvisibility=default", "-shared"]
    subprocess.run([*words, source, "-o", target], check=True)
    library = ctypes.CDLL(target)
    for name in ("chase", "gather", "stream"):
        getattr(library, name).restype = ctypes.c_double
    return library


def _cycle(lines: int, seed: int = 1) -> np.ndarray:
    """Words of which the first of every line names another line, all of them in one cycle."""
    order = np.random.default_rng(seed).permutation(lines)
    words = np.zeros(lines * 8, np.uint64)
    words[order * 8] = np.roll(order, -1).astype(np.uint64) * np.uint64(8)
    return words


def limits(size: int, quick: bool) -> dict[str, float]:
    """Nanoseconds of a load that waits and of one that does not, and bytes per nanosecond."""
    lines = size // LINE
    words = _cycle(lines)
    at = words.ctypes.data_as(ctypes.c_void_p)
    steps = 400_000 if quick else 4_000_000
    rounds = max(1, (1 << 28 if quick else 1 << 31) // size)
    count = ctypes.c_uint64
    library = _library()
    library.stream(at, count(size // 8), count(1))
    return {
        "chase": min(library.chase(at, count(steps)) for _ in range(3)),
        "gather": min(library.gather(at, count(lines), count(steps)) for _ in range(3)),
        "stream": max(library.stream(at, count(size // 8), count(rounds)) for _ in range(3)),
    }


def load_ns(measured: dict[int, dict[str, float]], size: float) -> float:
    """A load that waits for no other in so many bytes, between the sizes that were measured.

    >>> load_ns({10: {"gather": 1.0}, 1000: {"gather": 3.0}}, 100), load_ns({10: {"gather": 1}}, 5)
    (2.0, 1.0)
    """
    sizes = sorted(measured)
    ns = [measured[s]["gather"] for s in sizes]
    return float(np.interp(np.log(max(size, 1)), np.log(sizes), ns))


def event_work(workload: str, name: str, args: argparse.Namespace) -> dict[str, float]:
    """What an event takes: nanoseconds, records, bytes of columns, and the size of the state."""
    program, catalog = program_of(workload, name, "batch")
    stream = stream_for(workload, streams_of(program), args.scale, 0.1)
    static = {n: tables(args.scale)[n] for n in static_of(workload)}
    runs = runs_of(stream, "batch")
    rate = 0.0
    for _ in range(args.repeat):
        running = start(program, catalog, static)
        rate = max(rate, drive(running, runs, args.limit).per_second)
        size = running.engine.instance.stats().bytes
        running.close()
    counting = start(program, catalog, static, Flags(count=True))
    done = drive(counting, runs, 4 * args.limit)
    stats = counting.engine.instance.stats()
    used = _used_bytes(counting, stream)
    records = max(stats.visits, stats.writes) / done.events
    return {"ns": 1e9 / rate, "records": records, "bytes": used, "state": float(size)}


def _used_bytes(running: Any, stream: data.Stream) -> float:
    """Bytes of the columns that triggers read, of an event."""
    _, relations, *_ = running.engine.kernel.calls["describe"]()
    total = 0
    for name, columns, _ in relations:
        if name in stream.rows:
            used = [c[0] for c in columns if c[4]]
            total += stream.rows[name].select(used).nbytes + 8 * len(stream.counts[name])
    return total / len(stream)


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m bench.machine", description=__doc__)
    parser.add_argument("--scale", type=float, default=0.1, help="TPC-H's scale factor")
    parser.add_argument("--limit", type=float, default=2, help="CPU seconds per run")
    parser.add_argument("--repeat", type=int, default=2, help="runs, of which the best counts")
    parser.add_argument("--quick", action="store_true", help="a tenth of the data")
    args = parser.parse_args()
    if args.quick:
        args.scale, args.limit, args.repeat = args.scale / 10, 0.5, 1
    sizes = SIZES[:-1] if args.quick else SIZES
    measured = {size: limits(size, args.quick) for size in sizes}
    show(
        "Loads in nanoseconds, and reading in order",
        ("bytes", "one after the other", "independent", "GB/s in order"),
        [[f"{s >> 10:,} KiB", m["chase"], m["gather"], m["stream"]] for s, m in measured.items()],
    )
    bandwidth = measured[max(measured)]["stream"]
    lines: list[list[object]] = []
    floors: dict[str, Any] = {}
    for workload, name in QUERIES:
        work, problem = apart(event_work, workload, name, args, limit=120)
        if problem:
            print(name, problem, file=sys.stderr)
            continue
        floor = work["bytes"] / bandwidth + work["records"] * load_ns(measured, work["state"])
        floors[name] = {**work, "floor": floor}
        shown = (work["bytes"], work["records"], work["state"], floor, work["ns"])
        lines.append([name, *shown, times(work["ns"] / floor)])
    show(
        "Nanoseconds of an event in batches of 1,000, and the floor of this machine's memory",
        ("query", "bytes in", "records", "state", "floor", "kernel", "over floor"),
        lines,
    )
    ratios = {f"{name}: floor over kernel": f["floor"] / f["ns"] for name, f in floors.items()}
    write("machine", {"limits": measured, "floors": floors, "ratios": ratios})


if __name__ == "__main__":
    main()
