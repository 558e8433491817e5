"""Sums over ranges: an ordered index is asked, and no row is looked at."""

from __future__ import annotations

from freshview.calculus.build import factors, mul, sum_
from freshview.calculus.scope import ins, outs
from freshview.calculus.terms import Add, Cmp, Exists, Expr, Sum, Var, View
from freshview.calculus.types import Type
from freshview.codegen.layout.dependencies import is_determined
from freshview.codegen.layout.terms import Sort, Table
from freshview.codegen.loops.effects import (
    Answer,
)
from freshview.codegen.loops.parts import NoNegative, There
from freshview.codegen.loops.terms import (
    Block,
    If,
    Range,
    RangeSum,
    Stmt,
    Turn,
    Unless,
    Walk,
)
from freshview.codegen.lower.context import ONE, Bound, Count, Next
from freshview.codegen.lower.index_search import IndexSearch, Known
from freshview.codegen.lower.monotonicity import Conditions, conditions
from freshview.codegen.lower.ranges import RangeTerm, ranges
from freshview.codegen.lower.writer import TermLowering


def lower_range_sum(
    terms: TermLowering, e: Sum, env: Bound, m: Count, k: Next, last: bool
) -> list[Stmt] | None:
    """A sum over a range, or over several, by an ordered index; None if it is not one."""
    r = _range_of(terms, e, env)
    if r is not None:
        return _summed(terms, e, r, env, m, k, last)
    parts = _over_ranges(e) if last else []
    ranges = [(part, _range_of(terms, part, env)) for part in parts]
    if not parts or any(r is None for _, r in ranges):
        return None
    pieces = (_summed(terms, part, r, env, m, k, last) for part, r in ranges if r)
    return [s for piece in pieces for s in piece]


def _range_of(terms: TermLowering, e: Sum, env: Bound) -> RangeTerm | None:
    """The first way to see a sum as one over a range that an index can answer."""
    inner = terms.inside(e.keys, e.body, env)
    for r in ranges(e, inner.keys()):
        table = terms.layout.table(r.atom.name)
        if not _sortable(terms.layout.key_type(r.atom.name, r.atom.vars.index(r.x))):
            continue
        if table.transient or _holds_elements(table):
            continue
        return r
    return None


def _over_ranges(e: Sum) -> list[Sum]:
    """Sum[k](M[k, x] * ({x > a} + {x < b})) as a sum over each of the ranges."""
    parts = factors(e.body)
    sums = [p for p in parts if isinstance(p, Add)]
    if len(sums) != 1 or not all(map(_has_test, sums[0].terms)):
        return []
    others = [p for p in parts if p is not sums[0]]
    pieces = [sum_(e.keys, mul(*others, t)) for t in sums[0].terms]
    apart = [p for p in pieces if isinstance(p, Sum)]
    return apart if len(apart) == len(pieces) else []


def _has_test(e: Expr) -> bool:
    return any(isinstance(f, Cmp) for f in factors(e))


def _summed(
    terms: TermLowering, e: Sum, r: RangeTerm, env: Bound, m: Count, k: Next, last: bool
) -> list[Stmt]:
    """The sum over a range; where a map may have negative entries, by loops if it has."""
    guards = dict.fromkeys(_no_negative(terms, v) for v in r.conditions.positive)
    summed = _outside(terms, e, r, terms.inside(e.keys, e.body, env), env, m, k, last)
    if not guards:
        return summed
    tests = tuple(guards)
    plain = terms.plain_sum(e, env, m, k, last)
    return [If(tests, tuple(summed)), Unless(tests, tuple(plain))]


def lower_band(
    terms: TermLowering, factors: list[Expr], at: int, env: Bound, m: Count, k: Next
) -> list[Stmt] | None:
    """A walk through the rows of a map between two ends, by an ordered index; None if it is none.

    Rows between one end and nothing are likely many: to walk through all of them is as quick. Where
    some key is known, a hash index finds the few rows that have it.
    """
    factor, rest = factors[at], factors[:at] + factors[at + 1 :]
    atom = factor.body if isinstance(factor, Exists) else factor
    if not isinstance(atom, View) or atom.inputs or env.keys() & set(atom.vars):
        return None
    table = terms.layout.table(atom.name)
    if table.transient or _holds_elements(table) or len(set(atom.vars)) < len(atom.vars):
        return None
    r = next((r for x in atom.vars if (r := _band(terms, atom, x, rest, env))), None)
    if r is None:
        return None
    left = [f for f in rest if f not in r.conditions.up and f not in r.conditions.down]

    def leave(b: Bound, n: Count) -> list[Stmt]:
        return terms.product(left, b, m if atom is not factor else n, k, False)

    return _walk(terms, r, (), env, m, leave, shown=r.atom.vars)


def _band(
    terms: TermLowering, atom: View, x: str, rest: list[Expr], env: Bound
) -> RangeTerm | None:
    """The rows of a map with a value of x between two ends, if tests give both."""
    if not _sortable(terms.layout.key_type(atom.name, atom.vars.index(x))):
        return None
    tests = [f for f in rest if isinstance(f, Cmp) and x in ins(f) and ins(f) <= {x, *env}]
    sides = [c for f in tests if (c := conditions(x, [f]))]
    ends = Conditions([e for c in sides for e in c.up], [e for c in sides for e in c.down])
    if not (ends.up and ends.down):
        return None
    return RangeTerm(atom, x, tuple(v for v in atom.vars if v != x), [], ends)


def _no_negative(terms: TermLowering, v: View) -> NoNegative:
    place = terms.layout.places[v.name]
    return NoNegative(place.table, place.payload)


def _outside(
    terms: TermLowering,
    e: Sum,
    r: RangeTerm,
    inner: Bound,
    env: Bound,
    m: Count,
    k: Next,
    last: bool,
) -> list[Stmt]:
    """First the factors that do not depend on x, then the range."""

    def leave(b: Bound, n: Count) -> list[Stmt]:
        return k({**env, **{v: b[v] for v in outs(e)}}, n)

    return terms.product(
        list(r.outside), inner, m, lambda b, n: _add_up(terms, r, b, n, leave, last), False
    )


def _add_up(
    terms: TermLowering, r: RangeTerm, env: Bound, m: Count, k: Next, last: bool
) -> list[Stmt]:
    """The sum over the range, for each group if there are groups."""
    fixed = tuple(v for v in r.atom.vars if v in env)
    if r.groups and _is_one_each(terms, r, fixed):
        return _walk(terms, r, fixed, env, m, k, shown=r.groups)
    if r.groups and not fixed and last and r.conditions.up and r.conditions.down:
        # Between two ends are few rows, and what is written of a group adds up.
        return _walk(terms, r, fixed, env, m, k, shown=r.atom.vars)
    search = _search(terms, r, fixed, r.groups, (r.x,))

    def summed(known: Known, b: Bound, turns: tuple[str, ...]) -> list[Stmt]:
        of = _ends(terms, r, search, known, turns, b)
        name = terms.names.fresh("sums")
        return [RangeSum(name, of), *_leave(terms, r, name, b, m, k)]

    def begin(known: Known) -> list[Stmt]:
        if not r.groups:
            return summed(known, env, ())
        # Where a condition turns does not depend on the group: what one has found, all know.
        turns = [Turn(terms.names.fresh("turn"), search.type(r.x)) for _ in ("up", "down")]
        names = tuple(t.name for t in turns)
        return [
            *turns,
            *search.each_group(terms, known, env, lambda inside, b: summed(inside, b, names)),
        ]

    return search.begin(terms, env, begin)


def _walk(
    terms: TermLowering,
    r: RangeTerm,
    fixed: tuple[str, ...],
    env: Bound,
    m: Count,
    k: Next,
    *,
    shown: tuple[str, ...],
) -> list[Stmt]:
    """The entries of the range one by one, where each of them is a group, or has to be seen."""
    search = _search(terms, r, fixed, (), (r.x, *r.groups))

    def begin(known: Known) -> list[Stmt]:
        of = _ends(terms, r, search, known, (), env)
        row = terms.names.fresh("entry")
        seen = {v: search.local(row, v) for v in shown}
        body = _leave(terms, r, row, {**env, **seen}, m, k)
        return [Walk(row, of, tuple(body), grouped=r.x not in shown)]

    return search.begin(terms, env, begin)


def _search(
    terms: TermLowering,
    r: RangeTerm,
    fixed: tuple[str, ...],
    groups: tuple[str, ...],
    sorted_by: tuple[str, ...],
) -> IndexSearch:
    place = terms.layout.places[r.atom.name]
    sorts = tuple(Sort(place.columns[r.atom.vars.index(v)]) for v in sorted_by)
    return IndexSearch(terms.layout.tables[place.table], place, r.atom, fixed, groups, sorts)


def _leave(
    terms: TermLowering, r: RangeTerm, row: str, env: Bound, m: Count, k: Next
) -> list[Stmt]:
    """Go on with a sum of the index, if it is not zero."""
    place = terms.layout.places[r.atom.name]
    value = Var(f"{row}.p{place.payload}")
    count = m.times(value, terms.layout.payload_type(r.atom.name))
    return [If((There(value),), tuple(k(env, count)))]


def _is_one_each(terms: TermLowering, r: RangeTerm, fixed: tuple[str, ...]) -> bool:
    """Whether a group has one value of x: to search in every group would be a detour."""
    at = r.atom.vars.index
    return is_determined(terms.maps[r.atom.name], at(r.x), [at(v) for v in (*fixed, *r.groups)])


def _ends(
    terms: TermLowering,
    r: RangeTerm,
    search: IndexSearch,
    known: Known,
    turns: tuple[str, ...],
    env: Bound,
) -> Range:
    """Where a range begins, and where it ends."""
    within = terms.inner()
    entry = within.names.fresh("entry")
    at = {**env, r.x: search.local(entry, r.x)}

    def holds(parts: list[Expr]) -> Block:
        return tuple(within.product(list(parts), at, ONE, lambda _, __: [Answer()], True))

    up, down = holds(r.conditions.up), holds(r.conditions.down)
    return Range(
        search.search(known),
        entry,
        up if r.conditions.up else (),
        down if r.conditions.down else (),
        turns,
    )


def _sortable(t: Type) -> bool:
    """Whether the order of a type is that of its bits' value: not of text, nor with NULL."""
    return t.kind in ("int", "decimal", "double", "date", "timestamp") and not t.nullable


def _holds_elements(table: Table) -> bool:
    """Whether a table has elements of a ring: an index adds up numbers only."""
    return any(t.kind == "ring" for t in table.payloads)
