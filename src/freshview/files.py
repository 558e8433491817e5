"""Files that are written whole or not at all: a complete draft takes their place in one step."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def part_of(path: Path) -> Path:
    """The draft of a file with one writer: the next one overwrites what a crash has left of it.

    >>> part_of(Path("views/position")).as_posix()
    'views/.position.part'
    """
    return path.with_name(f".{path.name}.part")


@contextmanager
def draft_of(
    path: Path, *, one_writer: bool = False, private: bool = False, new: bool = False
) -> Iterator[Path]:
    """A path beside a file, for a draft that replaces it at the end; one that fails is removed.

    Drafts of several writers have names of their own. A `private` one is there from the beginning,
    and only its owner may read it. With `new` the file must not exist (`FileExistsError`).
    """
    draft = part_of(path) if one_writer else path.with_name(f".{path.name}-{os.urandom(16).hex()}")
    try:
        if private:
            os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        yield draft
        if new:
            os.link(draft, path)  # unlike a rename, it fails if the name exists
            draft.unlink()
        else:
            os.replace(draft, path)
    except BaseException:
        with suppress(OSError):  # what failed first is what counts
            draft.unlink()
        raise


def write_whole(
    path: Path,
    *parts: bytes | memoryview,
    one_writer: bool = False,
    private: bool = False,
    sync: bool = False,
) -> None:
    """Replace a file in one step; with `sync` it is on disk when this returns."""
    with draft_of(path, one_writer=one_writer, private=private) as draft:
        write_out(draft, *parts, sync=sync)
    if sync:
        sync_folder(path.parent)


def write_out(path: Path, *parts: bytes | memoryview, sync: bool = False) -> None:
    """Write a file piece by piece; with `sync` its bytes are on disk when this returns."""
    with path.open("wb") as out:
        for part in parts:
            out.write(part)
        if sync:
            out.flush()
            os.fsync(out.fileno())


def make_folder(path: Path, *, sync: bool = False) -> None:
    """Make a folder, with those above it, if it is not there; with `sync` its name lasts."""
    if not path.is_dir():
        make_folder(path.parent, sync=sync)
        path.mkdir(exist_ok=True)
        if sync:
            sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make the names in a folder last."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
