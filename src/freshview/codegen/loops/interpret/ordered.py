"""Ordered indexes: sums over ranges, walks through them, groups, first rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import dropwhile, takewhile

from freshview.calculus.types import Value
from freshview.codegen.loops.interpret.activation import Activation
from freshview.codegen.loops.interpret.records import Key, arranged, null_smallest
from freshview.codegen.loops.interpret.values import Amount, Names, Row
from freshview.codegen.loops.parts import Search, Side, SortKey
from freshview.codegen.loops.terms import (
    Block,
    EachGroup,
    FirstOfGroups,
    FirstRows,
    Range,
    RangeSum,
    Walk,
)


class Answered(Exception):
    """A condition holds."""


@dataclass
class TurningPoint:
    """Where a monotone condition turns, as far as it was asked."""

    yes: list[Value] = field(default_factory=list)
    no: list[Value] = field(default_factory=list)

    def holds(self, x: Value, rising: bool, ask: Callable[[], bool]) -> bool:
        """Whether the condition holds at x; it is asked where that does not follow.

        A `rising` one holds from some value on, any other up to some value.
        """

        def beyond(known: list[Value], above: bool) -> bool:
            at, here = [null_smallest(k) for k in known], null_smallest(x)
            return any(k <= here if above else here <= k for k in at)

        if beyond(self.yes, rising):
            return True
        if beyond(self.no, not rising):
            return False
        answer = ask()
        (self.yes if answer else self.no)[:] = [x]
        return answer


def _running(entries: Sequence[Row], side: Side) -> list[Row]:
    """For each entry the sums of those on one side of it."""
    forward, own = side in ("before", "to"), side in ("from", "to")
    sums: list[Amount] = [0] * len(entries[0].payloads) if entries else []
    out = []
    for entry in entries if forward else reversed(entries):
        total = [a + b for a, b in zip(sums, entry.payloads, strict=True)]
        out.append(Row((), total if own else sums))
        sums = total
    return out if forward else out[::-1]


class Searches(Activation):
    """What searches in ordered indexes."""

    def range_sum(self, s: RangeSum, names: Names) -> Names:
        """The sums of payloads over a range; those that nothing reads are none."""
        payloads = self.table(s.range.search.table).table.payloads
        sums: list[Amount] = [None] * len(payloads)
        for j in s.only or range(len(payloads)):
            sums[j] = 0
        for entry in self._range(s.range, names):
            for j in s.only or range(len(payloads)):
                sums[j] += entry.payloads[j]
        return {s.name: Row((), sums)}

    def _entries(self, s: Search, names: Names) -> list[Row]:
        records = self.table(s.table)
        known = {i: self.values.key(e, records.table.keys[i], names) for i, e in s.known}
        return records.entries(s.sorts, known)

    def _range(self, r: Range, names: Names) -> Iterable[Row]:
        """The entries from where `up` holds, to where `down` does no more."""
        known = {i for i, _ in r.search.known}
        x = next((s.column for s in r.search.sorts if s.column not in known), None)

        entries = self._entries(r.search, names)

        def side(block: Block, number: int) -> Callable[[Row], bool]:
            if not block:
                return lambda _: True
            if running := r.running[number]:
                sums = dict(zip(map(id, entries), _running(entries, running.side), strict=True))
                return lambda entry: self._answers(block, {**names, running.name: sums[id(entry)]})
            if not r.turns or x is None:
                return lambda entry: self._answers(block, {**names, r.at: entry})
            point: TurningPoint = names[r.turns[number]]

            def holds(entry: Row) -> bool:
                ask = partial(self._answers, block, {**names, r.at: entry})
                return point.holds(entry.values[x], number == 0, ask)

            return holds

        up, down = side(r.up, 0), side(r.down, 1)
        begun = dropwhile(lambda entry: not up(entry), entries)
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
        groups: dict[Key, Row] = {}
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
        for entry in dropwhile(lambda r: not self.holds(s.ends, {**names, s.row: r}), entries):
            count = entry.payloads[s.payload]
            count = int(bool(count)) if s.once else count
            if s.others:
                other = self.table(s.others).get(tuple(entry.values[i] for i in s.wanted))
                count += 0 if other is None else other.payloads[0]
            left -= self._choose(s.row, entry, count, left, s.body, names)

    def first_of_groups(self, s: FirstOfGroups, names: Names) -> None:
        """The first rows of each group of a transient table."""
        order = (*(SortKey(i, nulls_first=True) for i in s.groups), *s.order)
        left: dict[Key, int] = {}
        for r in arranged(self.table(s.table).records.values(), order):
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
