"""The log of versions: the batch is written before any worker starts, the commit afterwards."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from freshview.durable.batch_log import Entry, Note, mark, version_of
from freshview.durable.checkpoint import CheckpointProblem
from freshview.durable.commit import Commit, drop_commits, write_commit
from freshview.durable.epoch import DriverFenced, fence, succeed
from freshview.durable.loading import Loading
from freshview.durable.outbox import MOST, Outboxes, first_version
from freshview.durable.snapshots import Snapshots
from freshview.durable.storage.blocks import Pieces
from freshview.durable.storage.files import AlreadyExists, TornFile
from freshview.durable.work import Work
from freshview.errors import FreshviewError


@dataclass(frozen=True, slots=True)
class PackedBatch:
    """A batch as packed blocks by part, before it is logged."""

    routine: str
    blocks: Sequence[Pieces]
    rows: int


@dataclass(frozen=True, slots=True)
class LoggedBatch:
    """A batch whose rows are in the log under a mark; `parts` have some."""

    mark: str
    routine: str
    rows: int
    parts: tuple[int, ...]


class Interrupted(FreshviewError):
    """A batch that is logged and not finished: the next call finishes it."""


class CommitLog:
    """The versions of some work, for the driver of one epoch.

    `commit` is the last finished version; `pending` are the logged ones after it.
    """

    def __init__(self, work: Work, epoch: int, commit: Commit) -> None:
        self.work = work
        self.epoch = epoch
        self.commit = commit
        self._outboxes = Outboxes(work.folder)
        self._received = commit.received
        self.pending = self._take_over()

    @property
    def next_pending(self) -> Entry | None:
        """The next version to run."""
        return self.pending[0] if self.pending else None

    def _take_over(self) -> list[Entry]:
        """The logged entries after the commit, which becomes that of this driver.

        From then on no older driver can commit anything. What else is in the log was never
        acknowledged, and is deleted; what a newer driver writes meanwhile is not in `names`.
        """
        names = self.work.log.names()
        pending = self._read_pending(self.commit.version + 1)
        self._store(self.commit)
        self.work.log.drop(self.commit.version + 1 + len(pending), names)
        self._outboxes.drop_others([*self.commit.outboxes, *(e.mark for e in pending)])
        return pending

    def _read_pending(self, version: int) -> list[Entry]:
        """The entries from a version on that build on one another."""
        entries: list[Entry] = []
        before = self.commit
        while (entry := self._read_entry(version + len(entries))) is not None:
            if (entry.after, entry.driver_after) != (before.after, before.driver_after):
                break
            entries.append(entry)
            before = self._commit_of(entry)
        last = version + len(entries) - 1
        if entry is None:
            self._refuse_a_gap(last)
        return entries

    def _read_entry(self, version: int) -> Entry | None:
        """An entry that is not committed; its batch may be acknowledged, and must not be lost."""
        try:
            return self.work.log.entry(version)
        except TornFile as e:
            raise CheckpointProblem(
                f"version {version} is logged and not finished, and its file {e.what}",
                instead="restore that file, or delete it to go on without the batch",
            ) from e

    def _refuse_a_gap(self, last: int) -> None:
        """Entries are written in order, snapshots of finished versions: none is behind a gap."""
        later = [v for v in self.work.log.versions() if v > last + 1]
        for part in range(self.work.workers + 1):
            later += [v for v in Snapshots(self.work.folder, part).versions() if v > last]
        if later:
            raise CheckpointProblem(
                f"the checkpoint is at version {last}, but has files of version {max(later)}: its "
                "file in 'commit' or a part of its log is missing or outdated",
                instead="restore that file, or start over in another folder",
            )

    def append_rows(self, batch: PackedBatch, version: int) -> LoggedBatch:
        """Write the rows of a batch for a later version; any thread may do that."""
        name = mark(version, uuid.uuid4().hex[:12])
        with _write_errors():
            fence(self.work.folder, self.epoch)
            parts = self.work.log.write_rows(name, batch.blocks)
        return LoggedBatch(name, batch.routine, batch.rows, parts)

    def append(self, batch: LoggedBatch, note: Note, loading: Loading | None = None) -> None:
        """Write the entry of a batch: from here on the batch is part of the pipeline."""
        before = self._commit_of(self.pending[-1]) if self.pending else self.commit
        assert version_of(batch.mark) == before.version + 1
        after, driver_after = before.after, before.driver_after
        last_load = loading or before.loading
        entry = Entry(
            batch.mark, batch.routine, after, driver_after, batch.rows, batch.parts, note, last_load
        )
        with _write_errors():
            fence(self.work.folder, self.epoch)
            self.work.log.write(entry)
        self.pending.append(entry)

    def mark_done(self, entry: Entry, outboxes: Mapping[str, bytes] | None = None) -> None:
        """Commit a version, and all before it; `outboxes` are what they send, by mark."""
        try:
            fence(self.work.folder, self.epoch)
            sent = self._outboxes.write(outboxes or {})
        except OSError as e:
            raise self.interrupted(e) from e
        left = [m for m in self.commit.outboxes if version_of(m) > self._received]
        gone = set(self.commit.outboxes).difference(left)
        done = replace(self._commit_of(entry), outboxes=(*left, *sent), received=self._received)
        self._write_commit(done)
        with suppress(OSError):  # the next start deletes them
            self._outboxes.drop(gone)
        self.pending = [e for e in self.pending if e.version > entry.version]

    def outboxes_since(self, since: int) -> list[bytes]:
        """What the finished versions after one have sent, oldest first."""
        wanted = [m for m in self.commit.outboxes if version_of(m) > since]
        if since < self.commit.received or any(first_version(m) <= since for m in wanted):
            raise CheckpointProblem(
                f"the changes of version {since + 1} are not kept apart from those before, or were "
                "received",
                instead="restore the files of what sinks have received, of the same time as the "
                "checkpoint",
            )
        return [self._outboxes.read(m) for m in wanted]

    def merge_outboxes(
        self, since: int, until: int, merged: Callable[[list[bytes]], bytes]
    ) -> None:
        """Merge what the versions between two have sent, if that is much: all want all of it.

        So one who stays away costs no more than the change since then.
        """
        marks = [m for m in self.commit.outboxes if since < version_of(m) <= until]
        if len(marks) <= MOST:
            return
        try:
            fence(self.work.folder, self.epoch)
            name = self._outboxes.merge(marks, merged)
            left = [m for m in self.commit.outboxes if m not in marks]
            at = sorted((*left, name), key=version_of)
            self._store(replace(self.commit, outboxes=tuple(at)))
            self._outboxes.drop(marks)
        except OSError as e:
            raise self.interrupted(e) from e

    def acknowledge(self, version: int) -> None:
        """Nobody will ask for what versions up to this one have sent: later commits forget it."""
        self._received = max(self._received, version)

    def _commit_of(self, entry: Entry) -> Commit:
        """The commit of a finished version."""
        work = self.work
        took_part = bool(work.schedules[entry.routine].jobs)
        driver = bool(work.steps(entry.routine, work.driver))
        return Commit(
            entry.version,
            entry.mark if took_part else entry.after,
            entry.mark if driver else entry.driver_after,
            entry.note,
            entry.loading,
        )

    def discard(self, entry: Entry) -> None:
        """Delete a refused batch from the log; the next one has its version.

        Later entries build on it, and are deleted, too. A worker that has run a step of it finds
        that its mark belongs to no version, and rolls back.
        """
        try:
            names = self.work.log.names()
            fence(self.work.folder, self.epoch)
            self.work.log.drop(entry.version, names)
        except OSError as e:
            raise self.interrupted(e) from e
        self.pending = []

    def clear_loading(self) -> None:
        """Forget the last load: its caller knows that it is finished."""
        if self.commit.loading is not None:
            try:
                self._store(replace(self.commit, loading=None))
            except OSError as e:
                raise Interrupted(
                    f"the load is finished, but that cannot be written: {_cause(e)}",
                    instead="fix the cause and make the same call again; no row is loaded twice",
                ) from e

    def next_epoch(self) -> int:
        """A new epoch for the same driver: workers that are ahead of the commit roll back."""
        try:
            self.epoch = succeed(self.work.folder, self.epoch)
        except OSError as e:
            raise self.interrupted(e) from e
        return self.epoch

    def _write_commit(self, commit: Commit) -> None:
        try:
            self._store(commit)
        except OSError as e:
            raise self.interrupted(e) from e

    def _store(self, commit: Commit) -> None:
        fence(self.work.folder, self.epoch)
        commit, before = replace(commit, epoch=self.epoch), self.commit
        write_commit(self.work.folder, commit)
        self.commit = commit
        if before.epoch < self.epoch:
            with suppress(OSError):  # they do not count any more
                drop_commits(self.work.folder, self.epoch)

    def interrupted(self, e: Exception) -> Interrupted:
        """The error for failed workers or files."""
        if self.next_pending is None:
            return Interrupted(
                f"the workers failed: {_cause(e)}", instead="fix the cause and try again"
            )
        return Interrupted(
            f"version {self.next_pending.version} is logged and not finished: {_cause(e)}",
            instead="fix the cause; the next call finishes it",
        )

    def truncate(self, bases: Mapping[int, int]) -> None:
        """Drop the log before the snapshots of all the parts: `bases`, by part."""
        now, needed = self.commit, []
        for part in range(self.work.workers + 1):
            after = now.driver_after if part == self.work.driver else now.after
            base = bases.get(part, -1)
            needed.append(now.version if not after or base == version_of(after) else base)
        if min(needed) > 0:
            with suppress(OSError):  # the version is committed; the next one tries again
                self.work.log.truncate(min(needed))


@contextmanager
def _write_errors() -> Iterator[None]:
    """While the log is written: report errors of its storage as `CheckpointProblem`."""
    try:
        yield
    except AlreadyExists as e:
        raise DriverFenced(
            "another driver has taken this pipeline over", instead="stop this one"
        ) from e
    except OSError as e:
        raise CheckpointProblem(
            f"the batch cannot be written to the log: {e.strerror or e}",
            instead="nothing is changed; fix the cause and apply it again",
        ) from e


def _cause(e: Exception) -> str:
    """The cause in one line: Spark reports it somewhere in a long text."""
    lines = str(e).splitlines() or [repr(e)]
    named = [line for line in lines if re.match(r"[A-Za-z_][\w.]*(Error|Exception|Lost): ", line)]
    return (named or lines)[-1 if named else 0]
