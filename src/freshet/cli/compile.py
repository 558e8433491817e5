"""`freshet compile`: programs and diagrams as files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from freshet.cli.script import read_script
from freshet.errors import FreshetError
from freshet.plan.options import Options
from freshet.program.diagram import diagram
from freshet.program.text import show_program


def compile_script(script: Path, folder: Path, options: Options) -> Iterator[Path]:
    """Write NAME.m3 and NAME.mmd for every view; tells each path when it is written."""
    db = read_script(script, options)
    for view in db.views:
        program = db.program(view.name)
        for suffix, text in ((".m3", show_program(program)), (".mmd", diagram(program))):
            path = folder / f"{view.name}{suffix}"
            try:
                folder.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            except OSError as e:
                raise FreshetError(
                    f"cannot write '{path}': {e.strerror}", instead="choose another folder"
                ) from e
            yield path
