"""The text of layouts: `show` prints, `read` reads back, and read(show(x)) == x.

    table m_q [int, date] : [decimal(4), int]     key columns k0, k1 and payload columns p0, p1
      key k0                                      the key columns that determine the others
      index k1                                    a hash index
      order k0, k1 falling, k2 text               an ordered index
      journal                                     it knows which records have changed
      home m_lines by k0                          it lies in the heads of that index
    transient tmp0 [string?] : [int]              a table that lives no longer than a batch
    map q_count in m_q p1 [k0, k1]                where a map or a static relation lies
    deferred q_top                                maps recomputed when they are read
    late q_max                                    maps recomputed once a batch
    listing q_best of m_q [k0, none]              maps that follow changed records when read

Columns go by their numbers, as in loops.
"""

from __future__ import annotations

from collections.abc import Iterable

from freshview.calculus.text import show_name, show_names
from freshview.calculus.tokens import Tokens
from freshview.codegen.layout.terms import Columns, Layout, Listing, MapPlace, Sort, Sorts, Table
from freshview.codegen.layout.type_text import read_types, show_types
from freshview.lexer import unexpected

# -- what loops print, too -------------------------------------------------------------------------


def show_columns(columns: Iterable[int], kind: str = "k") -> str:
    """Columns by their numbers: of keys (`k`), payloads (`p`), or of a batch (`c`)."""
    return ", ".join(f"{kind}{i}" for i in columns)


def show_sorts(sorts: Sorts) -> str:
    """How an ordered index sorts.

    >>> show_sorts((Sort(0), Sort(2, falling=True, by_text=True)))
    'k0, k2 falling text'
    """
    return ", ".join(f"k{s.column}" + " falling" * s.falling + " text" * s.by_text for s in sorts)


def read_column(tokens: Tokens, kind: str = "k") -> int:
    """Take the number of a column."""
    if not _is_column(tokens, kind):
        raise unexpected(tokens.peek(), f"a column {kind}0, {kind}1, ...")
    return int(tokens.next().text[1:])


def read_columns(tokens: Tokens, kind: str = "k") -> Columns:
    """Take columns separated by commas; there may be none."""
    if not _is_column(tokens, kind):
        return ()
    columns = [read_column(tokens, kind)]
    while tokens.accept(","):
        columns.append(read_column(tokens, kind))
    return tuple(columns)


def read_sorts(tokens: Tokens) -> Sorts:
    """Take the columns of an ordered index."""
    if not _is_column(tokens):
        return ()
    sorts = [_read_sort(tokens)]
    while tokens.accept(","):
        sorts.append(_read_sort(tokens))
    return tuple(sorts)


def _is_column(tokens: Tokens, kind: str = "k") -> bool:
    token = tokens.peek()
    return token.kind == "name" and token.text[:1] == kind and token.text[1:].isdecimal()


def _read_sort(tokens: Tokens) -> Sort:
    return Sort(read_column(tokens), tokens.accept("falling"), tokens.accept("text"))


# -- layouts ---------------------------------------------------------------------------------------


def show(layout: Layout) -> str:
    """A layout as text: tables, places of maps, and what is put off.

    >>> from freshview.calculus.types import INT
    >>> table = Table("m", (INT, INT), (INT,), indexes=((1,),))
    >>> layout = Layout({"m": table}, {"M": MapPlace("m", 0, (1, 0))}, frozenset(["M"]))
    >>> print(show(layout), end="")
    table m [int, int] : [int]
      index k1
    map M in m p0 [k1, k0]
    deferred M
    >>> read(show(layout)) == layout
    True
    """
    lines = [line for t in layout.tables.values() for line in _show_table(t)]
    for name, p in layout.places.items():
        place = f"{show_name(p.table)} p{p.payload} [{show_columns(p.columns)}]"
        lines.append(f"map {show_name(name)} in {place}")
    for word, maps in (("deferred", layout.deferred), ("late", layout.late)):
        lines += [f"{word} {show_names([name])}" for name in sorted(maps)]
    for name, listing in layout.listings.items():
        columns = ", ".join("none" if c is None else f"k{c}" for c in listing.columns)
        lines.append(f"listing {show_name(name)} of {show_name(listing.table)} [{columns}]")
    return "".join(f"{line}\n" for line in lines)


def _show_table(t: Table) -> list[str]:
    kind = "transient" if t.transient else "table"
    lines = [f"{kind} {show_name(t.name)} {show_types(t.keys)} : {show_types(t.payloads)}"]
    if t.names:
        named = [f"k{i} {show_name(name)}" for i, name in enumerate(t.names)]
        lines.append(f"  names {', '.join(named)}")
    if t.determining is not None:
        lines.append(f"  key {show_columns(t.determining)}".rstrip())
    lines += [f"  index {show_columns(columns)}" for columns in t.indexes]
    lines += [f"  order {show_sorts(sorts)}".rstrip() for sorts in t.orders]
    lines += ["  journal"] * t.journal
    if t.home is not None:
        lines.append(f"  home {show_name(t.home[0])} by {show_columns(t.home[1])}")
    return lines


def read(text: str, file: str = "<text>") -> Layout:
    """A layout from its text."""
    tokens = Tokens(text, file)
    tables: dict[str, Table] = {}
    places: dict[str, MapPlace] = {}
    maps: dict[str, set[str]] = {"deferred": set(), "late": set()}
    listings: dict[str, Listing] = {}
    while tokens.peek().kind != "end":
        token = tokens.next()
        match token.text:
            case "table" | "transient":
                table = _read_table(tokens, token.text == "transient")
                tables[table.name] = table
            case "map":
                name = tokens.name()
                places[name] = _read_place(tokens)
            case "deferred" | "late":
                maps[token.text].add(tokens.name())
            case "listing":
                name = tokens.name()
                listings[name] = _read_listing(tokens)
            case _:
                raise unexpected(token, "table, transient, map, deferred, late or listing")
    deferred, late = frozenset(maps["deferred"]), frozenset(maps["late"])
    return Layout(tables, places, deferred, late, listings)


def _read_listing(tokens: Tokens) -> Listing:
    tokens.expect("of")
    table = tokens.name()
    tokens.expect("[")
    columns: list[int | None] = []
    while not columns or tokens.accept(","):
        columns.append(None if tokens.accept("none") else read_column(tokens))
    tokens.expect("]")
    return Listing(table, tuple(columns))


def _read_table(tokens: Tokens, transient: bool) -> Table:
    name, keys = tokens.name(), read_types(tokens)
    tokens.expect(":")
    payloads = read_types(tokens)
    names: tuple[str, ...] = ()
    determining: Columns | None = None
    indexes: list[Columns] = []
    orders: list[Sorts] = []
    home: tuple[str, Columns] | None = None
    journal = False
    while True:
        if tokens.accept("names"):
            names = _read_names(tokens)
        elif tokens.accept("key"):
            determining = read_columns(tokens)
        elif tokens.accept("index"):
            indexes.append(read_columns(tokens))
        elif tokens.accept("order"):
            orders.append(read_sorts(tokens))
        elif tokens.accept("journal"):
            journal = True
        elif tokens.accept("home"):
            host = tokens.name()
            tokens.expect("by")
            home = host, read_columns(tokens)
        else:
            break
    access = (tuple(indexes), tuple(orders), names, home, journal)
    return Table(name, keys, payloads, determining, transient, *access)


def _read_names(tokens: Tokens) -> tuple[str, ...]:
    names: dict[int, str] = {}
    while not names or tokens.accept(","):
        column = read_column(tokens)
        names[column] = tokens.name()
    return tuple(names[i] for i in range(len(names)))


def _read_place(tokens: Tokens) -> MapPlace:
    tokens.expect("in")
    table, payload = tokens.name(), read_column(tokens, "p")
    tokens.expect("[")
    columns = read_columns(tokens)
    tokens.expect("]")
    return MapPlace(table, payload, columns)
