"""A hash of source files, read again only when one of them was written since.

What a cache holds depends on the code that made it. To read all of that code takes longer than to
load what the cache has; to ask for the times and sizes of its files does not.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from freshview.codegen.library.cache import cache_root, make_room
from freshview.codegen.library.private_files import NotPrivate, private_folder, read_own
from freshview.files import write_whole

SETTLED = 2_000_000_000
"""Nanoseconds after which a file that is written again has another time on every file system."""

MAX_BYTES = 1 << 20
"""Bytes of the hashes of all the checkouts of a user together."""


def hash_of(folder: Path, files: Iterable[str]) -> str:
    """A hash of the names and contents of files below a folder.

    Where the cache has the hash of files with these very sizes and times, they are not read.
    """
    statuses = [(name, os.stat(f"{folder}/{name}")) for name in sorted(files)]
    states = [(name, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino) for name, s in statuses]
    key = hashlib.sha256(repr((str(folder), states)).encode()).hexdigest()
    known = _get(key)
    if known is not None:
        return known
    whole = hashlib.sha256()
    for name, _ in statuses:
        whole.update(name.encode() + (folder / name).read_bytes())
    newest = max((max(s.st_mtime_ns, s.st_ctime_ns) for _, s in statuses), default=0)
    if newest + SETTLED < time.time_ns():
        _put(key, whole.hexdigest())
    return whole.hexdigest()


def python_files(folder: Path, *rooms: str) -> Iterator[str]:
    """The Python files of those rooms below a folder that there are, by their paths from there."""
    for room in rooms:
        if not os.path.isdir(f"{folder}/{room}"):
            continue
        with os.scandir(f"{folder}/{room}") as entries:
            for entry in entries:
                path = f"{room}/{entry.name}" if room else entry.name
                if entry.name.endswith(".py"):
                    yield path
                elif entry.name != "__pycache__":
                    yield from python_files(folder, path)


def _folder() -> Path:
    return cache_root() / "sources"


def _get(key: str) -> str | None:
    path = _folder() / f"{key}.json"
    try:
        private_folder(path.parent)
        stored = json.loads(read_own(path) or b"{}")
        known = str(stored["hash"])
        if stored["key"] != key or len(bytes.fromhex(known)) != 32:
            return None
    except (OSError, NotPrivate, ValueError, KeyError, TypeError):
        return None
    with suppress(OSError):
        os.utime(path)  # the time of its last use decides what is evicted
    return known


def _put(key: str, value: str) -> None:
    path = _folder() / f"{key}.json"
    with suppress(OSError, NotPrivate):
        private_folder(path.parent)
        write_whole(path, json.dumps({"key": key, "hash": value}).encode(), private=True)
        make_room(path.parent.iterdir(), MAX_BYTES, lambda other, _: other == path)
