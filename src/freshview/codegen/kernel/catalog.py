"""What a kernel says of itself: its relations, queries and maps as constant tables of C++."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from freshview.calculus.schema import Column, Relation
from freshview.codegen.cpp.code import identifier, join
from freshview.codegen.cpp.types import cpp_type, quote

KINDS = {
    "int": "Int",
    "double": "Double",
    "date": "Date",
    "timestamp": "Timestamp",
    "bool": "Bool",
    "null": "Bool",
    "string": "Text",
}


@dataclass(frozen=True, slots=True)
class QueryEntry:
    """A query as the kernel puts it out; whether rows are found by key, and changes collected."""

    name: str
    columns: Sequence[Column]
    has_key: bool
    collected: bool


@dataclass(frozen=True, slots=True)
class MapEntry:
    """A map as the kernel puts it out."""

    name: str
    columns: Sequence[Column]


def catalog(
    relations: Sequence[Relation],
    used: Mapping[str, Set[int]],
    queries: Sequence[QueryEntry],
    maps: Sequence[MapEntry],
) -> str:
    """The constant tables of a kernel; `used` are the columns of relations that triggers read."""
    tables = [
        *(_columns(f"in_{identifier(r.name)}", r.columns, used[r.name]) for r in relations),
        *(_columns(f"out_{identifier(q.name)}", q.columns) for q in queries),
        *(_columns(f"map_{identifier(m.name)}", m.columns) for m in maps),
        _array("Relation", "all_relations", map(_relation, relations)),
        _array("Query", "all_queries", map(_query, queries)),
        _array("Map", "all_maps", map(_map, maps), otherwise="  {}"),
    ]
    return "\n".join(tables)


def _relation(r: Relation) -> str:
    name, static = identifier(r.name), str(r.static).lower()
    return f"  {{{quote(r.name)}, {len(r.columns)}, in_{name}, {static}, on_{name}}},"


def _query(q: QueryEntry) -> str:
    name = identifier(q.name)
    find = f"key_{name}, find_{name}" if q.has_key else "nullptr, nullptr"
    collected = str(q.collected).lower()
    return f"  {{{quote(q.name)}, {len(q.columns)}, out_{name}, read_{name}, {find}, {collected}}},"


def _map(m: MapEntry) -> str:
    name = identifier(m.name)
    return f"  {{{quote(m.name)}, {len(m.columns)}, map_{name}, dump_{name}, size_{name}}},"


def _array(kind: str, name: str, entries: Iterable[str], otherwise: str = "") -> str:
    """A constant array; C++ has no empty ones, where `otherwise` stands for an entry."""
    lines = [*entries] or [otherwise] * bool(otherwise)
    return join([f"static const {kind} {name}[] = {{", *lines, "};"])


def _columns(name: str, columns: Sequence[Column], used: Set[int] | None = None) -> str:
    """The columns of a table; of a relation, whether any trigger reads them."""
    rows = []
    for j, c in enumerate(columns):
        t = c.type
        kind = KINDS.get(t.kind) or ("Decimal64" if cpp_type(t) == "i64" else "Decimal128")
        is_used = str(used is None or j in used).lower()
        nullable = str(t.nullable).lower()
        # Texts of a batch are read in the form in which they lie.
        form = ", true" if used is not None and kind == "Text" else ""
        rows.append(f"  {{{quote(c.name)}, {kind}, {t.scale}, {nullable}, {is_used}{form}}},")
    return _array("Column", name, rows, otherwise="  {}")
