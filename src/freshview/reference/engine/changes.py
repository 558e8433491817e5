"""What changed of a query, by the keys that writes have touched: as kernels collect it."""

from __future__ import annotations

import decimal
from collections.abc import Callable

from freshview.algebra import EXACT
from freshview.calculus.functions import Functions
from freshview.calculus.rows import Row
from freshview.calculus.schema import Query
from freshview.program.engine import Multiset, added
from freshview.program.query_keys import KeyPositions, NotCollected, key_columns, key_positions
from freshview.program.terms import Program
from freshview.reference.engine.closures import compile_term
from freshview.reference.engine.scope import Work
from freshview.reference.engine.store import Store, Stores, picker


def touching(program: Program, q: Query) -> KeyPositions:
    """Where the maps of a query have the key of its rows; NotCollected where one has not.

    Of a query without a key all the rows change at once: then its maps must be without keys, too.
    """
    if any(c.type.kind == "ring" for c in q.columns):
        raise NotCollected("it shows elements of a ring")
    own = [t for t in program.triggers if t.event != "ready"]
    changing = {s.target.name for t in own for s in t.statements}
    key = key_columns(q)
    maps = key_positions(q, key, changing)
    keyed = [m.name for m in program.maps if m.name in maps and m.keys]
    if keyed and not key:
        raise NotCollected(f"'{keyed[0]}' has keys, and no row of the query is found by them")
    return maps


class QueryChanges:
    """Collects the changes of a query, from the beginning on."""

    def __init__(
        self, program: Program, q: Query, stores: Stores, functions: Functions, work: Work
    ) -> None:
        maps = touching(program, q)
        key = tuple(q.vars[j] for j in key_columns(q))
        self._find = compile_term(q.term, stores, key, q.vars, functions, work)
        self._before: dict[Row, Multiset] = {}
        self._problem: Exception | None = None
        for name, positions in maps.items():
            for at in positions:
                self._watch(stores.map(name), picker(at))

    def _watch(self, store: Store, key_of: Callable[[Row], Row]) -> None:
        store.watchers.append(lambda row: self._touch(key_of(row)))

    def _touch(self, key: Row) -> None:
        """Note the rows of a key as they are, before the first write."""
        if key not in self._before:
            try:
                with decimal.localcontext(EXACT):
                    self._before[key] = self._find(key)
            except Exception as e:  # whoever asks for the changes gets it, and not this batch
                self._before[key], self._problem = {}, e

    def changes(self) -> Multiset:
        """The rows that the touched keys have now, less those that they had."""
        if self._problem is not None:
            raise self._problem
        with decimal.localcontext(EXACT):
            now = [pair for key in self._before for pair in self._find(key).items()]
        then = ((row, -m) for rows in self._before.values() for row, m in rows.items())
        delta = added({}, [*now, *then])
        self._before = {}
        return delta
