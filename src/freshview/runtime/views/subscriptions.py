"""Those who want to hear what changes in views."""

from __future__ import annotations

import threading
import warnings
from collections import deque
from typing import TYPE_CHECKING

from freshview.errors import FreshviewWarning
from freshview.runtime.views.maintained import Callback, Maintained

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]


class Subscriptions:
    """Notes what changed, and calls the followers in the order of the versions."""

    def __init__(self) -> None:
        self._news: deque[tuple[str, Callback, int, pa.Table]] = deque()
        self._lock = threading.Lock()
        self._telling = 0
        """The thread that calls the followers."""

    def note(self, view: Maintained, version: int, table: pa.Table) -> None:
        """Record a view as it is at a version; whoever calls has the lock of the database."""
        assert view.history is not None
        part = view.history.add(version, table)
        if part is not None:
            for callback in view.callbacks:
                self._news.append((view.query.name, callback, version, part))

    def tell(self) -> None:
        """Call the followers; one thread at a time does it, for all, and without other locks."""
        while self._news:
            with self._lock:
                if self._telling:
                    return
                self._telling = threading.get_ident()
            try:
                while self._news:
                    self._call(*self._news.popleft())
            finally:
                self._telling = 0

    def forked(self) -> None:
        """In a new process, what another thread was telling it tells in the old one."""
        self._lock = threading.Lock()
        if self._telling and self._telling != threading.get_ident():
            self._telling = 0
            self._news.clear()

    @staticmethod
    def _call(name: str, callback: Callback, version: int, part: pa.Table) -> None:
        try:
            callback(version, part)
        except Exception as e:
            words = f"a follower of '{name}' failed at version {version}: {e!r}"
            warnings.warn(words, FreshviewWarning, stacklevel=2)
