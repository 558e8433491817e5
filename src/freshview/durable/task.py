"""A task of a job: one step of one worker, and its parcels for the next stage."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from freshview.durable.batch_log import NO_VERSION
from freshview.durable.step import Outcome, SentBlocks, StepId
from freshview.durable.work import Work
from freshview.durable.worker import Worker
from freshview.errors import FreshviewError

OrderKind = Literal["step", "follow", "read", "save", "recall", "forget"]
"""Run a step; follow the log; run a step of a readout; write a snapshot; repeat what a step sent;
release the memory."""

Parcel: TypeAlias = tuple[int, bytes, "WorkerReport | None"]
"""A sender, its block, and its report, which travels to its own next stage."""


@dataclass(frozen=True, slots=True)
class StepMetrics:
    """The metrics of one step of one worker."""

    part: int
    step: int
    seconds: float
    sent: int
    rebuilt: int
    state: int
    base: int
    native: float = 0.0
    """The seconds in the maps themselves."""
    arrow: float = 0.0
    """The seconds in conversions of rows; the rest are files."""


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """The report of a worker at the end of a job."""

    part: int
    gathered: bytes = b""
    steps: tuple[StepMetrics, ...] = ()
    failure: FreshviewError | None = None
    prefetched: tuple[bytes, ...] = ()
    """The gathered blocks of the prefetched readouts."""
    reached: int = -1
    """The last version that was followed."""
    followed: Mapping[int, bytes] = field(default_factory=dict)
    """By followed version, the gathered block."""


@dataclass(frozen=True)
class StageOrder:
    """What all the workers must do in a stage; the `last` one of a job reports.

    `scattered` has the driver's block for each worker, `reading` the name of a read, `wanted` the
    part whose blocks are requested.
    """

    place: str
    kind: OrderKind
    at: StepId
    workers: int
    last: bool = True
    scattered: tuple[bytes, ...] = ()
    reading: str = ""
    wanted: int = -1
    prefetch: tuple[str, ...] = ()
    """Readouts of one stage that are read after the step: routines, by name."""
    versions: range = range(0)
    """The versions to follow."""
    name: str = ""
    """The name of the work: another one may have begun anew in the same place."""


# A process runs many tasks: it caches its programs and maps while the epoch stays the same.
_WORKERS: dict[tuple[str, int], tuple[tuple[str, int], Worker]] = {}
"""By place and part, for whom: the name of the work, and the epoch of its driver."""

_PIPELINES: dict[str, tuple[tuple[str, int], Work]] = {}

_SOURCES: dict[str, Callable[[], Work]] = {}
"""By place, the function that loads the work: from the driver, never from the checkpoint."""

MOST_WORKERS = 32
"""How many workers a process caches: not every process is notified when a pipeline ends."""


def provide(place: str, source: Callable[[], Work]) -> None:
    """Register the function that loads the work at a place."""
    _SOURCES[place] = source


def worker_of(order: StageOrder, part: int) -> Worker:
    """The worker of this process for a part."""
    place, whose = order.place, (order.name, order.at.epoch)
    cached = _WORKERS.pop((place, part), None)
    if cached is None or cached[0] != whose:
        if cached is not None:
            cached[1].close()
        known = _PIPELINES.get(place)
        if known is None or known[0] != whose:
            known = _PIPELINES[place] = (whose, _SOURCES[place]())
        cached = (whose, Worker(known[1], part))
    _WORKERS[place, part] = cached
    if len(_WORKERS) > MOST_WORKERS:
        _evict(next(iter(_WORKERS)))
    return cached[1]


def _evict(key: tuple[str, int]) -> None:
    """Close the least recently used worker; its maps stay in shared memory."""
    _WORKERS.pop(key)[1].close()
    if all(place != key[0] for place, _ in _WORKERS):
        _PIPELINES.pop(key[0], None)


def forget(place: str) -> None:
    """Close all that this process has of a pipeline."""
    for key in [k for k in _WORKERS if k[0] == place]:
        _WORKERS.pop(key)[1].close()
    _PIPELINES.pop(place, None)


def run_stage(
    order: StageOrder, part: int, parcels: Iterable[Parcel]
) -> Iterator[tuple[int, Parcel]]:
    """Run one stage of one worker: a parcel for every worker, or, at the end of a job, its report.

    All the input is consumed, or Spark would discard the process.
    """
    received = sorted(parcels, key=lambda parcel: parcel[0])
    reports = [r for _, _, r in received if r is not None]
    mine = next((r for r in reports if r.part == part), WorkerReport(part))
    failure = next((r.failure for r in reports if r.failure is not None), None)
    blocks = [block for _, block, _ in received]
    if order.scattered:
        blocks.append(order.scattered[part])
    sent: Sequence[bytes] = ()
    gathered = b""
    if failure is None:
        try:
            outcome = _outcome(order, part, blocks)
            sent, gathered = outcome.sent.blocks, outcome.sent.gathered
            steps = (*mine.steps, _step_metrics(order, part, outcome))
            reached, followed = outcome.reached, outcome.gathered
            mine = replace(mine, steps=steps, reached=reached, followed=followed)
        except FreshviewError as e:
            failure = e
    report = replace(mine, gathered=gathered, failure=failure)
    if order.prefetch and failure is None:
        report = _prefetch(order, report)
    if order.last:
        yield part, (part, b"", report)
        return
    # Every worker must know of a failure, or some would run a step that others do not.
    for target in range(order.workers):
        block = sent[target] if sent else b""
        reported = report if target == part or failure is not None else None
        yield target, (part, block, reported)


def _prefetch(order: StageOrder, report: WorkerReport) -> WorkerReport:
    """Read out the version that was just finished; nothing at all if one readout fails."""
    at, began = order.at, time.perf_counter()
    try:
        worker = worker_of(order, report.part)
        gathered = tuple(
            worker.read(
                uuid.uuid4().hex, StepId(at.epoch, NO_VERSION, at.mark, routine, 0)
            ).gathered
            for routine in order.prefetch
        )
    except FreshviewError:
        return report
    *before, last = report.steps
    elapsed = time.perf_counter() - began
    last = replace(last, seconds=last.seconds + elapsed, arrow=last.arrow + elapsed)
    return replace(report, prefetched=gathered, steps=(*before, last))


def _outcome(order: StageOrder, part: int, blocks: Sequence[bytes]) -> Outcome:
    began = time.perf_counter()
    worker = worker_of(order, part)
    if order.kind == "step":
        return worker.step(order.at, blocks)
    if order.kind == "follow":
        return worker.follow(order.at.epoch, order.versions)
    sent, base = SentBlocks(()), -1
    match order.kind:
        case "read":
            sent = worker.read(order.reading, order.at, blocks)
        case "save":
            base = worker.save(order.at.epoch, order.at.after)
        case "recall":
            recalled = worker.recall(order.at)
            driver = order.wanted == order.workers
            sent = SentBlocks((), recalled.gathered if driver else recalled.blocks[order.wanted])
        case "forget":
            worker.forget()
            _WORKERS.pop((order.place, part), None)
    return Outcome(sent, time.perf_counter() - began, base=base)


def _step_metrics(order: StageOrder, part: int, o: Outcome) -> StepMetrics:
    sent = sum(len(b) for b in o.sent.blocks) + len(o.sent.gathered)
    native, arrow = o.clock.native, o.clock.total - o.clock.native
    return StepMetrics(
        part, order.at.step, o.seconds, sent, o.rebuilt, o.state, o.base, native, arrow
    )
