"""First rows read off an ordered index: MIN, MAX and LIMIT without a look at the other rows.

`Top[g; x; 1](A[g, x])` is the first entry of g in an index of A by (g, x). Where the term is more
than a map, as in `Top[g; x; 1](A[g, x] + D)`, only the rows of D are looked at besides.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass

from freshview.calculus.build import add, addends, const, factors, is_zero
from freshview.calculus.scope import ins, outs
from freshview.calculus.terms import Cmp, Exists, Expr, Order, Top, Var, View
from freshview.calculus.trend import side
from freshview.calculus.types import INT
from freshview.codegen.layout.terms import Sort, Table
from freshview.codegen.loops.parts import Holds, Missing, Test
from freshview.codegen.loops.terms import (
    Collect,
    FirstRows,
    If,
    Scan,
    Stmt,
)
from freshview.codegen.lower.context import Bound, Count, Next
from freshview.codegen.lower.index_search import IndexSearch, Known
from freshview.codegen.lower.nested import (
    columns_of,
    first_of_groups,
    materialize,
    total_order,
    transient,
)
from freshview.codegen.lower.writer import TermLowering
from freshview.codegen.lower.writes import write


@dataclass(frozen=True)
class Choice:
    """What a choice of first rows consists of."""

    atom: View
    once: bool
    """Whether a row of the atom counts once, however often it is there."""
    tests: tuple[Cmp, ...]
    """Without which the atom has no rows."""
    rest: Expr
    """What else the rows are chosen from."""
    groups: tuple[str, ...]
    order: tuple[Order, ...]
    """Of all the variables of the atom that are neither bound nor groups."""
    ends: tuple[Cmp, ...] = ()
    """Tests of the first variable of the order: where they hold, the walk begins."""


def first_rows_of(e: Top, bound: Set[str]) -> Choice | None:
    """A choice of first rows as one among the entries of a map, given the variables bound inside.

    >>> from freshview.calculus.text import read
    >>> f = first_rows_of(read("Top[g; x; 1](M[g, x] + (x := y))"), {"g", "y"})
    >>> f.atom.name, f.rest == read("(x := y)"), [o.var for o in f.order]
    ('M', True, ['x'])
    """
    wanted = outs(e.body) - bound
    groups = tuple(v for v in e.keys if v in wanted)
    order = total_order(e.order, wanted - set(groups))
    parts = addends(e.body)
    for i, part in enumerate(parts):
        tests = tuple(f for f in factors(part) if isinstance(f, Cmp) and ins(f) <= bound)
        ends = tuple(
            f for f in factors(part) if isinstance(f, Cmp) and order and _begins(f, order[0], bound)
        )
        others = [f for f in factors(part) if f not in tests and f not in ends]
        head = others[0] if len(others) == 1 else None
        atom = head.body if isinstance(head, Exists) else head
        rest = add(*parts[:i], *parts[i + 1 :])
        if not isinstance(atom, View) or atom.inputs or len(set(atom.vars)) < len(atom.vars):
            continue
        if set(atom.vars) - bound == wanted and order and (is_zero(rest) or not groups):
            return Choice(atom, atom is not head, tests, rest, groups, order, ends)
    return None


def _begins(f: Cmp, first: Order, bound: Set[str]) -> bool:
    """Whether a test of the first variable holds, in the order, from some value on."""
    if ins(f) <= bound or not ins(f) <= {first.var, *bound}:
        return False
    return side(f, {first.var: 1}) == (-1 if first.descending else 1)


def lower_first_rows(
    terms: TermLowering, e: Top, env: Bound, m: Count, k: Next
) -> list[Stmt] | None:
    """The first rows by an ordered index; None if there is none."""
    inner = terms.inside(e.keys, e.body, env)
    c = first_rows_of(e, inner.keys())
    if c is None or terms.payload(e.body, inner).kind != "int":
        return None
    place = terms.layout.places[c.atom.name]
    table = terms.layout.tables[place.table]
    sorts = _sorts(c, terms)
    if sorts is None or table.transient:
        return None
    first = terms.layout.key_type(c.atom.name, c.atom.vars.index(c.order[0].var))
    if c.ends and (first.nullable or first.kind in ("string", "null", "ring")):
        return None
    if not is_zero(c.rest) and table.determining is not None:
        return None  # rows are then not found by all of their keys
    fixed = tuple(v for v in c.atom.vars if v in inner)
    search = IndexSearch(table, place, c.atom, fixed, c.groups, sorts)
    tests = tuple(terms.test(t, inner) for t in c.tests)
    if is_zero(c.rest):
        return _walk(terms, e, c, search, tests, inner, env, m, k)
    return _choose_among(terms, e, c, search, tests, inner, env, m, k)


def _sorts(c: Choice, terms: TermLowering) -> tuple[Sort, ...] | None:
    """How an index must sort; its end is then read in the order of the first variable."""
    back = c.order[0].descending
    place = terms.layout.places[c.atom.name]
    out = []
    for o in c.order:
        at = c.atom.vars.index(o.var)
        t = terms.layout.key_type(c.atom.name, at)
        if t.nullable and o.nulls_first == o.descending and o is not c.order[0]:
            return None
        out.append(Sort(place.columns[at], o.descending != back, t.kind == "string"))
    return tuple(out)


def _walk(
    terms: TermLowering,
    e: Top,
    c: Choice,
    search: IndexSearch,
    tests: tuple[Holds, ...],
    inner: Bound,
    env: Bound,
    m: Count,
    k: Next,
) -> list[Stmt]:
    """The first rows of the atom, for each group if there are groups."""
    names = sorted(outs(e.body) - inner.keys())

    def first(known: Known) -> list[Stmt]:
        row = terms.names.fresh("entry")
        ends = _ends(terms, c, search, row, inner)
        # A variable that is bound outside, but is not a key, is tested after the choice.
        columns = [search.local(row, v) for v in names]
        body = terms.bind(names, columns, env, m.times(Var(f"{row}.n"), INT), k)
        return [_first(e, c, search, known, row, tuple(body), ends=ends)]

    def begin(known: Known) -> list[Stmt]:
        if not c.groups:
            return first(known)
        return search.each_group(terms, known, inner, lambda inside, _: first(inside))

    body = search.begin(terms, inner, begin)
    for test in reversed(tests):
        body = [If((test,), tuple(body))]
    return body


def _first(
    e: Top,
    c: Choice,
    search: IndexSearch,
    known: Known,
    row: str,
    body: tuple[Stmt, ...],
    others: str = "",
    wanted: tuple[int, ...] = (),
    ends: tuple[Holds, ...] = (),
) -> FirstRows:
    first = c.order[0]
    odd = search.type(first.var).nullable and first.nulls_first == first.descending
    return FirstRows(
        row,
        search.search(known),
        e.limit,
        first.descending,
        ("first" if first.nulls_first else "last") if odd else "as_sorted",
        search.place.payload,
        c.once,
        body,
        others,
        wanted,
        ends,
    )


def _ends(
    terms: TermLowering, c: Choice, search: IndexSearch, row: str, inner: Bound
) -> tuple[Holds, ...]:
    """The tests by which the walk begins, of an entry."""
    first = c.order[0].var
    return tuple(terms.test(t, {**inner, first: search.local(row, first)}) for t in c.ends)


def _choose_among(
    terms: TermLowering,
    e: Top,
    c: Choice,
    search: IndexSearch,
    tests: tuple[Holds, ...],
    inner: Bound,
    env: Bound,
    m: Count,
    k: Next,
) -> list[Stmt]:
    """The choice among the first rows of the atom and all the other rows.

    A row that is in both is met in the index, where it counts as often as in both together.
    """
    names = sorted(outs(e.body) - inner.keys())
    collect, others = materialize(terms, c.rest, names, inner, of=e.body)
    within = terms.inner()
    before, known, fitting = search.begin_among(within, inner)
    held_by_atom: tuple[Test, ...] = (*fitting, *tests)
    rows = transient(terms.names, others.keys, (INT,))
    all_columns = tuple(range(len(names)))

    def put(row: str, keys: list[Expr], number: str) -> tuple[Stmt, ...]:
        count = (Var(f"{row}.{number}"),)
        return tuple(write(rows, 0, all_columns, keys, count, "+=", within.names))

    r = within.names.fresh("entry")
    entry_keys = [search.local(r, v).value for v in names]
    wanted = tuple(search.column(v) for v in names)
    body_of_entry = put(r, entry_keys, "n")
    ends = _ends(within, c, search, r, inner)
    walked: Stmt = _first(e, c, search, known, r, body_of_entry, others.name, wanted, ends)
    if held_by_atom:
        walked = If(held_by_atom, (walked,))
    alone = _alone(c, search, held_by_atom, known, others, names, within, inner, put)
    body = (*before, walked, alone)
    chosen = first_of_groups(terms, e, rows, names, env, m, k)
    return [collect, Collect(rows.name, rows, body), *chosen]


def _alone(
    c: Choice,
    search: IndexSearch,
    held_by_atom: tuple[Test, ...],
    known: Known,
    others: Table,
    names: list[str],
    within: TermLowering,
    inner: Bound,
    put: Callable[[str, list[Expr], str], tuple[Stmt, ...]],
) -> Stmt:
    """The other rows that the walk through the index does not meet."""
    r = within.names.fresh("row")
    columns = [x.value for x in columns_of(r, others)]
    by_column = {search.column(v): columns[i] for i, v in enumerate(names)} | dict(known)
    whole = tuple(by_column[i] for i in range(len(search.table.keys)))
    met = {**inner, c.order[0].var: columns_of(r, others)[names.index(c.order[0].var)]}
    held = (*held_by_atom, *(within.test(t, met) for t in c.ends))
    missing = Missing(search.table.name, whole, held)
    number = Holds(Cmp(">", Var(f"{r}.p0"), const(0)))
    return Scan(r, others.name, (If((number, missing), put(r, columns, "p0")),))
