"""Memory that rows to come will need, as C++ statements."""

from __future__ import annotations

from collections.abc import Iterable

from freshview.codegen.kernel.tables import CppTable
from freshview.codegen.kernel.values import CppScope
from freshview.codegen.loops.parts import Fetch

PREFETCH_DISTANCE = 8
"""How many rows before its turn the memory of a row is fetched: what a core has under way."""


def fetching(fetches: Iterable[Fetch], later: CppScope) -> list[str]:
    """The statements that fetch what a row to come looks up; `later` knows that row.

    A table in the list heads of an index is fetched with them: each statement is there once.
    """
    return list(dict.fromkeys(_fetching(f, later) for f in fetches))


def _fetching(f: Fetch, later: CppScope) -> str:
    t = later.tables[f.table]
    keys = [later.value(e).text for e in f.keys]
    if t.host is not None and t.home is not None:
        return _slice(t.host, t.host.index(t.home[1]), keys)
    if f.write:
        return f"{t.path}.prefetch_write(e.arena, {{{', '.join(keys)}}});"
    if f.index:
        return _slice(t, t.index(f.columns), keys)
    return f"{t.path}.prefetch(e.arena, {t.record}::hash({later.lookup(t, f.keys)}));"


def _slice(t: CppTable, index: int, keys: list[str]) -> str:
    """The statement that fetches the head of a slice."""
    head = f"Head{index}_{t.name}"
    key = f"{head}::Key{{{', '.join(keys)}}}"
    return f"s.{t.name}.template prefetch_slice<{index}>(e.arena, {head}::hash({key}));"
