"""Snapshots: the state of a query as bytes, and a query that goes on from there."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from zipfile import BadZipFile

import numpy as np

from freshview.errors import SnapshotProblem
from freshview.signal.columns.rows import Array, Rows
from freshview.signal.columns.store import Store
from freshview.signal.execute.query import Progress, Query
from freshview.signal.execute.show import show
from freshview.temporal import Watermark

FORMAT = 1


def snapshot(query: Query) -> bytes:
    """All that a query remembers, without the functions in it; it is data, no code."""
    arrays: dict[str, Array] = {}
    for number, values in enumerate(query.directory.arrays()):
        arrays[f"group/{number}"] = values
    for number, state in enumerate(query._states):
        for part, store in enumerate(state):
            _put_store(arrays, f"state/{number}/{part}", store)
    if query._result is not None:
        _put_store(arrays, "result", query._result)
    head = {"format": FORMAT, "plan": plan_hash(query), "sources": _put_progress(arrays, query)}
    arrays["head"] = np.frombuffer(json.dumps(head).encode(), np.uint8)
    return pack(arrays)


def pack(arrays: Mapping[str, Array]) -> bytes:
    """Named arrays as bytes; texts are data, too.

    >>> unpack(pack({"name": np.array(["a", "bc"])}))["name"].tolist()
    ['a', 'bc']
    """
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack(data: bytes) -> dict[str, Array]:
    """The inverse of `pack`."""
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def pack_progress(query: Query) -> bytes:
    """How far the sources of a query are, without its state."""
    arrays: dict[str, Array] = {}
    head = json.dumps(_put_progress(arrays, query))
    return pack({**arrays, "head": np.frombuffer(head.encode(), np.uint8)})


def restore_progress(query: Query, data: bytes) -> None:
    """The inverse of `pack_progress`."""
    arrays = unpack(data)
    _take_progress(query, arrays, json.loads(arrays["head"].tobytes()))


def restore(query: Query, data: bytes) -> Query:
    """Put a fresh query of the same plan into the state of a snapshot."""
    try:
        arrays = unpack(data)
        head: dict[str, Any] = json.loads(arrays["head"].tobytes())
    except (BadZipFile, ValueError, KeyError, OSError, EOFError) as e:
        raise SnapshotProblem(
            f"the snapshot of a signal query cannot be read: {e}", instead="take an earlier one"
        ) from e
    if head["format"] != FORMAT or head["plan"] != plan_hash(query):
        raise SnapshotProblem(
            "the snapshot belongs to another signal query",
            instead="restore it with the query that it was taken of",
        )
    if ("result/group" in arrays) != (query._result is not None):
        raise SnapshotProblem(
            "the snapshot and the query differ in whether the result is kept",
            instead="restore it with the same keep_result",
        )
    groups = sum(name.startswith("group/") for name in arrays)
    query.directory.restore([arrays[f"group/{n}"] for n in range(groups)])
    query._states = [
        tuple(_store(arrays, f"state/{number}/{part}", store) for part, store in enumerate(state))
        for number, state in enumerate(query._states)
    ]
    if query._result is not None:
        query._result = _store(arrays, "result", query._result)
    _take_progress(query, arrays, head["sources"])
    return query


def plan_hash(query: Query) -> str:
    """A hash of the plan; functions are known by their names alone."""
    return sha256(show(query.term).encode()).hexdigest()


def _put_progress(arrays: dict[str, Array], query: Query) -> list[dict[str, Any]]:
    sources = []
    for number, (source, progress) in enumerate(query.progress.items()):
        _put_rows(arrays, f"late/{number}", progress.set_aside)
        at = progress.watermark.at
        sources.append({"name": source.name, "watermark": at, "late": progress.late})
    return sources


def _take_progress(query: Query, arrays: Mapping[str, Array], sources: list[Any]) -> None:
    for number, (source, saved) in enumerate(zip(query.progress, sources, strict=True)):
        watermark = Watermark(source.delay, saved["watermark"])
        query.progress[source] = Progress(watermark, saved["late"], _rows(arrays, f"late/{number}"))


def _put_rows(arrays: dict[str, Array], name: str, rows: Rows) -> None:
    arrays[f"{name}/group"], arrays[f"{name}/start"] = rows.group, rows.start
    arrays[f"{name}/end"], arrays[f"{name}/weight"] = rows.end, rows.weight
    for column, values in rows.columns.items():
        arrays[f"{name}/column/{column}"] = values


def _put_store(arrays: dict[str, Array], name: str, store: Store) -> None:
    _put_rows(arrays, name, store.all())
    if store.forgotten is not None:
        arrays[f"{name}/forgotten"] = store.forgotten


def _rows(arrays: Mapping[str, Array], name: str) -> Rows:
    head = f"{name}/column/"
    columns = {n.removeprefix(head): v for n, v in arrays.items() if n.startswith(head)}
    group, start, end, weight = (
        arrays[f"{name}/{part}"] for part in ("group", "start", "end", "weight")
    )
    return Rows(group, start, end, weight, columns)


def _store(arrays: Mapping[str, Array], name: str, empty: Store) -> Store:
    store = Store(empty.empty, (), arrays.get(f"{name}/forgotten"))
    return store.apply(_rows(arrays, name))
