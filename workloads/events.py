"""Seeded random streams of inserts and deletes over relations with bounded live rows.

A test of incremental maintenance is only as good as its deletes. So the stream deletes parents
as readily as children, brings keys back after they were gone, re-inserts a very row it deleted,
mixes many relations in one batch and only one in the next, and now and then deletes what the
same batch inserted. What it never does is delete a row that is not live or break a primary key.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from itertools import count
from random import Random
from typing import TypeAlias, TypeVar

Value: TypeAlias = int | Decimal | float | date | datetime | bool | str | None
Row: TypeAlias = tuple[Value, ...]
Event: TypeAlias = tuple[str, Row, int]
Batch: TypeAlias = list[Event]
Tables: TypeAlias = dict[str, list[Row]]
Sizes: TypeAlias = Callable[[Random], int]

T = TypeVar("T")

_TRIES = 24  # draws that may hit a live key before the stream deletes instead
_REVIVE = 0.1  # share of inserts that bring back a deleted row unchanged
_SPARE = 6  # times a delete looks for an older row than one of its own batch
_UNDO = 0.02  # share of deletes that take the newest row, often one of the same batch


@dataclass(slots=True)
class Pool:
    """The live rows of one relation, with what a row source may ask of them.

    Rows stay where they were put until the last one moves into a freed slot, so a skewed pick
    keeps returning to the same rows: the hot keys of the stream are stable, but not for ever.
    """

    cap: int
    key: tuple[int, ...] = ()
    rows: list[Row] = field(default_factory=list)
    born: list[int] = field(default_factory=list)  # the batch each row came in
    gone: deque[Row] = field(default_factory=lambda: deque(maxlen=64))
    by_key: dict[Row, Row] = field(default_factory=dict)

    def key_of(self, row: Row) -> Row:
        """Return the row's primary key; empty for a relation that may hold duplicates."""
        return tuple(row[i] for i in self.key)

    def admits(self, row: Row) -> bool:
        """Whether inserting the row keeps the primary key unique."""
        return not self.key or self.key_of(row) not in self.by_key

    def find(self, *key: Value) -> Row | None:
        """Find the live row with this primary key."""
        return self.by_key.get(key)

    def add(self, row: Row, batch: int) -> None:
        """Make a row live."""
        self.rows.append(row)
        self.born.append(batch)
        if self.key:
            self.by_key[self.key_of(row)] = row

    def take(self, at: int) -> Row:
        """Remove and return the row at a position."""
        row, last, born = self.rows[at], self.rows.pop(), self.born.pop()
        if at < len(self.rows):
            self.rows[at], self.born[at] = last, born
        if self.key:
            del self.by_key[self.key_of(row)]
        self.gone.append(row)
        return row

    def pick(self, rng: Random, skew: float = 2.0) -> Row | None:
        """Choose a live row, the early ones more often; `skew` 1 is uniform."""
        return self.rows[int(len(self.rows) * rng.random() ** skew)] if self.rows else None

    def domain(self, spread: float = 1.5) -> int:
        """How many keys to draw from: enough to stay sparse, few enough that keys come back."""
        return max(8, math.ceil(self.cap * spread))


Pools: TypeAlias = Mapping[str, Pool]
Draw: TypeAlias = Callable[[Random, Pools], Row]


@dataclass(frozen=True, slots=True)
class Relation:
    """A stream relation: how to draw its next row, and what is its key.

    `share` is its part of the live rows the stream may hold; `pace` below 1 makes its rows live
    longer than those of the others, as parents do.
    """

    name: str
    draw: Draw
    key: tuple[int, ...] = ()
    share: float = 1.0
    pace: float = 1.0

    @property
    def weight(self) -> float:
        """How often the relation changes."""
        return self.share * self.pace


def log_uniform(max_size: int) -> Sizes:
    """Batch sizes from 1 to `max_size`, every order of magnitude equally often."""
    top = math.log(max_size + 1)
    return lambda rng: min(max_size, int(math.exp(rng.random() * top)))


def weighted(rng: Random, choices: Mapping[T, float]) -> T:
    """Choose one of the keys, as often as its weight says."""
    return rng.choices(list(choices), weights=list(choices.values()))[0]


def money(cents: int) -> Decimal:
    """Make an exact decimal of scale 2."""
    return Decimal(cents).scaleb(-2)


def stream(
    relations: Sequence[Relation],
    *,
    seed: int = 0,
    batches: int | None = 30,
    sizes: Sizes | None = None,
    live: int = 500,
) -> Iterator[Batch]:
    """Batches of events; `None` batches never end.

    `live` bounds the live rows of each relation (a relation's `share` may lower its bound). The
    more of it is used up, the more deletes come, until they balance the inserts.
    """
    rng = Random(seed)
    draw_size = sizes or log_uniform(1000)
    pools = {r.name: Pool(max(4, round(live * r.share)), r.key) for r in relations}
    for batch in count() if batches is None else range(batches):
        size, chosen = draw_size(rng), _choose_relations(rng, relations)
        if sum(len(p.rows) for p in pools.values()) < 0.5 * sum(p.cap for p in pools.values()):
            size, chosen = max(size, draw_size(rng), draw_size(rng)), relations  # views fill soon
        elif size > sum(pools[r.name].cap for r in chosen):
            chosen = relations  # or the batch would mostly delete its own rows
        lean = rng.choice((0.0, 0.0, 0.0, 0.25, -0.25))
        turns = rng.choices(chosen, [r.weight for r in chosen], k=size)
        yield [_next_event(rng, r, pools, batch, lean) for r in turns]


def _choose_relations(rng: Random, relations: Sequence[Relation]) -> Sequence[Relation]:
    """Choose the relations of one batch: often all, sometimes a few, sometimes one."""
    mood = rng.random()
    if mood < 0.55:
        return relations
    if mood < 0.8:
        return rng.sample(relations, k=min(len(relations), rng.randint(2, 3)))
    return rng.choices(relations, weights=[r.weight for r in relations])


def _next_event(rng: Random, relation: Relation, pools: Pools, batch: int, lean: float) -> Event:
    """Insert or delete; the fuller the pool, the likelier a delete."""
    pool = pools[relation.name]
    filled = len(pool.rows) / pool.cap
    if filled < 1 and (not pool.rows or rng.random() >= 0.08 + (0.42 + lean) * filled):
        row = _next_row(rng, relation, pools)
        if row is not None:
            pool.add(row, batch)
            return relation.name, row, 1
    return relation.name, pool.take(_choose_victim(rng, pool, batch)), -1


def _choose_victim(rng: Random, pool: Pool, batch: int) -> int:
    """Choose any live row to delete, but seldom one that this batch inserted."""
    if rng.random() < _UNDO:
        return len(pool.rows) - 1
    at = rng.randrange(len(pool.rows))
    for _ in range(_SPARE):
        if pool.born[at] != batch:
            break
        at = rng.randrange(len(pool.rows))
    return at


def _next_row(rng: Random, relation: Relation, pools: Pools) -> Row | None:
    """Draw a row whose key is free, or None when the source keeps hitting live keys."""
    pool = pools[relation.name]
    if pool.gone and rng.random() < _REVIVE:
        row = rng.choice(pool.gone)
        if pool.admits(row):
            return row
    for _ in range(_TRIES):
        row = relation.draw(rng, pools)
        if pool.admits(row):
            return row
    return None
