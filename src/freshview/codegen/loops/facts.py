"""Facts about loops: what they walk through, look up, read and need; found by walking the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from freshview.calculus.terms import Var
from freshview.calculus.types import Type
from freshview.codegen.cpp.types import batch_type, cpp_type
from freshview.codegen.layout.terms import Columns, Layout, Sort, Sorts
from freshview.codegen.loops.effects import (
    Output,
)
from freshview.codegen.loops.parts import Fetch, Missing, NoNegative, Search, Values
from freshview.codegen.loops.terms import (
    At,
    Batch,
    Block,
    Collect,
    EachGroup,
    FirstOfGroups,
    FirstRows,
    Function,
    Get,
    If,
    Loops,
    Probe,
    RangeSum,
    Scan,
    Slice,
    Stmt,
    Unless,
    Walk,
)
from freshview.codegen.loops.walk import all_names_read, blocks, is_part, statements


def usual(block: Block) -> Iterator[Stmt]:
    """The statements of a block that run unless an index cannot serve."""
    for s in block:
        if isinstance(s, Unless):
            continue
        yield s
        for inside in blocks(s):
            yield from usual(inside)


def scans(block: Block, layout: Layout, batch_tables: frozenset[str] = frozenset()) -> bool:
    """Whether a block walks through all the data of a table, whatever the size of the change.

    The rows of `batch_tables` came with the change: a walk through them is none.
    """
    for s in usual(block):
        match s:
            case Scan(_, name, changed="") if name in layout.tables and name not in batch_tables:
                table = layout.tables[name]
                if table.keys and not table.transient:
                    return True
            case Walk(grouped=True):
                return True
            case EachGroup(body=body) if any(isinstance(x, FirstRows) for x in body):
                return True
            case _:
                pass
    return False


def tables_read(block: Block) -> frozenset[str]:
    """The tables in which a block looks up, searches or walks through records."""
    out: set[str] = set()
    for s in statements(block):
        search = _search(s)
        if search is not None:
            out.add(search.table)
        elif isinstance(s, Get | Probe | Slice | Scan | FirstOfGroups):
            out.add(s.table)
        out |= {t.table for t in _parts(s) if isinstance(t, Missing | NoNegative)}
        out |= {s.others} if isinstance(s, FirstRows) else set()
    return frozenset(out)


def columns_read(block: Block, row: str) -> set[int]:
    """The columns of a row of a batch that a block reads."""
    return {
        int(column[1:])
        for name in all_names_read(block)
        for head, _, column in [name.partition(".")]
        if head == row and column.startswith("c") and column != "count"
    }


def relation_columns(f: Function) -> set[int]:
    """The columns of a relation that the function of its batches reads."""
    out: set[int] = set()
    for s in statements(f.body):
        if isinstance(s, Batch):
            out |= columns_read((s,), s.row)
    return out


def preaggregates(loops: Loops) -> bool:
    """Whether blocks of rows are added up before they go to their table."""
    return any(isinstance(s, Batch) and s.preaggregated for s in _all(loops))


def indexes(loops: Loops) -> dict[str, list[Columns]]:
    """The hash indexes that slices ask for, by table."""
    out: dict[str, list[Columns]] = {}
    for s in _all(loops):
        if isinstance(s, Slice) and s.columns not in out.setdefault(s.table, []):
            out[s.table].append(s.columns)
    return out


def orders(loops: Loops, keys: Mapping[str, int]) -> dict[str, list[Sorts]]:
    """The ordered indexes that searches ask for, by table; `keys` is how many columns each has.

    Where only negative numbers are asked about, any order will do.
    """
    out: dict[str, list[Sorts]] = {}
    for s in _all(loops):
        for part in _parts(s):
            if isinstance(part, NoNegative):
                first = tuple(Sort(i) for i in range(keys[part.table]))
                if not out.setdefault(part.table, []):
                    out[part.table].append(first)
        search = _search(s)
        if search is not None and search.sorts not in out.setdefault(search.table, []):
            out[search.table].append(search.sorts)
    return out


def journals(loops: Loops) -> frozenset[str]:
    """The tables whose changed records are asked for."""
    return frozenset(s.table for s in _all(loops) if isinstance(s, Scan) and s.changed)


def _search(s: Stmt) -> Search | None:
    if isinstance(s, RangeSum | Walk):
        return s.range.search
    return s.search if isinstance(s, EachGroup | FirstRows) else None


def _parts(s: object) -> Iterator[object]:
    for test in getattr(s, "tests", ()):
        if is_part(test):
            yield test


def transients(loops: Loops) -> list[Collect]:
    """The transient tables of all functions, in the order of the text."""
    return [s for s in _all(loops) if isinstance(s, Collect)]


def _all(loops: Loops) -> Iterator[Stmt]:
    for f in loops.functions:
        yield from statements(f.body)


def lookups(
    block: Block, row: str, types: Mapping[str, Type], layout: Layout, *, seldom: bool = True
) -> Iterator[Fetch]:
    """The records and slices that are looked up by columns of a row, as they are.

    `types` are those of the columns; what seldom happens counts if `seldom`.
    """

    def plain(name: str, at: Columns, keys: Values) -> bool:
        table = layout.tables[name]
        if table.transient or not keys:
            return False
        return all(_as_it_is(k, row, types, table.keys[i]) for i, k in zip(at, keys, strict=True))

    for s in block:
        match s:
            case If(seldom=True) if not seldom:
                continue
            case Unless():
                continue
            case Get(_, name, keys) | Probe(_, name, keys):
                at = layout.tables[name].lookup_columns
                if plain(name, at, keys):
                    yield Fetch(name, at, keys)
            case Slice(_, name, at, keys):
                if plain(name, at, keys):
                    yield Fetch(name, at, keys, index=True)
            case At(_, name, keys):
                at = layout.tables[name].lookup_columns
                wanted = tuple(keys[i] for i in at)
                if plain(name, at, wanted):
                    yield Fetch(name, at, wanted, write=len(at) == len(keys))
            case _:
                pass
        for inside in blocks(s):
            yield from lookups(inside, row, types, layout, seldom=seldom)


def _as_it_is(key: object, row: str, types: Mapping[str, Type], wanted: Type) -> bool:
    """Whether a key is a column of a row, held there as in the table."""
    if not isinstance(key, Var):
        return False
    head, _, column = key.name.partition(".")
    if head != row or column not in types:
        return False
    t = types[column]
    held = batch_type(t) if column.startswith("c") else cpp_type(t)
    same = (t.kind, t.scale, held) == (wanted.kind, wanted.scale, cpp_type(wanted))
    return same and held != "f64"


def ring_columns(loops: Loops) -> dict[tuple[str, int], Type]:
    """By query and number of the column: the types of those that are elements of a ring."""
    return {
        (s.query, j): t
        for s in _all(loops)
        if isinstance(s, Output)
        for j, t in enumerate(s.types)
        if t.kind == "ring"
    }
