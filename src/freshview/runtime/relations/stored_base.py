"""The rows of a base relation, kept by a kernel of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from freshview.calculus.build import const, mul, sum_
from freshview.calculus.rows import Row
from freshview.calculus.schema import Column, Query, Relation
from freshview.calculus.terms import Add, Cmp, Exists, Expr, Lift, Rel, Sum, Var
from freshview.calculus.types import INT
from freshview.codegen.library.load import Instance, Kernel
from freshview.errors import BadRow
from freshview.ivm.compile import compile_queries
from freshview.ivm.options import DeltaOptions
from freshview.program.terms import Program
from freshview.runtime.ingest.change import Change
from freshview.runtime.ingest.columns import rows_of
from freshview.runtime.relations.base import Base, not_held, two_rows

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    from freshview.runtime.ingest.lazy_imports import pa, pc


def base_program(relation: Relation) -> Program:
    """A program that keeps a relation as it is, and counts what is wrong with it.

    `rows` is the relation. `faults` counts rows that are there less than no times, and keys that
    are there more than once: 0 in every state that SQL knows.
    """
    stream = replace(relation, static=False, key=())
    vars = column_vars(relation)
    here = Rel(relation.name, vars)
    wrong: list[Expr] = [_count(here, Cmp("<", Var("few"), const(0)))]
    if relation.key:
        at = key_columns(relation)
        by_key = sum_(tuple(vars[i] for i in at), here)
        wrong.append(_count(by_key, Cmp(">", Var("many"), const(1))))
    faults = Lift("faults", wrong[0] if len(wrong) == 1 else Add(tuple(wrong)))
    queries = [
        Query("rows", relation.columns, vars, here),
        Query("faults", (Column("faults", INT),), ("faults",), faults),
    ]
    return compile_queries(queries, [stream], DeltaOptions(mode="tuple"))


def column_vars(relation: Relation) -> tuple[str, ...]:
    """The variables of the columns, in their order."""
    return tuple(f"c{i}" for i in range(len(relation.columns)))


def _count(term: Expr, test: Cmp) -> Expr:
    """How many rows of a term have a multiplicity that passes a test."""
    assert isinstance(test.left, Var)
    return Sum((), mul(Exists(term), Lift(test.left.name, term), test))


def key_columns(relation: Relation) -> list[int]:
    """Where the columns of the declared key stand."""
    key = {name.lower() for name in relation.key}
    return [i for i, c in enumerate(relation.columns) if c.name.lower() in key]


class StoredBase:
    """A base relation in a kernel: the same calls and refusals as `base.Base`, no row in Python."""

    def __init__(self, relation: Relation, kernel: Kernel, *, wide: bool = False) -> None:
        self.relation = relation
        self.kernel = kernel
        self.wide = wide
        self.instance: Instance = kernel.open()
        self._rows = kernel.query("rows")
        self._faults = kernel.query("faults")
        self._map = kernel.map("rows")
        keys = [c.name for c in kernel.maps[self._map].columns]
        # The keys of a map have an order of their own, by name: c10 stands before c2.
        self._places = [keys.index(name) for name in column_vars(relation)]

    def enter(self, change: Change) -> None:
        """Check a change and take it over; one that is refused leaves everything as it was."""
        change.apply(self.instance, 0)
        if (self.relation.key or not change.only_inserts) and self.faulty():
            self._refuse(change)

    def leave(self, change: Change) -> None:
        """Take back a change that was entered."""
        with self.instance.wrapping():
            change.apply(self.instance, 0, back=True)

    def as_rows(self) -> Base:
        """The same relation in a dictionary, which has room for all that SQL admits."""
        out = Base(self.relation, wide=True)
        out.apply(self.rows)
        return out

    def fill(self, instance: Instance, index: int) -> None:
        """Give all the rows to a running kernel."""
        *columns, counts = self._columns()  # a row is sent once, however often it is there
        rows = pa.Table.from_arrays(columns, [c.name for c in self.relation.columns])
        instance.apply_arrow(index, rows, counts.combine_chunks())

    def _columns(self) -> list[pa.ChunkedArray]:
        """The columns of the relation as it declares them, and how often each row is there."""
        *keys, counts = pa.table(self.instance.map_arrow(self._map)).columns
        return [*(keys[i] for i in self._places), counts]

    def faulty(self) -> bool:
        """Whether some row or key is there too seldom or too often."""
        ((row, _),) = self.instance.read_rows(self._faults)
        return row != (0,)

    @property
    def rows(self) -> dict[Row, int]:
        """The rows and how often each is there."""
        return dict(self.instance.read_rows(self._rows))

    @property
    def size(self) -> int:
        """How many different rows there are."""
        return self.instance.stats().sizes["rows"]

    def _refuse(self, change: Change) -> None:
        negative, doubled = self._culprits()
        self.leave(change)
        at = key_columns(self.relation)
        for row, count in change.net().items():
            if row in negative:
                raise not_held(self.relation.name, row, -count)
            key = tuple(row[i] for i in at)
            if count > 0 and key in doubled:
                raise two_rows(self.relation.name, key)
        raise BadRow(f"'{self.relation.name}' does not admit this change")

    def _culprits(self) -> tuple[set[Row], set[Row]]:
        """The rows that are missing and the keys that are there twice."""
        *columns, count = names = [*column_vars(self.relation), "count"]
        table = pa.Table.from_arrays(self._columns(), names)
        negative = table.filter(pc.less(table.column(count), 0)).select(columns)
        doubled: set[Row] = set()
        if self.relation.key:
            keys = [names[i] for i in key_columns(self.relation)]
            total = table.group_by(keys).aggregate([(count, "sum")])
            twice = total.filter(pc.greater(total.column(f"{count}_sum"), 1))
            doubled = set(rows_of(twice.select(keys)))
        return set(rows_of(negative)), doubled


class StatelessBase:
    """A base relation whose rows are not kept: changes pass, and nothing can be asked later."""

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self.wide = True
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


AnyBase: TypeAlias = Base | StoredBase | StatelessBase
