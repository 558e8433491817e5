"""The reference engine behind the protocol of all engines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from freshview.calculus.functions import BUILTINS, Functions
from freshview.calculus.rows import Row
from freshview.calculus.schema import Relation
from freshview.calculus.types import Value
from freshview.program.engine import Batch, Multiset, ShownRows
from freshview.program.query_keys import NotCollected
from freshview.program.terms import Program
from freshview.reference.engine.changes import touching
from freshview.reference.engine.run import Engine, Snapshot
from freshview.reference.engine.scope import Work


class NetChange(Protocol):
    """A change of a relation that can be written as rows with counts."""

    def net(self) -> Mapping[Row, int]:
        """The rows, and how many times each comes or goes."""


class ReferenceEngine:
    """A program on plain dictionaries, as a `ProgramEngine`.

    >>> from freshview.program.text import read_program
    >>> program = read_program('''
    ...     CREATE STREAM R(a int);
    ...     DECLARE MAP M[][a int] : int := R(a);
    ...     DECLARE QUERY counts(a int = a) := M[a];
    ...     ON BATCH UPDATE OF R { M[a] += (DELTA R)(a); }
    ... ''')
    >>> engine = ReferenceEngine(program)
    >>> engine.apply({"R": [((1,), 2), ((2,), 1)]})
    >>> engine.changes("counts")
    {(1,): 2, (2,): 1}
    >>> engine.apply({"R": [((2,), -1)]})
    >>> engine.changes("counts")
    {(2,): -1}
    """

    def __init__(
        self, program: Program, functions: Functions = BUILTINS, counters: Work | None = None
    ) -> None:
        self.engine = Engine(program, functions, counters)
        self._shown = ShownRows()
        self._collectable: dict[str, bool] = {}
        self._collected: set[str] = set()

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The relations that it takes changes of."""
        return self.engine.program.relations

    def load(
        self,
        tables: Mapping[str, Iterable[Sequence[Value]] | Mapping[Row, int]] | None = None,
        *,
        check: bool = True,
    ) -> None:
        """See `ProgramEngine`; without `check`, numbers may leave their range until it is called.

        Rows come one by one, or as a mapping to how often each is there.
        """
        self.engine.load(tables, check=check)

    def apply(self, changes: Batch, *, check: bool = True) -> None:
        """See `ProgramEngine`; without `check`, numbers may leave their range until it is called.

        A batch is looked at as a whole: between its relations numbers may be anything.
        """
        self.engine.apply_all(changes, check=check)

    def give(self, relation: str, change: NetChange, back: bool = False) -> None:
        """Apply one part of a batch, or take it back; `check` follows the last part."""
        net = change.net()
        if back:
            net = {row: -count for row, count in net.items()}
        if net:
            self.engine.apply(relation, net, check=False)

    def check(self) -> None:
        """Refuse numbers that are outside of the domain of values."""
        self.engine.check()

    def read(self, query: str) -> Multiset:
        """See `ProgramEngine`."""
        return self.engine.read(query)

    def changes(self, query: str) -> Multiset:
        """See `ProgramEngine`: by the keys that writes touch, where all the maps have them."""
        if not self.collects(query):
            return self._shown.changes(query, self.read(query))
        if query not in self._collected:
            rows = self.read(query)
            self.collect(query)
            return rows
        return self.engine.collected(query)

    def collects(self, query: str) -> bool:
        """Whether the changes of a query can be collected while they are made."""
        if query not in self._collectable:
            try:
                touching(self.engine.program, self.engine.queries[query])
                self._collectable[query] = True
            except NotCollected:
                self._collectable[query] = False
        return self._collectable[query]

    def collect(self, query: str) -> None:
        """Collect the changes of a query from now on."""
        self.engine.collect(query)
        self._collected.add(query)

    def snapshot(self) -> Snapshot:
        """See `ProgramEngine`."""
        return self.engine.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """See `ProgramEngine`."""
        self.engine.restore(snapshot)

    def contents(self, name: str) -> Multiset:
        """The rows of a map, with their payloads."""
        return self.engine.contents(name)

    def sizes(self) -> Mapping[str, int]:
        """How many rows every map holds."""
        return self.engine.state()

    def costs(self) -> tuple[int, int, int]:
        """Bytes (which nobody counts here), rows looked at and rows written."""
        return 0, self.engine.counters.visits, self.engine.counters.writes

    @property
    def work(self) -> int:
        """How many rows were looked at or written so far."""
        return self.engine.work
