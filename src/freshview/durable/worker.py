"""The versioned maps of one worker, or of the driver: every step is done once, whatever dies.

A step is named by a version and its number in it. What it takes from others is written down
(redo) before the maps change, what it sends is stored after; so

- a step that was done answers with what it sent then;
- a step that is next is done;
- for any other the maps are rebuilt first: from a snapshot, the log of batches and the redo files.

Nothing here knows of Spark. A lock keeps two attempts of one machine apart; attempts on two
machines do the same to copies of their own.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from freshview.durable.batch_log import NOTHING, Entry, version_of
from freshview.durable.epoch import current, fence
from freshview.durable.snapshots import Snapshots, is_due, redo_name
from freshview.durable.state import Position, State
from freshview.durable.step import (
    At,
    Clock,
    Lost,
    Outcome,
    RedoLost,
    Refusal,
    Sent,
    Stale,
)
from freshview.durable.step_store import StepStore
from freshview.durable.storage.blocks import frame, unframe
from freshview.durable.storage.files import Torn
from freshview.durable.storage.lock import locked
from freshview.durable.work import DurableNode, Work
from freshview.errors import SnapshotProblem

PATIENCE = 60.0
"""Seconds for which a worker waits for the next version of those that it follows."""


@dataclass
class Worker:
    """The maps of one part of a pipeline, in this process."""

    pipeline: Work
    part: int
    _state: State = field(init=False)
    _clock: Clock = field(default_factory=Clock)
    _refused: str = field(default="", init=False)
    """Why a snapshot that was there could not be used."""

    def __post_init__(self) -> None:
        self.memory = self.pipeline.memory(self.part)
        self.stored = StepStore(self.memory)
        self.snapshots = Snapshots(self.pipeline.folder, self.part)
        self._state = State(self.pipeline, self.part, self.memory)

    def step(self, at: At, inputs: Sequence[bytes] = (), *, keeping: bool = False) -> Outcome:
        """Do a step, or tell what it sent when it was done; `inputs` go by their senders.

        With `keeping`, snapshots stay as they are.
        """
        began = time.perf_counter()
        self._clock = Clock()
        with self._alone(at.epoch):
            sent = self.stored.sent(at.mark, at.step)
            if sent is not None:
                return Outcome(
                    sent, time.perf_counter() - began, -1, self._bytes(), self.snapshots.oldest()
                )
            if self._is_done(at):
                return Outcome(self._again(at), time.perf_counter() - began, -1, self._bytes())
            rebuilt = self._bring(self._state, at)
            if at.step == self._steps(at.routine)[0]:
                self._settle(at, keeping)
            sent = self._do(at, inputs)
            elapsed, base = time.perf_counter() - began, self.snapshots.oldest()
            return Outcome(sent, elapsed, rebuilt, self._bytes(), base, self._clock)

    def follow(self, epoch: int, versions: range) -> Outcome:
        """Do versions in the order in which they are written down, each as soon as it is there.

        It ends with the last one, or when none comes for a while, or when the driver has begun
        another epoch. Every version is one step that takes nothing from others. No snapshots are
        made meanwhile: if one of these versions cannot be, all go back to those before it.
        """
        outcome, reached = Outcome(Sent(())), self._got_to(epoch, versions)
        gathered = {}
        for version in range(reached + 1, versions.stop):
            entry = self._coming(version, epoch)
            if entry is None:
                break
            [step] = self._steps(entry.routine)
            at = At(epoch, entry.mark, entry.after, entry.routine, step)
            outcome, reached = outcome.and_then(self.step(at, keeping=True)), version
            gathered[version] = outcome.sent.gathered
        base, state = self.snapshots.oldest(), self._bytes()
        return replace(outcome, reached=reached, gathered=gathered, state=state, base=base)

    def _got_to(self, epoch: int, versions: range) -> int:
        """The version after which to go on: an attempt before this one may have begun."""
        with locked(self.memory):
            position = self._state.look()
        if position is not None and not position.dirty and position.epoch == epoch:
            version = version_of(position.mark)
            if version in versions and position.complete:
                return version
        return versions.start - 1

    def _coming(self, version: int, epoch: int) -> Entry | None:
        """The entry of a version, when it is written down; None if it is not to be waited for."""
        until, pause = time.monotonic() + PATIENCE, 0.001
        while (entry := self.pipeline.log.entry(version)) is None:
            if current(self.pipeline.folder) > epoch or time.monotonic() > until:
                return None
            time.sleep(pause)
            pause = min(2 * pause, 0.016)
        return entry

    def recall(self, at: At) -> Sent:
        """What a step sent, however long ago, as far as logs reach; the maps stay as they are."""
        with self._alone(at.epoch):
            return self.stored.sent(at.mark, at.step) or self._again(at)

    def read(self, reading: str, at: At, inputs: Sequence[bytes] = ()) -> Sent:
        """A step of a readout at a version: it changes no map that stays.

        Steps are kept while the reading lasts, for the case that another process does the next.
        """
        with self._alone(at.epoch):
            self._bring(self._state, At(at.epoch, NOTHING, at.after, "", 0))
            self.stored.keep_inputs(reading, at.step, inputs)
            steps = self._steps(at.routine)
            name, since = self._state.reading
            if name != reading or since >= at.step:
                since = -1  # others were here, or the step was done before: do all of them again
            if at.step == steps[0]:
                self.stored.drop_readings(reading)
            sent = Sent(())
            position = self._state.position
            assert position is not None
            self._state.dirty()
            for step in [s for s in steps if since < s <= at.step]:
                step_inputs = self.stored.inputs(reading, step)
                sent = self._perform(self._state, replace(at, step=step), step_inputs, b"")
            self._state.at(replace(position, readings=position.readings + 1))
            self._state.reading = (reading, at.step)
            return sent

    def save(self, epoch: int, mark: str) -> int:
        """Write a snapshot of a version now; the version before which no log is needed."""
        with self._alone(epoch):
            self._bring(self._state, At(epoch, NOTHING, mark, "", 0))
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
        """Let go of the maps; they can be rebuilt."""
        self.snapshots.wait()
        self._state.close()

    def forget(self) -> None:
        """Let go of the maps, and take their folder in shared memory away."""
        self.close()
        shutil.rmtree(self.memory, ignore_errors=True)

    # ---------------------------------------------------------------- one step

    @contextmanager
    def _alone(self, epoch: int) -> Iterator[None]:
        """Nobody else is at work on the maps, and no newer driver is there."""
        with locked(self.memory):
            fence(self.pipeline.folder, epoch)
            self._state.look()
            yield

    def _do(self, at: At, inputs: Sequence[bytes]) -> Sent:
        """Do a step on maps that are ready for it."""
        batch = self._batch(self._state, at)
        if self._takes(at.routine, at.step):
            self.pipeline.folder.write(redo_name(self.part, at.mark, at.step), frame(inputs))
        self._state.reading = ("", -1)
        before = self._state.position
        self._state.dirty()
        try:
            sent = self._perform(self._state, at, inputs, batch)
        except Refusal:  # before a map was changed that stays
            assert before is not None
            self._state.at(replace(before, readings=before.readings + 1))
            raise
        self.stored.keep_sent(at.mark, at.step, sent)
        self._note(self._state, at, at.epoch, inputs, batch)
        return sent

    def _note(
        self, state: State, at: At, epoch: int, inputs: Sequence[bytes], batch: bytes | memoryview
    ) -> None:
        """Note that a step is done, and how much it would be to do it again."""
        before = state.position
        assert before is not None
        logged = before.logged + len(batch) + sum(len(b) for b in inputs)
        state.at(Position(at.mark, at.step, self._last(at), False, epoch, logged=logged))

    def _batch(self, state: State, at: At, entry: Entry | None = None) -> bytes | memoryview:
        """The rows of a version's batch that this part has, unless the node was given them."""
        if at.step != self._steps(at.routine)[0] and state.batch == at.mark:
            return b""
        return self.pipeline.log.block(entry or self._entry(at.mark), self.part)

    def _perform(
        self, state: State, at: At, inputs: Sequence[bytes], batch: bytes | memoryview
    ) -> Sent:
        assert state.node is not None
        state.batch = at.mark
        began = time.perf_counter()
        node, step, clock = state.node, at.step, self._clock
        sent = self.pipeline.perform(node, self.part, at.routine, step, inputs, batch, clock)
        clock.total += time.perf_counter() - began
        return sent

    def _is_done(self, at: At) -> bool:
        position = self._state.position
        if position is None or position.dirty:
            return False
        if position.epoch == at.epoch and version_of(position.mark) > at.version:
            raise Stale(f"version {at.version} is long done", instead="ask for the next one")
        return position.mark == at.mark and position.step >= at.step

    def _again(self, at: At) -> Sent:
        """A step that was done, on a copy of the maps."""
        folder = self.memory / "again"
        shutil.rmtree(folder, ignore_errors=True)  # of a process that died here
        copy = State(self.pipeline, self.part, folder)
        try:
            self._bring(copy, at)
            entry = self._entry(at.mark)
            inputs = self._inputs(entry, at.step)
            copy.dirty()
            return self._perform(copy, at, inputs, self._batch(copy, at, entry))
        finally:
            copy.close()
            shutil.rmtree(folder, ignore_errors=True)

    # ---------------------------------------------------------------- rebuilding

    def _bring(self, state: State, at: At) -> int:
        """Make a state ready for a step; how many versions had to be done again."""
        steps = self._steps(at.routine) if at.mark else ()
        before = [s for s in steps if s < at.step]
        position = _clean(state)
        if (
            position is None
            or not at.mark  # no step of a version: only the end of the one before is wanted
            or position.mark != at.mark
            or position.step > max(before, default=-1)
        ):
            done = self._go_to(state, position, at.after)
            since = -1
        else:
            done, since = 0, position.step
        entry = self._entry(at.mark) if before else None
        for step in [s for s in before if s > since]:
            assert entry is not None
            self._replay(state, entry, step, at.epoch)
            done += step == before[-1]
        return done

    def _go_to(self, state: State, position: Position | None, mark: str) -> int:
        """Set a state to the end of a version; how many versions were done again for it.

        Versions are a chain: each tells the one before it. On the way back there is the place
        where the state stands, or a snapshot, or the beginning.
        """
        todo: list[tuple[Entry, int]] = []
        while True:
            if position is not None and position.mark == mark:
                if not position.complete:
                    todo.append((self._entry(mark), position.step))
                break
            if mark == NOTHING:
                state.renew()
                break
            if self._restore(state, mark):
                break
            position = _clean(state)  # it is gone if a snapshot turned out to be damaged
            entry = self._entry(mark)
            todo.append((entry, -1))
            mark = self._after(entry)
        for entry, since in reversed(todo):
            for step in self._steps(entry.routine):
                if step > since:
                    self._replay(state, entry, step, 0)
        return len(todo)

    def _after(self, entry: Entry) -> str:
        return entry.driver_after if self.part == self.pipeline.driver else entry.after

    def _restore(self, state: State, mark: str) -> bool:
        """Take the maps of a version from its snapshot, if there is one."""
        local = self.memory / ".restore"
        try:
            if not self.snapshots.get(mark, local):
                return False
            node = state.renew()
            state.dirty()
            node.restore(local)
        except (SnapshotProblem, Torn) as e:
            self._refused = str(e)  # there may be an older one, and the log since then
            return False
        finally:
            local.unlink(missing_ok=True)
        state.at(Position(mark, -1, True))
        return True

    def _replay(self, state: State, entry: Entry, step: int, epoch: int) -> None:
        at = At(epoch, entry.mark, self._after(entry), entry.routine, step)
        inputs = self._inputs(entry, step)
        state.reading = ("", -1)
        state.dirty()
        batch = self._batch(state, at, entry)
        self._perform(state, at, inputs, batch)
        self._note(state, at, epoch, inputs, batch)

    def _inputs(self, entry: Entry, step: int) -> list[bytes]:
        if not self._takes(entry.routine, step):
            return []
        try:
            data = self.pipeline.folder.read(redo_name(self.part, entry.mark, step))
        except Torn:
            data = None
        if data is None:
            raise RedoLost(self.part, entry, step)
        return unframe(data)

    def _entry(self, mark: str) -> Entry:
        entry = self.pipeline.log.entry(version_of(mark))
        if entry is None or entry.mark != mark:
            why = f", and of a snapshot it is said: {self._refused}" if self._refused else ""
            raise Lost(f"the log has no version {mark}{why}", instead="begin anew from the sources")
        return entry

    # ---------------------------------------------------------------- snapshots and old files

    def _is_due(self, at: At, state: int, logged: int) -> bool:
        every = self.pipeline.settings.snapshot_every
        return is_due(version_of(at.after) + self.part, every, state, logged)

    def _settle(self, at: At, keeping: bool) -> None:
        """At the first step of a version the one before it is safe: it is what is kept."""
        self.stored.drop_sent(at.mark)
        if keeping:
            return
        position, node = self._state.position, self._state.node
        assert position is not None
        assert node is not None
        if at.after and self._is_due(at, node.bytes, position.logged):
            with suppress(OSError, SnapshotProblem):  # the log has everything since the one before
                if self.snapshots.put_behind(at.after, node, self.memory):
                    self._state.at(replace(position, logged=0))
            self.snapshots.look_again()

    # ---------------------------------------------------------------- names and small questions

    def _steps(self, routine: str) -> tuple[int, ...]:
        return self.pipeline.steps(routine, self.part)

    def _last(self, at: At) -> bool:
        return at.step == self._steps(at.routine)[-1]

    def _takes(self, routine: str, step: int) -> bool:
        """Whether a step takes anything from others."""
        schedule = self.pipeline.rounds[routine]
        driver = self.part == self.pipeline.driver
        return bool(schedule.turns[step].receives if driver else schedule.stages[step].receives)

    def _bytes(self) -> int:
        return self._state.node.bytes if self._state.node is not None else 0


def _clean(state: State) -> Position | None:
    """Where a state stands, if no step of it is half done."""
    position = state.position
    return None if position is None or position.dirty else position
