"""Seals: checksums of the files of a node in shared memory at the end of a step.

A process that continues with maps in files first checks that these are the files that the last
step left. So a file that was deleted, truncated, exchanged or changed is noticed, and the maps are
rebuilt. The check runs at every step, so it must be cheap: of each file it takes the name, the size
and all the bytes up to `SEALED_BYTES`; of a larger file the first half of that, and pages spread
evenly over the rest.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import numpy as np

SEALED_BYTES = 4 << 20
"""Bytes of a file that are hashed: some tenths of a millisecond."""

PAGE = 4096
_CHUNK = 1 << 18  # fits into the cache between reading and adding up

_buffer = bytearray(_CHUNK)


def seal(folder: Path) -> str:
    """A checksum of the files of a folder.

    Words of 64 bits are added up and xored: a change of any single word shows, and the random
    stamp in a kernel's state distinguishes older copies of it.
    """
    digest = blake2b(digest_size=12)
    for name in sorted(os.listdir(folder)):
        digest.update(_sum_of(folder / name, name))
    return digest.hexdigest()


def _sum_of(path: Path, name: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        size = os.fstat(fd).st_size
        xored = added = placed = 0
        view = memoryview(_buffer)
        for number, (start, length) in enumerate(_windows(size), 1):
            view[length:] = bytes(len(view) - length) if length < len(view) else b""
            count = os.preadv(fd, [view[:length]], start)
            words = np.frombuffer(_buffer, np.uint64, -(-length // 8))
            part = int(np.add.reduce(words))
            xored ^= int(np.bitwise_xor.reduce(words))
            added += part
            placed += part * number
            if count != length:
                size = -1  # the file is truncated meanwhile
    finally:
        os.close(fd)
    return f"{name}\0{size} {xored} {added} {placed}\0".encode()


def _windows(size: int) -> Iterator[tuple[int, int]]:
    """The ranges of a file that are hashed: start and length.

    >>> list(_windows(10)), sum(n for _, n in _windows(10 * SEALED_BYTES)) <= SEALED_BYTES
    ([(0, 10)], True)
    """
    head = size if size <= SEALED_BYTES else SEALED_BYTES // 2
    for start in range(0, head, _CHUNK):
        yield start, min(_CHUNK, head - start)
    if size > SEALED_BYTES:
        pages = SEALED_BYTES // 2 // PAGE
        rest = size - head - PAGE
        for i in range(pages):
            yield head + rest * i // (pages - 1), PAGE
