"""Indexes that follow later: an order that only reads search, brought up to date when they do.

The first of many groups by an aggregate stand at an end of an ordered index over a map of the
groups with their aggregates. A row that changes a group takes its old entry out of that index and
puts a new one in, and most of them are gone again before anybody reads. Where such a map has a row
for a record of another table, which holds the aggregates anyway, its triggers are dropped. The
table keeps a journal of the records that have changed, as they were before, and a read follows it
first: one entry out and one in for each group that changed, however often it did.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from freshview.calculus.build import neg
from freshview.calculus.scope import has_data, stored
from freshview.calculus.terms import Add, Apply, Cmp, Expr, Lift, Mul, Rel, View
from freshview.calculus.walk import map_children, subterms
from freshview.codegen.layout.derive import kept_view
from freshview.codegen.layout.terms import Listing
from freshview.codegen.loops.facts import tables_read
from freshview.codegen.loops.terms import (
    At,
    Block,
    EachGroup,
    FirstRows,
    Function,
    Get,
    Group,
    Probe,
    Scan,
    Slice,
    Stmt,
)
from freshview.codegen.loops.walk import renamed, statements
from freshview.codegen.lower.context import ONE, Names
from freshview.codegen.lower.queries import listing_name, lower_query
from freshview.codegen.lower.statements import Statements, lower_statement
from freshview.codegen.lower.term import Terms
from freshview.program.terms import Map, Program, Statement
from freshview.program.text import show_statement

TOTAL = frozenset(["when", "div"])
"""Functions that have an answer for all numbers: a quotient is a double."""


def listings(program: Program, terms: Terms) -> Mapping[str, tuple[Listing, Expr]]:
    """The maps that can follow a table when they are read, and what they are over its maps."""
    out: dict[str, tuple[Listing, Expr]] = {}
    searched = _searched(program, terms)
    for m in program.maps:
        if m.name not in searched or not _is_followed_by_reads_alone(m, program):
            continue
        others = [o for o in program.maps if o is not m and not o.inputs and o.name not in searched]
        term = over_maps(m, others)
        listing = None if term is None else _listing(m, term, terms)
        if term is not None and listing is not None and _follow(m, term, listing, terms):
            out[m.name] = listing, term
    return out


def without_triggers(program: Program, names: Iterable[str]) -> Program:
    """The program whose triggers leave some maps to reads."""
    left = frozenset(names)
    triggers = tuple(
        replace(t, statements=tuple(s for s in t.statements if s.target.name not in left))
        for t in program.triggers
    )
    return replace(program, triggers=triggers)


def follow_listings(terms: Terms, followed: Mapping[str, tuple[Listing, Expr]]) -> list[Function]:
    """One function a table: of every record that changed, the old entry goes, the new one comes."""
    by_table: dict[str, dict[str, Expr]] = {}
    for name, (listing, term) in followed.items():
        by_table.setdefault(listing.table, {})[name] = term
    out = []
    for table, maps in by_table.items():
        own = replace(terms, names=Names())
        body: list[Stmt] = []
        for changed, sign in (("was", -1), ("is", 1)):
            row, parts, texts = own.names.fresh("group"), list[Stmt](), list[str]()
            for name, term in maps.items():
                s = _statement(name, term, sign, terms)
                texts.append(show_statement(s))
                for scan in _scans(own, s) or ():
                    parts += renamed(scan.body, {scan.row: row})
            scan = Scan(row, table, tuple(parts), changed="was" if changed == "was" else "is")
            body.append(Group(tuple(texts), (scan,)))
        out.append(Function(listing_name(table), "listing", table, tuple(body)))
    return out


def over_maps(m: Map, others: Sequence[Map]) -> Expr | None:
    """A map by what others hold of it; None if they do not hold all its data.

    What may have no answer, as a number out of its range, refuses a change: it is not put off.
    """

    def go(part: Expr) -> Expr:
        view = kept_view(part, others) if has_data(part) else None
        return map_children(part, go) if view is None else view

    out = go(m.definition)
    whole = all(map(_is_safe, subterms(out)))
    return out if whole and stored(out) else None


def _is_safe(e: Expr) -> bool:
    """Whether a part of a term reads maps alone, and has an answer whatever they hold."""
    match e:
        case Rel():
            return False
        case Lift() | Cmp():
            return not any(isinstance(x, Add | Mul) for x in subterms(e))
        case Apply(fn):
            return fn in TOTAL
        case _:
            return True


def _searched(program: Program, terms: Terms) -> frozenset[str]:
    """Maps with a table of their own that queries only search in an order of all their keys."""
    layout = terms.layout
    owners = [p.table for p in layout.places.values()]
    candidates = {
        p.table: name
        for name, p in layout.places.items()
        if owners.count(p.table) == 1 and not layout.tables[p.table].transient
    }
    searched: set[str] = set()
    for q in program.queries:
        for f in lower_query(terms, q):
            for s in statements(f.body):
                if isinstance(s, FirstRows | EachGroup):
                    table = layout.tables[s.search.table]
                    if len(s.search.sorts) == len(table.keys):
                        searched.add(table.name)
                    else:
                        candidates.pop(table.name, None)
                else:
                    for table_read in tables_read((s,)) & candidates.keys():
                        candidates.pop(table_read, None)
    return frozenset(candidates[t] for t in searched if t in candidates)


def _is_followed_by_reads_alone(m: Map, program: Program) -> bool:
    """Whether only deltas write a map of counts, and nothing but queries reads it."""
    written = [s for t in program.triggers for s in t.statements if s.target.name == m.name]
    read = {n for t in program.triggers for s in t.statements for n in stored(s.term)}
    filled = {n for o in program.maps if o.fill is not None for n in stored(o.fill)}
    counts = m.payload.kind == "int" and not m.inputs and bool(written)
    return counts and m.name not in read | filled and all(s.op == "+=" for s in written)


def _listing(m: Map, term: Expr, terms: Terms) -> Listing | None:
    """The one table that a term over maps reads, if a row of it has all the keys there are."""
    layout = terms.layout
    views = [e for e in subterms(term) if isinstance(e, View)]
    tables = {layout.places[v.name].table for v in views}
    put_off = {v.name for v in views} & (layout.deferred | layout.late)
    if len(tables) != 1 or put_off:
        return None
    table = layout.tables[tables.pop()]
    if table.transient or table.determining is not None or not table.keys:
        return None
    if any(t.kind == "ring" for t in table.payloads):
        return None
    at: dict[str, int] = {}
    for v in views:
        for name, column in zip(v.vars, layout.places[v.name].columns, strict=True):
            if at.setdefault(name, column) != column:
                return None
    columns = tuple(at.get(c.name) for c in m.keys)
    known = {c for c in columns if c is not None}
    return Listing(table.name, columns) if len(known) == len(table.keys) else None


def _follow(m: Map, term: Expr, listing: Listing, terms: Terms) -> bool:
    """Whether the rows that a record stands for follow from that record alone."""
    scans = _scans(replace(terms, names=Names()), _statement(m.name, term, 1, terms))
    own = terms.layout.places[m.name].table
    if scans is None or any(s.table != listing.table for s in scans):
        return False
    inside = [s for scan in scans for s in statements(scan.body)]
    return all(
        not isinstance(s, Get | Probe | Slice | Scan) and not (isinstance(s, At) and s.table != own)
        for s in inside
    ) and not any(tables_read((s,)) for s in inside)


def _statement(name: str, term: Expr, sign: int, terms: Terms) -> Statement:
    keys = tuple(c.name for c in terms.maps[name].keys)
    return Statement(View(name, keys), "+=", term if sign > 0 else neg(term))


def _scans(terms: Terms, s: Statement) -> list[Scan] | None:
    """The loops of a statement, if they are walks through tables and nothing else."""
    lowered = lower_statement(terms, s, {}, ONE)
    block: Block = tuple(Statements(terms, terms.layout).carry_out([lowered], {}, ()))
    opened = list(_opened(block))
    scans = [s for s in opened if isinstance(s, Scan)]
    return scans if len(scans) == len(opened) else None


def _opened(block: Block) -> Iterator[Stmt]:
    for s in block:
        if isinstance(s, Group):
            yield from _opened(s.body)
        else:
            yield s
