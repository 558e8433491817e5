"""Named arrays as bytes, and in files of shared memory."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

from freshview.durable.storage.files import load_whole, save_whole
from freshview.files import draft_of
from freshview.linear.kernels.semiring import Array

_HEAD = struct.Struct("<Q")
_ALIGNED = 64


def pack(arrays: Mapping[str, Array]) -> bytes:
    """Arrays as bytes; no bytes without arrays.

    >>> unpack(pack({"A": np.ones((2, 1)), "B": np.zeros((0, 3))}))["A"]
    array([[1.],
           [1.]])
    """
    return b"".join(_pieces(arrays)) if arrays else b""


def unpack(data: bytes | memoryview) -> dict[str, Array]:
    """The inverse of `pack`, also of concatenated ones; the arrays share the memory."""
    arrays: dict[str, Array] = {}
    at = 0
    while at < len(data):
        (length,) = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        header = json.loads(bytes(data[at : at + length]))
        at += length
        for name, kind, shape in header:
            dtype = np.dtype(kind)
            count = int(np.prod(shape))
            arrays[name] = np.frombuffer(data, dtype, count, at).reshape(shape)
            at += -(-count * dtype.itemsize // _ALIGNED) * _ALIGNED
    return arrays


def write(path: Path, arrays: Mapping[str, Array]) -> None:
    """The same as a file."""
    save_whole(path, *_pieces(arrays))


def read(path: Path) -> dict[str, Array]:
    """The inverse of `write`."""
    return unpack(load_whole(path))


def _pieces(arrays: Mapping[str, Array]) -> Iterable[bytes | memoryview]:
    header = [(n, a.dtype.str, a.shape) for n, a in arrays.items()]
    head = json.dumps(header).encode()
    head += b" " * (-(len(head) + _HEAD.size) % _ALIGNED)
    yield _HEAD.pack(len(head)) + head
    for a in arrays.values():
        yield np.ascontiguousarray(a).data.cast("B") if a.size else b""
        yield b"\0" * (-a.nbytes % _ALIGNED)


def create(path: Path, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> Array:
    """An array of zeros in a file that other processes can map; it replaces an old one."""
    with draft_of(path, one_writer=True) as draft, draft.open("wb") as out:
        header: BinaryIO = out
        np.lib.format.write_array_header_1_0(
            header, {"descr": dtype.str, "fortran_order": False, "shape": shape}
        )
        out.truncate(out.tell() + int(np.prod(shape)) * dtype.itemsize)
    return attach(path)


def attach(path: Path) -> Array:
    """Map an existing array; all processes see its changes."""
    try:
        array: Array = np.load(path, mmap_mode="r+")
    except ValueError:  # NumPy cannot map an empty array
        array = np.load(path)
    return array
