"""The owner of a checkpoint folder: this program, another one, or none yet."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from freshview.errors import FreshviewError
from freshview.files import make_folder, part_of, write_whole
from freshview.program.terms import Program
from freshview.program.text import show_program
from freshview.sql import Catalog

FORMAT = 4
"""Incremented when older checkpoints can no longer be read."""

NAME = "pipeline.json"


Identity = dict[str, str | int | list[str]]


def identity(
    program: Program, catalog: Catalog, checked: Iterable[str] = (), by_key: Iterable[str] = ()
) -> Identity:
    """What tells one program from another: its maps and triggers, and where its rows come from.

    And which streams have their rows kept: to be `checked`, or `by_key`.
    """
    read = {r.name.lower() for r in program.relations}
    sources = sorted((n, repr(s)) for n, s in catalog.sources.items() if n in read)
    plain = replace(program, notes=(), view_notes={})  # estimates in words are not part of it
    text = show_program(plain) + repr(sources)
    program_id = hashlib.sha256(text.encode()).hexdigest()
    kept = {"checked": sorted(checked), "by key": sorted(by_key)}
    return {"format": FORMAT, "program": program_id, **kept}


def claim(folder: Path, mine: Identity, *, sync: bool = False) -> None:
    """Write the identity into a new checkpoint, or refuse one of another program or version."""
    path = folder / NAME
    again = "choose another --checkpoint, or remove the folder to start over"
    if not path.exists():
        try:
            make_folder(folder, sync=sync)
            part_of(path).unlink(missing_ok=True)  # of a claim that was cut short
            if any(folder.iterdir()):
                raise FreshviewError(
                    f"'{folder}' is not empty, and has no checkpoint", instead=again
                )
            write_whole(path, json.dumps(mine).encode(), one_writer=True, sync=sync)
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
    except (OSError, ValueError) as e:
        raise FreshviewError(f"the checkpoint '{folder}' is damaged", instead=again) from e
    if stored.get("format") != mine["format"]:
        raise FreshviewError(
            f"the checkpoint '{folder}' was written by another version of Freshview", instead=again
        )
    if stored.get("program") == mine["program"] and stored != mine:
        what = "checked" if stored.get("checked") != mine.get("checked") else "by key"
        why = "to check them" if what == "checked" else "by key"
        before = ", ".join(stored.get(what, ())) or "none"
        raise FreshviewError(
            f"the checkpoint '{folder}' keeps the rows of other streams {why}: {before}",
            instead="use the same `trusted` and `upserts` as before, or choose another checkpoint",
        )
    if stored != mine:
        raise FreshviewError(
            f"the checkpoint '{folder}' belongs to other views, streams or sources", instead=again
        )
