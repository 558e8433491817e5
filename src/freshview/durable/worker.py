"""The versioned maps of one worker, or of the driver: every step happens once, even after crashes.

A step is identified by a version and its number in it. Its inputs are written to a redo file before
the maps change, its outputs are stored afterwards; so

- a finished step returns its stored outputs;
- the next step is run;
- for any other step the maps are rebuilt first: from a snapshot, the batch log and the redo files.

Nothing here depends on Spark. A lock separates two attempts on one machine; attempts on two
machines change copies of their own.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from freshview.durable.batch_log import NO_VERSION, Entry, version_of
from freshview.durable.epoch import current, fence
from freshview.durable.snapshots import Snapshots, is_due, redo_name
from freshview.durable.state import Position, State
from freshview.durable.step import (
    Clock,
    LostRedo,
    LostState,
    Outcome,
    Refusal,
    SentBlocks,
    StaleStep,
    StepId,
)
from freshview.durable.step_store import StepStore
from freshview.durable.storage.blocks import frame, unframe
from freshview.durable.storage.files import TornFile
from freshview.durable.storage.lock import locked
from freshview.durable.work import DurableNode, Work
from freshview.errors import SnapshotProblem

FOLLOW_TIMEOUT = 60.0
"""Seconds that a worker waits for the next version in the log."""


@dataclass
class Worker:
    """The maps of one part of a pipeline, in this process."""

    work: Work
    part: int
    _state: State = field(init=False)
    _clock: Clock = field(default_factory=Clock)
    _snapshot_error: str = field(default="", init=False)
    """Why a snapshot could not be used."""

    def __post_init__(self) -> None:
        self.memory = self.work.memory(self.part)
        self.step_store = StepStore(self.memory)
        self.snapshots = Snapshots(self.work.folder, self.part)
        self._state = State(self.work, self.part, self.memory)

    def step(
        self, at: StepId, inputs: Sequence[bytes] = (), *, keep_snapshots: bool = False
    ) -> Outcome:
        """Run a step, or repeat its outputs if it is finished; `inputs` are ordered by sender.

        With `keep_snapshots`, snapshots stay as they are.
        """
        began = time.perf_counter()
        self._clock = Clock()
        with self._exclusive(at.epoch):
            sent = self.step_store.sent(at.mark, at.step)
            if sent is not None:
                return Outcome(
                    sent, time.perf_counter() - began, -1, self._bytes(), self.snapshots.oldest()
                )
            if self._is_done(at):
                return Outcome(self._redo(at), time.perf_counter() - began, -1, self._bytes())
            rebuilt = self._catch_up_to(self._state, at)
            if at.step == self._steps(at.routine)[0]:
                self._begin_version(at, keep_snapshots)
            sent = self._do(at, inputs)
            elapsed, base = time.perf_counter() - began, self.snapshots.oldest()
            return Outcome(sent, elapsed, rebuilt, self._bytes(), base, self._clock)

    def follow(self, epoch: int, versions: range) -> Outcome:
        """Run versions in the order of the log, each as soon as it is logged.

        It ends with the last one, or after a timeout, or when the driver has begun another epoch.
        Every version is one step without inputs from others. No snapshots are written meanwhile:
        if one of these versions is refused, all the workers roll back to those before it.
        """
        outcome, reached = Outcome(SentBlocks(())), self._last_followed(epoch, versions)
        gathered = {}
        for version in range(reached + 1, versions.stop):
            entry = self._await_entry(version, epoch)
            if entry is None:
                break
            [step] = self._steps(entry.routine)
            at = StepId(epoch, entry.mark, entry.after, entry.routine, step)
            outcome, reached = outcome.and_then(self.step(at, keep_snapshots=True)), version
            gathered[version] = outcome.sent.gathered
        base, state = self.snapshots.oldest(), self._bytes()
        return replace(outcome, reached=reached, gathered=gathered, state=state, base=base)

    def _last_followed(self, epoch: int, versions: range) -> int:
        """The version after which to continue: an earlier attempt may have begun."""
        with locked(self.memory):
            position = self._state.refresh()
        if position is not None and not position.dirty and position.epoch == epoch:
            version = version_of(position.mark)
            if version in versions and position.complete:
                return version
        return versions.start - 1

    def _await_entry(self, version: int, epoch: int) -> Entry | None:
        """The entry of a version, as soon as it is logged; None after a timeout or a new epoch."""
        until, pause = time.monotonic() + FOLLOW_TIMEOUT, 0.001
        while (entry := self.work.log.entry(version)) is None:
            if current(self.work.folder) > epoch or time.monotonic() > until:
                return None
            time.sleep(pause)
            pause = min(2 * pause, 0.016)
        return entry

    def recall(self, at: StepId) -> SentBlocks:
        """The outputs of an old step, as far as logs reach; the maps stay as they are."""
        with self._exclusive(at.epoch):
            return self.step_store.sent(at.mark, at.step) or self._redo(at)

    def read(self, reading: str, at: StepId, inputs: Sequence[bytes] = ()) -> SentBlocks:
        """Run a step of a readout at a version: it changes temporary maps only.

        Inputs are kept during the read, in case that another process runs the next step.
        """
        with self._exclusive(at.epoch):
            self._catch_up_to(self._state, StepId(at.epoch, NO_VERSION, at.after, "", 0))
            self.step_store.keep_inputs(reading, at.step, inputs)
            steps = self._steps(at.routine)
            name, since = self._state.reading
            if name != reading or since >= at.step:
                since = -1  # another read came between, or a step is repeated: run all steps again
            if at.step == steps[0]:
                self.step_store.drop_readings(reading)
            sent = SentBlocks(())
            position = self._state.position
            assert position is not None
            self._state.dirty()
            for step in [s for s in steps if since < s <= at.step]:
                step_inputs = self.step_store.inputs(reading, step)
                sent = self._perform(self._state, replace(at, step=step), step_inputs, b"")
            self._state.set_position(replace(position, readings=position.readings + 1))
            self._state.reading = (reading, at.step)
            return sent

    def save(self, epoch: int, mark: str) -> int:
        """Write a snapshot of a version now; the version before which no log is needed."""
        with self._exclusive(epoch):
            self._catch_up_to(self._state, StepId(epoch, NO_VERSION, mark, "", 0))
            self.snapshots.wait()
            assert self._state.node is not None
            self.snapshots.put(mark, self._state.node, self.memory / ".snapshot")
            self.snapshots.truncate(keep=1)
            return self.snapshots.oldest()

    @property
    def node(self) -> DurableNode:
        """The node, as the last step left it."""
        assert self._state.node is not None
        return self._state.node

    def close(self) -> None:
        """Close the maps; they can be rebuilt."""
        self.snapshots.wait()
        self._state.close()

    def forget(self) -> None:
        """Close the maps, and delete their folder in shared memory."""
        self.close()
        shutil.rmtree(self.memory, ignore_errors=True)

    # ---------------------------------------------------------------- one step

    @contextmanager
    def _exclusive(self, epoch: int) -> Iterator[None]:
        """Hold the lock of the maps, and refuse if there is a newer driver."""
        with locked(self.memory):
            fence(self.work.folder, epoch)
            self._state.refresh()
            yield

    def _do(self, at: StepId, inputs: Sequence[bytes]) -> SentBlocks:
        """Run a step on maps that are ready for it."""
        batch = self._batch(self._state, at)
        if self._has_inputs(at.routine, at.step):
            self.work.folder.write(redo_name(self.part, at.mark, at.step), frame(inputs))
        self._state.reading = ("", -1)
        before = self._state.position
        self._state.dirty()
        try:
            sent = self._perform(self._state, at, inputs, batch)
        except Refusal:  # no permanent map has changed
            assert before is not None
            self._state.set_position(replace(before, readings=before.readings + 1))
            raise
        self.step_store.keep_sent(at.mark, at.step, sent)
        self._record(self._state, at, inputs, batch)
        return sent

    def _record(
        self, state: State, at: StepId, inputs: Sequence[bytes], batch: bytes | memoryview
    ) -> None:
        """Store that a step is finished, and the bytes that a replay would read."""
        before = state.position
        assert before is not None
        logged = before.logged + len(batch) + sum(len(b) for b in inputs)
        state.set_position(
            Position(at.mark, at.step, self._last(at), False, at.epoch, logged=logged)
        )

    def _batch(self, state: State, at: StepId, entry: Entry | None = None) -> bytes | memoryview:
        """The rows of a version's batch for this part; none if the node has them."""
        if at.step != self._steps(at.routine)[0] and state.batch == at.mark:
            return b""
        return self.work.log.block(entry or self._entry(at.mark), self.part)

    def _perform(
        self, state: State, at: StepId, inputs: Sequence[bytes], batch: bytes | memoryview
    ) -> SentBlocks:
        assert state.node is not None
        state.batch = at.mark
        began = time.perf_counter()
        node, step, clock = state.node, at.step, self._clock
        sent = self.work.perform(node, self.part, at.routine, step, inputs, batch, clock)
        clock.total += time.perf_counter() - began
        return sent

    def _is_done(self, at: StepId) -> bool:
        position = self._state.position
        if position is None or position.dirty:
            return False
        if position.epoch == at.epoch and version_of(position.mark) > at.version:
            raise StaleStep(f"version {at.version} is finished", instead="request the next one")
        return position.mark == at.mark and position.step >= at.step

    def _redo(self, at: StepId) -> SentBlocks:
        """Repeat a finished step, on a copy of the maps."""
        folder = self.memory / "again"
        shutil.rmtree(folder, ignore_errors=True)  # left by a process that died here
        copy = State(self.work, self.part, folder)
        try:
            self._catch_up_to(copy, at)
            entry = self._entry(at.mark)
            inputs = self._inputs(entry, at.step)
            copy.dirty()
            return self._perform(copy, at, inputs, self._batch(copy, at, entry))
        finally:
            copy.close()
            shutil.rmtree(folder, ignore_errors=True)

    # ---------------------------------------------------------------- rebuilding

    def _catch_up_to(self, state: State, at: StepId) -> int:
        """Make a state ready for a step; the number of replayed versions."""
        steps = self._steps(at.routine) if at.mark else ()
        before = [s for s in steps if s < at.step]
        position = state.clean_position
        if (
            position is None
            or not at.mark  # a read: only the end of the version before is needed
            or position.mark != at.mark
            or position.step > max(before, default=-1)
        ):
            done = self._rebuild(state, position, at.after)
            since = -1
        else:
            done, since = 0, position.step
        entry = self._entry(at.mark) if before else None
        for step in [s for s in before if s > since]:
            assert entry is not None
            self._replay(state, entry, step, at.epoch)
            done += step == before[-1]
        return done

    def _rebuild(self, state: State, position: Position | None, mark: str) -> int:
        """Set a state to the end of a version; the number of replayed versions.

        Versions are a chain: each names the one before it. The chain is followed back to the
        position of the state, to a snapshot, or to the beginning.
        """
        todo: list[tuple[Entry, int]] = []
        while True:
            if position is not None and position.mark == mark:
                if not position.complete:
                    todo.append((self._entry(mark), position.step))
                break
            if mark == NO_VERSION:
                state.renew()
                break
            if self._restore(state, mark):
                break
            position = state.clean_position  # a damaged snapshot has cleared it
            entry = self._entry(mark)
            todo.append((entry, -1))
            mark = self._after(entry)
        for entry, since in reversed(todo):
            for step in self._steps(entry.routine):
                if step > since:
                    self._replay(state, entry, step, 0)
        return len(todo)

    def _after(self, entry: Entry) -> str:
        return entry.driver_after if self.part == self.work.driver else entry.after

    def _restore(self, state: State, mark: str) -> bool:
        """Load the maps of a version from its snapshot, if there is one."""
        local = self.memory / ".restore"
        try:
            if not self.snapshots.get(mark, local):
                return False
            node = state.renew()
            state.dirty()
            node.restore(local)
        except (SnapshotProblem, TornFile) as e:
            # There may be an older snapshot, and the log since then.
            self._snapshot_error = f"; a snapshot could not be used: {e}"
            return False
        finally:
            local.unlink(missing_ok=True)
        state.set_position(Position(mark, -1, True))
        return True

    def _replay(self, state: State, entry: Entry, step: int, epoch: int) -> None:
        at = StepId(epoch, entry.mark, self._after(entry), entry.routine, step)
        inputs = self._inputs(entry, step)
        state.reading = ("", -1)
        state.dirty()
        batch = self._batch(state, at, entry)
        self._perform(state, at, inputs, batch)
        self._record(state, at, inputs, batch)

    def _inputs(self, entry: Entry, step: int) -> list[bytes]:
        if not self._has_inputs(entry.routine, step):
            return []
        try:
            data = self.work.folder.read(redo_name(self.part, entry.mark, step))
        except TornFile:
            data = None
        if data is None:
            raise LostRedo(self.part, entry, step)
        return unframe(data)

    def _entry(self, mark: str) -> Entry:
        entry = self.work.log.entry(version_of(mark))
        if entry is None or entry.mark != mark:
            what = f"the log has no version {mark}{self._snapshot_error}"
            raise LostState(what, instead="start over from the sources")
        return entry

    # ---------------------------------------------------------------- snapshots and old files

    def _is_due(self, at: StepId, state: int, logged: int) -> bool:
        every = self.work.settings.snapshot_every
        return is_due(version_of(at.after) + self.part, every, state, logged)

    def _begin_version(self, at: StepId, keep_snapshots: bool) -> None:
        """The version before is committed now: delete its outputs, and write a snapshot if due."""
        self.step_store.drop_sent(at.mark)
        if keep_snapshots:
            return
        position, node = self._state.position, self._state.node
        assert position is not None
        assert node is not None
        if at.after and self._is_due(at, node.bytes, position.logged):
            with suppress(OSError, SnapshotProblem):  # the log has everything since
                if self.snapshots.put_in_background(at.after, node, self.memory):
                    self._state.set_position(replace(position, logged=0))
            self.snapshots.refresh()

    # ---------------------------------------------------------------- predicates

    def _steps(self, routine: str) -> tuple[int, ...]:
        return self.work.steps(routine, self.part)

    def _last(self, at: StepId) -> bool:
        return at.step == self._steps(at.routine)[-1]

    def _has_inputs(self, routine: str, step: int) -> bool:
        """Whether a step receives anything from others."""
        schedule = self.work.schedules[routine]
        driver = self.part == self.work.driver
        return bool(schedule.turns[step].receives if driver else schedule.stages[step].receives)

    def _bytes(self) -> int:
        return self._state.node.bytes if self._state.node is not None else 0
