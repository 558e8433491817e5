"""INSERT, UPDATE, DELETE and MERGE as changes: which rows go, and which come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from freshview.calculus.casts import CASTS, MOST_DIGITS
from freshview.calculus.rows import Row
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import Type, Value
from freshview.errors import BadRow, Place, TypeProblem, UnknownName
from freshview.runtime.database.column_defaults import filled, with_defaults
from freshview.runtime.database.query import ask
from freshview.runtime.database.state import State
from freshview.sql.statements import (
    Assignments,
    Delete,
    Insert,
    Merge,
    MergeClause,
    RowChange,
    Update,
)
from freshview.sql.terms import (
    And,
    From,
    IsTruth,
    Item,
    Join,
    Literal,
    Name,
    Not,
    Scalar,
    Select,
    Star,
    Table,
    Values,
)

_NUMBERS = ("int", "decimal", "double")
_MOMENTS = ("date", "timestamp")


@dataclass
class RowDelta:
    """What a statement does to the rows of one relation."""

    relation: Relation
    changes: Counter[Row]
    """How often each row comes, or goes if it is negative."""
    affected: int
    """How many rows were inserted, updated or deleted."""


def row_delta(state: State, statement: RowChange) -> RowDelta:
    """What a statement changes, as of now; whoever calls has the lock of the database."""
    match statement:
        case Insert():
            return _insert(state, statement)
        case Delete(table, where):
            target = _Target.of(state, table, statement.at)
            gone = target.rows(where)
            return target.delta(gone, Counter())
        case Update(table, assignments, where):
            target = _Target.of(state, table, statement.at)
            return target.delta(*target.updated((table,), where, assignments))
        case Merge():
            return _merge(state, statement)


@dataclass(frozen=True)
class _Target:
    """The relation that a statement changes."""

    state: State
    relation: Relation
    table: Table
    at: Place

    @staticmethod
    def of(state: State, table: Table, at: Place) -> _Target:
        relation = relation_of(state, table.name, at)
        return _Target(state, relation, table, at)

    def rows(self, where: Scalar | None, source: From | None = None) -> Counter[Row]:
        """The rows for which a condition holds."""
        return ask(self.state, self._select((), where, (source or self.table,)), ()).counts

    def _select(
        self, values: Iterable[Scalar], where: Scalar | None, sources: tuple[From, ...]
    ) -> Select:
        """The columns of the table, and values beside them."""
        items: tuple[Item | Star, ...] = (
            Star(self.table.alias, at=self.at),
            *(Item(e, at=self.at) for e in values),
        )
        return Select(items, sources, where, at=self.at)

    def updated(
        self, sources: tuple[From, ...], where: Scalar | None, assignments: Assignments
    ) -> tuple[Counter[Row], Counter[Row]]:
        """The rows that an UPDATE takes away, and those that it puts in their places."""
        places = places_of(self.relation, [name for name, _ in assignments], self.at)
        values = with_defaults([e for _, e in assignments], self.relation, places)
        answer = ask(self.state, self._select(values, where, sources))
        width = len(self.relation.columns)
        types = [c.type for c in answer.columns[width:]]
        stored = _stores(self.relation, places, types, self.at)
        gone: Counter[Row] = Counter()
        come: Counter[Row] = Counter()
        for row, count in answer.counts.items():
            new = list(row[:width])
            for i, store, value in zip(places, stored, row[width:], strict=True):
                new[i] = store(value)
            gone[row[:width]] += count
            come[tuple(new)] += count
        return gone, come

    def delta(self, gone: Counter[Row], come: Counter[Row]) -> RowDelta:
        """The change that takes rows away and puts others there."""
        changes = Counter(come)
        changes.subtract(gone)
        changes = Counter({row: n for row, n in changes.items() if n})
        return RowDelta(self.relation, changes, max(gone.total(), come.total()))


def relation_of(state: State, name: str, at: Place) -> Relation:
    """The relation of a name; a view is none."""
    name = state.catalog.declared_as(name)
    if name.lower() in state.catalog.views:
        raise BadRow(f"'{name}' is a view", instead="change the streams that it reads", at=at)
    try:
        return state.catalog.relation(name)
    except UnknownName as problem:
        raise problem.located(at) from None


def places_of(relation: Relation, names: Sequence[str], at: Place) -> list[int]:
    """Where columns of these names stand."""
    known = [c.name.lower() for c in relation.columns]
    places: list[int] = []
    for name in names:
        if name.lower() not in known:
            raise UnknownName(
                f"'{relation.name}' has no column '{name}'",
                instead=f"its columns are {', '.join(c.name for c in relation.columns)}",
                at=at,
            )
        places.append(known.index(name.lower()))
        if places.count(places[-1]) > 1:
            raise BadRow(f"the column '{name}' is given twice", instead="name it once", at=at)
    return places


class _Store:
    """Values of a type as those of a column, as far as Spark's ANSI mode lets them be stored."""

    def __init__(self, column: Column, source: Type, at: Place) -> None:
        to = column.type
        same = source.kind in (to.kind, "null") or to.kind == "string"
        alike = any(source.kind in family and to.kind in family for family in (_NUMBERS, _MOMENTS))
        if not (same or alike):
            kinds = to.kind.upper(), source.kind.upper()
            raise TypeProblem(
                f"the column '{column.name}' is {kinds[0]}, and cannot hold {kinds[1]}",
                instead=f"write CAST(... AS {to.kind.upper()})",
                at=at,
            )
        self._cast = CASTS.get(to.kind) if source.kind != to.kind or source != to else None
        self._size = column.size
        self._shape: tuple[object, ...] = ()
        if to.kind == "decimal":
            self._shape = (MOST_DIGITS, Decimal(0).scaleb(-to.scale))

    def __call__(self, value: Value) -> Value:
        """The value as it is stored."""
        if value is not None and self._cast is not None:
            value = self._cast(value, *self._shape)
        if isinstance(value, str) and 0 < self._size < len(value):
            value = value[: self._size] + value[self._size :].rstrip(" ")  # as Spark stores it
        return value


def _insert(state: State, statement: Insert) -> RowDelta:
    relation = relation_of(state, statement.table, statement.at)
    columns = statement.columns or [c.name for c in relation.columns]
    places = places_of(relation, columns, statement.at)
    rows: list[Row] = []
    constants, query = _constants(filled(statement.query, relation, places))
    for row in constants:
        types = [literal.type for literal in row]
        stored = _stores(relation, places, types, statement.at)
        values = tuple(literal.value for literal in row)
        rows.append(_placed(values, places, stored, relation))
    for part in _parts(query) if query else ():
        answer = ask(state, part)
        types = [c.type for c in answer.columns]
        stored = _stores(relation, places, types, statement.at)
        rows += [_placed(row, places, stored, relation) for row in answer.rows]
    target = _Target(state, relation, Table(relation.name, relation.name), statement.at)
    gone = target.rows(None) if statement.overwrite else Counter[Row]()
    delta = target.delta(gone, Counter(rows))
    return replace(delta, affected=len(rows))


def _stores(
    relation: Relation, places: Sequence[int], types: Sequence[Type], at: Place
) -> list[_Store]:
    """How values of these types are stored in columns."""
    if len(types) != len(places):
        raise BadRow(
            f"{len(places)} columns of '{relation.name}' get {len(types)} values",
            instead="give every column one",
            at=at,
        )
    return [_Store(relation.columns[i], t, at) for i, t in zip(places, types, strict=True)]


def _placed(row: Row, places: list[int], stored: list[_Store], relation: Relation) -> Row:
    """A row with its values in their places; the others are the defaults of their columns."""
    defaults = dict(relation.defaults)
    whole = [defaults.get(c.name) for c in relation.columns]
    for i, store, value in zip(places, stored, row, strict=True):
        whole[i] = store(value)
    return tuple(whole)


MOST_AT_ONCE = 50
"""Rows of VALUES that are computed by one query."""


def _constants(query: Select) -> tuple[list[list[Literal]], Select | None]:
    """The rows of VALUES that are written as they are stored, and a query for the others."""
    values = _values(query)
    if values is None:
        return [], query
    constants: list[list[Literal]] = []
    computed: list[tuple[Scalar, ...]] = []
    for row in values.rows:
        literals = [e for e in row if isinstance(e, Literal)]
        if len(literals) == len(row):
            constants.append(literals)
        else:
            computed.append(row)
    rest = replace(query, sources=(replace(values, rows=tuple(computed)),))
    return constants, rest if computed else None


def _values(query: Select) -> Values | None:
    """The VALUES that are all there is to a query."""
    match query:
        case Select(items=(Star(table=None, without=()),), sources=(Values() as values,)):
            return values if query == Select(query.items, (values,)) else None
    return None


def _parts(query: Select) -> Iterator[Select]:
    """A query in parts: rows of VALUES some at a time, as a term of all would be large."""
    values = _values(query)
    rows = values.rows if values else ()
    if values is None or len(rows) <= MOST_AT_ONCE:
        yield query
        return
    for i in range(0, len(rows), MOST_AT_ONCE):
        yield replace(query, sources=(replace(values, rows=rows[i : i + MOST_AT_ONCE]),))


def _merge(state: State, statement: Merge) -> RowDelta:
    target = _Target.of(state, statement.table, statement.at)
    gone: Counter[Row] = Counter()
    come: Counter[Row] = Counter()
    inserted: Counter[Row] = Counter()
    for clause, where in _in_turn(statement.clauses):
        if clause.action == "insert":
            inserted += _inserted(target, statement, clause, where)
        else:
            out, new = _touched(target, statement, clause, where)
            gone, come = gone + out, come + new
    _refuse_several(target, statement, gone)
    delta = target.delta(gone, come + inserted)
    return replace(delta, affected=gone.total() + inserted.total())


def _in_turn(clauses: Iterable[MergeClause]) -> Iterator[tuple[MergeClause, Scalar | None]]:
    """Every clause with its whole condition: a row is for the first one that takes it."""
    before: dict[str, list[Scalar]] = {}
    done: set[str] = set()
    for clause in clauses:
        if clause.rows in done:
            continue
        own = () if clause.when is None else (clause.when,)
        earlier = before.setdefault(clause.rows, [])
        tests = (*(Not(IsTruth(e, True, clause.at), clause.at) for e in earlier), *own)
        yield clause, And(tests, clause.at) if len(tests) > 1 else (*tests, None)[0]
        if clause.when is None:
            done.add(clause.rows)
        else:
            earlier.append(clause.when)


def _touched(
    target: _Target, statement: Merge, clause: MergeClause, where: Scalar | None
) -> tuple[Counter[Row], Counter[Row]]:
    """The rows of the table that a clause takes away, and those that it puts in their places."""
    pairs = Join("inner", statement.table, statement.source, statement.on, at=clause.at)
    if clause.rows == "unmatched":
        pairs = replace(pairs, kind="anti")
    if clause.action == "delete":
        if len(statement.clauses) == 1 and clause.when is None and clause.rows == "matched":
            pairs = replace(pairs, kind="semi")
        return target.rows(where, pairs), Counter()
    assignments = clause.assignments
    if assignments is None:
        assignments = _by_name(target, statement, clause)
    return target.updated((pairs,), where, assignments)


def _by_name(target: _Target, statement: Merge, clause: MergeClause) -> Assignments:
    """`*`: every column of the table gets that of its name in the source."""
    alias = _alias(statement.source, clause.at)
    names = (c.name for c in target.relation.columns)
    return tuple((name, Name(name, alias, clause.at)) for name in names)


def _alias(source: From, at: Place) -> str:
    alias: str = getattr(source, "alias", "")
    if not alias or alias.startswith("#"):
        raise BadRow("the source of this MERGE has no name", instead="name it with AS", at=at)
    return alias


def _inserted(
    target: _Target, statement: Merge, clause: MergeClause, where: Scalar | None
) -> Counter[Row]:
    """The rows that a clause inserts, of those in the source that match none."""
    assignments = clause.assignments
    if assignments is None:
        assignments = _by_name(target, statement, clause)
    new = Join("anti", statement.source, statement.table, statement.on, at=clause.at)
    columns = tuple(name for name, _ in assignments)
    places = places_of(target.relation, columns, clause.at)
    values = with_defaults([e for _, e in assignments], target.relation, places)
    query = Select(tuple(Item(e, at=clause.at) for e in values), (new,), where, at=clause.at)
    return _insert(target.state, Insert(target.relation.name, columns, query, at=clause.at)).changes


def _refuse_several(target: _Target, statement: Merge, gone: Mapping[Row, int]) -> None:
    """One row is changed once: several rows of the source may not each change it."""
    if not gone:
        return
    matched = Join("semi", statement.table, statement.source, statement.on, at=statement.at)
    there = target.rows(None, matched)
    there += target.rows(None, replace(matched, kind="anti"))
    for row, count in gone.items():
        if count > there[row]:
            raise BadRow(
                f"several rows of the source change {row!r} of '{target.relation.name}'",
                instead="let the source have one row for each",
                at=statement.at,
            )
