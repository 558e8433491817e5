"""What statements are carried out with: the state, the batch, tests, keys."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from freshview.codegen.loops.interpret.records import Key, Records, same
from freshview.codegen.loops.interpret.values import Names, Row, Values
from freshview.codegen.loops.parts import (
    Fits,
    Holds,
    Missing,
    NoNegative,
    NotZero,
    Same,
    Test,
    There,
)
from freshview.codegen.loops.parts import Values as Keys
from freshview.codegen.loops.terms import Block, Function


@dataclass
class State:
    """What lasts from one call to the next."""

    tables: dict[str, Records]
    texts: set[str] = field(default_factory=set)
    """All the texts that are symbols."""
    stale: bool = False
    """Whether maps have to be recomputed before they are read."""
    late: bool = False
    """Whether maps have to be recomputed after the rows of the batch."""


@dataclass
class Activation(ABC):
    """One call of a function: a batch of rows comes in, rows of a query go out."""

    state: State
    functions: Mapping[str, Function]
    values: Values
    batch: Sequence[Row] = ()
    rows: list[tuple[Key, int]] = field(default_factory=list)
    touched: Mapping[str, dict[Key, Sequence[tuple[Key, int]]]] = field(default_factory=dict)
    """By the queries whose changes are collected: the keys that were touched, and their rows."""

    @abstractmethod
    def block(self, block: Block, names: Names) -> None:
        """Carry out statements; what one of them defines, those after it see."""

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
                wanted = self.values.key(value, self.table(table).table.keys[column], names)
                return same(self.values.value(own, names), wanted)
            case NoNegative(table, payload):
                return all(r.payloads[payload] >= 0 for r in self.table(table).records.values())
            case Fits(name):
                return bool(names[fits_name(name)])
            case Missing(table, keys, tests):
                return not (self.holds(tests, names) and self.record(table, keys, names))

    def table(self, name: str) -> Records:
        """The records of a table."""
        return self.state.tables[name]

    def keys(self, table: str, columns: Sequence[int], keys: Keys, names: Names) -> Key:
        """Values as keys of some columns."""
        types = self.table(table).table.keys
        pairs = zip(columns, keys, strict=True)
        return tuple([self.values.key(e, types[i], names) for i, e in pairs])

    def record(self, table: str, keys: Keys, names: Names) -> Row | None:
        """The record with these keys, or none."""
        records = self.table(table)
        return records.get(self.keys(table, records.table.lookup_columns, keys, names))


def fits_name(name: str) -> str:
    """The name of what tells whether a value that was looked for can be a key."""
    return f"{name} fits"
