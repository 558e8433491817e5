"""Compound blocks: rows of several maps or relations as one piece of bytes.

    count, then for each: name, rows as an Arrow stream

All the rows that go from one node to another travel in one block (thesis 5.4).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

Rows = Mapping[str, Sequence[pa.RecordBatch]]
"""Batches by the name of their map or relation."""

_HEAD = struct.Struct("<IQ")
EMPTY = b""


def pack(rows: Rows) -> bytes:
    """Rows as bytes; names without rows are left out.

    >>> unpack(pack({"M": [pa.record_batch({"a": [1, 2]})], "N": []}))["M"][0].to_pylist()
    [{'a': 1}, {'a': 2}]
    """
    return bytes(pack_large(rows))


def pack_large(rows: Rows) -> memoryview:
    """The same bytes, copied once: memory is taken when it is known how many they are."""
    parts = []
    for name, batches in rows.items():
        filled = [b for b in batches if b.num_rows]
        if filled:
            count = pa.MockOutputStream()
            _stream(count, filled)
            text = name.encode()
            text += b"\0" * (-(len(text) + _HEAD.size) % 8)  # Arrow wants its bytes aligned
            parts.append((_HEAD.pack(len(text), count.size()) + text, count.size(), filled))
    room = pa.allocate_buffer(sum(len(head) + size for head, size, _ in parts))
    with pa.FixedSizeBufferWriter(room) as out:
        for head, _, filled in parts:
            out.write(head)
            _stream(out, filled)
    return memoryview(room)


def _stream(sink: Any, batches: Sequence[pa.RecordBatch]) -> None:
    with pa.ipc.new_stream(sink, batches[0].schema) as out:
        for batch in batches:
            out.write_batch(batch)


def unpack(data: bytes | memoryview | pa.Buffer) -> dict[str, list[pa.RecordBatch]]:
    """The inverse of `pack`; the rows lie in the same memory."""
    whole = data if isinstance(data, pa.Buffer) else pa.py_buffer(data)
    view = memoryview(whole)
    found: dict[str, list[pa.RecordBatch]] = {}
    at = 0
    while at < whole.size:
        words, size = _HEAD.unpack_from(view, at)
        at += _HEAD.size
        name = bytes(view[at : at + words]).rstrip(b"\0").decode()
        at += words
        with pa.ipc.open_stream(whole.slice(at, size)) as rows:
            found[name] = list(rows)
        at += size
    return found


def merged(blocks: Sequence[bytes]) -> dict[str, list[pa.RecordBatch]]:
    """The rows of several blocks, in their order."""
    found: dict[str, list[pa.RecordBatch]] = {}
    for block in blocks:
        for name, batches in unpack(block).items():
            found.setdefault(name, []).extend(batches)
    return found


def frame(blocks: Sequence[bytes]) -> bytes:
    """Blocks one after the other, with their lengths in front.

    >>> unframe(frame([b"one", b"", b"two"]))
    [b'one', b'', b'two']
    """
    lengths = struct.pack(f"<{len(blocks) + 1}Q", len(blocks), *(len(b) for b in blocks))
    return b"".join([lengths, *blocks])


def unframe(data: bytes) -> list[bytes]:
    """The inverse of `frame`."""
    (count,) = struct.unpack_from("<Q", data)
    lengths = struct.unpack_from(f"<{count}Q", data, 8)
    found, at = [], 8 * (count + 1)
    for length in lengths:
        found.append(data[at : at + length])
        at += length
    return found
