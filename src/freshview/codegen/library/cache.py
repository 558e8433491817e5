"""The kernel cache: a folder of libraries, bounded in size, that never gives a wrong one.

A file ends in a hash of its contents, and its time of modification is that of its last use. When a
new file takes the folder past `CACHE_BYTES`, the least recently used ones are removed. A library
that a process has loaded stays with it; one that is removed is compiled again when it is needed.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from freshview.codegen.library.private_files import NotPrivate, private_folder, read_own
from freshview.errors import BuildProblem

CACHE_BYTES = 1 << 30
"""What the files of a cache may take together: one gibibyte, room for thousands of kernels."""

IN_USE = 60.0
"""Seconds after its last use in which a file is not removed: its user may be about to load it."""

_CACHED = re.compile(r"[0-9a-f]{64}\.(so|o|cpp)")
"""The names of files that a cache has: libraries, object files, and sources that were refused."""


def cache_root() -> Path:
    """Where what can be made again is kept for this user: the place of the desktop convention."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    root = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    return root / "freshview"


def user_cache() -> Path:
    """Where this user's kernels are kept."""
    return cache_root() / "kernels"


@contextmanager
def build_folder(folder: Path) -> Iterator[Path]:
    """A folder for one compilation, on the same disk as the cache so that results can be moved."""
    import tempfile  # takes longer to import than a kernel to load

    try:
        private_folder(folder)
        with tempfile.TemporaryDirectory(prefix=".build-", dir=folder) as name:
            yield Path(name)
    except NotPrivate as e:
        raise BuildProblem(f"the kernel cannot be written: {e}") from e
    except OSError as e:
        raise BuildProblem(
            f"the kernel cannot be written to {folder}: {e.strerror or e}",
            instead="name a folder that can be written",
        ) from e


def store(built: Path, target: Path) -> bytes:
    """Move a file that was built into the cache, and make room for it; gives its contents."""
    data = built.read_bytes()
    with built.open("ab") as out:
        out.write(hashlib.sha256(data).digest())
    os.replace(built, target)
    evict(target.parent)
    return data


def evict(folder: Path) -> None:
    """Remove the least recently used files of a cache until it is within its bound."""
    cached = (path for path in folder.iterdir() if _CACHED.fullmatch(path.name))
    latest = time.time() - IN_USE
    make_room(cached, CACHE_BYTES, lambda _, status: status.st_mtime > latest)


def make_room(
    paths: Iterable[Path], most_bytes: int, is_kept: Callable[[Path, os.stat_result], bool]
) -> None:
    """Remove the least recently used files until all take `most_bytes`; those that `is_kept` stay.

    The time of a file's modification is that of its last use.
    """
    statuses: dict[Path, os.stat_result] = {}
    for path in paths:
        with suppress(FileNotFoundError):  # another process evicts at the same time
            statuses[path] = path.lstat()
    total = sum(status.st_size for status in statuses.values())
    for path in sorted(statuses, key=lambda p: (statuses[p].st_mtime_ns, p.name)):
        if total <= most_bytes:
            return
        if not is_kept(path, statuses[path]):
            path.unlink(missing_ok=True)
            total -= statuses[path].st_size


def read_cached(path: Path) -> bytes | None:
    """The contents of a file of the cache, used now; None where bytes were lost or changed.

    A cache that others can write to is none: what it has is run.
    """
    try:
        private_folder(path.parent)
    except (NotPrivate, OSError):
        return None
    data = read_own(path)
    if data is None:
        return None
    if hashlib.sha256(data[:-32]).digest() != data[-32:]:
        return None
    with suppress(OSError):  # a cache that cannot be written still answers
        os.utime(path)
    return data[:-32]
