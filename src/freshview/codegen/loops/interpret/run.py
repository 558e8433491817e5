"""Statements carried out one by one: every node by a method of its own, as `kernel/emit.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from freshview.calculus.types import Value
from freshview.codegen.loops.additions import Additions, additions
from freshview.codegen.loops.effects import (
    Answer,
    Assign,
    Call,
    Clear,
    Gain,
    Output,
    Release,
    Stale,
    Tally,
    Touch,
)
from freshview.codegen.loops.interpret.activation import fits_name
from freshview.codegen.loops.interpret.ordered import Answered, Searches, TurningPoint
from freshview.codegen.loops.interpret.records import Key, Records
from freshview.codegen.loops.interpret.values import (
    Amount,
    Names,
    Row,
    fits,
    nearest,
    within_range,
)
from freshview.codegen.loops.terms import (
    At,
    Batch,
    Block,
    Collect,
    EachGroup,
    Find,
    FirstOfGroups,
    FirstRows,
    Function,
    Get,
    Group,
    If,
    Intern,
    Let,
    Look,
    Probe,
    Product,
    RangeSum,
    Scan,
    Slice,
    Stmt,
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


class Run(Searches):
    """What carries out statements, node by node."""

    def function(self, f: Function, names: Names = NOTHING) -> None:
        """Carry out a function."""
        if f.kind == "refresh":
            if not self.state.stale:
                return
            self.state.stale = False
        if f.kind == "after":
            if not self.state.late:
                return
            self.state.late = False
        self.block(f.body, names)

    def block(self, block: Block, names: Names) -> None:
        """Carry out statements; what one of them defines, those after it see."""
        for s in block:
            defined = WAYS[type(s)](self, s, names)
            if defined:
                names = {**names, **defined}

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
        sums: list[Amount] = [0]
        self.block(s.body, {**names, TOTAL: sums})
        return {s.name: sums[0]}

    def collect(self, s: Collect, names: Names) -> None:
        """A table that is new each time."""
        self.state.tables[s.name] = Records(self.table(s.name).table)
        self.block(s.body, names)

    def look(self, s: Look, names: Names) -> Names:
        """A value as a key, and whether a record can have it."""
        x = self.values.key(s.value, s.type, names)
        return {s.name: x, fits_name(s.name): fits(x, s.type)}

    def intern(self, s: Intern, names: Names) -> Names:
        """A text as a symbol."""
        x = self.values.value(s.value, names)
        if isinstance(x, str):
            self.state.texts.add(x)
        return {s.name: x}

    def probe(self, s: Probe, names: Names) -> Names:
        """A record, or none."""
        return {s.name: self.record(s.table, s.keys, names)}

    def turn(self, s: Turn, _: Names) -> Names:
        """Nothing is known yet of where a condition turns."""
        return {s.name: TurningPoint()}

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
        added = additions(s) if s.preaggregated else None
        if added is not None:
            self._add_up(s, added, names)
            return
        rows = self.batch
        if s.in_turn:
            rows = sorted(rows, key=lambda r: r.count >= 0)
        for r in rows:
            inside = {**names, s.row: r}
            if self.holds(s.tests, inside):
                self.block(s.body, inside)

    def _add_up(self, s: Batch, added: Additions, names: Names) -> None:
        """The rows of the batch, added up by key in records of their own, and then to the table."""
        name = added.record.table
        records = self.table(name)
        if added.touches:  # while the table still has what it had
            self.each_row(replace(s, preaggregated=False, body=added.touching), names)
        totals = self.state.tables[name] = Records(records.table)
        try:
            self.each_row(replace(s, preaggregated=False), names)
        finally:
            self.state.tables[name] = records
        for total in totals.records.values():
            record = records.at(total.values)
            pairs = zip(record.payloads, total.payloads, strict=True)
            record.payloads[:] = [a + b for a, b in pairs]
            records.drop_if_empty(record)

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
        record = names[s.probe] if s.probe else self.record(s.table, s.keys, names)
        if record is not None:
            self.block(s.body, {**names, s.row: record})

    def slice_(self, s: Slice, names: Names) -> None:
        """The records with these values in some key columns."""
        keys = self.keys(s.table, s.columns, s.keys, names)
        for record in self.table(s.table).slice(s.columns, keys):
            self.block(s.body, {**names, s.row: record})

    def scan(self, s: Scan, names: Names) -> None:
        """All the records of a table, or those that have changed."""
        of = self.table(s.table)
        ways = {"": of.records.values, "was": of.as_they_were, "is": of.as_they_are}
        for record in ways[s.changed]():
            self.block(s.body, {**names, s.row: record})

    def at(self, s: At, names: Names) -> None:
        """The record with these keys, made, and dropped if nothing is left of it."""
        records = self.table(s.table)
        keys = self.keys(s.table, range(len(records.table.keys)), s.keys, names)
        record = records.at(keys)
        self.block(s.body, {**names, s.row: record})
        records.drop_if_empty(record)

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
        self.table(s.table).clear()

    def stale(self, s: Stale, _: Names) -> None:
        """Maps have to be recomputed."""
        if s.late:
            self.state.late = True
        else:
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

    def touch(self, s: Touch, names: Names) -> None:
        """Note the rows of a key as they are, if its query is one whose changes are collected."""
        if s.query not in self.touched:
            return
        key = tuple([nearest(self.values.value(e, names)) for e in s.keys])
        if key not in self.touched[s.query]:
            self.touched[s.query][key] = self.rows_of_key(s.query, key)

    def rows_of_key(self, query: str, key: Key) -> list[tuple[Key, int]]:
        """The rows of a query as they are, those with these values in its key columns."""
        own = [f for f in self.functions.values() if f.of == query and f.kind in ("read", "find")]
        f = next((f for f in own if f.kind == "find"), own[0])
        values: list[Value] = [None] * (max(f.key, default=-1) + 1)
        for j, x in zip(f.key, key, strict=True):
            values[j] = x
        run = Run(self.state, self.functions, self.values)
        run.function(f, {"key": Row(tuple(values), [])})
        return run.rows


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
    Touch: Run.touch,
}
"""What carries out each kind of statement."""
