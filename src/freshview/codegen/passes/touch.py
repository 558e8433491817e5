"""Writes say which rows of a query they may change: so its changes are known without reading it.

A query is a term over maps. Where each of its maps has the key by which its rows are looked up, a
record is in rows of one key only, and a write to it touches these. Before the first write the rows
of the key are what they were; after the change they are looked up once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from freshview.calculus.schema import Query
from freshview.calculus.types import Type
from freshview.codegen.cpp.types import cpp_type
from freshview.codegen.layout.terms import Columns, Layout
from freshview.codegen.loops.effects import (
    Call,
    Clear,
    Stale,
    Touch,
)
from freshview.codegen.loops.facts import scans
from freshview.codegen.loops.terms import (
    At,
    Block,
    Function,
    Loops,
    Stmt,
)
from freshview.codegen.loops.walk import map_blocks, statements
from freshview.program.query_keys import NotCollected, key_positions
from freshview.program.terms import Program

MOST_QUERIES = 64
"""Queries of a kernel whose changes can be collected: each has a bit of a word."""

CHANGING = ("relation", "after", "refresh")
"""The kinds of functions that change maps once the static tables are there."""

KeyColumns = Mapping[str, frozenset[Columns]]
"""By the tables that a query reads: which columns of a record are the key of its rows there."""


@dataclass(frozen=True)
class Collection:
    """Whose changes are collected, by which columns of written records; whose are not, and why."""

    collected: Mapping[str, KeyColumns]
    compared: Mapping[str, str]


def collect(program: Program, loops: Loops, layout: Layout) -> Collection:
    """Which queries can have their changes collected while they are made."""
    static = {r.name for r in program.relations if r.static}
    changing = [f for f in loops.functions if f.kind in CHANGING and f.of not in static]
    collected: dict[str, KeyColumns] = {}
    compared: dict[str, str] = {}
    for number, q in enumerate(program.queries):
        try:
            if number >= MOST_QUERIES:
                raise NotCollected(f"the kernel has more than {MOST_QUERIES} views")
            collected[q.name] = _key_columns(q, _answering(q, loops), changing, layout)
        except NotCollected as why:
            compared[q.name] = str(why)
    return Collection(collected, compared)


def touch(loops: Loops, collected: Mapping[str, KeyColumns]) -> Loops:
    """Every write is preceded by what it touches."""

    def block(b: Block) -> Block:
        return tuple(x for s in b for x in (*_touches(s, collected), map_blocks(s, block)))

    return Loops(
        tuple(
            f if f.kind in ("read", "find", "listing") else replace(f, body=block(f.body))
            for f in loops.functions
        )
    )


def _touches(s: Stmt, collected: Mapping[str, KeyColumns]) -> Iterable[Touch]:
    if not isinstance(s, At):
        return
    for query, tables in collected.items():
        for columns in sorted(tables.get(s.table, ())):
            yield Touch(query, tuple(s.keys[i] for i in columns))


def _key_columns(q: Query, f: Function, changing: Iterable[Function], layout: Layout) -> KeyColumns:
    """The columns of records that are the key of a query's rows, or why there are none.

    What only static tables fill does not change any more when somebody reads it.
    """
    _refuse_costly(f, layout)
    if any(c.type.kind == "ring" for c in q.columns):
        raise NotCollected("it shows elements of a ring")
    effects = [s for g in changing for s in statements(g.body)]
    cleared = {s.table for s in effects if isinstance(s, Clear)}
    written = {s.table for s in effects if isinstance(s, At)} | cleared
    maps = {name for name, place in layout.places.items() if place.table in written}
    maps |= {name for name, x in layout.listings.items() if x.table in written}
    tables: dict[str, frozenset[Columns]] = {}
    for name, positions in key_positions(q, f.key, maps | layout.deferred).items():
        table, columns = _source(name, layout)
        if name in layout.deferred or table in cleared:
            raise NotCollected(f"'{name}' is recomputed as a whole")
        held = layout.tables[table].keys
        for key in positions:
            at: list[int] = []
            for i, j in zip(key, f.key, strict=True):
                column, shown = columns[i], q.columns[j]
                if column is None or _form(held[column]) != _form(shown.type):
                    raise NotCollected(f"'{name}' holds '{shown.name}' in another form")
                at.append(column)
            tables[table] = tables.get(table, frozenset()) | {tuple(at)}
    return tables


def _source(name: str, layout: Layout) -> tuple[str, Sequence[int | None]]:
    """The table whose writes change a map, and where that has its keys."""
    listing = layout.listings.get(name)
    if listing is not None:
        return listing.table, listing.columns
    return layout.places[name].table, layout.places[name].columns


def _answering(q: Query, loops: Loops) -> Function:
    """What looks the rows of a key up; of a query without a key, what reads it."""
    own = {f.kind: f for f in loops.functions if f.of == q.name and f.kind in ("read", "find")}
    return own.get("find") or own["read"]


def _refuse_costly(f: Function, layout: Layout) -> None:
    """What looks rows up must neither walk through a table nor change one."""
    if scans(f.body, layout):
        raise NotCollected(
            "rows of a key are found by a walk through a map only"
            if f.key
            else "it is read by a walk through a map, and no key of it is that of all its maps"
        )
    for s in statements(f.body):
        if isinstance(s, Clear | Stale) or (isinstance(s, Call) and s.function == "refresh"):
            raise NotCollected("it is recomputed when it is read")
        if isinstance(s, At) and s.table in layout.tables:
            if not layout.tables[s.table].transient:
                raise NotCollected("what was asked for is stored when it is read")


def _form(t: Type) -> tuple[str, int, str]:
    """How values of a type are held."""
    return t.kind, t.scale, cpp_type(t)
