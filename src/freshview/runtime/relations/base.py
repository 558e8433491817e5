"""The rows of a base relation as they stand, and what may be done to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from freshview.calculus.domain import is_int
from freshview.calculus.rows import Row
from freshview.calculus.schema import Relation
from freshview.calculus.types import Value
from freshview.codegen.library.load import Instance
from freshview.errors import BadRow
from freshview.runtime.ingest.change import Change
from freshview.runtime.ingest.consolidate import show_row, too_often


class Base:
    """A base relation: its rows, how often each is there, and which row has which key."""

    def __init__(self, relation: Relation, *, stays: bool = False) -> None:
        self.relation = relation
        self.stays = stays
        """Whether no row store has room for the rows."""
        self.rows: dict[Row, int] = {}
        self._key = key_columns(relation)
        self._by_key: dict[Row, Row] = {}

    def check(self, change: Mapping[Row, int]) -> None:
        """Refuse a net change that deletes what is not there or gives a key a second row."""
        check_net(self.relation, change, lambda row: self.rows.get(row, 0), self._by_key.get)

    def apply(self, change: Mapping[Row, int]) -> None:
        """Take over a net change that was checked."""
        # Deletions first: the key of a replaced row must end up with the new one.
        for row, multiplicity in sorted(change.items(), key=lambda item: item[1]):
            count = self.rows.get(row, 0) + multiplicity
            if count:
                self.rows[row] = count
            else:
                del self.rows[row]
            if not self._key:
                continue
            if count:
                self._by_key[self._key_of(row)] = row
            else:
                del self._by_key[self._key_of(row)]

    def enter(self, change: Change) -> None:
        """Check a change and take it over; one that is refused leaves everything as it was."""
        net = change.net()
        self.check(net)
        self.apply(net)

    def leave(self, change: Change) -> None:
        """Take back a change that was entered."""
        self.apply({row: -count for row, count in change.net().items()})

    def rows_with(self, values: Mapping[int, Value]) -> dict[Row, int]:
        """The rows with these values by column, none of them NULL."""
        tests = values.items()
        return {row: n for row, n in self.rows.items() if all(row[i] == v for i, v in tests)}

    def fill(self, instance: Instance, index: int) -> None:
        """Give all the rows to a running kernel."""
        if self.rows:
            instance.apply_rows(index, list(self.rows), list(self.rows.values()))

    @property
    def size(self) -> int:
        """How many different rows there are."""
        return len(self.rows)

    def _key_of(self, row: Row) -> Row:
        return tuple(row[i] for i in self._key)


def key_columns(relation: Relation) -> list[int]:
    """Where the columns of the declared key stand."""
    key = {name.lower() for name in relation.key}
    return [i for i, c in enumerate(relation.columns) if c.name.lower() in key]


def check_net(
    relation: Relation,
    change: Mapping[Row, int],
    count_of: Callable[[Row], int],
    holder: Callable[[Row], Row | None],
) -> None:
    """Refuse a net change that deletes what is not there or gives a key a second row.

    `count_of` tells how often a row is there, `holder` which row has a key. The compilers may rely
    on declared keys, and a relation with fewer than no rows of a kind has no meaning in SQL; both
    would show only later, as a wrong view.
    """
    name = relation.name
    at = key_columns(relation)
    added: dict[Row, Row] = {}
    for row, multiplicity in change.items():
        count = count_of(row) + multiplicity
        if count < 0:
            raise not_held(name, row, -multiplicity)
        if not is_int(count):
            raise too_often(name, row)
        if not at or multiplicity < 0:
            continue
        key = tuple(row[i] for i in at)
        other = added.setdefault(key, row)
        old = holder(key)
        replaced = old is None or old == row or count_of(old) + change.get(old, 0) == 0
        if count > 1 or other != row or not replaced:
            raise two_rows(name, key)


def not_held(name: str, row: Row, times: int) -> BadRow:
    """The error about a deletion of what is not there."""
    return BadRow(
        f"'{name}' does not hold {show_row(row)}{_times(times)}",
        instead="delete only rows that were inserted",
    )


def two_rows(name: str, key: Row) -> BadRow:
    """The error about a second row for a declared key."""
    return BadRow(
        f"'{name}' would hold two rows with the key {show_row(key)}",
        instead="delete the old row in the same batch",
    )


def _times(count: int) -> str:
    return "" if count == 1 else f" {count} times"
