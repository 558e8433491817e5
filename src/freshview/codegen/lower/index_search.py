"""A search in an ordered index: which one it is, and what is known of the wanted entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from freshview.calculus.terms import Expr, View
from freshview.calculus.types import Type
from freshview.codegen.cpp.types import digits_lost
from freshview.codegen.layout.terms import MapPlace, Sort, Sorts, Table
from freshview.codegen.loops.parts import Fits, Search, Test
from freshview.codegen.loops.terms import EachGroup, Stmt
from freshview.codegen.lower.access import Access
from freshview.codegen.lower.context import Bound, Local

Known = Mapping[int, Expr]
"""Wanted values of leading columns."""


@dataclass(frozen=True)
class IndexSearch:
    """A search among the entries of a map that have given values in leading columns."""

    table: Table
    place: MapPlace
    atom: View
    fixed: tuple[str, ...]
    """Variables of the atom that are bound."""
    groups: tuple[str, ...]
    """Variables for each of whose values there is a search."""
    sorts: Sorts
    """How entries of the same leading columns sort."""

    def column(self, v: str) -> int:
        """The column of the record that a variable of the atom stands for."""
        return self.place.columns[self.atom.vars.index(v)]

    def type(self, v: str) -> Type:
        """The type of a variable of the atom."""
        return self.table.keys[self.column(v)]

    def local(self, entry: str, v: str) -> Local:
        """A variable of the atom, as an entry of the index has it."""
        return Local(f"{entry}.k{self.column(v)}", self.type(v))

    def search(self, known: Known) -> Search:
        """The search for these values."""
        leading = tuple(Sort(self.column(v)) for v in (*self.fixed, *self.groups))
        return Search(self.table.name, leading + self.sorts, tuple(known.items()))

    def begin(self, tables: Access, env: Bound, then: Callable[[Known], list[Stmt]]) -> list[Stmt]:
        """Where values of the bound variables are at hand; what no entry can have finds none."""

        def seek(left: tuple[str, ...], known: Known) -> list[Stmt]:
            if not left:
                return then(known)
            v, *rest = left
            at = self.column(v)
            return tables.seek(
                env[v], self.type(v), lambda key: seek(tuple(rest), {**known, at: key})
            )

        return seek(self.fixed, {})

    def begin_among(self, tables: Access, env: Bound) -> tuple[list[Stmt], Known, list[Test]]:
        """The same where others go on all the same: tests tell whether there can be an entry."""
        before: list[Stmt] = []
        known: dict[int, Expr] = {}
        tests: list[Test] = []
        for v in self.fixed:
            definition, key = tables.look(env[v], self.type(v))
            before += definition
            known[self.column(v)] = key
            if definition and digits_lost(env[v].type, self.type(v)):
                tests.append(Fits(definition[0].name))  # type: ignore[union-attr]
        return before, known, tests

    def each_group(
        self, tables: Access, known: Known, env: Bound, then: Callable[[Known, Bound], list[Stmt]]
    ) -> list[Stmt]:
        """A loop over the groups of the index, found one after the other by search."""
        row = tables.names.fresh("group")
        bound = dict(env)
        inside = dict(known)
        for v in self.groups:
            bound[v] = self.local(row, v)
            inside[self.column(v)] = bound[v].value
        lead = tuple(self.column(v) for v in (*self.fixed, *self.groups))
        return [EachGroup(row, self.search(known), lead, tuple(then(inside, bound)))]
