"""A database written to a folder: its declarations, its version, and the state of every kernel.

`manifest.json` names the folder with the states that belong to it. It is replaced in one step when
these are complete, so that a snapshot is the old one or the new one, never half of each.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from freshview.errors import SnapshotProblem
from freshview.files import write_out
from freshview.runtime.compile.compile_view import python_functions
from freshview.runtime.database.declarations import show_declaration
from freshview.runtime.database.state import State
from freshview.runtime.ingest.columns import COUNT, table_of
from freshview.runtime.persistence.event_times import show_times
from freshview.runtime.persistence.manifest import write_manifest
from freshview.runtime.relations.base import Base
from freshview.runtime.relations.stored_base import AnyBase, StoredBase
from freshview.runtime.views.engines import KernelGroupEngine
from freshview.runtime.views.group import ViewGroup

if TYPE_CHECKING:
    import pyarrow as pa
else:
    from freshview.runtime.ingest.lazy_imports import pa


def save(state: State, path: Path) -> None:
    """Write a snapshot of a database that nobody changes meanwhile."""
    _refuse_lost_rows(state)
    folder: Path | None = None
    try:
        path.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="state-", dir=path))
        groups = [_save_group(group, folder) for group in state.groups]
        bases = {name: _save_base(base, folder) for name, base in state.bases.items()}
        body = {
            "settings": asdict(state.settings),
            "scripts": [show_declaration(d) for d in state.declarations],
            "functions": _python_functions(state),
            "version": state.version,
            "changed": state.has_changes,
            "fed": sorted(state.fed),
            "times": show_times(state.times),
            "folder": folder.name,
            "groups": groups,
            "bases": bases,
        }
        write_manifest(path, body)
    except OSError as e:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise SnapshotProblem(
            f"the snapshot cannot be written to {path}: {e.strerror or e}",
            instead="what was there before is still there",
        ) from e
    except BaseException:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    for old in path.glob("state-*"):
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)


def _refuse_lost_rows(state: State) -> None:
    for view in state.views.values():
        if view.engine_name == "reference" and not state.settings.keep_rows:
            raise SnapshotProblem(
                f"'{view.query.name}' is kept by the reference engine, and its rows are not kept",
                instead="connect with keep_rows=True, or with engine='native'",
            )


def _python_functions(state: State) -> list[str]:
    """The names of the Python functions that views call."""
    views = state.views.values()
    return sorted({n for v in views for n in python_functions(v.query, v.functions)})


def _save_group(group: ViewGroup, folder: Path) -> dict[str, object]:
    names = [v.query.name.lower() for v in group.views]
    if not isinstance(group.engine, KernelGroupEngine):
        return {"views": names, "engine": "reference", "alone": group.alone}
    file = _file_name("view", names[0])
    group.engine.instance.save(folder / file)
    return {
        "views": names,
        "engine": "native",
        "file": file,
        "wide": group.wide,
        "alone": group.alone,
    }


def _save_base(base: AnyBase, folder: Path) -> dict[str, object]:
    name = base.relation.name
    if isinstance(base, StoredBase):
        file = _file_name("base", name)
        base.instance.save(folder / file)
        return {"kind": "kernel", "file": file}
    if not isinstance(base, Base):
        return {"kind": "none"}
    file = _file_name("rows", name)
    table = table_of(base.relation.columns, list(base.rows), name)
    table = table.append_column(COUNT, pa.array(base.rows.values(), pa.int64()))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    data = sink.getvalue().to_pybytes()
    write_out(folder / file, data, sync=True)
    return {"kind": "rows", "file": file, "sha256": hashlib.sha256(data).hexdigest()}


def _file_name(what: str, name: str) -> str:
    """A file for a name, which may have any characters."""
    return f"{what}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
