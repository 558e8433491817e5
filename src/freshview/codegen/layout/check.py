"""What must hold of a layout before loops are written over it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from freshview.codegen.layout.terms import Columns, Layout, Listing, MapPlace, Table
from freshview.errors import ProgramProblem


def check(layout: Layout) -> None:
    """Refuse a layout whose tables, indexes or places do not fit together; the first problem.

    >>> check(Layout({"m": Table("m", (), (), indexes=((0,),))}))
    Traceback (most recent call last):
      ...
    freshview.errors.ProgramProblem: table 'm': an index has the column k0, and the table has not
    """
    for problem in _problems(layout):
        raise ProgramProblem(problem)


def _problems(layout: Layout) -> Iterator[str]:
    for name, t in layout.tables.items():
        if name != t.name:
            yield f"table '{t.name}' is listed as '{name}'"
        for problem in (*_columns(t), *_orders(t), *_home(t, layout)):
            yield f"table '{name}': {problem}"
    yield from _shared_homes(layout)
    owners: dict[tuple[str, int], str] = {}
    for name, place in layout.places.items():
        for problem in _place(place, layout):
            yield f"map '{name}': {problem}"
        first = owners.setdefault((place.table, place.payload), name)
        if first != name:
            yield f"map '{name}': its payload column is that of '{first}'"
    for name in sorted(layout.deferred | layout.late):
        if name not in layout.places:
            yield f"map '{name}' is put off, and has no place"
        if name in layout.deferred & layout.late:
            yield f"map '{name}' is recomputed when it is read, and after every batch"
    for name, listing in layout.listings.items():
        yield from (f"map '{name}': {problem}" for problem in _listing(name, listing, layout))


def _listing(name: str, listing: Listing, layout: Layout) -> Iterator[str]:
    place, source = layout.places.get(name), layout.tables.get(listing.table)
    if place is None or source is None:
        yield f"it lists '{listing.table}', and one of them has no table"
        return
    if name in layout.deferred | layout.late:
        yield "it follows changed records, and is recomputed, too"
    sharing = [p for p in layout.places.values() if p.table == place.table]
    if place.table == listing.table or len(sharing) > 1:
        yield "it lists records, and shares its own with another map"
    known = [c for c in listing.columns if c is not None]
    yield from _within(known, source, "a listing")
    if len(listing.columns) != len(place.columns) or len(known) < len(source.keys):
        yield f"it does not tell the records of '{listing.table}' apart"


def _columns(t: Table) -> Iterator[str]:
    if t.determining is not None:
        yield from _within(t.determining, t, "the key")
        if len(t.determining) >= len(t.keys):
            yield "its key is all of its columns, which need not be said"
    for columns in t.indexes:
        yield from _within(columns, t, "an index")
        if not columns:
            yield "an index has no columns"
    if len(set(t.indexes)) < len(t.indexes):
        yield "it has an index twice"


def _orders(t: Table) -> Iterator[str]:
    for sorts in t.orders:
        yield from _within([s.column for s in sorts], t, "an order")
        if any(s.by_text and not _is_text(s.column, t) for s in sorts):
            yield "an order sorts by the text of a column that has none"
    if len(set(t.orders)) < len(t.orders):
        yield "it has an order twice"
    if t.orders and any(p.kind == "ring" for p in t.payloads):
        yield "it is ordered, and an ordered index adds up numbers only"
    if t.journal and (t.transient or t.determining is not None):
        yield "it has a journal, and its records do not last, or are found by some of their keys"
    if t.orders and t.transient:
        yield "it is ordered, and lives no longer than a batch"


def _is_text(column: int, t: Table) -> bool:
    return column < len(t.keys) and t.keys[column].kind == "string"


def _within(columns: Sequence[int], t: Table, what: str) -> Iterator[str]:
    for i in columns:
        if not 0 <= i < len(t.keys):
            yield f"{what} has the column k{i}, and the table has not"
    if len(set(columns)) < len(columns):
        yield f"{what} has a column twice"


def _home(t: Table, layout: Layout) -> Iterator[str]:
    if t.home is None:
        return
    host, columns = t.home
    if host not in layout.tables:
        yield f"it lies in '{host}', which is not a table"
        return
    if columns not in layout.tables[host].indexes:
        yield f"it lies in an index of '{host}' that is not there"
    elif len(t.keys) != len(columns):
        yield f"it lies in an index of '{host}' that has other columns"
    if layout.tables[host].home is not None:
        yield f"it lies in '{host}', which lies in another table itself"
    if t.indexes or t.orders or t.journal or t.transient or t.determining is not None:
        yield f"it lies in '{host}', and has more than one key"


def _shared_homes(layout: Layout) -> Iterator[str]:
    guests: dict[tuple[str, Columns], str] = {}
    for t in layout.tables.values():
        if t.home is not None and guests.setdefault(t.home, t.name) != t.name:
            yield f"table '{t.name}': it lies where '{guests[t.home]}' lies"


def _place(place: MapPlace, layout: Layout) -> Iterator[str]:
    if place.table not in layout.tables:
        yield f"it lies in '{place.table}', which is not a table"
        return
    table = layout.tables[place.table]
    if not 0 <= place.payload < len(table.payloads):
        yield f"'{table.name}' has no payload column p{place.payload}"
    if sorted(place.columns) != list(range(len(table.keys))):
        yield f"its keys are not those of '{table.name}'"
