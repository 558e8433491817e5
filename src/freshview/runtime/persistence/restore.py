"""A database read from the folder of a snapshot."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from freshview.calculus.clock import CLOCK, Steps, steps_of
from freshview.calculus.rows import Row
from freshview.calculus.schema import Relation
from freshview.calculus.types import Type
from freshview.codegen.library.calling import calling
from freshview.errors import SnapshotProblem
from freshview.plan.switches import read_switches
from freshview.program.statistics import Statistics
from freshview.runtime.compile import kernels
from freshview.runtime.compile.compile_view import compile_group
from freshview.runtime.database.database import Database
from freshview.runtime.database.declarations import Script, read_declaration
from freshview.runtime.database.state import State
from freshview.runtime.ingest.columns import rows_of
from freshview.runtime.persistence.event_times import read_times
from freshview.runtime.persistence.manifest import Manifest, folder_of, read_manifest
from freshview.runtime.relations.base import Base
from freshview.runtime.relations.stored_base import StoredBase
from freshview.runtime.settings import DatabaseSettings
from freshview.runtime.views.group import ViewGroup

if TYPE_CHECKING:
    import pyarrow as pa
else:
    from freshview.runtime.ingest.lazy_imports import pa


def restore(
    path: str | Path,
    functions: Mapping[str, tuple[Callable[..., object], Type | str]] | None = None,
) -> Database:
    """The database of a snapshot, which goes on where it was.

    `functions` gives again what was registered with `register_function`: for each name the
    function and the type of its result.
    """
    path = folder_of(path)
    body = read_manifest(path)
    registered = {name.lower(): f for name, f in (functions or {}).items()}
    missing = sorted(set(body["functions"]) - registered.keys())
    if missing:
        raise SnapshotProblem(
            f"{path} has views that call the Python function '{missing[0]}'",
            instead="give it again: restore(path, functions={name: (function, result)})",
        )
    values = body["settings"]
    statistics = Statistics(**values["statistics"])
    switches = read_switches(values.get("switches"))
    db = Database(DatabaseSettings(**{**values, "statistics": statistics, "switches": switches}))
    for name, (function, result) in registered.items():
        db.register_function(name, function, result)
    db.calls.waits = True
    for d in map(read_declaration, body["scripts"]):
        if isinstance(d, Script):
            db.execute(d.sql, d.file, policy=d.policy)
        else:
            db.define(d.query, d.strategy, order=d.order)
    folder = path / body["folder"]
    for name, entry in body["bases"].items():
        _restore_base(db.state, name, entry, folder)
    db.state.regroup([_restored_group(db.state, entry, folder) for entry in _groups(body)])
    db.state.version, db.state.has_changes = body["version"], body["changed"]
    db.state.fed = set(body["fed"])
    if (clock := db.state.bases.get(CLOCK.name)) is not None:
        db.state.clock = steps_of(clock.rows, Steps())
    db.state.progress.clear()
    db.state.follow_progress()
    db.state.times.by_stream.update(read_times(body.get("times", {}), db.state.catalog))
    db.rewire()
    db.calls.restart()
    return db


def _restore_base(state: State, name: str, entry: Manifest, folder: Path) -> None:
    relation = state.bases[name].relation
    if entry["kind"] == "kernel":
        stored = StoredBase(relation, kernels.row_store())
        stored.instance.restore(folder / entry["file"])
        state.bases[name] = stored
    elif entry["kind"] == "rows":
        base = Base(relation)  # the next change moves it into a kernel, if it shall be in one
        base.apply(dict(_rows(relation, folder / entry["file"], entry["sha256"])))
        state.bases[name] = base


def _rows(relation: Relation, path: Path, sha256: str) -> list[tuple[Row, int]]:
    try:
        data = path.read_bytes()
    except OSError as e:
        raise SnapshotProblem(f"{path} cannot be read: {e.strerror}") from e
    if hashlib.sha256(data).hexdigest() != sha256:
        raise SnapshotProblem(f"{path} is damaged", instead="restore an older snapshot")
    table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
    *_, counts = table.columns
    rows = rows_of(table.select(range(len(relation.columns))))
    return list(zip(rows, counts.to_pylist(), strict=True))


def _groups(body: Manifest) -> list[Manifest]:
    """The groups of views; before there were groups, every view was one."""
    if "groups" in body:
        groups: list[Manifest] = body["groups"]
        return groups
    return [{"views": [name], **entry} for name, entry in body["views"].items()]


def _restored_group(state: State, entry: Manifest, folder: Path) -> ViewGroup:
    """The views that one engine served, with its state."""
    views = [state.views[name] for name in entry["views"]]
    group = ViewGroup(views, state.bases)
    group.alone = entry.get("alone", False)
    group.rows_seen = sum(state.bases[r.name].size for r in group.relations)
    if entry["engine"] == "reference":
        group.had_kernel = state.settings.engine == "native"  # the next change brings one again
        return group
    group.wide = entry.get("wide", False)
    built = kernels.build(compile_group(views, group.wide), state.settings.flags)
    built = replace(built, kernel=calling(built.kernel, group.functions))
    instance = built.kernel.open()
    instance.restore(folder / entry["file"])
    group.adopt(built, instance)
    return group
