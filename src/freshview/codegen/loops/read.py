"""Loops from their text: the inverse of `text.show`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

from freshview.calculus.terms import Expr
from freshview.calculus.text import read_constant
from freshview.calculus.tokens import Tokens
from freshview.calculus.types import Type
from freshview.codegen.layout.terms import Columns, Table
from freshview.codegen.layout.text import read_column, read_columns
from freshview.codegen.layout.type_text import read_type, read_types
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
    Yield,
)
from freshview.codegen.loops.parts import Fetch, Running, Weight
from freshview.codegen.loops.read_parts import Parts
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
    Loops,
    Probe,
    Product,
    Range,
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
from freshview.codegen.loops.text import WIDE
from freshview.depth import deep
from freshview.lexer import unexpected

Kind = Literal["relation", "ready", "after", "refresh", "listing", "read", "find"]
KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}
EVENTS: dict[str, Literal["insert", "delete", "either"]] = {
    "insert": "insert",
    "delete": "delete",
    "either": "either",
}


@deep
def read(text: str, file: str = "<text>") -> Loops:
    """Loops from their text.

    >>> from freshview.codegen.loops.text import show
    >>> loops = read("read read_q of q { scan r1 in m_q { output q(r1.k0 : int) += r1.p0 } }")
    >>> print(show(loops), end="")
    read read_q of q {
      scan r1 in m_q {
        output q(r1.k0 : int) += r1.p0
      }
    }
    """
    tokens = Tokens(text, file)
    wide = tokens.accept(WIDE.split()[0])
    if wide:
        tokens.expect(WIDE.split()[1])
    functions: list[Function] = []
    while tokens.peek().kind != "end":
        functions.append(_Reader(tokens, wide).function())
    return Loops(tuple(functions))


@dataclass
class _Reader(Parts):
    """What reads one function."""

    written: dict[str, str] = field(default_factory=dict)
    """By the names of records that are written: their tables."""

    def function(self) -> Function:
        token = self.tokens.next()
        if token.text not in KINDS:
            raise unexpected(token, f"one of {', '.join(KINDS)}")
        name = self.name()
        of = self.name() if self.tokens.accept("of") else ""
        key = read_columns(self.tokens, "c") if self.tokens.accept("by") else ()
        return Function(name, KINDS[token.text], of, self.block(), key)

    def block(self) -> Block:
        self.tokens.expect("{")
        return self._rest_of_block()

    def _rest_of_block(self) -> Block:
        block: list[Stmt] = []
        while not self.tokens.accept("}"):
            block.append(self._statement())
        return tuple(block)

    def _statement(self) -> Stmt:
        token = self.tokens.next()
        reader = STATEMENTS.get(token.text) if token.kind == "name" else None
        if reader is None:
            raise unexpected(token, "a statement")
        return reader(self)

    # -- definitions -------------------------------------------------------------------------------

    def let(self) -> Stmt:
        name, exact = self.name(), self.tokens.accept("exactly")
        self.tokens.expect("=")
        return Let(name, self.value(), exact)

    def product(self) -> Stmt:
        name = self.name()
        self.tokens.expect("=")
        return Product(name, self.weight())

    def _typed(self) -> tuple[str, Type]:
        name = self.name()
        self.tokens.expect(":")
        return name, read_type(self.tokens)

    def total(self) -> Stmt:
        return Total(*self._typed(), self.block())

    def turn(self) -> Stmt:
        return Turn(*self._typed())

    def collect(self) -> Stmt:
        name, keys = self.name(), read_types(self.tokens)
        self.tokens.expect(":")
        table = Table(name, keys, read_types(self.tokens), transient=True)
        return Collect(name, table, self.block())

    def look(self) -> Stmt:
        name, t = self._typed()
        self.tokens.expect("=")
        return Look(name, self.value(), t)

    def intern(self) -> Stmt:
        name = self.name()
        self.tokens.expect("=")
        return Intern(name, self.value())

    def probe(self) -> Stmt:
        name = self.name()
        self.tokens.expect("in")
        return Probe(name, *self.record())

    def sum_of_range(self) -> Stmt:
        name, r, _ = self._range()
        only = read_columns(self.tokens, "p") if self.tokens.accept("only") else ()
        return RangeSum(name, self._ends(r), only)

    def _range(self) -> tuple[str, Range, bool]:
        """A name, a range whose ends are still to be read, and whether it has one entry a group."""
        name = self.name()
        self.tokens.expect("of")
        at = self.name()
        self.tokens.expect("in")
        search = self.search()
        turns = self.several(self.name) if self.tokens.accept("turns") else ()
        return name, Range(search, at, (), (), turns), self.tokens.accept("grouped")

    def _ends(self, r: Range, close: str = "}") -> Range:
        self.tokens.expect("{")
        (first, up), (last, down) = (self._end(word) for word in ("from", "to"))
        self.tokens.expect(close)
        return Range(r.search, r.at, up, down, r.turns, (first, last))

    def _end(self, word: str) -> tuple[Running | None, Block]:
        return (self.running(), self.block()) if self.tokens.accept(word) else (None, ())

    # -- scopes ------------------------------------------------------------------------------------

    def if_(self) -> Stmt:
        seldom = self.tokens.accept("seldom")
        tests = self.tests()
        return If(tests, self.block(), seldom)

    def unless(self) -> Stmt:
        tests = self.tests()
        return Unless(tests, self.block())

    def find(self) -> Stmt:
        name, t = self._typed()
        self.tokens.expect("=")
        value = self.value()
        return Find(name, value, t, self.block())

    def batch(self) -> Stmt:
        row = self.name()
        self.tokens.expect("of")
        relation = self.name()
        tests = self.tests() if self.tokens.accept("where") else ()
        in_turn = self.tokens.accept("in")
        if in_turn:
            self.tokens.expect("turn")
        added_up, fetches = self.tokens.accept("preaggregated"), self._fetches()
        return Batch(row, relation, self._rest_of_block(), tests, in_turn, fetches, added_up)

    def _fetches(self) -> tuple[Fetch, ...]:
        self.tokens.expect("{")
        fetches: list[Fetch] = []
        while self.tokens.accept("fetch"):
            index, write = self.tokens.accept("slice"), self.tokens.accept("write")
            fetches.append(Fetch(self.name(), *self.by(), index, write))
        return tuple(fetches)

    def times(self) -> Stmt:
        token = self.tokens.next()
        if token.text not in EVENTS:
            raise unexpected(token, "insert, delete or either")
        row = self.name()
        sign = self.name() if self.tokens.accept("as") else ""
        return Times(sign, row, EVENTS[token.text], self.block())

    def at(self) -> Stmt:
        row = self.name()
        self.tokens.expect("in")
        table, keys = self.record()
        self.written[row] = table
        return At(row, table, keys, self.block())

    def group(self) -> Stmt:
        self.tokens.expect("{")
        texts: list[str] = []
        while self.tokens.accept("does"):
            lines = [self._literal()]
            while self.tokens.accept("|"):
                lines.append(self._literal())
            texts.append("\n".join(lines))
        return Group(tuple(texts), self._rest_of_block())

    def _literal(self) -> str:
        return str(read_constant(self.tokens))

    def get(self) -> Stmt:
        row = self.name()
        self.tokens.expect("in")
        table, keys = self.record()
        probe = self.name() if self.tokens.accept("from") else ""
        return Get(row, table, keys, self.block(), probe)

    def slice_(self) -> Stmt:
        row = self.name()
        self.tokens.expect("in")
        table, (columns, keys) = self.name(), self.by()
        return Slice(row, table, columns, keys, self.block())

    def scan(self) -> Stmt:
        row = self.name()
        self.tokens.expect("in")
        table, changed = self.name(), self.changed()
        fetches = self._fetches()
        return Scan(row, table, self._rest_of_block(), fetches, changed)

    def walk(self) -> Stmt:
        row, r, grouped = self._range()
        r = self._ends(r, "do")
        body = self.block()
        self.tokens.expect("}")
        return Walk(row, r, body, grouped)

    def groups(self) -> Stmt:
        row = self.name()
        self.tokens.expect("by")
        columns = read_columns(self.tokens)
        self.tokens.expect("in")
        search = self.search()
        return EachGroup(row, search, columns, self.block())

    def first(self) -> Stmt:
        limit = self.number()
        self.tokens.expect("of")
        payload, once = read_column(self.tokens, "p"), self.tokens.accept("once")
        row = self.name()
        self.tokens.expect("in")
        search, descending = self.search(), self.tokens.accept("backward")
        nulls: Literal["as_sorted", "first", "last"] = "as_sorted"
        if self.tokens.accept("nulls"):
            nulls = "first" if self.tokens.accept("first") else "last"
            if nulls == "last":
                self.tokens.expect("last")
        others, wanted = "", Columns()
        if self.tokens.accept("plus"):
            others = self.name()
            self.tokens.expect("by")
            wanted = read_columns(self.tokens)
        ends, how = self.begins(), (limit, descending, nulls, payload, once)
        return FirstRows(row, search, *how, self.block(), others, wanted, ends)

    def choose(self) -> Stmt:
        limit, row = self.number(), self.name()
        self.tokens.expect("in")
        table = self.name()
        groups = read_columns(self.tokens) if self.tokens.accept("by") else ()
        order = self.several(self.order) if self.tokens.accept("sorted") else ()
        return FirstOfGroups(row, table, groups, order, limit, self.block())

    # -- effects -----------------------------------------------------------------------------------

    def yield_(self) -> Stmt:
        keys = self.keys()
        self.tokens.expect("+=")
        return Yield(keys, self.weight())

    def gain(self) -> Stmt:
        return Gain(*self._written("+="))

    def assign(self) -> Stmt:
        return Assign(*self._written(":="))

    def _written(self, op: str) -> tuple[str, str, int, Weight]:
        """A record at hand, its table, a payload column of it, and a weight."""
        token = self.tokens.peek()
        row, _, column = self.name().rpartition(".")
        if row not in self.written or column[:1] != "p" or not column[1:].isdecimal():
            raise unexpected(token, "a payload of a record that stands around, as in w1.p0")
        self.tokens.expect(op)
        return row, self.written[row], int(column[1:]), self.weight()

    def output(self) -> Stmt:
        query = self.name()
        self.tokens.expect("(")
        columns = () if self.tokens.accept(")") else self.several(self._output_column)
        if columns:
            self.tokens.expect(")")
        self.tokens.expect("+=")
        values, types = tuple(e for e, _ in columns), tuple(t for _, t in columns)
        return Output(query, values, types, self.weight())

    def _output_column(self) -> tuple[Expr, Type]:
        value = self.value()
        self.tokens.expect(":")
        return value, read_type(self.tokens)


STATEMENTS: dict[str, Callable[[_Reader], Stmt]] = {
    "let": _Reader.let,
    "product": _Reader.product,
    "total": _Reader.total,
    "collect": _Reader.collect,
    "look": _Reader.look,
    "intern": _Reader.intern,
    "probe": _Reader.probe,
    "turn": _Reader.turn,
    "sum": _Reader.sum_of_range,
    "if": _Reader.if_,
    "unless": _Reader.unless,
    "find": _Reader.find,
    "batch": _Reader.batch,
    "times": _Reader.times,
    "at": _Reader.at,
    "group": _Reader.group,
    "get": _Reader.get,
    "slice": _Reader.slice_,
    "scan": _Reader.scan,
    "walk": _Reader.walk,
    "groups": _Reader.groups,
    "first": _Reader.first,
    "choose": _Reader.choose,
    "yield": _Reader.yield_,
    "tally": lambda r: Tally(r.weight()),
    "gain": _Reader.gain,
    "assign": _Reader.assign,
    "answer": lambda _: Answer(),
    "clear": lambda r: Clear(r.name()),
    "stale": lambda r: Stale(r.several(r.name)),
    "late": lambda r: Stale(r.several(r.name), late=True),
    "release": lambda _: Release(),
    "call": lambda r: Call(r.name()),
    "output": _Reader.output,
    "touch": lambda r: Touch(*r.record()),
}
"""The word that a statement begins with, and what reads the rest of it."""
