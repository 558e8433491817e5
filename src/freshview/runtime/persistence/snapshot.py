"""A database in a folder: what was declared, the version, and the state of every kernel.

`manifest.json` names the folder with the states that belong to it. It is replaced in one step when
these are complete, so that a snapshot is the old one or the new one, never half of each.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freshview.calculus.schema import Relation
from freshview.calculus.types import Type
from freshview.errors import SnapshotProblem
from freshview.program.cost import Statistics
from freshview.runtime.database import compiled_plan, kernels
from freshview.runtime.database.base import Base
from freshview.runtime.database.database import Database
from freshview.runtime.database.declarations import Script, read_declaration, show_declaration
from freshview.runtime.database.serve import AnyBase, NativeServer
from freshview.runtime.database.settings import Settings
from freshview.runtime.database.stored_base import StoredBase
from freshview.runtime.ingest.change import COUNT
from freshview.runtime.ingest.columns import rows_of, table_of

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]
else:
    from freshview.runtime.ingest.lazy_imports import pa

FORMAT = 1
MANIFEST = "manifest.json"


def folder_of(path: str | Path) -> Path:
    """The folder that a path names."""
    if not isinstance(path, str | os.PathLike) or "\0" in str(path):
        raise SnapshotProblem(
            f"a snapshot is kept in a folder, not in {path!r}", instead="give its path"
        )
    return Path(path)


def save(db: Database, path: Path) -> None:
    """Write a snapshot of a database that nobody changes meanwhile."""
    _refuse_what_is_nowhere(db)
    made: Path | None = None
    try:
        path.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix="state-", dir=path))
        views = {name: _save_view(db, name, made) for name in db._views}
        bases = {name: _save_base(base, made) for name, base in db._bases.items()}
        body = {
            "settings": asdict(db._settings),
            "scripts": [show_declaration(d) for d in db._declared],
            "functions": _python(db),
            "version": db._version,
            "changed": db._changed,
            "fed": sorted(db._fed),
            "folder": made.name,
            "views": views,
            "bases": bases,
        }
        _write_manifest(path, body)
    except OSError as e:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
        raise SnapshotProblem(
            f"the snapshot cannot be written to {path}: {e.strerror or e}",
            instead="what was there before is still there",
        ) from e
    except BaseException:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
        raise
    for old in path.glob("state-*"):
        if old != made:
            shutil.rmtree(old, ignore_errors=True)


def restore(
    path: str | Path,
    functions: Mapping[str, tuple[Callable[..., Any], Type | str]] | None = None,
) -> Database:
    """The database of a snapshot, which goes on where it was.

    `functions` gives again what was registered with `register_function`: for each name the
    function and the type of its result.
    """
    path = folder_of(path)
    body = _read_manifest(path)
    given = {name.lower(): f for name, f in (functions or {}).items()}
    missing = sorted(set(body["functions"]) - given.keys())
    if missing:
        raise SnapshotProblem(
            f"{path} has views that call the Python function '{missing[0]}'",
            instead="give it again: restore(path, functions={name: (function, result)})",
        )
    told = {**body["settings"], "statistics": Statistics(**body["settings"]["statistics"])}
    db = Database(Settings(**told))
    for name, (function, result) in given.items():
        db.register_function(name, function, result)
    for declared in map(read_declaration, body["scripts"]):
        if isinstance(declared, Script):
            db.execute(declared.sql, declared.file)
        else:
            d = declared
            db.define(d.query, d.strategy, order=d.order)
    folder = path / body["folder"]
    for name, told in body["bases"].items():
        _restore_base(db, name, told, folder)
    for name, told in body["views"].items():
        _restore_view(db, name, told, folder)
    db._version, db._changed, db._fed = body["version"], body["changed"], set(body["fed"])
    db.rewire()
    return db


def _refuse_what_is_nowhere(db: Database) -> None:
    for view in db._views.values():
        if view.engine == "reference" and not db._settings.keep_rows:
            raise SnapshotProblem(
                f"'{view.query.name}' is kept by the reference engine, and its rows are not kept",
                instead="connect with keep_rows=True, or with engine='native'",
            )


def _python(db: Database) -> list[str]:
    """The names of the Python functions that views call."""
    views = db._views.values()
    return sorted({n for v in views for n in compiled_plan.python_functions(v.query, v.functions)})


def _save_view(db: Database, name: str, folder: Path) -> dict[str, Any]:
    view = db._views[name]
    if not isinstance(view.server, NativeServer):
        return {"engine": "reference"}
    file = _file_name("view", name)
    view.server.instance.save(folder / file)
    return {"engine": "native", "file": file, "wide": view.wide}


def _save_base(base: AnyBase, folder: Path) -> dict[str, Any]:
    name = base.relation.name
    if isinstance(base, StoredBase):
        file = _file_name("base", name)
        base.instance.save(folder / file)
        return {"kind": "kernel", "file": file, "wide": base.wide}
    if not isinstance(base, Base):
        return {"kind": "none"}
    file = _file_name("rows", name)
    table = table_of(base.relation.columns, list(base.rows), name)
    table = table.append_column(COUNT, pa.array(base.rows.values(), pa.int64()))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    data = sink.getvalue().to_pybytes()
    _write(folder / file, data)
    return {"kind": "rows", "file": file, "sha256": hashlib.sha256(data).hexdigest()}


def _file_name(what: str, name: str) -> str:
    """A file for a name, which may have any characters."""
    return f"{what}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def _restore_base(db: Database, name: str, told: Mapping[str, Any], folder: Path) -> None:
    relation = db._bases[name].relation
    if told["kind"] == "kernel":
        kept, wide = db._bases[name], told.get("wide", False)
        if not isinstance(kept, StoredBase) or kept.wide != wide:
            built = kernels.build(compiled_plan.base_recipe(relation, wide), db._settings.flags)
            kept = StoredBase(relation, built.kernel, wide=wide)
        kept.instance.restore(folder / told["file"])
        db._bases[name] = kept
    elif told["kind"] == "rows":
        base = Base(relation)  # the next change moves it into a kernel, if it shall be in one
        base.apply(dict(_rows(relation, folder / told["file"], told["sha256"])))
        db._bases[name] = base


def _rows(relation: Relation, path: Path, wanted: str) -> list[tuple[Any, int]]:
    try:
        data = path.read_bytes()
    except OSError as e:
        raise SnapshotProblem(f"{path} cannot be read: {e.strerror}") from e
    if hashlib.sha256(data).hexdigest() != wanted:
        raise SnapshotProblem(f"{path} is damaged", instead="restore an older snapshot")
    table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
    *_, counts = table.columns
    rows = rows_of(table.select(range(len(relation.columns))))
    return list(zip(rows, counts.to_pylist(), strict=True))


def _restore_view(db: Database, name: str, told: Mapping[str, Any], folder: Path) -> None:
    view = db._views[name]
    if told["engine"] == "reference":
        view.reset()
        return
    built, wide = view.built, told.get("wide", view.wide)
    if built is None or wide != view.wide:
        view.wide = wide
        made = compiled_plan.recipe(view.query, view.relations, view.settings, view.functions, wide)
        built = kernels.build(made, db._settings.flags)
    state = built.kernel.open()
    state.restore(folder / told["file"])
    view.adopt(built, state)


def _write_manifest(path: Path, body: Mapping[str, Any]) -> None:
    text = json.dumps(body)
    check = hashlib.sha256(text.encode()).hexdigest()
    whole = json.dumps({"freshview snapshot": FORMAT, "sha256": check, "body": text}).encode()
    new = path / f".{MANIFEST}-new"
    _write(new, whole)
    os.replace(new, path / MANIFEST)
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        data = (path / MANIFEST).read_bytes()
    except OSError as e:
        raise SnapshotProblem(f"there is no snapshot in {path}: {e.strerror}") from e
    damaged = SnapshotProblem(
        f"{path / MANIFEST} is no snapshot, or it is damaged", instead="restore an older snapshot"
    )
    try:
        told = json.loads(data)
        form, check, text = told["freshview snapshot"], told["sha256"], told["body"]
    except (ValueError, KeyError, TypeError) as e:
        raise damaged from e
    if not isinstance(text, str) or hashlib.sha256(text.encode()).hexdigest() != check:
        raise damaged
    if form != FORMAT:
        raise SnapshotProblem(
            f"{path} was written by another version of Freshview",
            instead="restore it with that one",
        )
    body: dict[str, Any] = json.loads(text)
    return body
