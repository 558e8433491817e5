"""Recomputation where it is due: a map is stale once a row has changed what it is computed from.

A change of a relation may reach a map that is put off, and most rows of it may not: an order of a
customer who has others changes nothing for those who have none. So it is the writes to the tables
from which a map is recomputed that mark it, and no row before it has got so far.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from freshview.codegen.layout.terms import Layout
from freshview.codegen.loops.effects import (
    Call,
    Clear,
    Stale,
)
from freshview.codegen.loops.facts import tables_read
from freshview.codegen.loops.terms import (
    At,
    Block,
    Function,
    Loops,
    Stmt,
)
from freshview.codegen.loops.walk import map_blocks, statements


def mark_stale(loops: Loops, layout: Layout) -> Loops:
    """The loops whose writes mark the maps that are put off, instead of every row."""
    own = {p.table for name, p in layout.places.items() if name in layout.deferred | layout.late}
    own -= {
        p.table for name, p in layout.places.items() if name not in layout.deferred | layout.late
    }
    sources = {
        f.name: tables_read(f.body) - own for f in loops.functions if f.kind in ("refresh", "after")
    }
    return Loops(tuple(_marked(f, sources) for f in loops.functions))


def _marked(f: Function, sources: dict[str, frozenset[str]]) -> Function:
    """A function of a relation that marks its maps where it writes to their sources."""
    marks = dict.fromkeys(s for s in statements(f.body) if isinstance(s, Stale))
    if f.kind != "relation" or not marks:
        return f
    calls = {s.function for s in statements(f.body) if isinstance(s, Call)}
    late = frozenset[str]().union(*(sources[name] for name in calls))
    by_mark = {m: late if m.late else sources["refresh"] for m in marks}
    body = tuple(_moved(f.body, by_mark))
    if not any(isinstance(s, Stale) and s.late for s in statements(body)):
        body = tuple(s for s in body if not isinstance(s, Call))
    return replace(f, body=body)


def _moved(block: Block, sources: dict[Stale, frozenset[str]]) -> Iterator[Stmt]:
    for s in block:
        if isinstance(s, Stale):
            continue
        if isinstance(s, At | Clear):
            yield from (mark for mark, tables in sources.items() if s.table in tables)
        yield map_blocks(s, lambda b: tuple(_moved(b, sources)))
