"""Where maps live: by the seeds' rule of thumb, by cost, or as told."""

from __future__ import annotations

from collections.abc import Mapping

from freshet.calculus.scope import stored
from freshet.calculus.terms import Rel
from freshet.calculus.walk import subterms
from freshet.program.terms import Map, Program
from freshet.spark.options import Options, sized
from freshet.spark.terms import Dist, Everywhere, Local, Location, Placement

Column = tuple[str, str]
"""A relation and a column of it."""


def by_key(program: Program, options: Options) -> Placement:
    """The rule of thesis 5.5: a map is spread by a base table's primary key in its schema.

    Of several keys the one with the most values is taken; a map with none stays on the driver.
    What only static tables decide is computed by everybody.
    """
    keys = Keys(program, options)
    maps: dict[str, Location] = {}
    words = []
    for m in program.maps:
        maps[m.name], why = _by_key(m, keys, static(program))
        words.append(f"{m.name}: {why}")
    return Placement(maps, words=tuple(words))


def _by_key(m: Map, keys: Keys, fixed: frozenset[str]) -> tuple[Location, str]:
    if m.name in fixed:
        return Everywhere(), "everywhere, only static tables decide it"
    ranked = keys.of(m)
    if not ranked:
        return Local(), "on the driver, it has no primary key of a base table"
    name, relation = ranked[0]
    return Dist((name,)), f"by {name}, the key of {relation}"


def place(program: Program, options: Options) -> Placement:
    """The placement chosen by cost."""
    return by_key(program, options)


def static(program: Program) -> frozenset[str]:
    """The maps that no batch changes."""
    changed = {
        s.target.name for t in program.triggers if t.event != "ready" for s in t.statements
    }
    return frozenset(m.name for m in program.maps if m.name not in changed)


def read_by_triggers(program: Program) -> frozenset[str]:
    """The maps that are read while batches are worked on, not only when a view is."""
    found: set[str] = set()
    for t in program.triggers:
        for s in t.statements:
            found |= stored(s.term)
    return frozenset(found)


class Keys:
    """The primary keys behind the columns of maps.

    Columns that some definition joins are the same thing under two names: l_orderkey is a key,
    since it is joined with the key of Orders.
    """

    def __init__(self, program: Program, options: Options) -> None:
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
        found = []
        for c in m.keys:
            for column in bound.get(c.name, [])[:1]:
                owners = [n for n in self._keys.get(self._root(column), ()) if self._streams(n)]
                found += [(c.name, owner) for owner in owners[:1]]
        return sorted(found, key=lambda f: (-self._rank(f[1]), f))

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
        found: dict[str, list[Column]] = {}
        for t in subterms(m.definition):
            if isinstance(t, Rel) and t.name in self.relations:
                columns = self.relations[t.name].columns
                for v, c in zip(t.vars, columns, strict=True):
                    found.setdefault(v, []).append((t.name, c.name))
        return found

    def _root(self, column: Column) -> Column:
        while column in self._parent and self._parent[column] != column:
            column = self._parent[column]
        return column
