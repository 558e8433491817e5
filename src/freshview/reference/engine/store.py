"""Where rows are kept: a dictionary, and hash indexes that follow it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from operator import itemgetter
from typing import Any, TypeAlias

from freshview.algebra import Number
from freshview.calculus.domain import limit
from freshview.calculus.rows import Row
from freshview.calculus.schema import Column
from freshview.calculus.types import Type, Value
from freshview.errors import UnknownName
from freshview.reference.values import plus

Positions: TypeAlias = tuple[int, ...]
Bound: TypeAlias = int | Decimal
Undo: TypeAlias = Callable[[], None]


def picker(positions: Sequence[int]) -> Callable[[Sequence[Value]], Row]:
    """A function that takes the items at these positions, as a tuple.

    >>> picker((2, 0))("abc"), picker((1,))("abc"), picker(())("abc")
    (('c', 'a'), ('b',), ())
    """
    if not positions:
        return lambda items: ()
    if len(positions) == 1:
        only = positions[0]
        return lambda items: (items[only],)
    return itemgetter(*positions)


class Journal:
    """What was done since the last commit, so that it can be undone."""

    def __init__(self) -> None:
        self.entries: list[tuple[Store, Row, Number]] = []
        self.undos: list[Undo] = []

    def commit(self) -> None:
        """What was done stays."""
        self.entries.clear()
        self.undos.clear()

    def rollback(self) -> None:
        """Everything is as it was at the last commit."""
        entries, undos = self.entries[::-1], self.undos[::-1]
        for store, row, old in entries:
            store.put(row, old)
        for undo in undos:
            undo()
        self.commit()


@dataclass(frozen=True)
class Bounds:
    """What the numbers of a map stay below: its payload, and the keys at some positions."""

    payload: Bound | None
    keys: tuple[tuple[int, Bound], ...] = ()

    @classmethod
    def of(
        cls,
        keys: Sequence[Column],
        payload: Type,
        below: Callable[[Type], Bound | None] = limit,
    ) -> Bounds:
        """The bounds of the types: those of the domain, unless another engine has its own."""
        known = [(i, below(c.type)) for i, c in enumerate(keys)]
        return cls(below(payload), tuple((i, bound) for i, bound in known if bound is not None))

    def holds(self, row: Row, m: Number) -> bool:
        """Whether a row and its number are within them."""
        bound = self.payload
        if bound is not None and not -bound < m < bound:
            return False
        for i, bound in self.keys:
            value: Any = row[i]
            if value is not None and not -bound < value < bound:
                return False
        return True


class Store:
    """The rows of one map or relation; a row whose number is zero is not there.

    `rows` and the indexes stay the same objects for life, so compiled terms may hold on to them.
    With `bounds`, `outside` are the rows that no other engine could hold.

    >>> store = Store({(1, 2): 5, (1, 3): 6})
    >>> store.index((0,))
    {(1,): {(1, 2): 5, (1, 3): 6}}
    >>> store.add((1, 2), -5)
    >>> store.rows, store.index((0,))
    ({(1, 3): 6}, {(1,): {(1, 3): 6}})
    """

    __slots__ = ("bounds", "indexes", "journal", "outside", "rows", "watchers")

    def __init__(
        self,
        rows: Mapping[Row, Number] | None = None,
        journal: Journal | None = None,
        bounds: Bounds | None = None,
    ):
        self.bounds = bounds
        self.outside: set[Row] = set()
        self.rows: dict[Row, Number] = dict(rows or {})
        self.indexes: dict[
            Positions, tuple[Callable[[Row], Row], dict[Row, dict[Row, Number]]]
        ] = {}
        self.journal = journal
        self.watchers: list[Callable[[Row], None]] = []
        """Called with a row before its number changes."""

    def index(self, positions: Positions) -> dict[Row, dict[Row, Number]]:
        """The rows grouped by the values at these positions; made when first asked for."""
        if positions not in self.indexes:
            pick = picker(positions)
            groups: dict[Row, dict[Row, Number]] = {}
            for row, m in self.rows.items():
                groups.setdefault(pick(row), {})[row] = m
            self.indexes[positions] = pick, groups
        return self.indexes[positions][1]

    def put(self, row: Row, m: Number) -> None:
        """Set the number of a row; zero takes the row away."""
        for watcher in self.watchers:
            watcher(row)
        if self.journal is not None:
            self.journal.entries.append((self, row, self.rows.get(row, 0)))
        if self.bounds is not None:
            if m and not self.bounds.holds(row, m):
                self.outside.add(row)
            elif self.outside:
                self.outside.discard(row)
        if m:
            self.rows[row] = m
            for pick, groups in self.indexes.values():
                groups.setdefault(pick(row), {})[row] = m
        elif row in self.rows:
            del self.rows[row]
            for pick, groups in self.indexes.values():
                key = pick(row)
                group = groups[key]
                del group[row]
                if not group:
                    del groups[key]

    def add(self, row: Row, m: Number) -> None:
        """Add to the number of a row."""
        self.put(row, plus(self.rows.get(row, 0), m))

    def replace(self, rows: Mapping[Row, Number], within: tuple[Positions, Row] = ((), ())) -> None:
        """Make `rows` the contents, or the contents of one slice: positions, and values there."""
        positions, values = within
        old = self.index(positions).get(values, {}) if positions else self.rows
        for row in [row for row in old if row not in rows]:
            self.put(row, 0)
        for row, m in rows.items():
            if self.rows.get(row, 0) != m:
                self.put(row, m)


class Cache:
    """A view cache: one store for every valuation of its inputs that was asked for."""

    def __init__(self, journal: Journal | None = None) -> None:
        self.stores: dict[Row, Store] = {}
        self.fill: Callable[[Row], Mapping[Row, Number]] | None = None
        self.journal = journal

    def at(self, inputs: Row) -> Store:
        """The copy for these inputs, computed if it is new."""
        store = self.stores.get(inputs)
        if store is None:
            assert self.fill is not None, "a cache is filled by its program"
            store = self.set(inputs, self.fill(inputs))
            if self.journal is not None:
                self.journal.undos.append(lambda: self.drop(inputs))
        return store

    def set(self, inputs: Row, rows: Mapping[Row, Number]) -> Store:
        """Keep these rows as the copy for these inputs."""
        self.stores[inputs] = Store(rows, self.journal)
        return self.stores[inputs]

    def drop(self, inputs: Row) -> None:
        """Forget the copy for these inputs."""
        self.stores.pop(inputs, None)


@dataclass(frozen=True)
class Stores:
    """Everything that a compiled term may read, by name."""

    relations: dict[str, Store] = field(default_factory=dict)
    deltas: dict[str, Store] = field(default_factory=dict)
    maps: dict[str, Store] = field(default_factory=dict)
    caches: dict[str, Cache] = field(default_factory=dict)

    def relation(self, name: str) -> Store:
        """A relation that is kept."""
        if name not in self.relations:
            raise UnknownName(
                f"relation '{name}' is not stored", instead="declare it static, or read a map of it"
            )
        return self.relations[name]

    def delta(self, name: str) -> Store:
        """The batch of a relation; empty while none is applied."""
        return self.deltas.setdefault(name, Store())

    def map(self, name: str) -> Store:
        """A map."""
        if name not in self.maps:
            raise UnknownName(f"there is no map '{name}'", instead="declare it")
        return self.maps[name]

    def cache(self, name: str) -> Cache:
        """A view cache."""
        if name not in self.caches:
            raise UnknownName(f"there is no view cache '{name}'", instead="declare it")
        return self.caches[name]
