"""Tables as Python has them: records by key, hash indexes, and searches in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from freshview.calculus.types import Value
from freshview.codegen.layout.terms import Columns, Sorts, Table
from freshview.codegen.loops.interpret.values import Row
from freshview.codegen.loops.parts import SortKey

Key: TypeAlias = tuple[Value, ...]


class Records:
    """The records of a table; one whose payloads are all zero is not there.

    >>> from freshview.calculus.types import INT
    >>> records = Records(Table("m", (INT, INT), (INT,), indexes=((1,),)))
    >>> record = records.at((1, 7))
    >>> record.payloads[0] += 5
    >>> records.drop_if_empty(record)
    >>> [r.values for r in records.slice((1,), (7,))]
    [(1, 7)]
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.records: dict[Key, Row] = {}
        self.slices: dict[Columns, dict[Key, dict[Key, Row]]] = {c: {} for c in table.indexes}
        self.journal: dict[Key, Row] = {}
        """Records as they were before they changed, where somebody asks for them."""

    def __iter__(self) -> Iterable[Row]:
        return iter(self.records.values())

    def get(self, keys: Key) -> Row | None:
        """The record with these values in the columns by which records are found."""
        return self.records.get(keys)

    def at(self, keys: Key) -> Row:
        """The record with these keys, made if it is not there."""
        lookup_key = self._lookup(keys)
        record = self.records.get(lookup_key)
        if record is None:
            record = self.records[lookup_key] = Row(keys, [0] * len(self.table.payloads))
            for columns, groups in self.slices.items():
                groups.setdefault(_at(keys, columns), {})[lookup_key] = record
        self._note(lookup_key, record)
        return record

    def _note(self, lookup_key: Key, record: Row) -> None:
        if self.table.journal and lookup_key not in self.journal:
            self.journal[lookup_key] = Row(record.values, [*record.payloads])

    def as_they_were(self) -> list[Row]:
        """The records that have changed, as they were; a new one had zeros."""
        return [*self.journal.values()]

    def as_they_are(self) -> list[Row]:
        """The records that have changed, as they are; from now on none of them has."""
        changed, self.journal = self.journal, {}
        return [self.records[key] for key in changed if key in self.records]

    def drop_if_empty(self, record: Row) -> None:
        """Drop a record that nothing is left of."""
        if any(record.payloads):
            return
        lookup_key = self._lookup(record.values)
        if self.records.pop(lookup_key, None) is None:
            return
        for columns, groups in self.slices.items():
            group = groups[_at(record.values, columns)]
            del group[lookup_key]
            if not group:
                del groups[_at(record.values, columns)]

    def slice(self, columns: Columns, keys: Key) -> Iterable[Row]:
        """The records with these values in some key columns."""
        return self.slices[columns].get(keys, {}).values()

    def clear(self) -> None:
        """No record is left."""
        for lookup_key, record in self.records.items():
            self._note(lookup_key, record)
        self.records.clear()
        for groups in self.slices.values():
            groups.clear()

    def copy(self) -> Records:
        """The same records, apart from these."""
        copied = Records(self.table)
        for record in self.records.values():
            copied.at(record.values).payloads[:] = record.payloads
        copied.journal = {key: Row(r.values, [*r.payloads]) for key, r in self.journal.items()}
        return copied

    def entries(self, sorts: Sorts, known: Mapping[int, Value]) -> list[Row]:
        """The entries of an ordered index that have the known values, in its order.

        Records that agree in all the columns of the index are one entry: their payloads add up.
        """
        columns = tuple(s.column for s in sorts)
        entries: dict[Key, Row] = {}
        for record in self.records.values():
            if all(same(record.values[i], x) for i, x in known.items()):
                entry = entries.setdefault(
                    _at(record.values, columns), Row(record.values, [0] * len(record.payloads))
                )
                for j, payload in enumerate(record.payloads):
                    entry.payloads[j] = entry.payloads[j] + payload
        out = [entry for entry in entries.values() if any(entry.payloads)]
        for s in reversed(sorts):
            out.sort(key=lambda r: null_smallest(r.values[s.column]), reverse=s.falling)
        return out

    def _lookup(self, keys: Key) -> Key:
        return keys if self.table.determining is None else _at(keys, self.table.determining)


def same(a: Value, b: Value) -> bool:
    """Whether two values are one key: what is not a number is equal to itself."""
    return bool(a is b or a == b)


def null_smallest(x: Value) -> tuple[int, Value]:
    """What values of a column sort by: NULL is the smallest, what is not a number the largest."""
    if x is None:
        return 0, 0
    return (1, x) if x == x else (2, 0)


def arranged(rows: Iterable[Row], order: Sequence[SortKey]) -> list[Row]:
    """Rows in an order.

    >>> rows = [Row((x,), []) for x in (1, None, 2)]
    >>> [r.values[0] for r in arranged(rows, (SortKey(0, descending=True),))]
    [2, 1, None]
    """
    out = list(rows)
    for o in reversed(order):
        nulls = [r for r in out if r.values[o.column] is None]
        there = [r for r in out if r.values[o.column] is not None]
        there.sort(key=lambda r: null_smallest(r.values[o.column]), reverse=o.descending)
        out = nulls + there if o.nulls_first else there + nulls
    return out


def _at(values: Key, columns: Columns) -> Key:
    return tuple([values[i] for i in columns])
