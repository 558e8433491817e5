"""`freshview run`: the sources of a script through its views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from freshview.cli.output import follow, open_sends, write_parquet, write_view
from freshview.cli.script import read_script
from freshview.cli.tables import show
from freshview.errors import FreshviewError
from freshview.runtime.ingest.sources import feed
from freshview.runtime.settings import DatabaseSettings


@dataclass(frozen=True)
class Outputs:
    """Where the views and their changes go; the views are printed if there is no folder."""

    folder: Path | None = None
    as_parquet: bool = False
    changes: Path | None = None
    listen: str = ""


def outputs_of(out: str, changes: Path | None, listen: str) -> Outputs:
    """What `--out` names: a folder, or a folder for Parquet; other targets are Spark's."""
    kind, _, where = out.partition(":")
    if kind in ("delta", "kafka") and where:
        instead = "leave out --engine, or use a folder or parquet:FOLDER"
        raise FreshviewError(f"--out {kind}: is for Spark", instead=instead)
    if kind == "parquet" and where:
        return Outputs(Path(where), True, changes, listen)
    return Outputs(Path(out) if out else None, False, changes, listen)


def run_script(
    script: Path,
    settings: DatabaseSettings,
    batch: int,
    console: Console,
    outputs: Outputs,
    tell: Callable[[str], object],
) -> None:
    """Apply the sources of a script, then show every view; paths start at the script's folder."""
    db = read_script(script, settings)
    views = [view for view in db.views if view.name not in db.calls.inputs]
    if not views:
        instead = "add CREATE VIEW name AS SELECT ..."
        raise FreshviewError(f"'{script}' declares no view, so nothing is read", instead=instead)
    read: Counter[str] = Counter()
    with ExitStack() as ends:
        send = open_sends(outputs.changes, outputs.listen, ends, tell)
        if send is not None:
            follow(views, send)
        for relation, count in feed(db, script.parent, batch, tell):
            read[relation] += count
    counts = ", ".join(f"{count} of {name}" for name, count in read.items()) or "none"
    console.out(f"rows read: {counts}", highlight=False)
    timed = [r.name for r in db.catalog.relations.values() if r.time is not None]
    late = {name: db.event_time(name).late for name in timed}
    if any(late.values()):
        counted = ", ".join(f"{n} of {name}" for name, n in late.items() if n)
        console.out(f"rows that came too late: {counted}", highlight=False)
    for view in views:
        if outputs.folder is not None:
            write = write_parquet if outputs.as_parquet else write_view
            console.out(str(write(view, outputs.folder)), highlight=False)
        elif outputs.changes is None:
            console.out()
            show(console, view.name, view.schema, view.rows())
