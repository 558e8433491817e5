"""What a program forgets once watermarks have passed: windows, as its statements show them.

A stream with an event time promises that no row comes before its watermark. Take a statement that
answers a row of such a stream at the time r, and reads a map only where `r <= x + 5`, for a key x.
When the watermark is at w, no row to come is before w; so an entry with `x + 5 < w` never counts
again, and the statement may lose it. An entry that all the statements may lose goes:

    ON BATCH UPDATE OF 'watermark of a, b' {
      m[x] += Sum[x](-(DELTA 'watermark of a, b')(w_a, w_b) * m[x] * {w_a > x + 5});
    }

The test is that of the statement, turned round, with the watermark for the time of the row. It
must be one that stays false when r grows; so the rounding of doubles, and months of different
lengths, make no difference. Results are never forgotten: a map that a query reads is kept, and so
is one that is recomputed from, and one that is asked for by its inputs.

A map that forgets is no longer equal to its definition. `forgetful` tells which these are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from freshview.calculus.alpha_equivalence import FLIPPED
from freshview.calculus.build import add, const, factors, is_number, mul, neg, sum_
from freshview.calculus.schema import Column, Relation
from freshview.calculus.scope import free, has_data, outs, relations, stored
from freshview.calculus.terms import (
    Add,
    Apply,
    Cmp,
    Const,
    Delta,
    Exists,
    Expr,
    Lift,
    Mul,
    Op,
    Sum,
    Var,
    View,
)
from freshview.calculus.text import show
from freshview.calculus.trend import SHIFTS, side, trend
from freshview.calculus.walk import children, rename, substitute, subterms
from freshview.program.terms import Map, Program, Statement, Trigger
from freshview.program.updates import Mode

NEGATED: Mapping[Op, Op] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}


def watermark_relation(read: Iterable[Relation]) -> Relation | None:
    """The relation whose rows are the watermarks of streams, a column each; None without any.

    >>> from freshview.calculus.schema import EventTime
    >>> from freshview.calculus.types import INT
    >>> t = (Column("t", INT),)
    >>> marks = watermark_relation([Relation("b", t, time=EventTime("t")), Relation("a", t)])
    >>> marks.name, [c.name for c in marks.columns]
    ('watermark of b', ['b'])
    """
    timed = sorted({r.name: r for r in read if r.time is not None}.values(), key=lambda r: r.name)
    columns = tuple(Column(r.name, r.columns[r.time_column or 0].type) for r in timed)
    if not columns:
        return None
    return Relation(f"watermark of {', '.join(c.name for c in columns)}", columns)


def forgetful(program: Program) -> frozenset[str]:
    """The maps that lose entries while time goes on, and are not equal to their definitions."""
    return frozenset(s.target.name for s in expiring(program))


def what_is_lost(program: Program) -> dict[str, str]:
    """For each map that loses entries, which these are: equal texts for what is lost alike."""
    lost: dict[str, list[str]] = {}
    for s in expiring(program):
        tests = [f for f in _factors(s.term) if isinstance(f, Cmp)]
        lost.setdefault(s.target.name, []).extend(map(show, tests))
    return {name: " ".join(sorted(tests)) for name, tests in lost.items()}


def expiring(program: Program) -> list[Statement]:
    """The statements by which maps forget: they answer what the definition does not read."""
    maps = {m.name: m for m in program.maps}
    suspects = [
        (t, s)
        for t in program.triggers
        if t.relation
        for s in t.statements
        if s.op == "+=" and stored(s.term) == {s.target.name}
    ]

    def sources(e: Expr) -> frozenset[str]:
        inner = (sources(maps[name].definition) for name in stored(e) if name in maps)
        return frozenset(relations(e)).union(*inner)

    return [s for t, s in suspects if t.relation not in sources(maps[s.target.name].definition)]


def _factors(e: Expr) -> tuple[Expr, ...]:
    return factors(e.body if isinstance(e, Sum) else e)


def with_expiry(program: Program, mode: Mode) -> Program:
    """The program with a trigger that forgets what windows have left behind."""
    marks = watermark_relation(program.relations)
    if marks is None:
        return program
    names = {c.name: f"{c.name}'s watermark" for c in marks.columns}
    analysis = _Analysis(program, names)
    statements, notes = [], []
    for m in program.maps:
        if m.name in analysis.kept:
            continue
        tests = analysis.tests(m)
        if isinstance(tests, str):
            notes.append(f"windows: {m.name} is kept: {tests}")
            continue
        if tests:
            statements.append(_forget(m, tests, marks, names, mode))
            notes.append(f"windows: {m.name} forgets where {' and '.join(map(show, tests))}")
    program = replace(program, notes=(*program.notes, *notes))
    if not statements:
        return program
    event, params = ("batch", ()) if mode == "batch" else ("insert", tuple(names.values()))
    trigger = Trigger(event, marks.name, params, tuple(statements))  # type: ignore[arg-type]
    others = tuple(r for r in program.relations if r.name != marks.name)
    return replace(program, relations=(*others, marks), triggers=(*program.triggers, trigger))


def _forget(
    m: Map, tests: Sequence[Cmp], marks: Relation, names: Mapping[str, str], mode: Mode
) -> Statement:
    keys = tuple(c.name for c in m.keys)
    entry = View(m.name, keys)
    if mode == "tuple":
        return Statement(entry, "+=", mul(const(-1), entry, *tests))
    row = Delta(marks.name, tuple(names[c.name] for c in marks.columns))
    return Statement(entry, "+=", sum_(keys, mul(const(-1), row, entry, *tests)))


@dataclass(frozen=True, slots=True)
class _Read:
    """An entry of a map as a statement reads it: what holds wherever the entry counts."""

    view: View
    trigger: Trigger
    tests: tuple[Cmp, ...] = ()
    rows: tuple[Delta, ...] = ()
    exact: Set[str] = frozenset()
    """Variables of the statement that are no doubles."""
    beside: tuple[Expr, ...] = ()
    """Factors that are neither tests nor rows of the batch."""

    def within(self, factors: Iterable[Expr]) -> _Read:
        """The same read inside of one more product."""
        tests, rows, others = list(self.tests), list(self.rows), list(self.beside)
        for f in factors:
            if isinstance(f, Cmp | Lift):
                tests += _tests(f)
            if has_data(f):
                rows += _rows(f, self.trigger.relation)
                others.append(f)
        return replace(self, tests=tuple(tests), rows=tuple(rows), beside=tuple(others))


class _Analysis:
    """What the statements of a program say of the maps that they read."""

    def __init__(self, program: Program, marks: Mapping[str, str]) -> None:
        self.relations = {r.name: r for r in program.relations}
        self.maps = {m.name: m for m in program.maps}
        self.marks = marks
        """The variables of the watermarks, by stream."""
        changes = {m.name for m in program.maps if isinstance(m.definition, Delta)}
        recomputed = [
            s.term
            for t in program.triggers
            for s in t.statements
            if s.op == ":=" and s.target.name not in changes
        ]
        fills = [m.fill for m in program.maps if m.fill is not None]
        queries = [q.term for q in program.queries]
        self.kept = {name for e in [*recomputed, *fills, *queries] for name in stored(e)}
        self.kept |= {m.name for m in program.maps if m.inputs or not m.keys}
        self.reads: dict[str, list[_Read]] = {}
        for t in program.triggers:
            for s in t.statements:
                exact = self._exact(s.term)
                for read in _reads(s.term, _Read(View("", ()), t, exact=exact)):
                    self.reads.setdefault(read.view.name, []).append(read)

    def _exact(self, e: Expr) -> frozenset[str]:
        """The keys of maps that a term reads, as far as they are no doubles."""
        views = (x for x in subterms(e) if isinstance(x, View) and not x.inputs)
        columns = (
            (v, c) for x in views for v, c in zip(x.vars, self.maps[x.name].keys, strict=True)
        )
        return frozenset(v for v, c in columns if c.type.kind != "double")

    def tests(self, m: Map) -> list[Cmp] | str:
        """When an entry counts no more, as tests over the keys; or why that is never so."""
        out: dict[Cmp, None] = {}
        for read in self.reads.get(m.name, []):
            if not read.trigger.relation:
                continue  # it runs once, before all the rows
            stream = self.relations[read.trigger.relation]
            if stream.time is None:
                return f"changes of {stream.name} read it, which has no watermark"
            tests = self._dead(read, stream)
            if tests is None:
                return f"no condition bounds its distance in time to rows of {stream.name}"
            keys = {v: c.name for v, c in zip(read.view.vars, m.keys, strict=True)}
            out |= {_renamed(test, keys): None for test in tests}
        return list(out)

    def _dead(self, read: _Read, stream: Relation) -> tuple[Cmp, ...] | None:
        """Tests of an entry; where all hold, it is multiplied by zero from now on."""
        test = self._dead_here(read, stream)
        if test is not None:
            return (test,)
        around = replace(read, beside=())
        inside = (self._dead_within(f, around, stream) for f in read.beside)
        return next((tests for tests in inside if tests is not None), None)

    def _dead_within(self, e: Expr, read: _Read, stream: Relation) -> tuple[Cmp, ...] | None:
        """Tests of an entry; where all hold, this factor beside it is zero from now on."""
        match e:
            case Sum(_, body) | Exists(body):
                return self._dead_within(body, read, stream)
            case Mul(parts):
                return self._dead(read.within(parts), stream)
            case Add(parts):
                each = [self._dead_within(p, read, stream) for p in parts]
                known = [tests for tests in each if tests is not None]
                return sum(known, ()) if len(known) == len(each) else None
            case _:
                return None

    def _dead_here(self, read: _Read, stream: Relation) -> Cmp | None:
        """A test of an entry that makes another test of it fail from now on."""
        floors = self._floors(read, stream)
        keys = set(read.view.vars)
        for v in read.view.vars:
            if v in floors:
                return Cmp("<", Var(v), floors[v])
        for test in read.tests:
            for w in sorted(free(test) - keys):
                if free(test) <= keys | {w} and w in floors and side(test, {w: 1}, SHIFTS) == -1:
                    ends = substitute(test, w, floors[w])
                    assert isinstance(ends, Cmp)
                    return Cmp(NEGATED[ends.op], ends.left, ends.right)
        return None

    def _floors(self, read: _Read, stream: Relation) -> dict[str, Expr]:
        """Variables that are never below a term over watermarks, for rows to come."""
        at = stream.time_column
        assert at is not None
        mark = Var(self.marks[stream.name])
        floors: dict[str, Expr] = {}
        if read.trigger.params:
            floors[read.trigger.params[at]] = mark
        for row in read.rows:
            floors[row.vars[at]] = mark
        for f in read.beside:
            floors |= _floors_of(f, stream, mark, read.exact)
        return _with_raised(floors, read.tests, read.exact)


def _floors_of(e: Expr, stream: Relation, mark: Expr, exact: Set[str]) -> dict[str, Expr]:
    """Variables that a factor gives values to, none of them below a term over the watermark."""
    match e:
        case Delta(name, variables) if name == stream.name and stream.time_column is not None:
            return {variables[stream.time_column]: mark}
        case Exists(body):
            return _floors_of(body, stream, mark, exact)
        case Sum(keys, body):
            inner = _floors_of(body, stream, mark, exact)
            return {v: inner[v] for v in keys if v in inner}
        case Add(parts):
            first, *rest = (_floors_of(p, stream, mark, exact) for p in parts)
            return {v: f for v, f in first.items() if all(o.get(v) == f for o in rest)}
        case Mul(parts):
            floors: dict[str, Expr] = {}
            for p in parts:
                floors |= _floors_of(p, stream, mark, exact)
            tests = [t for p in parts if isinstance(p, Cmp | Lift) for t in _tests(p)]
            return _with_raised(floors, tests, exact)
        case _:
            return {}


def _with_raised(floors: dict[str, Expr], tests: Iterable[Cmp], exact: Set[str]) -> dict[str, Expr]:
    """Floors with those of variables that tests compare with them."""
    tests, raised = list(tests), True
    while raised:
        raised = False
        for test in tests:
            v, floor = _raised(test, floors, exact)
            if floor is not None and v not in floors:
                floors[v] = floor
                raised = True
    return floors


def _tests(f: Cmp | Lift) -> list[Cmp]:
    """What a factor tests of values: an assignment is an equality."""
    if isinstance(f, Cmp):
        return _implied(f)
    return [] if has_data(f.body) else _implied(Cmp("=", Var(f.var), f.body))


def _renamed(test: Cmp, names: Mapping[str, str]) -> Cmp:
    return Cmp(test.op, rename(test.left, names), rename(test.right, names))


def _raised(test: Cmp, floors: Mapping[str, Expr], exact: Set[str]) -> tuple[str, Expr | None]:
    """What a test `v >= e` says of v, where e rises with a variable that has a floor."""
    for left, op, right in (
        (test.left, test.op, test.right),
        (test.right, FLIPPED[test.op], test.left),
    ):
        v, low = _solved(left, right, exact)
        known = free(low)
        if op not in (">", ">=") or not v or len(known) != 1:
            continue
        [w] = known
        if w in floors and w != v and trend(low, {w: 1}, SHIFTS) == 1:
            return v, substitute(low, w, floors[w])
    return "", None


def _solved(left: Expr, right: Expr, exact: Set[str]) -> tuple[str, Expr]:
    """`v + c >= e` as v and e - c; a sum of doubles is rounded, and not solved.

    >>> from freshview.calculus.text import read
    >>> v, low = _solved(read("v + 5"), Var("e"), {"v"})
    >>> v, show(low)
    ('v', 'e + (-5)')
    """
    match left:
        case Var(v):
            return v, right
        case Add((Var(v), Const() as c)) if v in exact and is_number(c):
            return v, add(right, neg(c))
        case Apply("add_seconds" | "add_days" as fn, (Var(v), Const() as c)):
            return v, Apply(fn, (right, neg(c)))
        case _:
            return "", right


def _reads(e: Expr, around: _Read) -> Iterator[_Read]:
    """Every entry that a term reads, with the factors beside it on the way from the root."""
    if isinstance(e, View):
        yield replace(around, view=e)
        return
    if isinstance(e, Mul):
        for i, part in enumerate(e.factors):
            yield from _reads(part, around.within([*e.factors[:i], *e.factors[i + 1 :]]))
        return
    for part in children(e):
        yield from _reads(part, around)


def _rows(e: Expr, relation: str) -> Iterator[Delta]:
    """The rows of the batch that a factor needs, as far as it shows their variables."""
    match e:
        case Delta(name) if name == relation:
            yield e
        case Mul(factors):
            for f in factors:
                yield from _rows(f, relation)
        case Sum(_, body):
            yield from (d for d in _rows(body, relation) if set(d.vars) & outs(e))


def _implied(test: Cmp) -> list[Cmp]:
    """The inequalities that a test implies.

    >>> from freshview.calculus.text import read
    >>> [show(t) for t in _implied(read("{abs(x - y) < 3}"))]
    ['{(x - y) < 3}', '{(-(x - y)) < 3}']
    """
    if test.op in (">", ">="):
        test = Cmp(FLIPPED[test.op], test.right, test.left)
    match test:
        case Cmp("=", left, right):
            return [Cmp("<=", left, right), Cmp(">=", left, right)]
        case Cmp("<" | "<=" as op, Apply("abs", (inner,)), right):
            return [Cmp(op, inner, right), Cmp(op, neg(inner), right)]
        case _:
            return [test]
