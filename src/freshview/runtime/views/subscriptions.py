"""Subscriptions: callbacks that receive the changes of views."""

from __future__ import annotations

import threading
import warnings
from collections import deque
from typing import TYPE_CHECKING

from freshview.errors import FreshviewWarning
from freshview.runtime.views.maintained import Callback, MaintainedView

if TYPE_CHECKING:
    import pyarrow as pa


class Subscriptions:
    """Queues changes, and calls the subscribers in the order of the versions."""

    def __init__(self) -> None:
        self._queue: deque[tuple[str, Callback, int, pa.Table]] = deque()
        self._lock = threading.Lock()
        self._caller = 0
        """The thread that calls the subscribers; 0 for none."""

    def record(self, view: MaintainedView, version: int, part: pa.Table) -> None:
        """Record what a version changes; whoever calls has the lock of the database."""
        assert view.history is not None
        if view.history.add(version, part):
            for callback in view.callbacks:
                self._queue.append((view.query.name, callback, version, part))

    def deliver(self) -> None:
        """Call the subscribers: one thread at a time does it for all, and holds no other lock."""
        while self._queue:
            with self._lock:
                if self._caller:
                    return
                self._caller = threading.get_ident()
            try:
                while self._queue:
                    self._call(*self._queue.popleft())
            finally:
                self._caller = 0

    def forked(self) -> None:
        """In a new process, drop what another thread of the old one delivers there."""
        self._lock = threading.Lock()
        if self._caller and self._caller != threading.get_ident():
            self._caller = 0
            self._queue.clear()

    @staticmethod
    def _call(name: str, callback: Callback, version: int, part: pa.Table) -> None:
        try:
            callback(version, part)
        except Exception as e:
            message = f"a subscription to '{name}' failed at version {version}: {e!r}"
            warnings.warn(message, FreshviewWarning, stacklevel=2)
