"""What a program costs: rows visited per change, by cardinality estimates (Nikolic 2016, 3.6.4).

The total is rate(Q) * cost(read-out) + sum over relations of rate(R) * cost(trigger of R). The
unit is one row looked at: our engines run products as nested loops and store intermediate results
only for nested sums, so visits are what a change costs (`Engine.work` counts the same thing).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import NamedTuple, TypeAlias, assert_never

from freshview.calculus.schema import Relation
from freshview.calculus.scope import free, has_data, is_value, outs, stored
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
    Rel,
    Sum,
    Top,
    Var,
    View,
)
from freshview.calculus.walk import atoms, variables
from freshview.program.conditions import is_test, share, together
from freshview.program.dependencies import (
    Dependency,
    dependencies,
    determined,
    independent,
    primary_keys,
)
from freshview.program.references import keyed_columns, levels
from freshview.program.statistics import Statistics
from freshview.program.terms import Program, Statement

STREAM_ROWS = 10_000.0
STATIC_ROWS = 100.0
MISS = 0.5
"""What a search for some columns costs that finds nothing; a look-up of a whole row costs one row,
whether it is there or not."""
AGREE = 0.75
"""How far columns that are bound together agree: 1 where the one with the most values determines
the others, as the number of an order does its customer, 0 where each takes all its values."""
FEW = 0.5
"""Columns with no more values than this power of the rows determine little of the others: a brand
says less of a type than an order does of its customer. What is not known counts as such."""
LITTLE = 0.25
"""How far such columns agree."""
SHARED = 0.25
"""How far the columns of a relation agree that is kept without its key: it has fewer rows then."""
FEWER = 0.2
"""Rows of a stream for one row of those that refer to it."""


@dataclass(frozen=True)
class Size:
    """Rows of a relation or map, distinct values per column, and what columns say of others."""

    rows: float
    distinct: tuple[float, ...]
    columns: tuple[str, ...] = ()
    known: tuple[Dependency, ...] = ()

    def one(self, names: tuple[str, ...], bound: Mapping[str, float]) -> bool:
        """Whether there is one row at most for what is bound: it determines all the columns."""
        if all(name in bound for name in names):
            return True
        columns = [c for c, name in zip(self.columns, names, strict=False) if name in bound]
        return bool(self.known) and determined(columns, self.known).issuperset(self.columns)


class Estimate(NamedTuple):
    """Rows that a term yields in its context, and rows looked at to find them."""

    rows: float
    work: float


Values: TypeAlias = frozenset[tuple[str, float]]
Nested: TypeAlias = tuple[Estimate, dict[str, float]]
Sizes: TypeAlias = dict[tuple[Size, ...], dict[tuple[tuple[str, ...], Expr], Size]]
"""Sizes of maps by those of all relations, the keys and the definition."""


@dataclass(frozen=True)
class ProgramCostModel:
    """Programs by their work, for data of these statistics."""

    statistics: Statistics
    sizes: Sizes = field(default_factory=dict, compare=False)
    """What maps were estimated at: plans that are compared have most of them in common."""

    def cost(self, plan: Program, /) -> float:
        """The estimated work per unit of time."""
        return program_cost(plan, self.statistics, self.sizes)


def program_cost(program: Program, statistics: Statistics, sizes: Sizes | None = None) -> float:
    """The estimated work per unit of time."""
    model = Model(program, statistics, sizes)
    total = sum(cost for _, _, cost in _statements(program, model))
    reads = sum(model.rates.values()) if statistics.reads is None else statistics.reads
    for q in program.queries:
        total += reads / statistics.batch * _reading(q.term, model)
    return total


def _reading(term: Expr, model: Model) -> float:
    """The work of a read; the first rows of a map stand at an end of an ordered index."""
    match term:
        case Top((), _, limit, View()):
            return min(float(limit), model.estimate(term, {}).work)
        case _:
            return model.estimate(term, {}).work


def statement_costs(
    program: Program, statistics: Statistics
) -> Iterator[tuple[str, Statement, float]]:
    """The statements with the relation that they follow, and what each adds to the cost."""
    yield from _statements(program, Model(program, statistics))


def _statements(program: Program, model: Model) -> Iterator[tuple[str, Statement, float]]:
    for t in program.triggers:
        if t.event == "ready" or not t.statements:
            continue
        # A batch does the work of many rows at once; insertions stand for deletions too.
        times = 1.0 / model.batches[t.relation] if t.event == "batch" else 0.5
        distinct_counts = dict(zip(t.params, model.relations[t.relation].distinct, strict=False))
        for s in t.statements:
            work = model.statement(s.term, distinct_counts, s.target.inputs)
            yield t.relation, s, model.rates[t.relation] * times * work


class Model:
    """Estimates over one program: sizes of relations from statistics, of maps from definitions."""

    def __init__(
        self, program: Program, statistics: Statistics, sizes: Sizes | None = None
    ) -> None:
        self.statistics = statistics
        self.nested: dict[tuple[Expr, Values, Values], Nested] = {}
        self.known: dict[Expr, tuple[Dependency, ...]] = {}
        self.keys = primary_keys(program.relations)
        level = levels(program)
        self.relations = {r.name: self._relation(r, level[r.name]) for r in program.relations}
        for (name, at), keys in keyed_columns(program).items():
            self._as_many(name, at, max(self.relations[r].rows for r in keys))
        # Others that the program happens to know change nothing: neither work nor reads.
        read = {t.relation for t in program.triggers if t.event != "ready" and t.statements}
        streams = [r.name for r in program.relations if not r.static and r.name in read]
        self.most = max((self.relations[name].rows for name in streams), default=1.0)
        # Every row has come by a change: so relations change as they have rows, if nothing is told.
        self.rates = {
            name: statistics.rates.get(name, self.relations[name].rows / self.most)
            for name in streams
        }
        mean = sum(self.rates.values()) / max(1, len(streams))
        self.batches = {
            name: max(1.0, statistics.batch * rate / mean) for name, rate in self.rates.items()
        }
        self.maps: dict[str, Size] = {}
        for q in program.derived:
            self.keys[q.name] = ()
            self.relations[q.name] = self._map(q.vars, q.term)
            self.batches[q.name] = max(1.0, statistics.batch)
        known = sizes.setdefault(tuple(self.relations.values()), {}) if sizes is not None else {}
        for m in program.maps:
            of = tuple(k.name for k in (*m.inputs, *m.keys)), m.definition
            if of not in known or stored(m.definition) or m.is_change:  # of this program alone
                known[of] = self._map(*of)
            self.maps[m.name] = known[of]

    def _relation(self, r: Relation, level: int) -> Size:
        guess = STATIC_ROWS if r.static else max(STATIC_ROWS, STREAM_ROWS * FEWER**level)
        rows = self.statistics.rows.get(r.name, guess)
        known_counts = self.statistics.values.get(r.name, {})
        distinct = []
        for c in r.columns:
            if c.name in known_counts:
                distinct.append(max(1.0, min(rows, known_counts[c.name])))
            elif r.key == (c.name,):
                distinct.append(rows)
            elif c.name in r.key:
                distinct.append(rows ** (1 / len(r.key)))
            else:
                distinct.append(2.0 if c.type.kind == "bool" else max(rows**0.5, 1.0))
        names = tuple(c.name for c in r.columns)
        known = (Dependency(frozenset(r.key), frozenset(names)),) if r.key else ()
        return Size(rows, tuple(distinct), names, known)

    def _as_many(self, name: str, at: int, values: float) -> None:
        """A column that refers to keys has as many values as there are, if it has the rows.

        So it is where fewer are declared: look-ups miss as often as the keys say.
        """
        size = self.relations[name]
        counts = list(size.distinct)
        counts[at] = max(1.0, min(size.rows, values))
        self.relations[name] = replace(size, distinct=tuple(counts))

    def _map(self, keys: tuple[str, ...], definition: Expr) -> Size:
        """The size of a map: columns that others determine add no combinations of values."""
        distinct: dict[str, float] = {}
        rows = self.estimate(definition, {}, distinct).rows
        values = {k: max(1.0, min(distinct.get(k, rows), rows)) for k in keys}
        known = dependencies(definition, self.keys)
        counts = [values[k] for k in independent(keys, (), known)]
        rows = min(max(rows, 1.0), prod(counts))
        if len(counts) > 1 and self._without_key(keys, definition):
            rows = _between(min(rows, max(counts)), rows, SHARED)
        return Size(rows, tuple(values[k] for k in keys), keys, known)

    def _without_key(self, keys: tuple[str, ...], definition: Expr) -> bool:
        """Whether a map has columns of one relation, but not all of those of its primary key."""
        read = atoms(definition)
        if len(read) != 1:
            return False
        [atom] = read
        return any(atom.vars[i] not in keys for i in self.keys[atom.name])

    def statement(
        self, e: Expr, distinct_counts: Mapping[str, float], inputs: tuple[str, ...]
    ) -> float:
        """The work of one statement: its term, and one write for every row of it."""
        known = dict(distinct_counts) | dict.fromkeys(inputs, 1.0)
        term = self.estimate(e, known)
        times = self.most**0.5 if inputs else 1.0  # every cached copy is brought up to date
        return times * (term.work + term.rows)

    def estimate(
        self, e: Expr, bound: Mapping[str, float], seen: dict[str, float] | None = None
    ) -> Estimate:
        """Rows and work of a term; `bound` variables are given, `seen` collects distinct counts."""
        counts = seen if seen is not None else {}
        match e:
            case Const() | Var():
                return Estimate(1.0, 0.0)
            case Apply(_, _, ring):
                return Estimate(1.0 if ring else share(e, bound), 0.0)
            case Cmp():
                return Estimate(share(e, bound), 0.0)
            case Rel(name, names):
                return self._atom(self.relations[name], names, bound, counts)
            case Delta(name, names):
                batch = replace(self.relations[name], rows=self.batches[name])
                return self._atom(batch, names, bound, counts)
            case View(name, names, inputs):
                return self._atom(self.maps[name], inputs + names, bound, counts)
            case Add() if is_value(e):
                return Estimate(1.0, 0.0)
            case Add(terms):
                parts = [self.estimate(t, bound, counts) for t in terms]
                return Estimate(sum(p.rows for p in parts), sum(p.work for p in parts))
            case Mul(factors):
                return self._product(factors, bound, counts)
            case Sum(keys, body):
                return self._grouped(body, keys, bound, counts)
            case Exists(body):
                return self._grouped(body, tuple(outs(body)), bound, counts)
            case Top(keys, _, limit, body):
                inside = {k: v for k, v in bound.items() if k in keys or k not in outs(body)}
                grouped = self._grouped(body, tuple(outs(body)), inside, counts)
                return Estimate(min(grouped.rows, float(limit)), grouped.work)
            case Lift(var, body):
                counts.setdefault(var, 10.0)
                work = self.estimate(body, bound).work if has_data(body) else 0.0
                return Estimate(0.1 if var in bound else 1.0, work)
            case _:
                assert_never(e)

    def _atom(
        self,
        size: Size,
        names: tuple[str, ...],
        bound: Mapping[str, float],
        counts: dict[str, float],
    ) -> Estimate:
        """Rows that agree with what is bound: those of one combination, if that is there.

        Columns that are bound together mostly belong together: there are no more combinations
        of their values than rows, and not many more than the one with the most values has. The
        one with the most misses decides how many are there.
        """
        values, hits = [], 1.0
        for name, d in zip(names, size.distinct, strict=True):
            if name in bound:
                values.append(max(1.0, d))
                hits = min(hits, max(1.0, d) / max(1.0, d, bound[name]))
            counts[name] = min(counts.get(name, d), d)
        combinations = min(prod(values), size.rows)
        if size.one(names, bound):
            combinations = size.rows
        elif len(values) > 1:
            near = AGREE if max(values) > 1.01 * size.rows**FEW else LITTLE
            combinations = _between(min(max(values), size.rows), combinations, near)
        rows = size.rows / max(1.0, combinations) * hits
        if len(values) == len(names):
            return Estimate(rows, max(rows, 1.0))
        return Estimate(rows, max(rows, MISS) if values else rows)

    def _product(
        self, factors: tuple[Expr, ...], bound: Mapping[str, float], counts: dict[str, float]
    ) -> Estimate:
        """Nested loops: every factor runs once for each row that the factors before it left."""
        rows, work = 1.0, 0.0
        known = dict(bound)
        shares: list[float] = []  # of the conditions since variables were bound
        unfiltered = 1.0
        for f in factors:
            if is_test(f):
                shares.append(share(f, known))
                rows = unfiltered * together(shares)
                continue
            factor = self.estimate(f, known, counts)
            work += rows * factor.work
            rows *= factor.rows
            unfiltered *= factor.rows
            if outs(f):
                known.update({v: counts.get(v, 1.0) for v in outs(f)})
                shares, unfiltered = [], rows
        return Estimate(rows, work)

    def _grouped(
        self,
        body: Expr,
        keys: tuple[str, ...],
        bound: Mapping[str, float],
        counts: dict[str, float],
    ) -> Estimate:
        nested, inner = self._nested(
            body,
            frozenset((k, bound[k]) for k in free(body) if k in bound),
            frozenset((k, counts[k]) for k in variables(body).union(keys) if k in counts),
        )
        for k in keys:
            counts[k] = min(counts.get(k, inner.get(k, 1.0)), inner.get(k, 1.0))
        context = [k for k in bound if k in free(body)]
        left = independent(keys, context, self._dependencies(body))
        groups = prod(max(1.0, inner.get(k, 1.0)) for k in left)
        return Estimate(min(nested.rows, groups), nested.work)

    def _dependencies(self, body: Expr) -> tuple[Dependency, ...]:
        if body not in self.known:
            self.known[body] = dependencies(body, self.keys)
        return self.known[body]

    def _nested(self, body: Expr, bound: Values, counts: Values) -> Nested:
        """The estimate of a body in its context, and its distinct counts: each is found once."""
        key = body, bound, counts
        if key not in self.nested:
            inner = dict(counts)
            self.nested[key] = self.estimate(body, dict(bound), inner), inner
        return self.nested[key]


def _between(least: float, most: float, near: float) -> float:
    """A number between two others: the first where `near` is 1, the second where it is 0.

    >>> _between(4.0, 100.0, 0.5)
    20.0
    """
    return float(least**near * most ** (1 - near))
