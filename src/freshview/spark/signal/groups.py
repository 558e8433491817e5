"""Which partition a group is in, and batches and results as bytes."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from freshview.durable.storage.blocks import frame, unframe
from freshview.signal.columns.directory import Directory
from freshview.signal.columns.rows import Array, Rows, sorted_rows
from freshview.signal.execute.events import Events
from freshview.signal.execute.intake import COUNT
from freshview.signal.execute.query import Query, by_key
from freshview.signal.execute.snapshot import pack, unpack
from freshview.signal.terms import (
    BadSignal,
    GroupBy,
    Lifetime,
    Shift,
    Source,
    Term,
    Where,
    inputs_of,
)

Tables = dict[str, dict[str, Array]]
"""Columns by source."""

_MIX = np.uint64(0x9E3779B97F4A7C15)


def keys_of(term: Term) -> dict[str, tuple[str, ...]]:
    """The key columns of every source: events of a group must be known before anything is done."""
    if isinstance(term, GroupBy):
        at = term.input
        while isinstance(at, Where | Shift | Lifetime):
            at = at.input
        names = {f.name for f in at.fields} if isinstance(at, Source) else set()
        if isinstance(at, Source) and set(term.key) <= names:
            return {at.name: term.key}
    if isinstance(term, GroupBy | Source):
        raise BadSignal(
            "the query groups events that others of its operators have changed, or does not group",
            instead='on Spark, name the key with the source, stream(..., key="sensor"), or map to '
            "it before select and aggregates",
        )
    keys: dict[str, tuple[str, ...]] = {}
    for each in inputs_of(term):
        keys |= keys_of(each)
    return keys


def parts_of(columns: Sequence[Array], parts: int) -> NDArray[np.int64]:
    """The partition of each row, by a hash of its key that is the same in every process.

    >>> parts_of([np.array([1, 2, 1]), np.array(["a", "b", "a"])], 4).tolist()
    [0, 3, 0]
    """
    digest = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        if column.dtype.kind == "U":
            texts, at = np.unique(column, return_inverse=True)
            numbers = np.array([zlib.crc32(t.encode()) for t in texts.tolist()], np.uint64)[at]
        else:
            numbers = column.astype(np.int64).view(np.uint64)
        digest = (digest ^ numbers) * _MIX
        digest ^= digest >> np.uint64(29)
    return (digest % np.uint64(parts)).astype(np.int64)


def shares(
    batch: Mapping[Source, Rows], keys: Mapping[str, tuple[str, ...]], parts: int
) -> list[Tables]:
    """The rows of every partition, as tables of their sources."""
    answer: list[Tables] = [{} for _ in range(parts)]
    for source, rows in batch.items():
        if not len(rows):
            continue
        part = parts_of([rows.columns[k] for k in keys[source.name]], parts)
        order = np.argsort(part, kind="stable")
        ends = np.searchsorted(part[order], np.arange(parts + 1))
        for k in range(parts):
            if ends[k + 1] > ends[k]:
                answer[k][source.name] = _table(source, rows.take(order[ends[k] : ends[k + 1]]))
    return answer


def _table(source: Source, rows: Rows) -> dict[str, Array]:
    times = {source.time: rows.start} | ({} if source.end is None else {source.end: rows.end})
    return {**times, **rows.columns, COUNT: rows.weight.astype(np.int64)}


def pack_share(tables: Tables, watermarks: Mapping[str, int]) -> bytes:
    """What a partition gets of a batch: rows, and how far the sources are after it."""
    head = json.dumps({"watermarks": watermarks, "sources": list(tables)}).encode()
    return frame([head, *(pack(t) for t in tables.values())])


def unpack_share(data: bytes | memoryview) -> tuple[Tables, dict[str, int]]:
    """The inverse of `pack_share`.

    >>> share = unpack_share(pack_share({"s": {"time": np.array([5])}}, {"s": 3}))
    >>> share[0]["s"]["time"].tolist(), share[1]
    ([5], {'s': 3})
    """
    head, *blocks = unframe(bytes(data))
    value = json.loads(head)
    tables = {n: unpack(b) for n, b in zip(value["sources"], blocks, strict=True)}
    return tables, value["watermarks"]


def pack_events(events: Events) -> bytes:
    """Events with their keys; no bytes for none."""
    return pack(events.to_numpy()) if len(events) else b""


def together(query: Query, reports: Sequence[bytes], is_change: bool) -> Events:
    """The events of all partitions as those of one query."""
    parts = [unpack(r) for r in reports if r]
    directory, schema = Directory(), query.schema
    directory.declare(query.keys)
    if not parts:
        return Events(schema, directory, query.is_uniform, is_change)
    columns = {name: np.concatenate([p[name] for p in parts]) for name in parts[0]}
    group = directory.encode([columns[name] for name in directory.names])
    start = columns["time"]
    end = start + 1 if query.is_uniform else columns["end"]
    weight = columns[COUNT].astype(np.int8) if is_change else np.ones(len(start), np.int8)
    payload = {name: columns[name] for name in schema.columns}
    rows = by_key(sorted_rows(Rows(group, start, end, weight, payload)), directory)
    return Events(rows, directory, query.is_uniform, is_change)
