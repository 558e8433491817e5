"""What must hold of the parts of statements: keys, tests, searches, ranges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from freshview.calculus.scope import free
from freshview.calculus.terms import Expr
from freshview.calculus.types import Type
from freshview.codegen.cpp.types import digits_lost
from freshview.codegen.layout.terms import Layout, Sorts, Table
from freshview.codegen.loops.parts import (
    Fetch,
    Fits,
    Holds,
    Missing,
    NoNegative,
    NotZero,
    Same,
    Search,
    Test,
    There,
    Values,
)
from freshview.codegen.loops.terms import Block, FirstRows, Range
from freshview.codegen.loops.visible import Visible, converts, entry_fields, payload_fields
from freshview.errors import ProgramProblem


@dataclass(frozen=True)
class Parts:
    """What checks parts of statements over a layout."""

    layout: Layout

    # -- tables ------------------------------------------------------------------------------------

    def table(self, name: str, seen: Visible) -> Table:
        """A table that may be read."""
        if name not in self.layout.tables:
            raise ProgramProblem(f"there is no table '{name}'")
        table = self.layout.tables[name]
        if table.transient and name not in seen.filled:
            raise ProgramProblem(f"'{name}' is read before it has its rows")
        return table

    def written(self, name: str, seen: Visible) -> Table:
        """A table that may be written: nobody walks through it, or holds a record of it."""
        if name not in self.layout.tables:
            raise ProgramProblem(f"there is no table '{name}'")
        table = self.layout.tables[name]
        if table.transient and name != seen.filling:
            raise ProgramProblem(f"'{name}' gets rows only where it is collected")
        if table.root in seen.walked:
            raise ProgramProblem(f"'{name}' is written while records of '{table.root}' are at hand")
        return table

    def at_hand(self, seen: Visible, table: str) -> Visible:
        """The same where records of a table are at hand."""
        return replace(seen, walked=seen.walked | {self.layout.tables[table].root})

    def columns(self, t: Table, columns: Iterable[int]) -> None:
        """Key columns of a table."""
        for i in columns:
            if not 0 <= i < len(t.keys):
                raise ProgramProblem(f"'{t.name}' has no key column k{i}")

    def payload(self, t: Table, payload: int) -> Type:
        """The type of a payload column."""
        if not 0 <= payload < len(t.payloads):
            raise ProgramProblem(f"'{t.name}' has no payload column p{payload}")
        return t.payloads[payload]

    def counted(self, t: Table, payload: int) -> Table:
        """A table whose payload counts rows."""
        if self.payload(t, payload).kind != "int":
            raise ProgramProblem(f"p{payload} of '{t.name}' does not count rows")
        return t

    # -- values ------------------------------------------------------------------------------------

    def convertible(self, a: Type, to: Type) -> None:
        """A value that a place of another type holds."""
        if not converts(a, to):
            raise ProgramProblem(f"{a} does not become {to} without loss")

    def narrowed(self, a: Type, to: Type) -> None:
        """A value that a place of another type may hold: digits that it has no room for are few."""
        if not (converts(a, to) or digits_lost(a, to)):
            raise ProgramProblem(f"{a} is never {to}")

    def keys(self, t: Table, columns: Sequence[int], keys: Values, seen: Visible) -> None:
        """Values of some key columns."""
        if len(columns) != len(keys):
            raise ProgramProblem(f"{len(columns)} keys of '{t.name}' are asked for")
        self.columns(t, columns)
        for i, e in zip(columns, keys, strict=True):
            self.convertible(seen.type(e), t.keys[i])

    def record(self, name: str, keys: Values, seen: Visible) -> Table:
        """A record that is looked up."""
        t = self.table(name, seen)
        self.keys(t, t.lookup_columns, keys, seen)
        return t

    def fetches(self, fetches: Iterable[Fetch], row: str, seen: Visible) -> None:
        """What a row to come will need is told by its own columns."""
        for f in fetches:
            t = self.table(f.table, seen)
            if f.index and f.columns not in t.indexes:
                raise ProgramProblem(f"'{f.table}' has no such index to fetch")
            self.keys(t, f.columns, f.keys, seen)
            if any(name.partition(".")[0] != row for e in f.keys for name in free(e)):
                raise ProgramProblem("what is fetched ahead depends on the row alone")

    # -- tests -------------------------------------------------------------------------------------

    def chosen(self, tests: Iterable[Test], seen: Visible) -> None:
        """Tests that choose the rows of a batch, or where a walk begins."""
        for t in tests:
            if not isinstance(t, Holds):
                raise ProgramProblem("rows are chosen here by conditions on their values")
            self._test(t, seen)

    def tests(self, tests: Iterable[Test], seen: Visible) -> None:
        """Tests of any kind."""
        for t in tests:
            self._test(t, seen)

    def _test(self, t: Test, seen: Visible) -> None:
        match t:
            case Holds(value) | There(value) | NotZero(value):
                seen.type(value)
            case Same(table, column, own, value):
                of = self.table(table, seen)
                self.keys(of, (column,), (value,), seen)
                seen.type(own)
            case NoNegative(table, payload):
                of = self.table(table, seen)
                self.payload(of, payload)
                if not of.orders:
                    raise ProgramProblem(f"nobody counts the negative numbers of '{table}'")
            case Fits(name):
                if name not in seen.looks:
                    raise ProgramProblem(f"nobody has looked for '{name}'")
            case Missing(table, keys, tests):
                self.record(table, keys, seen)
                self.tests(tests, seen)
            case _:
                assert_never(t)

    # -- ordered indexes ---------------------------------------------------------------------------

    def search(self, s: Search, seen: Visible) -> Table:
        """A search in an ordered index, by its leading columns."""
        t = self.table(s.table, seen)
        if s.sorts not in t.orders:
            raise ProgramProblem(f"'{s.table}' has no such order")
        self.leading([i for i, _ in s.known], s.sorts)
        for i, e in s.known:
            self._key(e, t.keys[i], seen)
        return t

    def _key(self, e: Expr, t: Type, seen: Visible) -> None:
        self.convertible(seen.type(e), t)

    def leading(self, columns: Sequence[int], sorts: Sorts) -> None:
        """Columns that an order sorts by before all others."""
        if set(columns) != {s.column for s in sorts[: len(columns)]}:
            raise ProgramProblem("the order does not begin with those columns")

    def ends(self, r: Range, seen: Visible) -> list[tuple[Block, Visible]]:
        """Where a range begins and ends: what is visible in both conditions."""
        t = self.search(r.search, seen)
        if len(r.turns) not in (0, 2) or not set(r.turns) <= seen.turns:
            raise ProgramProblem("the turns of a range are two, and defined before")
        near = replace(self.at_hand(seen, t.name), answers=True, total=None, in_batch=False)
        entry, sums = entry_fields(t, r.search.sorts), payload_fields(t)
        first, last = (near.row(s.name, sums) if s else near.row(r.at, entry) for s in r.running)
        return [(r.up, first), (r.down, last)]

    def first_rows(self, s: FirstRows, seen: Visible) -> Table:
        """First rows of a search; the rows of another table count with those that they equal."""
        t = self.counted(self.search(s.search, seen), s.payload)
        self.columns(t, s.wanted)
        if s.others:
            others = self.counted(self.table(s.others, seen), 0)
            if len(s.wanted) != len(others.keys):
                raise ProgramProblem(f"'{s.others}' has {len(others.keys)} keys")
        if len(s.search.known) == len(s.search.sorts):
            raise ProgramProblem("every column of the order is known: none is the first")
        entry = entry_fields(t, s.search.sorts)
        self.chosen(s.ends, self.at_hand(seen, t.name).row(s.row, entry))
        return t
