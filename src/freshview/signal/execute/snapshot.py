"""Snapshots: the state of a query as bytes, and a query that goes on from there."""

from __future__ import annotations

import io
import json
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
    sources = []
    for number, (source, progress) in enumerate(query._progress.items()):
        _put_rows(arrays, f"late/{number}", progress.set_aside)
        at = progress.watermark.at
        sources.append({"name": source.name, "watermark": at, "late": progress.late})
    head = {"format": FORMAT, "plan": _plan(query), "sources": sources}
    arrays["head"] = np.frombuffer(json.dumps(head).encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def restore(query: Query, data: bytes) -> Query:
    """Put a fresh query of the same plan into the state of a snapshot."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays: dict[str, Array] = {name: file[name] for name in file.files}
        head: dict[str, Any] = json.loads(arrays["head"].tobytes())
    except (BadZipFile, ValueError, KeyError, OSError, EOFError) as e:
        raise SnapshotProblem(
            f"the snapshot of a signal query cannot be read: {e}", instead="take an earlier one"
        ) from e
    if head["format"] != FORMAT or head["plan"] != _plan(query):
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
    for number, (source, saved) in enumerate(zip(query._progress, head["sources"], strict=True)):
        watermark = Watermark(source.delay, saved["watermark"])
        query._progress[source] = Progress(
            watermark, saved["late"], _rows(arrays, f"late/{number}")
        )
    return query


def _plan(query: Query) -> str:
    return sha256(show(query.term).encode()).hexdigest()


def _put_rows(arrays: dict[str, Array], name: str, rows: Rows) -> None:
    arrays[f"{name}/group"], arrays[f"{name}/start"] = rows.group, rows.start
    arrays[f"{name}/end"], arrays[f"{name}/weight"] = rows.end, rows.weight
    for column, values in rows.columns.items():
        arrays[f"{name}/column/{column}"] = values


def _put_store(arrays: dict[str, Array], name: str, store: Store) -> None:
    _put_rows(arrays, name, store.all())
    if store.forgotten is not None:
        arrays[f"{name}/forgotten"] = store.forgotten


def _rows(arrays: dict[str, Array], name: str) -> Rows:
    head = f"{name}/column/"
    columns = {n.removeprefix(head): v for n, v in arrays.items() if n.startswith(head)}
    group, start, end, weight = (
        arrays[f"{name}/{part}"] for part in ("group", "start", "end", "weight")
    )
    return Rows(group, start, end, weight, columns)


def _store(arrays: dict[str, Array], name: str, empty: Store) -> Store:
    store = Store(empty.empty, (), arrays.get(f"{name}/forgotten"))
    return store.apply(_rows(arrays, name))
