"""Memory fetched some rows ahead: what a row's own columns look up is known before its turn."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from freshet.codegen.code import Scope
from freshet.codegen.storage import Storage

COLUMN = re.compile(r"c\d+")
FIELD = re.compile(r"\w+\.k\d+")

AHEAD = 8
"""How many rows ahead memory is fetched: about what a core has under way at once."""


@dataclass
class Walk:
    """A loop over the rows of a batch's table, and what it fetches for rows to come."""

    scope: Scope
    rows: Storage

    def fetch(self, line: str) -> None:
        """One more look-up that each row will make."""
        self.scope.ahead[line] = None
        soon = f"[&](const {self.rows.record}& soon) {{ {' '.join(self.scope.ahead)} }}"
        self.scope.opener = (
            f"{self.rows.path}.each(e.scratch, {AHEAD}, {soon}, "
            f"[&](const {self.rows.record}& {self.scope.name}) {{"
        )


def fetching(
    s: Storage, columns: tuple[int, ...], later: list[str], index: int | None, write: bool
) -> str:
    """The statement that fetches what is looked up by these values later."""
    if s.home is not None:
        host, positions = s.home
        return fetch_slice(host, host.index(positions), later)
    if write and len(columns) == len(s.keys):
        return f"{s.path}.prefetch_write(e.arena, {{{', '.join(later)}}});"
    if index is None:
        key = wanted(s, dict(zip(columns, later, strict=True)))
        return f"{s.path}.prefetch(e.arena, {s.record}::hash({key}));"
    return fetch_slice(s, index, later)


def fetch_slice(s: Storage, index: int, later: list[str]) -> str:
    """The statement that fetches the head of a slice."""
    head = f"Head{index}_{s.name}"
    key = f"{head}::Key{{{', '.join(later)}}}"
    return f"s.{s.name}.template prefetch_slice<{index}>(e.arena, {head}::hash({key}));"


def wanted(s: Storage, keys: Mapping[int, str]) -> str:
    """What a record is looked up by."""
    kind = "Key" if s.determining is None else "Part"
    return f"{s.record}::{kind}{{{', '.join(keys[i] for i in s.found_by)}}}"
