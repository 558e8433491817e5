"""The meaning of programs: an engine over plain dictionaries."""

from __future__ import annotations

import decimal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from freshview.algebra import EXACT, Number
from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.rows import Row, left_range, repeated
from freshview.calculus.schema import Query, Relation
from freshview.calculus.types import Value
from freshview.errors import Overflow, ProgramProblem, SnapshotProblem, UnknownName
from freshview.program.engine import Batch, Changes
from freshview.program.signs import MOST, SIGN, multiplied, too_many
from freshview.program.terms import Event, Program
from freshview.reference.engine.changes import QueryChanges
from freshview.reference.engine.closures import compile_term
from freshview.reference.engine.rows import check_changes, check_row
from freshview.reference.engine.scope import Work
from freshview.reference.engine.statements import Step, compile_statement
from freshview.reference.engine.store import Bounds, Cache, Journal, Store, Stores
from freshview.reference.top import arrange
from freshview.reference.values import nearest_double


@dataclass(frozen=True)
class Snapshot:
    """The contents of an engine at one moment."""

    loaded: bool
    relations: Mapping[str, Mapping[Row, Number]]
    maps: Mapping[str, Mapping[Row, Number]]
    caches: Mapping[str, Mapping[Row, Mapping[Row, Number]]]


class Engine:
    """Runs a program: static tables first, then changes; views can be read at any time.

    After every call each map equals its definition over the rows seen so far; a call that fails
    changes nothing. One that would take a number of a map out of the domain of values fails: what
    this engine accepts, a kernel can hold. Numbers on the way there may be of any size.

    >>> from freshview.calculus.schema import Column
    >>> from freshview.calculus.terms import View
    >>> from freshview.calculus.text import read
    >>> from freshview.calculus.types import INT
    >>> from freshview.program.terms import Map, Statement, Trigger
    >>> a, n = Column("a", INT), Column("n", INT)
    >>> follow = Statement(View("M", ("a",)), "+=", read("(DELTA R)(a)"))
    >>> program = Program(
    ...     (Relation("R", (a,)),),
    ...     (Map("M", (a,), INT, read("R(a)")),),
    ...     (Trigger("batch", "R", (), (follow,)),),
    ...     (Query("counts", (a, n), ("a", "n"), read("Exists(M[a]) * (n := M[a])")),),
    ... )
    >>> engine = Engine(program)
    >>> engine.apply("R", [((1,), 2), ((2,), 1)])
    >>> engine.rows("counts")
    [(1, 2), (2, 1)]
    """

    def __init__(
        self, program: Program, functions: Functions = BUILTINS, counters: Work | None = None
    ) -> None:
        self.program = program
        self.functions = functions
        self.counters = counters or Work()
        self.journal = Journal()
        self.stores = self._make_stores()
        self.relations = {r.name: r for r in program.relations}
        self.queries = {q.name: q for q in program.queries}
        self.loaded = False
        self._fill_caches()
        self._triggers: dict[tuple[Event, str], list[Step]] = {}
        for t in program.triggers:
            steps = self._triggers.setdefault((t.event, t.relation), [])
            for s in t.statements:
                steps.append(compile_statement(s, t.params, self.stores, functions, self.counters))
        self._multiples: dict[str, list[Step] | None] = {}
        self._collected: dict[str, QueryChanges] = {}
        self._reads = {
            q.name: compile_term(q.term, self.stores, (), q.vars, functions, self.counters)
            for q in program.queries
        }

    def _make_stores(self) -> Stores:
        static = {r.name: Store(journal=self.journal) for r in self.program.relations if r.static}
        maps = {
            m.name: Store(journal=self.journal, bounds=Bounds.of(m.keys, m.payload))
            for m in self.program.maps
            if not m.inputs
        }
        caches = {m.name: Cache(self.journal) for m in self.program.maps if m.inputs}
        return Stores(static, {}, maps, caches)

    def _fill_caches(self) -> None:
        for m in self.program.maps:
            if not m.inputs:
                continue
            if m.fill is None:
                raise ProgramProblem(f"view cache '{m.name}' does not say how it is filled")
            names, keys = tuple(c.name for c in m.inputs), tuple(c.name for c in m.keys)
            self.stores.caches[m.name].fill = compile_term(
                m.fill, self.stores, names, keys, self.functions, self.counters
            )

    @property
    def work(self) -> int:
        """How many rows were looked at or written so far."""
        return self.counters.visits + self.counters.writes

    def load(
        self,
        tables: Mapping[str, Iterable[Sequence[Value]] | Mapping[Row, int]] | None = None,
        *,
        check: bool = True,
    ) -> None:
        """Load the static tables, all at once, and do what the program does when it is ready.

        Rows come one by one, or as a mapping to how often each is there.
        """
        if self.loaded:
            raise ProgramProblem("the static tables are loaded already", instead="make an Engine")
        with self._all_or_nothing():
            for name, rows in (tables or {}).items():
                relation = self._relation(name)
                if not relation.static:
                    raise ProgramProblem(f"'{name}' is a stream", instead="apply its rows")
                pairs = rows.items() if isinstance(rows, Mapping) else ((row, 1) for row in rows)
                for number, (row, times) in enumerate(pairs, 1):
                    self.stores.relations[name].add(check_row(relation, row, number), times)
            for (event, _), steps in self._triggers.items():
                if event == "ready":
                    _run(steps, ())
            if check:
                self.check()
        self.loaded = True

    def insert(self, relation: str, row: Sequence[Value]) -> None:
        """One row more."""
        self._single(relation, row, 1)

    def delete(self, relation: str, row: Sequence[Value]) -> None:
        """One row less."""
        self._single(relation, row, -1)

    def check(self) -> None:
        """Refuse numbers of maps that are outside of the domain of values."""
        for name, store in self.stores.maps.items():
            if store.outside:
                raise out_of_range(f"the map '{name}' would hold {_worst(store)}")

    def apply(self, relation: str, changes: Changes, *, check: bool = True) -> None:
        """A batch: rows with how many times they are inserted (or, negative, deleted).

        Without `check`, numbers may leave their range: more changes are to come before one looks.
        """
        self.apply_all({relation: changes}, check=check)

    def apply_all(self, changes: Batch, *, check: bool = True) -> None:
        """Batches of any number of relations, one after the other: all of them, or none."""
        self._start()
        batches = {r: check_changes(self._stream(r), rows) for r, rows in changes.items()}
        with self._all_or_nothing():
            for relation, batch in batches.items():
                self._run_changes(relation, batch)
            if check:
                self.check()

    def read(self, query: str) -> dict[Row, Number]:
        """The rows of a query in the order of its columns, with their multiplicities."""
        self._query(query)
        self._start()
        try:
            with self._all_or_nothing():
                rows = self._reads[query](())
        except Overflow as e:
            raise left_range(query) from e
        return self._declared(query, rows)

    def collect(self, query: str) -> None:
        """Collect the changes of a query from now on; NotCollected where they cannot be."""
        q = self._query(query)
        self._start()
        self._collected[query] = QueryChanges(
            self.program, q, self.stores, self.functions, self.counters
        )

    def collected(self, query: str) -> dict[Row, Number]:
        """What changed of a query since this was last asked, or since it is collected."""
        try:
            rows = self._collected[query].changes()
        except (Overflow, decimal.DecimalException, OverflowError) as e:
            raise left_range(query) from e
        return self._declared(query, rows)

    def _declared(self, query: str, rows: dict[Row, Number]) -> dict[Row, Number]:
        doubles = [i for i, c in enumerate(self.queries[query].columns) if c.type.kind == "double"]
        return {_with_doubles(row, doubles): m for row, m in rows.items()} if doubles else rows

    def rows(self, query: str) -> list[Row]:
        """The rows of a query as a list, each as often as it counts, in the query's order."""
        q = self._query(query)
        counts = self.read(query)
        return repeated(query, arrange(list(counts), q.vars, q.order), counts)

    def state(self) -> dict[str, int]:
        """How many rows every map holds."""
        sizes = {name: len(store.rows) for name, store in self.stores.maps.items()}
        for name, cache in self.stores.caches.items():
            sizes[name] = sum(len(copy.rows) for copy in cache.stores.values())
        return {m.name: sizes[m.name] for m in self.program.maps}

    def contents(self, name: str) -> dict[Row, Number]:
        """The rows of a map; those of a view cache have its inputs in front."""
        if name not in self.stores.caches:
            return {row: nearest_double(m) for row, m in self.stores.map(name).rows.items()}
        copies = self.stores.caches[name].stores.items()
        return {
            inputs + row: nearest_double(m)
            for inputs, copy in copies
            for row, m in copy.rows.items()
        }

    def snapshot(self) -> Snapshot:
        """A copy of everything; later changes do not touch it."""
        return Snapshot(
            self.loaded,
            {name: dict(store.rows) for name, store in self.stores.relations.items()},
            {name: dict(store.rows) for name, store in self.stores.maps.items()},
            {
                name: {inputs: dict(copy.rows) for inputs, copy in cache.stores.items()}
                for name, cache in self.stores.caches.items()
            },
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Everything as it was when the snapshot was taken; one of other maps is refused."""
        if (snapshot.maps.keys(), snapshot.caches.keys()) != (
            self.stores.maps.keys(),
            self.stores.caches.keys(),
        ):
            raise SnapshotProblem(
                "this is a snapshot of another program",
                instead="restore it with the views it was saved with, or load the data again",
            )
        for name, rows in snapshot.relations.items():
            self.stores.relations[name].replace(rows)
        for name, rows in snapshot.maps.items():
            self.stores.maps[name].replace(rows)
        for name, copies in snapshot.caches.items():
            self.stores.caches[name].stores.clear()
            for inputs, rows in copies.items():
                self.stores.caches[name].set(inputs, rows)
        self.loaded = snapshot.loaded
        self.journal.commit()

    def _start(self) -> None:
        if not self.loaded:
            self.load()

    def _single(self, relation: str, row: Sequence[Value], sign: int) -> None:
        self._start()
        stored = check_row(self._stream(relation), row, 1)
        with self._all_or_nothing():
            self._run_row(relation, stored, sign)
            self.check()

    def _run_changes(self, relation: str, batch: Mapping[Row, Number]) -> None:
        if ("batch", relation) in self._triggers:
            self._run_batch(relation, batch)
        else:
            for row, m in batch.items():
                self._run_times(relation, row, int(m))

    def _run_row(self, relation: str, row: Row, sign: Number) -> None:
        event: Event = "insert" if sign > 0 else "delete"
        if (event, relation) in self._triggers:
            _run(self._triggers[event, relation], row)
        elif ("batch", relation) in self._triggers:
            self._run_batch(relation, {row: 1 if sign > 0 else -1})
        elif ("insert", relation) in self._triggers or ("delete", relation) in self._triggers:
            raise ProgramProblem(f"the program does not say what to do on {event} of '{relation}'")

    def _run_times(self, relation: str, row: Row, times: int) -> None:
        """A row that comes or goes so many times: at once, if the triggers can take it so."""
        if abs(times) > 1 and relation not in self._multiples:
            self._multiples[relation] = self._multiple(relation)
        steps = self._multiples.get(relation) if abs(times) > 1 else None
        if steps is not None:
            _run(steps, (*row, times))
        elif abs(times) > MOST:
            raise too_many(relation)
        else:
            for _ in range(abs(times)):
                self._run_row(relation, row, times)

    def _multiple(self, relation: str) -> list[Step] | None:
        """The steps for rows that come any number of times, which follows their values."""
        triggers = {t.event: t for t in self.program.triggers if t.relation == relation}
        insert, delete = triggers.get("insert"), triggers.get("delete")
        if insert is None or delete is None or insert.params != delete.params:
            return None
        maps = {m.name: m for m in self.program.maps}
        statements = multiplied(insert.statements, delete.statements, relation, maps)
        if statements is None:
            return None
        params = (*insert.params, SIGN)
        return [
            compile_statement(s, params, self.stores, self.functions, self.counters)
            for s in statements
        ]

    def _run_batch(self, relation: str, batch: Mapping[Row, Number]) -> None:
        delta = self.stores.delta(relation)
        delta.replace(batch)
        try:
            _run(self._triggers["batch", relation], ())
        finally:
            delta.replace({})

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        try:
            with decimal.localcontext(EXACT):
                yield
        except (decimal.DecimalException, OverflowError) as e:
            self.journal.rollback()
            raise out_of_range(str(e) or type(e).__name__) from e
        except BaseException:
            self.journal.rollback()
            raise
        self.journal.commit()

    def _relation(self, name: str) -> Relation:
        if name not in self.relations:
            raise UnknownName(f"there is no relation '{name}'", instead="declare it first")
        return self.relations[name]

    def _stream(self, name: str) -> Relation:
        if self._relation(name).static:
            raise ProgramProblem(f"'{name}' is a static table", instead="give its rows to load()")
        return self.relations[name]

    def _query(self, name: str) -> Query:
        if name not in self.queries:
            known = ", ".join(self.queries) or "there is none"
            raise UnknownName(f"there is no query '{name}'", instead=f"the queries are: {known}")
        return self.queries[name]


def out_of_range(why: str = "") -> Overflow:
    """The error of a change that some engine could not hold."""
    because = f" ({why})" if why else ""
    return Overflow(
        f"this change takes a number of a view out of its range{because}",
        instead="nothing was changed; integers have 64 bits and decimals 38 digits, "
        "use DOUBLE for larger ones",
    )


def _worst(store: Store) -> str:
    """A row that is outside, and its number."""
    row = next(iter(store.outside))
    return f"{store.rows[row]} at ({', '.join(map(repr, row))})"


def _with_doubles(row: Row, at: Sequence[int]) -> Row:
    """A row whose doubles are not whole numbers: an empty sum knows nothing of its type."""
    cells = list(row)
    for i in at:
        value = cells[i]
        if isinstance(value, int):
            cells[i] = float(value)
    return tuple(cells)


def _run(steps: Sequence[Step], params: Row) -> None:
    for step in steps:
        step(params)
