"""`freshview run`: the sources of a script through its views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from freshview.cli.output import follow, open_sends, write_view
from freshview.cli.script import read_script
from freshview.cli.tables import show
from freshview.runtime.ingest.sources import feed
from freshview.runtime.settings import DatabaseSettings


@dataclass(frozen=True)
class Outputs:
    """Where the views and their changes go; the views are printed if there is no folder."""

    folder: Path | None = None
    changes: Path | None = None
    listen: str = ""


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
            console.out(str(write_view(view, outputs.folder)), highlight=False)
        elif outputs.changes is None:
            console.out()
            show(console, view.name, view.schema, view.rows())
