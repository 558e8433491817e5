"""Versions and reads from end to end: turns of the driver and jobs of the workers, alternating."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar

from freshview.durable.batch_log import NO_VERSION, Entry
from freshview.durable.commit import Commit
from freshview.durable.runner import Runner
from freshview.durable.snapshots import redo_name
from freshview.durable.step import LostRedo, LostState, Refusal, StepId
from freshview.durable.storage.blocks import frame
from freshview.durable.task import OrderKind, StageOrder, StepMetrics, WorkerReport
from freshview.durable.work import DurableNode, StageLike, Work
from freshview.durable.worker import Worker
from freshview.errors import FreshviewError

T = TypeVar("T")

REPAIR_ATTEMPTS = 5
"""How often lost inputs are restored before the error is raised."""


@dataclass
class VersionMetrics:
    """The metrics of a version."""

    jobs: int = 0
    steps: list[StepMetrics] = field(default_factory=list)
    driver_base: int = -1
    outbox: bytes = b""
    """What the last step of the driver sends, to whoever follows the versions."""


@dataclass(frozen=True, slots=True)
class FollowedVersions:
    """The last finished version of a job that follows the log; workers may be ahead of it."""

    version: int
    steps: list[StepMetrics]
    outboxes: dict[int, bytes]
    """What the driver sends, by version."""


class Coordinator:
    """Runs versions and reads on the driver's own maps and on the workers."""

    def __init__(self, work: Work, runner: Runner, epoch: int) -> None:
        self.work = work
        self.runner = runner
        self.epoch = epoch
        self.driver = Worker(work, work.driver)
        self.driver_bytes = 0
        self._requested: set[str] = set()
        """Readouts that were read since the last version: the next version prefetches them."""
        self._prefetched: dict[str, tuple[str, list[bytes]]] = {}
        """By readout, the version at which it was prefetched, and the gathered blocks."""

    def step(self, entry: Entry) -> VersionMetrics:
        """Run a version to its end; steps that are finished are not repeated."""
        return self._with_repairs(lambda: self._step(entry))

    def can_follow(self, routine: str) -> bool:
        """Whether a version is one step of each worker without inputs from others."""
        schedule = self.work.schedules[routine]
        alone = [len(j) for j in schedule.jobs] == [1] and not schedule.stages[0].receives
        return alone and 0 not in self.work.steps(routine, self.work.driver)

    def follow(
        self, epoch: int, versions: range, written: Callable[[], Sequence[Entry]]
    ) -> FollowedVersions:
        """Run versions as they are logged; `written` returns the logged entries in the end.

        If the driver begins another epoch meanwhile, the workers stop waiting.
        """
        self._requested.clear()
        self._prefetched.clear()
        at = StepId(epoch, NO_VERSION, NO_VERSION, "", 0)
        reports = self.runner.run([replace(self._order("follow", at), versions=versions)])
        reports.sort(key=lambda r: r.part)
        done = -1
        outboxes: dict[int, bytes] = {}
        reached = {r.reached if r.failure is None else -1 for r in reports}
        for entry in written():
            outbox = self._gather(entry, reports) if entry.version <= min(reached) else None
            if outbox is None:
                break
            done, outboxes[entry.version] = entry.version, outbox
        return FollowedVersions(done, [f for r in reports for f in r.steps], outboxes)

    def _gather(self, entry: Entry, reports: Sequence[WorkerReport]) -> bytes | None:
        """What the driver sends after its turn in a followed version; None if that failed."""
        at = StepId(self.epoch, entry.mark, entry.driver_after, entry.routine, 1)
        if at.step not in self.work.steps(entry.routine, self.work.driver):
            return b""
        try:
            sent = [r.followed[entry.version] for r in reports]
            outcome = self.driver.step(at, sent, keep_snapshots=True)
        except (KeyError, FreshviewError):
            return None
        self.driver_bytes = outcome.state
        return outcome.sent.gathered

    def read(self, routine: str, now: Commit) -> DurableNode | None:
        """The driver's node with the result of a readout; None if the driver computes nothing."""
        return self._with_repairs(lambda: self._read(routine, now))

    def save(self, now: Commit) -> dict[int, int]:
        """Write snapshots of all the parts; by part, the version before which it needs no log."""
        return self._with_repairs(lambda: self._save(now))

    def close(self, *, forget: bool) -> None:
        """Stop; with `forget`, release the shared memory of all the parts."""
        if forget:
            at = StepId(self.epoch, NO_VERSION, NO_VERSION, "", 0)
            with suppress(Exception):  # if workers cannot be reached, their memory stays
                self.runner.run([self._order("forget", at)])
            self.driver.forget()
        self.driver.close()
        self.runner.close()

    def _with_repairs(self, work: Callable[[], T]) -> T:
        """Run something; repeat it after lost redo files are restored."""
        for _ in range(REPAIR_ATTEMPTS):
            try:
                return work()
            except LostRedo as e:
                self._restore_redo(e)
        return work()

    # ---------------------------------------------------------------- a version

    def _step(self, entry: Entry) -> VersionMetrics:
        schedule = self.work.schedules[entry.routine]
        turns = self.work.steps(entry.routine, self.work.driver)
        metrics = VersionMetrics(jobs=len(schedule.jobs))
        readouts = tuple(sorted(r for r in self._requested if self._is_short(r)))
        self._requested.clear()
        self._prefetched.clear()
        scattered: tuple[bytes, ...] = ()
        gathered: list[bytes] = []
        for i in range(len(schedule.turns)):
            if i in turns:
                at = StepId(self.epoch, entry.mark, entry.driver_after, entry.routine, i)
                outcome = self.driver.step(at, gathered)
                scattered = self._scattered_so_far(scattered, outcome.sent.blocks)
                self.driver_bytes, metrics.driver_base = outcome.state, outcome.base
                metrics.outbox = outcome.sent.gathered
            if i < len(schedule.jobs):
                orders = []
                for number, stage in enumerate(schedule.jobs[i], schedule.first(i)):
                    at = StepId(self.epoch, entry.mark, entry.after, entry.routine, number)
                    orders.append(self._order("step", at, stage, scattered))
                if i + 1 == len(schedule.jobs):
                    orders[-1] = replace(orders[-1], prefetch=readouts)
                reports = self._job(orders)
                if all(len(r.prefetched) == len(readouts) for r in reports):
                    for k, routine in enumerate(readouts):
                        self._prefetched[routine] = entry.mark, [r.prefetched[k] for r in reports]
                metrics.steps += [f for r in reports for f in r.steps]
                gathered = [r.gathered for r in reports]
        return metrics

    def _scattered_so_far(
        self, before: tuple[bytes, ...], now: tuple[bytes, ...]
    ) -> tuple[bytes, ...]:
        """All the blocks scattered so far, since any stage of the next job may read them."""
        return _concatenated(before, now)

    def _is_short(self, routine: str) -> bool:
        """Whether a readout is one stage without inputs, and can be prefetched."""
        schedule = self.work.schedules[routine]
        first = schedule.turns[0]
        return [len(j) for j in schedule.jobs] == [1] and not (first.receives or first.blocks)

    def _order(
        self,
        kind: OrderKind,
        at: StepId,
        stage: StageLike | None = None,
        scattered: tuple[bytes, ...] = (),
        reading: str = "",
        wanted: int = -1,
    ) -> StageOrder:
        takes = stage is not None and any(t.kind == "scatter" for t in stage.receives)
        p = self.work
        sent = scattered if takes else ()
        return StageOrder(p.place, kind, at, p.workers, True, sent, reading, wanted, name=p.name)

    def _job(self, orders: list[StageOrder]) -> list[WorkerReport]:
        """Run a job; raise the failure that caused the others."""
        *first, last = orders
        reports = self.runner.run([*(replace(o, last=False) for o in first), last])
        reports.sort(key=lambda r: r.part)
        failures = [r.failure for r in reports if r.failure is not None]
        if failures:
            raise _root_failure(failures)
        assert [r.part for r in reports] == list(range(self.work.workers))
        return reports

    # ---------------------------------------------------------------- reads, snapshots

    def _read(self, routine: str, now: Commit) -> DurableNode | None:
        for _ in range(REPAIR_ATTEMPTS):
            try:
                return self._read_once(routine, now)
            except LostRedo:
                raise
            except LostState:
                continue
        return self._read_once(routine, now)

    def _read_once(self, routine: str, now: Commit) -> DurableNode | None:
        schedule = self.work.schedules[routine]
        turns = self.work.steps(routine, self.work.driver)
        name = uuid.uuid4().hex
        self._requested.add(routine)
        mark, ahead = self._prefetched.get(routine, (NO_VERSION, []))
        scattered: tuple[bytes, ...] = ()
        gathered: list[bytes] = []
        for i in range(len(schedule.turns)):
            if i in turns:
                at = StepId(self.epoch, NO_VERSION, now.driver_after, routine, i)
                sent = self.driver.read(name, at, gathered)
                scattered = _concatenated(scattered, sent.blocks)
            if i < len(schedule.jobs) and mark and mark == now.after:
                gathered = ahead
            elif i < len(schedule.jobs):
                orders = []
                for number, stage in enumerate(schedule.jobs[i], schedule.first(i)):
                    at = StepId(self.epoch, NO_VERSION, now.after, routine, number)
                    orders.append(self._order("read", at, stage, scattered, name))
                gathered = [r.gathered for r in self._job(orders)]
        return self.driver.node if turns else None

    def _save(self, now: Commit) -> dict[int, int]:
        bases = {}
        if now.after:
            order = self._order("save", StepId(self.epoch, NO_VERSION, now.after, "", 0))
            bases = {f.part: f.base for r in self._job([order]) for f in r.steps}
        if now.driver_after:
            bases[self.work.driver] = self.driver.save(self.epoch, now.driver_after)
        return bases

    # ---------------------------------------------------------------- repairs

    def _restore_redo(self, lost: LostRedo) -> None:
        """Have the senders repeat what a part received in a step, and write its redo file again."""
        entry, step, part = lost.entry, lost.step, lost.part
        schedule = self.work.schedules[entry.routine]
        if part == self.work.driver:
            last = schedule.first(step - 1) + len(schedule.jobs[step - 1]) - 1
            blocks = self._recall(entry, last, part)
        else:
            job = next(i for i in range(len(schedule.jobs)) if step < schedule.first(i + 1))
            blocks = self._recall(entry, step - 1, part) if step > schedule.first(job) else []
            if any(t.kind == "scatter" for t in schedule.stages[step].receives):
                blocks.append(self._resend_scattered(entry, job)[part])
        self.work.folder.write(redo_name(part, entry.mark, step), frame(blocks))

    def _recall(self, entry: Entry, step: int, part: int) -> list[bytes]:
        """The blocks that every worker sent to a part in a step."""
        at = StepId(self.epoch, entry.mark, entry.after, entry.routine, step)
        order = self._order("recall", at, wanted=part)
        return [r.gathered for r in self._with_repairs(lambda: self._job([order]))]

    def _resend_scattered(self, entry: Entry, job: int) -> tuple[bytes, ...]:
        """The blocks that the driver scattered before a job."""
        scattered: tuple[bytes, ...] = ()
        for i in self.work.steps(entry.routine, self.work.driver):
            if i <= job:
                at = StepId(self.epoch, entry.mark, entry.driver_after, entry.routine, i)
                sent = self._with_repairs(lambda at=at: self.driver.recall(at))  # type: ignore[misc]
                scattered = _concatenated(scattered, sent.blocks)
        return scattered


def _root_failure(failures: Sequence[FreshviewError]) -> FreshviewError:
    """The failure to raise: lost state first, since it can be repaired; refusals are merged."""
    lost = next((f for f in failures if isinstance(f, LostState)), None)
    refusals = [f for f in failures if isinstance(f, Refusal)]
    if lost is None and len(refusals) == len(failures):
        return refusals[0].merge(refusals)
    return lost or failures[0]


def _concatenated(a: tuple[bytes, ...], b: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Blocks joined part by part."""
    return tuple(x + y for x, y in zip(a, b, strict=True)) if a and b else a or b
