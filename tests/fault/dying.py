"""Processes that die at a chosen moment: by SIGKILL, at the n-th thing that they do to a file."""

from __future__ import annotations

import os
import pickle
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from freshview.durable.storage.files import LocalFolder
from freshview.spark.nodes.kernel_node import KernelNode
from freshview.spark.nodes.reference_node import ReferenceNode
from freshview.spark.nodes.view_work import ViewWork


class Clock:
    """Counts what a process does, and ends it when its time has come."""

    def __init__(self, last: int) -> None:
        self.left = last

    def tick(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def before_and_after(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def ticking(*args: Any, **kwargs: Any) -> Any:
            self.tick()
            result = function(*args, **kwargs)
            self.tick()
            return result

        return ticking

    def torn(self, path: Path, *parts: bytes) -> None:
        """A write that may be cut in the middle."""
        data = b"".join(parts)
        with path.open("wb") as out:
            out.write(data[: len(data) // 2])
            out.flush()
            self.tick()
            out.write(data[len(data) // 2 :])


NODES = tuple((node, n) for node in (ReferenceNode, KernelNode) for n in ("run", "receive", "save"))


@contextmanager
def dies(
    last: int, places: Sequence[tuple[Any, str]] = (), *, files: bool = True
) -> Iterator[None]:
    """While it lasts, this process dies at the given tick.

    The clock ticks at whatever is done to a file, and around the functions at `places`.
    """
    clock = Clock(last)
    wrap = clock.before_and_after
    if files:
        places = (*places, (LocalFolder, "delete"), (os, "replace"), (os, "link"), *NODES)
    with ExitStack() as stack:
        if files:
            torn = mock.patch.object(LocalFolder, "_fill", lambda _, *args: clock.torn(*args))
            stack.enter_context(torn)
        for owner, name in places:
            stack.enter_context(mock.patch.object(owner, name, wrap(getattr(owner, name))))
        yield


def in_child(work: Callable[[], None]) -> bool:
    """Do something in a process of its own; whether it came to its end (False: it was killed)."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return False
    assert os.WEXITSTATUS(status) == 0, "the child failed: see its words above"
    return True


class SharedNode(ReferenceNode):
    """A node that lives in a file of its folder, as a kernel's maps do in shared memory.

    Other processes see what one does, but not its batches; one that dies leaves half of it.
    """

    shared = True

    def __init__(self, distributed: Any, role: Any, functions: Any, folder: Path) -> None:
        super().__init__(distributed, role, functions)
        self.path = folder / "maps"
        self.seen = -1
        if self.path.exists():
            self.attach()
        else:
            self.flush()

    def all(self) -> dict[Any, Any]:
        stores: dict[Any, Any] = {("static", n): s for n, s in self.static.items()}
        stores |= {("map", n): s for n, s in self.maps.items()}
        for name, routine in self._routines.items():
            stores |= {(name, n): routine.stores.maps[n] for n in routine.temporary}
        return stores

    def attach(self) -> None:
        if self.path.stat().st_mtime_ns == self.seen:
            return
        saved = pickle.loads(self.path.read_bytes())
        mine = self.all()
        for key, rows in saved.items():
            mine[key].replace(rows)
        self.seen = self.path.stat().st_mtime_ns

    def flush(self) -> None:
        # The thread of a snapshot may end the process here; memory is never half a file.
        draft = self.path.with_suffix(".draft")
        draft.write_bytes(pickle.dumps({k: s.rows for k, s in self.all().items()}))
        draft.rename(self.path)
        self.seen = self.path.stat().st_mtime_ns


def _through_the_file(name: str) -> Callable[..., Any]:
    def call(self: SharedNode, *args: Any) -> Any:
        self.attach()
        result = getattr(ReferenceNode, name)(self, *args)
        if name not in ("send", "save"):
            self.flush()
        return result

    return call


for _name in ("load", "begin", "add_batch", "receive", "run", "send", "save", "restore"):
    setattr(SharedNode, _name, _through_the_file(_name))


@contextmanager
def shared_nodes() -> Iterator[None]:
    """While it lasts, nodes live in files."""

    def make(work: Any, role: Any, folder: Path) -> Any:
        return SharedNode(work.distributed, role, work.functions, folder)

    with mock.patch.object(ViewWork, "node", make):
        yield
