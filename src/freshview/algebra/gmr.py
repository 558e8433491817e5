"""Generalized multiset relations: finite maps from rows to ring payloads (DBToaster 2014, 3.1)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Generic, TypeAlias, TypeVar

from freshview.algebra.ring import Ring

T = TypeVar("T")
Row: TypeAlias = tuple[Hashable, ...]


class Gmr(Generic[T]):
    """Rows over a schema with a payload each; a row whose payload is zero is not there.

    Relations over one ring form a ring themselves: + is union, * is natural join.

    >>> from freshview.algebra.numeric import INTEGERS
    >>> r = Gmr(INTEGERS, ("a", "b"), {(1, 2): 1, (1, 3): 2})
    >>> r.sum(("a",)).rows
    {(1,): 3}
    >>> (r + -r).rows
    {}
    """

    __slots__ = ("ring", "rows", "schema")

    def __init__(
        self, ring: Ring[T], schema: tuple[str, ...], rows: Mapping[Row, T] | None = None
    ) -> None:
        self.ring = ring
        self.schema = schema
        self.rows: dict[Row, T] = {}
        for row, payload in (rows or {}).items():
            self.insert(row, payload)

    @classmethod
    def of(cls, ring: Ring[T], schema: tuple[str, ...], rows: Iterable[Row]) -> Gmr[T]:
        """A multiset: each row counts once as often as it is listed."""
        out = cls(ring, schema)
        for row in rows:
            out.insert(row, ring.one)
        return out

    def insert(self, row: Row, payload: T) -> None:
        """Add a payload to a row, in place; the row goes when the payload becomes zero."""
        old = self.rows.get(row)
        new = payload if old is None else self.ring.add(old, payload)
        if self.ring.is_zero(new):
            self.rows.pop(row, None)
        else:
            self.rows[row] = new

    def __getitem__(self, row: Row) -> T:
        return self.rows.get(row, self.ring.zero)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[Row, T]]:
        return iter(self.rows.items())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Gmr):
            return NotImplemented
        return self.rows == other.aligned(self.schema).rows

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        return f"Gmr({self.schema}, {self.rows})"

    def aligned(self, schema: tuple[str, ...]) -> Gmr[T]:
        """The same relation with its columns in another order."""
        if schema == self.schema:
            return self
        at = [self.schema.index(column) for column in schema]
        return Gmr(self.ring, schema, {tuple(row[i] for i in at): p for row, p in self})

    def __add__(self, other: Gmr[T]) -> Gmr[T]:
        out = Gmr(self.ring, self.schema, self.rows)
        for row, payload in other.aligned(self.schema):
            out.insert(row, payload)
        return out

    def __neg__(self) -> Gmr[T]:
        return Gmr(self.ring, self.schema, {row: self.ring.neg(p) for row, p in self})

    def __mul__(self, other: Gmr[T]) -> Gmr[T]:
        common = [c for c in other.schema if c in self.schema]
        extra = [i for i, c in enumerate(other.schema) if c not in self.schema]
        mine = [self.schema.index(c) for c in common]
        theirs = [other.schema.index(c) for c in common]
        index: dict[Row, list[tuple[Row, T]]] = {}
        for row, payload in other:
            rest = tuple(row[i] for i in extra)
            index.setdefault(tuple(row[i] for i in theirs), []).append((rest, payload))
        out = Gmr(self.ring, self.schema + tuple(other.schema[i] for i in extra))
        for row, payload in self:
            for rest, factor in index.get(tuple(row[i] for i in mine), ()):
                out.insert(row + rest, self.ring.mul(payload, factor))
        return out

    def sum(self, keys: tuple[str, ...]) -> Gmr[T]:
        """Group by `keys` and add up the payloads: Sum_keys."""
        at = [self.schema.index(column) for column in keys]
        out = Gmr(self.ring, keys)
        for row, payload in self:
            out.insert(tuple(row[i] for i in at), payload)
        return out
