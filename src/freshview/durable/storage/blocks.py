"""Compound blocks: rows of several maps or relations as one sequence of bytes.

    count, then for each: name, rows as an Arrow stream

All the rows that go from one node to another travel in one block (Nikolic 2016, 5.4).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import pyarrow as pa

Rows = Mapping[str, Sequence[pa.RecordBatch]]
"""Batches by the name of their map or relation."""

Pieces = Sequence[bytes | memoryview]
"""Bytes that follow one another."""

_HEAD = struct.Struct("<IQ")
EMPTY = b""


def pack(rows: Rows) -> bytes:
    """Rows as bytes; names without rows are left out.

    >>> unpack(pack({"M": [pa.record_batch({"a": [1, 2]})], "N": []}))["M"][0].to_pylist()
    [{'a': 1}, {'a': 2}]
    """
    return b"".join(pack_large(rows))


def pack_large(rows: Rows) -> Pieces:
    """The same bytes in pieces, without copying columns."""
    pieces: list[bytes | memoryview] = []
    for name, batches in rows.items():
        filled = [b for b in batches if b.num_rows]
        if filled:
            sink = _Sink()
            with pa.ipc.new_stream(pa.PythonFile(sink, "w"), filled[0].schema) as out:
                for batch in filled:
                    out.write_batch(batch)
            text = name.encode()
            text += b"\0" * (-(len(text) + _HEAD.size) % 8)  # Arrow wants its bytes aligned
            pieces += [_HEAD.pack(len(text), sink.tell()) + text, *sink.pieces]
    return pieces


class _Sink:
    """A file for Arrow to write to, which keeps the pieces."""

    closed = False

    def __init__(self) -> None:
        self.pieces: list[bytes | memoryview] = []
        self._size = 0

    def write(self, data: bytes | pa.Buffer) -> None:
        piece = data if isinstance(data, bytes) else memoryview(data)
        self.pieces.append(piece)
        self._size += len(piece)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        """Nothing is buffered."""


def unpack(data: bytes | memoryview | pa.Buffer) -> dict[str, list[pa.RecordBatch]]:
    """The inverse of `pack`; the rows share its memory."""
    whole = data if isinstance(data, pa.Buffer) else pa.py_buffer(data)
    view = memoryview(whole)
    batches_by_name: dict[str, list[pa.RecordBatch]] = {}
    at = 0
    while at < whole.size:
        words, size = _HEAD.unpack_from(view, at)
        at += _HEAD.size
        name = bytes(view[at : at + words]).rstrip(b"\0").decode()
        at += words
        with pa.ipc.open_stream(whole.slice(at, size)) as rows:
            batches_by_name[name] = list(rows)
        at += size
    return batches_by_name


def merged(blocks: Sequence[bytes]) -> dict[str, list[pa.RecordBatch]]:
    """The rows of several blocks, in their order."""
    batches_by_name: dict[str, list[pa.RecordBatch]] = {}
    for block in blocks:
        for name, batches in unpack(block).items():
            batches_by_name.setdefault(name, []).extend(batches)
    return batches_by_name


def frame(blocks: Sequence[bytes]) -> bytes:
    """Concatenated blocks, with their lengths in front.

    >>> unframe(frame([b"one", b"", b"two"]))
    [b'one', b'', b'two']
    """
    lengths = struct.pack(f"<{len(blocks) + 1}Q", len(blocks), *(len(b) for b in blocks))
    return b"".join([lengths, *blocks])


def unframe(data: bytes) -> list[bytes]:
    """The inverse of `frame`."""
    (count,) = struct.unpack_from("<Q", data)
    lengths = struct.unpack_from(f"<{count}Q", data, 8)
    blocks, at = [], 8 * (count + 1)
    for length in lengths:
        blocks.append(data[at : at + length])
        at += length
    return blocks
