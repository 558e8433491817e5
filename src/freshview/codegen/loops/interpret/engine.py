"""An engine that runs loops: the calls of the reference engine, and the steps of a kernel."""

from __future__ import annotations

import decimal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar, cast

from freshview.algebra import EXACT, Number
from freshview.calculus.domain import is_within
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.rows import checked
from freshview.calculus.schema import Column, Relation
from freshview.calculus.types import Value
from freshview.codegen.layout.terms import Layout
from freshview.codegen.loops.effects import (
    Touch,
)
from freshview.codegen.loops.interpret.activation import State
from freshview.codegen.loops.interpret.records import Key, Records
from freshview.codegen.loops.interpret.run import Run
from freshview.codegen.loops.interpret.values import Row, Values, as_key, nearest
from freshview.codegen.loops.terms import Function, Loops
from freshview.codegen.loops.walk import statements
from freshview.errors import Overflow, SnapshotProblem, UnknownName
from freshview.program.engine import Batch, Changes, Multiset, ShownRows, Tables, added
from freshview.program.terms import Program

N = TypeVar("N")


@dataclass(frozen=True)
class Contents:
    """What lasts from one call to the next, at one moment."""

    tables: Mapping[str, Records]
    texts: frozenset[str]
    stale: bool
    loaded: bool


class Interpreter:
    """Runs the loops of a program, as a `ProgramEngine`.

    After every call the maps and the answers are those of the reference engine.

    >>> from freshview.calculus.schema import Column, Query
    >>> from freshview.calculus.text import read as term
    >>> from freshview.calculus.types import INT
    >>> from freshview.codegen.layout.text import read as read_layout
    >>> from freshview.codegen.loops.read import read
    >>> a = Column("a", INT)
    >>> query = Query("q", (a,), ("a",), term("M[a]"))
    >>> program = Program((Relation("R", (a,)),), (), (), (query,))
    >>> loops = read('''
    ...   relation on_R of R {
    ...     batch i1 of R { at w2 in m[i1.c0] { gain w2.p0 += i1.count } }
    ...   }
    ...   ready ready { }
    ...   read read_q of q { scan r1 in m { output q(r1.k0 : int) += r1.p0 } }
    ... ''')
    >>> engine = Interpreter(program, read_layout("table m [int] : [int]"), loops)
    >>> engine.apply({"R": [((1,), 2), ((2,), 1), ((2,), -1)]})
    >>> engine.read("q")
    {(1,): 2}
    """

    def __init__(
        self, program: Program, layout: Layout, loops: Loops, functions: Functions = BUILTINS
    ) -> None:
        self.program = program
        self.layout = layout
        self.functions = {f.name: f for f in loops.functions}
        self.values = Values(functions)
        self.relations = {r.name: r for r in program.relations}
        self.state = State({name: Records(t) for name, t in layout.tables.items()})
        self.loaded = False
        self._shown = ShownRows()
        every = (s for f in loops.functions for s in statements(f.body))
        self._touching = {s.query for s in every if isinstance(s, Touch)}
        self._touched: dict[str, dict[Key, Sequence[tuple[Key, int]]]] = {}
        """By the queries whose changes are collected: the touched keys, and the rows they had."""
        self._untold: dict[str, Multiset] = {}
        """Of these queries: what changed otherwise, and is not told yet."""

    def load(self, tables: Tables | None = None) -> None:
        """Load the static tables, and do what the program does when it is ready."""
        self.loaded = True
        for name, rows in (tables or {}).items():
            self.apply({name: [(row, 1) for row in rows]})
        with self._all_or_nothing():
            self._run(self._function("ready"))

    def apply(self, changes: Batch) -> None:
        """See `ProgramEngine`."""
        if not self.loaded:
            self.load()
        batches = {name: self._batch(name, rows) for name, rows in changes.items()}
        with self._all_or_nothing():
            for name, batch in batches.items():
                self._run(self._function("relation", name), batch)

    def _batch(self, relation: str, changes: Changes) -> list[Row]:
        if relation not in self.relations:
            raise UnknownName(f"there is no relation '{relation}'", instead="declare it first")
        of = self.relations[relation]
        pairs = changes.items() if isinstance(changes, Mapping) else changes
        return [Row(_row(of, row), [], times) for row, times in pairs]

    def read(self, query: str) -> Multiset:
        """See `ProgramEngine`."""
        return self._read(query, self._function("read", query), {})

    def changes(self, query: str) -> Multiset:
        """See `ProgramEngine`: by the keys that were touched, where writes tell them."""
        if query not in self._touching:
            return self._shown.changes(query, self.read(query))
        if query not in self._touched:
            rows, self._untold[query] = self.read(query), {}
        else:
            rows, self._untold[query] = self._changed(query), {}
        self._touched[query] = {}
        return rows

    def _changed(self, query: str) -> Multiset:
        """The rows that the touched keys have now, less those that they had, and what is untold."""
        run = Run(self.state, self.functions, self.values)
        delta: list[tuple[Key, Number]] = []
        with decimal.localcontext(EXACT):
            for key, before in self._touched[query].items():
                delta += self._shaped(query, run.rows_of_key(query, key))
                delta += ((row, -n) for row, n in self._shaped(query, before))
        return added(self._untold[query], delta)

    def snapshot(self) -> Contents:
        """See `ProgramEngine`."""
        tables = {name: records.copy() for name, records in self.state.tables.items()}
        return Contents(tables, frozenset(self.state.texts), self.state.stale, self.loaded)

    def restore(self, snapshot: Contents) -> None:
        """See `ProgramEngine`."""
        if snapshot.tables.keys() != self.layout.tables.keys():
            raise SnapshotProblem("this is a snapshot of another program")
        shown = {query: self.read(query) for query in self._touched}
        untold = {query: self.changes(query) for query in self._touched}
        self._replace_state(snapshot)
        for query, rows in shown.items():
            now = added(untold[query], self.read(query).items())
            self._untold[query] = added(now, ((row, -n) for row, n in rows.items()))

    def _replace_state(self, snapshot: Contents) -> None:
        tables = {name: records.copy() for name, records in snapshot.tables.items()}
        self.state = State(tables, set(snapshot.texts), snapshot.stale)
        self.loaded = snapshot.loaded

    def find(self, query: str, key: Mapping[int, Value]) -> Multiset:
        """The rows of a query with these values in the columns by which it is looked up."""
        columns = [c.type for c in self._query_columns(query)]
        values = tuple(as_key(key.get(j), t) for j, t in enumerate(columns))
        return self._read(query, self._function("find", query), {"key": Row(values, [])})

    def lookup_columns(self, query: str) -> tuple[int, ...]:
        """The columns by which the rows of a query are looked up; none if they cannot be."""
        functions = (f for f in self.functions.values() if (f.kind, f.of) == ("find", query))
        return next((f.key for f in functions), ())

    def contents(self, name: str) -> Multiset:
        """The rows of a map."""
        if not self.loaded:
            self.load()
        if name in self.layout.deferred:
            with decimal.localcontext(EXACT):
                self._run(self._function("refresh"))
        if name in self.layout.listings:
            with decimal.localcontext(EXACT):
                self._run(self._function("listing", self.layout.listings[name].table))
        place = self.layout.places[name]
        rows: Multiset = {}
        for record in self.state.tables[place.table].records.values():
            if record.payloads[place.payload]:
                keys = tuple(record.values[i] for i in place.columns)
                rows[keys] = cast("Number", nearest(record.payloads[place.payload]))
        return rows

    def _function(self, kind: str, of: str = "") -> Function:
        for f in self.functions.values():
            if (f.kind, f.of) == (kind, of):
                return f
        raise UnknownName(f"the loops have no function to {kind} '{of}'")

    def _run(
        self, f: Function, batch: Sequence[Row] = (), names: Mapping[str, Row] | None = None
    ) -> Multiset:
        run = Run(self.state, self.functions, self.values, batch, touched=self._touched)
        run.function(f, names or {})
        rows: Multiset = {}
        for row, n in run.rows:
            rows[row] = rows.get(row, 0) + n
        return rows

    def _read(self, query: str, f: Function, names: Mapping[str, Row]) -> Multiset:
        if not self.loaded:
            self.load()
        with self._all_or_nothing():
            rows = self._run(f, names=names)
        return dict(self._shaped(query, rows.items()))

    def _shaped(self, query: str, rows: Iterable[tuple[Key, N]]) -> Iterator[tuple[Key, N]]:
        """Rows with the types of the query's columns."""
        types = [c.type for c in self._query_columns(query)]
        for row, n in rows:
            yield tuple(as_key(x, t) for x, t in zip(row, types, strict=True)), n

    def _query_columns(self, query: str) -> Sequence[Column]:
        return next(q for q in self.program.queries if q.name == query).columns

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        before = self.snapshot()
        try:
            with decimal.localcontext(EXACT):
                yield
                self._check()
        except BaseException as e:
            self._replace_state(before)
            if isinstance(e, decimal.DecimalException | OverflowError):
                raise _out_of_range(str(e)) from e
            raise

    def _check(self) -> None:
        """Refuse numbers that are outside of the domain of values."""
        for records in self.state.tables.values():
            table = records.table
            if table.transient:
                continue
            types = (*table.keys, *table.payloads)
            for r in records.records.values():
                numbers = zip((*r.values, *r.payloads), types, strict=True)
                if not all(is_within(x, t) for x, t in numbers):
                    raise OverflowError(f"the table '{table.name}' would hold {r.payloads}")


def _row(relation: Relation, row: Sequence[Value]) -> tuple[Value, ...]:
    return tuple(checked(relation, row))


def _out_of_range(why: str) -> Overflow:
    return Overflow(
        f"this change takes a number of a view out of its range ({why})",
        instead="nothing was changed; integers have 64 bits and decimals 38 digits, "
        "use DOUBLE for larger ones",
    )
