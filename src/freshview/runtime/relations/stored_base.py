"""The rows of a base relation, kept natively."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from freshview.calculus.rows import Row
from freshview.calculus.schema import Relation
from freshview.calculus.types import Value
from freshview.codegen.library.load import Instance, Kernel
from freshview.codegen.library.row_store import KEY_OF, ROW_OF, ROWS, row_kernel
from freshview.errors import NotAdmitted, Overflow
from freshview.runtime.ingest.change import Change
from freshview.runtime.relations.base import Base, check_net, key_columns

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    from freshview.runtime.ingest.lazy_imports import pa, pc


class StoredBase:
    """A base relation in a row store: the same calls and refusals as `base.Base`, but natively.

    The store takes a batch in one pass, and refuses what it would have to look at twice: rows that
    go before they come in a later piece of the batch, and large multiplicities. Such a batch, as
    any that is refused, is looked at again as a net change.
    """

    stays = True
    """Whether the rows have no better place to go."""

    def __init__(self, relation: Relation, library: Kernel) -> None:
        self.relation = relation
        self.instance: Instance = row_kernel(library, relation).open()

    def enter(self, change: Change) -> None:
        """Check a change and take it over; one that is refused leaves everything as it was."""
        try:
            change.apply(self.instance, 0)
        except NotAdmitted:
            net = change.net()
            check_net(self.relation, net, self.count, self._holder)
            self._apply(net, 1)

    def leave(self, change: Change) -> None:
        """Take back a change that was entered."""
        try:
            change.apply(self.instance, 0, back=True)
        except NotAdmitted:
            self._apply(change.net(), -1)

    def _apply(self, net: dict[Row, int], sign: int) -> None:
        try:
            self.instance.apply_rows(0, list(net), [sign * n for n in net.values()])
        except NotAdmitted as e:
            raise Overflow(
                f"'{self.relation.name}' holds a row more often than a kernel counts"
            ) from e

    def as_rows(self) -> Base:
        """The same relation in a dictionary, which has room for all that SQL admits."""
        out = Base(self.relation, stays=True)
        out.apply(self.rows)
        return out

    def fill(self, instance: Instance, index: int) -> None:
        """Give all the rows to a running kernel."""
        *columns, counts = pa.table(self.instance.map_arrow(ROWS)).columns
        rows = pa.Table.from_arrays(columns, [c.name for c in self.relation.columns])
        instance.apply_arrow(index, rows, counts.combine_chunks())

    @property
    def rows(self) -> dict[Row, int]:
        """The rows and how often each is there."""
        out: dict[Row, int] = {}
        for row, n in self.instance.read_rows(ROW_OF):
            out[row] = out.get(row, 0) + n
        return out

    @property
    def size(self) -> int:
        """How many rows there are; those that are there several times may count as one."""
        return self.instance.stats().sizes["rows"]

    def count(self, row: Row) -> int:
        """How often a row is there."""
        return sum(n for _, n in self.instance.find_rows(ROW_OF, row) or ())

    def rows_with(self, values: Mapping[int, Value]) -> dict[Row, int]:
        """The rows with these values by column, none of them NULL: by the key, or one by one."""
        key = key_columns(self.relation)
        if key and values.keys() >= set(key):
            holder = self._holder(tuple(values[i] for i in key))
            if holder is None or any(holder[i] != v for i, v in values.items()):
                return {}
            return {holder: 1}
        table = pa.table(self.instance.map_arrow(ROWS))
        for i, value in values.items():
            column = table.column(i)
            table = table.filter(pc.equal(column, pa.scalar(value, column.type)))
        *columns, counts = table.columns
        out: dict[Row, int] = {}
        rows = zip(*(c.to_pylist() for c in columns), strict=True)
        for row, n in zip(rows, counts.to_pylist(), strict=True):
            out[row] = out.get(row, 0) + n
        return out

    def _holder(self, key: Row) -> Row | None:
        """The row of a key."""
        return next((row for row, _ in self.instance.find_rows(KEY_OF, key) or ()), None)


class StatelessBase:
    """A base relation whose rows are not kept: changes pass, and nothing can be asked later."""

    stays = True

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self.size = 0

    def enter(self, change: Change) -> None:
        """Let a change pass."""

    def leave(self, change: Change) -> None:
        """Nothing was taken."""

    def fill(self, instance: Instance, index: int) -> None:
        """There is nothing to give."""

    @property
    def rows(self) -> dict[Row, int]:
        """None."""
        return {}


class WatermarkBase(StatelessBase):
    """The watermarks of streams: they pass, and engines that are filled anew do without them.

    What an engine has forgotten by them is what it can do without, so it may be filled with it.
    """


class FrozenBase:
    """The rows of another base as those of a static table, for a query that is asked once."""

    stays = True

    def __init__(self, source: Base | StoredBase) -> None:
        self.relation = replace(source.relation, static=True, time=None)
        self._source = source

    def enter(self, change: Change) -> None:
        """Refuse changes: nobody makes any while the query runs."""
        raise AssertionError(f"{change.relation.name} is frozen")

    leave = enter

    def fill(self, instance: Instance, index: int) -> None:
        """Give all the rows to a running kernel."""
        self._source.fill(instance, index)

    @property
    def rows(self) -> dict[Row, int]:
        """The rows and how often each is there."""
        return self._source.rows

    @property
    def size(self) -> int:
        """How many different rows there are."""
        return self._source.size


AnyBase: TypeAlias = Base | StoredBase | StatelessBase | FrozenBase


def moved(base: Base, store: Kernel) -> AnyBase:
    """The rows of a relation, moved into the row store; where it has no room, they stay."""
    stored = StoredBase(base.relation, store)
    try:
        base.fill(stored.instance, 0)
    except NotAdmitted:
        base.stays = True
        return base
    return stored


def is_lost(base: AnyBase) -> bool:
    """Whether the rows of a relation have passed, and no engine can be filled with them again."""
    return isinstance(base, StatelessBase) and not isinstance(base, WatermarkBase)
