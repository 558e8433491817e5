"""Prefetch: what a row's own columns look up is known some rows before its turn."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from freshview.codegen.cpp.code import Scope
from freshview.codegen.layout.storage import Storage

COLUMN = re.compile(r"c\d+")
FIELD = re.compile(r"(?P<row>\w+)\.(?P<field>k\d+)|c(?P<column>\d+)_(?P<line>j\w+)")
"""A field of a table's row, or a column of a batch's."""

PREFETCH_DISTANCE = 8
"""How many rows before its turn the memory of a row is fetched: what a core has under way."""


@dataclass
class Walk:
    """A loop over the rows that come with a change, and what it fetches for rows to come.

    They are those of a table, or if there is none those of the batch itself.
    """

    scope: Scope
    rows: Storage | None = None

    def later(self, text: str) -> str | None:
        """A value of this loop's row as that of a row to come; None if it is another value."""
        match = FIELD.fullmatch(text)
        if match is None or self.scope.name not in (match["row"], match["line"]):
            return None
        return f"soon.{match['field']}" if self.rows else f"col{match['column']}[later]"

    def fetch(self, line: str) -> None:
        """One more look-up that each row will make."""
        self.scope.prefetches[line] = None
        lines, i = " ".join(self.scope.prefetches), self.scope.name
        if self.rows is None:
            self.scope.later = f"if (const i64 later = {i} + {PREFETCH_DISTANCE}; later < b.size)"
            return
        where = "e.scratch" if self.rows.transient else "e.arena"
        self.scope.opener = (
            f"{self.rows.path}.each({where}, {PREFETCH_DISTANCE}, "
            f"[&](const {self.rows.record}& soon) {{ {lines} }}, "
            f"[&](const {self.rows.record}& {i}) {{"
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
    return f"{s.record}::{kind}{{{', '.join(keys[i] for i in s.lookup_columns)}}}"
