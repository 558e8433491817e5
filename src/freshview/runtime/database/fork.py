"""Processes that are forked: a database in the new one is whole, or says that it is not.

Only the thread that forks lives on in the new process. What the others had locked stays locked
there, and what they were changing stays half changed. So whoever forks waits for changes to end
first; a change that does not end in time makes the copy in the new process unusable.
"""

from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import NoReturn, Protocol
from weakref import WeakSet

from freshview.codegen.library import toolchain
from freshview.errors import FreshviewError
from freshview.runtime.compile import kernels

WAIT_SECONDS = 10.0
"""Seconds for which a fork waits for the changes of other threads, all together."""


class HalfChanged:
    """What stands for the lock of a database that nobody may use."""

    def __enter__(self) -> NoReturn:
        raise FreshviewError(
            "the process was forked in the middle of a change of this database",
            instead="connect in the new process, or fork when no change is under way",
        )

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, at: TracebackType | None
    ) -> None:
        """It was never entered."""


class Forkable(Protocol):
    """What can be cared for in a fork: it has a lock, and goes on, or not, in the new process."""

    lock: threading.RLock | HalfChanged

    def after_fork(self, is_whole: bool) -> None:
        """In the new process, go on with a whole copy, or stop what uses half of one."""


_databases: WeakSet[Forkable] = WeakSet()
_held: list[tuple[Forkable, bool]] = []


def watch(db: Forkable) -> None:
    """Take care of a database when this process is forked."""
    _databases.add(db)


def _before() -> None:
    left = WAIT_SECONDS
    for db in list(_databases):
        lock = db.lock
        if isinstance(lock, HalfChanged):
            continue
        held = lock.acquire(timeout=left)
        left = left if held else 0
        _held.append((db, held))


def _after_in_parent() -> None:
    for db, held in _held:
        if held and not isinstance(db.lock, HalfChanged):
            db.lock.release()
    _held.clear()


def _after_in_child() -> None:
    toolchain.forked()
    kernels.forked()
    for db, held in _held:
        if not held:
            db.lock = HalfChanged()
        db.after_fork(held)
    _after_in_parent()


os.register_at_fork(
    before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child
)
