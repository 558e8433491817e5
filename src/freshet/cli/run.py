"""`freshet run`: the files of a script through its views."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rich.console import Console

from freshet.cli.script import read_script
from freshet.cli.tables import show
from freshet.plan.options import Options
from freshet.runtime.sources import feed


def run_script(script: Path, options: Options, batch: int, console: Console) -> None:
    """Apply the sources of a script, then print every view; paths start at the script's folder."""
    db = read_script(script, options)
    read: Counter[str] = Counter()
    for relation, count in feed(db, script.parent, batch):
        read[relation] += count
    told = ", ".join(f"{count} of {name}" for name, count in read.items()) or "none"
    console.out(f"rows read: {told}", highlight=False)
    for view in db.views:
        console.out()
        show(console, view.name, view.schema, view.rows())
