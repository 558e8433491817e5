"""The primary keys behind the columns of maps, by which these may be partitioned."""

from __future__ import annotations

from collections.abc import Mapping

from freshview.calculus.terms import Rel
from freshview.calculus.walk import subterms
from freshview.distributed.options import DistributionOptions, sized
from freshview.program.terms import Map, Program

Column = tuple[str, str]
"""A relation and a column of it."""


class Keys:
    """The primary keys behind the columns of maps.

    Columns that some definition joins are equivalent: l_orderkey is a key, since it is joined with
    the key of Orders.
    """

    def __init__(self, program: Program, options: DistributionOptions) -> None:
        self.relations = {r.name: r for r in program.relations}
        self.rows = sized(program, options.statistics).rows
        self._parent: dict[Column, Column] = {}
        for m in program.maps:
            for same in self._bound(m).values():
                for column in same[1:]:
                    self._parent[self._root(column)] = self._root(same[0])
        self._keys: dict[Column, list[str]] = {}
        for r in program.relations:
            if len(r.key) == 1:
                self._keys.setdefault(self._root((r.name, r.key[0])), []).append(r.name)

    def of(self, m: Map) -> list[tuple[str, str]]:
        """The columns of a map that are keys of base tables, with those, largest first."""
        bound = self._bound(m)
        ranked = []
        for c in m.keys:
            for column in bound.get(c.name, [])[:1]:
                owners = [n for n in self._keys.get(self._root(column), ()) if self._streams(n)]
                ranked += [(c.name, owner) for owner in owners[:1]]
        return sorted(ranked, key=lambda f: (-self._rank(f[1]), f))

    def _streams(self, relation: str) -> bool:
        return not self.relations[relation].static

    def _rank(self, relation: str) -> float:
        """The rows of a relation; of unknown sizes the one is larger that refers to the other."""
        refers = [
            c.name
            for c in self.relations[relation].columns
            if (c.name,) != self.relations[relation].key
            and self._root((relation, c.name)) in self._keys
        ]
        return self.rows.get(relation, 0.0) + len(refers)

    def _bound(self, m: Map) -> Mapping[str, list[Column]]:
        columns_by_var: dict[str, list[Column]] = {}
        for t in subterms(m.definition):
            if isinstance(t, Rel) and t.name in self.relations:
                columns = self.relations[t.name].columns
                for v, c in zip(t.vars, columns, strict=True):
                    columns_by_var.setdefault(v, []).append((t.name, c.name))
        return columns_by_var

    def _root(self, column: Column) -> Column:
        while column in self._parent and self._parent[column] != column:
            column = self._parent[column]
        return column
