"""Whose checkpoint a folder holds: one of this program, of another one, or nobody's yet."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from freshview.errors import FreshviewError
from freshview.program.terms import Program
from freshview.program.text import show_program
from freshview.sql import Catalog

FORMAT = 2
"""Counted up when an older checkpoint can no longer be read."""

NAME = "pipeline.json"


Identity = dict[str, str | int | list[str]]


def identity(program: Program, catalog: Catalog, checked: Iterable[str] = ()) -> Identity:
    """What tells one program from another: its maps and triggers, and where its rows come from.

    And which streams have their rows kept to be `checked`.
    """
    read = {r.name.lower() for r in program.relations}
    sources = sorted((n, repr(s)) for n, s in catalog.sources.items() if n in read)
    text = show_program(program) + repr(sources)
    program_id = hashlib.sha256(text.encode()).hexdigest()
    return {"format": FORMAT, "program": program_id, "checked": sorted(checked)}


def claim(folder: Path, mine: Identity) -> None:
    """Write who owns a checkpoint, or refuse one that another program or version owns."""
    path = folder / NAME
    again = "choose another --checkpoint, or remove the folder to start over"
    if not path.exists():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(".part")
            part.unlink(missing_ok=True)  # of a claim that was cut short
            if any(folder.iterdir()):
                raise FreshviewError(
                    f"'{folder}' holds other things than a checkpoint", instead=again
                )
            try:
                part.write_text(json.dumps(mine), encoding="utf-8")
                os.replace(part, path)
            finally:
                part.unlink(missing_ok=True)
        except OSError as e:
            raise FreshviewError(
                f"the checkpoint '{folder}' cannot be written: {e.strerror}",
                instead="choose another --checkpoint",
            ) from e
        return
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(stored, dict):
            raise ValueError(stored)
    except ValueError as e:
        raise FreshviewError(f"the checkpoint '{folder}' is damaged", instead=again) from e
    if stored.get("format") != mine["format"]:
        raise FreshviewError(
            f"the checkpoint '{folder}' was written by another version of Freshview", instead=again
        )
    if stored.get("program") == mine["program"] and stored != mine:
        before = ", ".join(stored.get("checked", ())) or "none"
        raise FreshviewError(
            f"the checkpoint '{folder}' keeps the rows of other streams to check them: {before}",
            instead="give `trusted` and `upserts` as before, or choose another checkpoint",
        )
    if stored != mine:
        raise FreshviewError(
            f"the checkpoint '{folder}' is of other views, streams or sources", instead=again
        )
