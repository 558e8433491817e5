"""The kernel cache: a folder of libraries, bounded in size, that never gives a wrong one.

A file ends in a hash of its contents, and its time of modification is that of its last use. When a
new file takes the folder past `CACHE_BYTES`, the least recently used ones are removed. A library
that a process has loaded stays with it; one that is removed is compiled again when it is needed.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Iterator
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


def user_cache() -> Path:
    """Where this user's kernels are kept: the one place that the desktop convention names."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    root = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    return root / "freshview" / "kernels"


@contextmanager
def build_folder(folder: Path) -> Iterator[Path]:
    """A folder for one compilation, on the same disk as the cache so that results can be moved."""
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
    files: list[tuple[float, int, Path]] = []
    for path in folder.iterdir():
        if _CACHED.fullmatch(path.name):
            with suppress(FileNotFoundError):  # another process evicts at the same time
                status = path.lstat()
                files.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in files)
    latest = time.time() - IN_USE
    for used, size, path in sorted(files):
        if total <= CACHE_BYTES or used > latest:
            return
        path.unlink(missing_ok=True)
        total -= size


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
