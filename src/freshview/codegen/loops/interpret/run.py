"""Statements carried out one by one: every node by a method of its own, as `kernel/emit.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile, takewhile
from typing import Any

from freshview.codegen.loops.interpret.records import Key, Records, arranged, null_smallest, same
from freshview.codegen.loops.interpret.values import (
    Names,
    Row,
    Values,
    fits,
    nearest,
    within_range,
)
from freshview.codegen.loops.parts import (
    Fits,
    Holds,
    Missing,
    NoNegative,
    NotZero,
    Same,
    Search,
    SortKey,
    Test,
    There,
)
from freshview.codegen.loops.parts import Values as Keys
from freshview.codegen.loops.terms import (
    Answer,
    Assign,
    At,
    Batch,
    Block,
    Call,
    Clear,
    Collect,
    EachGroup,
    Find,
    FirstOfGroups,
    FirstRows,
    Function,
    Gain,
    Get,
    Group,
    If,
    Intern,
    Let,
    Look,
    Output,
    Probe,
    Product,
    Range,
    RangeSum,
    Release,
    Scan,
    Slice,
    Stale,
    Stmt,
    Tally,
    Times,
    Total,
    Turn,
    Unless,
    Walk,
)
from freshview.program.signs import MOST, too_many

TOTAL = "the total around"
"""What `Tally` adds to, among the names: no local is called so."""

NOTHING: Names = {}


class Answered(Exception):
    """A condition holds."""


@dataclass
class TurningPoint:
    """Where a monotone condition turns, as far as it was asked."""

    rising: bool
    """Whether it holds from some value on; else, up to some value."""
    yes: list[Any] = field(default_factory=list)
    no: list[Any] = field(default_factory=list)

    def holds(self, x: Any, ask: Callable[[], bool]) -> bool:
        """Whether the condition holds at x; it is asked where that does not follow."""

        def beyond(known: list[Any], rising: bool) -> bool:
            at, here = [null_smallest(k) for k in known], null_smallest(x)
            return any(k <= here if rising else here <= k for k in at)

        if beyond(self.yes, self.rising):
            return True
        if beyond(self.no, not self.rising):
            return False
        answer = ask()
        (self.yes if answer else self.no)[:] = [x]
        return answer


@dataclass
class State:
    """What lasts from one call to the next."""

    tables: dict[str, Records]
    texts: set[str] = field(default_factory=set)
    """All the texts that are symbols."""
    stale: bool = False
    """Whether maps have to be recomputed before they are read."""


@dataclass
class Run:
    """One call of a function: a batch of rows comes in, rows of a query go out."""

    state: State
    functions: Mapping[str, Function]
    values: Values
    batch: Sequence[Row] = ()
    rows: list[tuple[tuple[Any, ...], int]] = field(default_factory=list)

    def function(self, f: Function, names: Names = NOTHING) -> None:
        """Carry out a function."""
        if f.kind == "refresh":
            if not self.state.stale:
                return
            self.state.stale = False
        self.block(f.body, names)

    def block(self, block: Block, names: Names) -> None:
        """Carry out statements; what one of them defines, those after it see."""
        for s in block:
            defined = WAYS[type(s)](self, s, names)
            if defined:
                names = {**names, **defined}

    # -- tests and keys ----------------------------------------------------------------------------

    def holds(self, tests: Iterable[Test], names: Names) -> bool:
        """Whether all tests hold."""
        return all(self._test(t, names) for t in tests)

    def _test(self, t: Test, names: Names) -> bool:
        match t:
            case Holds(value):
                return bool(self.values.value(value, names))
            case There(value) | NotZero(value):
                return bool(self.values.number(value, names))
            case Same(table, column, own, value):
                wanted = self.values.key(value, self._table(table).table.keys[column], names)
                return same(self.values.value(own, names), wanted)
            case NoNegative(table, payload):
                return all(r.payloads[payload] >= 0 for r in self._table(table).records.values())
            case Fits(name):
                return bool(names[_fits(name)])
            case Missing(table, keys, tests):
                return not (self.holds(tests, names) and self._record(table, keys, names))

    def _table(self, name: str) -> Records:
        return self.state.tables[name]

    def _keys(self, table: str, columns: Sequence[int], keys: Keys, names: Names) -> Key:
        types = self._table(table).table.keys
        pairs = zip(columns, keys, strict=True)
        return tuple([self.values.key(e, types[i], names) for i, e in pairs])

    def _record(self, table: str, keys: Keys, names: Names) -> Row | None:
        records = self._table(table)
        return records.get(self._keys(table, records.table.lookup_columns, keys, names))

    # -- definitions -------------------------------------------------------------------------------

    def let(self, s: Let, names: Names) -> Names:
        """A value computed once."""
        x = self.values.value(s.value, names)
        return {s.name: within_range(x) if s.exact else x}

    def product(self, s: Product, names: Names) -> Names:
        """An element of a ring."""
        return {s.name: self.values.weight(s.weight, names)}

    def total(self, s: Total, names: Names) -> Names:
        """What the statements inside add up."""
        sums: list[Any] = [0]
        self.block(s.body, {**names, TOTAL: sums})
        return {s.name: sums[0]}

    def collect(self, s: Collect, names: Names) -> None:
        """A table that is new each time."""
        self.state.tables[s.name] = Records(self._table(s.name).table)
        self.block(s.body, names)

    def look(self, s: Look, names: Names) -> Names:
        """A value as a key, and whether a record can have it."""
        x = self.values.key(s.value, s.type, names)
        return {s.name: x, _fits(s.name): fits(x, s.type)}

    def intern(self, s: Intern, names: Names) -> Names:
        """A text as a symbol."""
        x = self.values.value(s.value, names)
        if x is not None:
            self.state.texts.add(x)
        return {s.name: x}

    def probe(self, s: Probe, names: Names) -> Names:
        """A record, or none."""
        return {s.name: self._record(s.table, s.keys, names)}

    def turn(self, s: Turn, _: Names) -> Names:
        """Nothing is known yet of where a condition turns: `Range` says which way."""
        return {s.name: []}

    def range_sum(self, s: RangeSum, names: Names) -> Names:
        """The sums of all payloads over a range."""
        payloads = self._table(s.range.search.table).table.payloads
        sums: list[Any] = [0] * len(payloads)
        for entry in self._range(s.range, names):
            sums = [a + b for a, b in zip(sums, entry.payloads, strict=True)]
        return {s.name: Row((), sums)}

    # -- ordered indexes ---------------------------------------------------------------------------

    def _entries(self, s: Search, names: Names) -> list[Row]:
        records = self._table(s.table)
        known = {i: self.values.key(e, records.table.keys[i], names) for i, e in s.known}
        return records.entries(s.sorts, known)

    def _range(self, r: Range, names: Names) -> Iterable[Row]:
        """The entries from where `up` holds, to where `down` does no more."""
        known = {i for i, _ in r.search.known}
        x = next((s.column for s in r.search.sorts if s.column not in known), None)

        def side(block: Block, number: int) -> Callable[[Row], bool]:
            if not block:
                return lambda _: True
            if not r.turns or x is None:
                return lambda entry: self._answers(block, {**names, r.at: entry})
            point = names[r.turns[number]]
            if not point:
                point.append(TurningPoint(rising=number == 0))

            def holds(entry: Row) -> bool:
                ask = lambda: self._answers(block, {**names, r.at: entry})  # noqa: E731
                return bool(point[0].holds(entry.values[x], ask))

            return holds

        up, down = side(r.up, 0), side(r.down, 1)
        begun = dropwhile(lambda entry: not up(entry), self._entries(r.search, names))
        return takewhile(down, begun)

    def _answers(self, block: Block, names: Names) -> bool:
        try:
            self.block(block, names)
        except Answered:
            return True
        return False

    def walk(self, s: Walk, names: Names) -> None:
        """The entries of a range one by one."""
        for entry in self._range(s.range, names):
            self.block(s.body, {**names, s.row: entry})

    def each_group(self, s: EachGroup, names: Names) -> None:
        """One entry for every group of a search."""
        groups: dict[tuple[Any, ...], Row] = {}
        for entry in self._entries(s.search, names):
            groups.setdefault(tuple(entry.values[i] for i in s.columns), entry)
        for entry in groups.values():
            self.block(s.body, {**names, s.row: entry})

    def first_rows(self, s: FirstRows, names: Names) -> None:
        """The first entries, until enough rows are counted."""
        entries = self._entries(s.search, names)
        if s.descending:
            entries.reverse()
        if s.nulls != "as_sorted":
            known = {i for i, _ in s.search.known}
            x = next(sort.column for sort in s.search.sorts if sort.column not in known)
            entries.sort(key=lambda r: (r.values[x] is None) == (s.nulls == "last"))
        left = s.limit
        for entry in entries:
            count = entry.payloads[s.payload]
            count = int(bool(count)) if s.once else count
            if s.others:
                other = self._table(s.others).get(tuple(entry.values[i] for i in s.wanted))
                count += 0 if other is None else other.payloads[0]
            left -= self._choose(s.row, entry, count, left, s.body, names)

    def first_of_groups(self, s: FirstOfGroups, names: Names) -> None:
        """The first rows of each group of a transient table."""
        order = (*(SortKey(i, nulls_first=True) for i in s.groups), *s.order)
        left: dict[tuple[Any, ...], int] = {}
        for r in arranged(self._table(s.table).records.values(), order):
            group = tuple(r.values[i] for i in s.groups)
            rest = left.setdefault(group, s.limit)
            left[group] -= self._choose(s.row, r, r.payloads[0], rest, s.body, names)

    def _choose(self, row: str, r: Row, count: int, left: int, body: Block, names: Names) -> int:
        """How many rows of a record are chosen: none if it is not there, no more than are left."""
        n = min(count, left)
        if n <= 0:
            return 0
        self.block(body, {**names, row: Row(r.values, r.payloads, n)})
        return n

    # -- scopes ------------------------------------------------------------------------------------

    def if_(self, s: If, names: Names) -> None:
        """Where all tests hold."""
        if self.holds(s.tests, names):
            self.block(s.body, names)

    def unless(self, s: Unless, names: Names) -> None:
        """Where a test fails."""
        if not self.holds(s.tests, names):
            self.block(s.body, names)

    def find(self, s: Find, names: Names) -> None:
        """Where a record can have a value."""
        x = self.values.key(s.value, s.type, names)
        if isinstance(x, str) and x not in self.state.texts:
            return
        if fits(x, s.type):
            self.block(s.body, {**names, s.name: x})

    def each_row(self, s: Batch, names: Names) -> None:
        """The rows of the batch."""
        rows = self.batch
        if s.in_turn:
            rows = sorted(rows, key=lambda r: r.count >= 0)
        for r in rows:
            inside = {**names, s.row: r}
            if self.holds(s.tests, inside):
                self.block(s.body, inside)

    def times(self, s: Times, names: Names) -> None:
        """As often as a row comes or goes."""
        count = names[s.row].count
        if abs(count) > MOST:
            raise too_many(s.row)
        sign = 1 if count > 0 else -1
        if s.event == ("delete" if count > 0 else "insert"):
            return
        for _ in range(abs(count)):
            self.block(s.body, {**names, s.sign: sign} if s.sign else names)

    def get(self, s: Get, names: Names) -> None:
        """The record with these keys."""
        record = names[s.probe] if s.probe else self._record(s.table, s.keys, names)
        if record is not None:
            self.block(s.body, {**names, s.row: record})

    def slice_(self, s: Slice, names: Names) -> None:
        """The records with these values in some key columns."""
        keys = self._keys(s.table, s.columns, s.keys, names)
        for record in self._table(s.table).slice(s.columns, keys):
            self.block(s.body, {**names, s.row: record})

    def scan(self, s: Scan, names: Names) -> None:
        """All the records of a table."""
        for record in self._table(s.table).records.values():
            self.block(s.body, {**names, s.row: record})

    def at(self, s: At, names: Names) -> None:
        """The record with these keys, made, and dropped if nothing is left of it."""
        records = self._table(s.table)
        keys = self._keys(s.table, range(len(records.table.keys)), s.keys, names)
        record = records.at(keys)
        self.block(s.body, {**names, s.row: record})
        records.settle(record)

    def group(self, s: Group, names: Names) -> None:
        """Statements of the program."""
        self.block(s.body, names)

    # -- effects -----------------------------------------------------------------------------------

    def tally(self, s: Tally, names: Names) -> None:
        """Add to the total around."""
        names[TOTAL][0] = names[TOTAL][0] + self.values.weight(s.weight, names)

    def gain(self, s: Gain, names: Names) -> None:
        """Add to a payload."""
        payloads = names[s.row].payloads
        payloads[s.payload] = payloads[s.payload] + self.values.weight(s.weight, names)

    def assign(self, s: Assign, names: Names) -> None:
        """Set a payload."""
        names[s.row].payloads[s.payload] = self.values.weight(s.weight, names)

    def answer(self, _: Answer, __: Names) -> None:
        """The condition holds."""
        raise Answered

    def clear(self, s: Clear, _: Names) -> None:
        """Empty a table."""
        self._table(s.table).clear()

    def stale(self, _: Stale, __: Names) -> None:
        """Maps have to be recomputed."""
        self.state.stale = True

    def release(self, _: Release, __: Names) -> None:
        """Python gives back memory by itself."""

    def call(self, s: Call, _: Names) -> None:
        """Run another function."""
        self.function(self.functions[s.function])

    def output(self, s: Output, names: Names) -> None:
        """A row of a query, if it counts for more than nothing."""
        n = self.values.weight(s.weight, names)
        if n > 0:
            row = tuple(nearest(self.values.value(e, names)) for e in s.values)
            self.rows.append((row, n))


def _fits(name: str) -> str:
    """The name of what tells whether a value that was looked for can be a key."""
    return f"{name} fits"


Way = Callable[[Run, Any, Names], Names | None]

WAYS: dict[type[Stmt], Way] = {
    Let: Run.let,
    Product: Run.product,
    Total: Run.total,
    Collect: Run.collect,
    Look: Run.look,
    Intern: Run.intern,
    Probe: Run.probe,
    Turn: Run.turn,
    RangeSum: Run.range_sum,
    If: Run.if_,
    Unless: Run.unless,
    Find: Run.find,
    Batch: Run.each_row,
    Times: Run.times,
    Get: Run.get,
    Slice: Run.slice_,
    Scan: Run.scan,
    Walk: Run.walk,
    EachGroup: Run.each_group,
    FirstRows: Run.first_rows,
    FirstOfGroups: Run.first_of_groups,
    At: Run.at,
    Group: Run.group,
    Tally: Run.tally,
    Gain: Run.gain,
    Assign: Run.assign,
    Answer: Run.answer,
    Clear: Run.clear,
    Stale: Run.stale,
    Release: Run.release,
    Call: Run.call,
    Output: Run.output,
}
"""What carries out each kind of statement."""
