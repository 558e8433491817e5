"""What statements of loops are read from: values, weights, keys, tests, searches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, get_args

from freshview.calculus.terms import Const, Expr
from freshview.calculus.text import read_factor, read_term
from freshview.calculus.tokens import Tokens
from freshview.calculus.walk import bottom_up
from freshview.codegen.layout.terms import Columns
from freshview.codegen.layout.text import read_column, read_sorts
from freshview.codegen.loops.parts import (
    Fits,
    Holds,
    Missing,
    NoNegative,
    NotZero,
    Running,
    Same,
    Search,
    Side,
    SortKey,
    Test,
    There,
    Values,
    Weight,
)
from freshview.lexer import unexpected

T = TypeVar("T")

SIDES: tuple[Side, ...] = get_args(Side)


@dataclass
class Parts:
    """What reads the parts of statements."""

    tokens: Tokens
    wide: bool = False
    """Whether decimals among the constants have 128 bits."""

    def name(self) -> str:
        """Take a name."""
        return self.tokens.name()

    def number(self) -> int:
        """Take a whole number."""
        return int(self.tokens.next().text)

    def several(self, item: Callable[[], T]) -> tuple[T, ...]:
        """Take items separated by commas, at least one."""
        items = [item()]
        while self.tokens.accept(","):
            items.append(item())
        return tuple(items)

    def value(self) -> Expr:
        """Take a value."""
        return self._constants(read_term(self.tokens))

    def _constants(self, e: Expr) -> Expr:
        def widened(part: Expr) -> Expr | None:
            if isinstance(part, Const) and part.type.kind == "decimal":
                return Const(part.value, replace(part.type, wide=True))
            return None

        return bottom_up(e, widened) if self.wide else e

    def weight(self) -> Weight:
        """Take the factors of a weight."""
        if (self.tokens.peek().text, self.tokens.peek(1).text) == ("(", ")"):
            self.tokens.expect("(")
            self.tokens.expect(")")
            return ()
        factors = [self._constants(read_factor(self.tokens))]
        while self.tokens.accept("*"):
            factors.append(self._constants(read_factor(self.tokens)))
        return tuple(factors)

    def keys(self) -> Values:
        """Take values between brackets."""
        self.tokens.expect("[")
        if self.tokens.accept("]"):
            return ()
        keys = self.several(self.value)
        self.tokens.expect("]")
        return keys

    def record(self) -> tuple[str, Values]:
        """Take a table and the keys of a record."""
        return self.name(), self.keys()

    def pair(self) -> tuple[int, Expr]:
        """Take a key column and its value."""
        column = read_column(self.tokens)
        self.tokens.expect("=")
        return column, self.value()

    def by(self) -> tuple[Columns, Values]:
        """Take key columns and their values."""
        self.tokens.expect("by")
        pairs = self.several(self.pair)
        return tuple(i for i, _ in pairs), tuple(e for _, e in pairs)

    def changed(self) -> Literal["", "was", "is"]:
        """Take whether a scan meets all the records, or those that changed, as they were or are."""
        if not self.tokens.accept("as"):
            return ""
        self.tokens.expect("it")
        if self.tokens.accept("was"):
            return "was"
        self.tokens.expect("is")
        return "is"

    def search(self) -> Search:
        """Take a search in an ordered index."""
        table = self.name()
        self.tokens.expect("sorted")
        sorts = read_sorts(self.tokens)
        known = self.several(self.pair) if self.tokens.accept("known") else ()
        return Search(table, sorts, known)

    def running(self) -> Running | None:
        """Take the sums on one side of an entry, if they are asked for."""
        if not self.tokens.accept("running"):
            return None
        name = self.name()
        for side in SIDES:
            if self.tokens.accept(side):
                return Running(name, side)
        raise unexpected(self.tokens.next(), "after, from, before or to")

    def order(self) -> SortKey:
        """Take a column of an order."""
        column, falling = read_column(self.tokens), self.tokens.accept("falling")
        nulls_first = self.tokens.accept("nulls")
        if nulls_first:
            self.tokens.expect("first")
        return SortKey(column, falling, nulls_first)

    # -- tests -------------------------------------------------------------------------------------

    def begins(self) -> tuple[Test, ...]:
        """Take the tests of where a walk begins, if it says so."""
        return self.tests() if self.tokens.accept("from") else ()

    def tests(self) -> tuple[Test, ...]:
        """Take tests that have to hold together."""
        if self.tokens.accept("always"):
            return ()
        tests = [self._test()]
        while self.tokens.accept("and"):
            tests.append(self._test())
        return tuple(tests)

    def _test(self) -> Test:
        accept = self.tokens.accept
        if accept("there"):
            return There(self.value())
        if accept("nonzero"):
            return NotZero(self.value())
        if accept("same"):
            return self._same()
        if accept("nonnegative"):
            payload = read_column(self.tokens, "p")
            self.tokens.expect("of")
            return NoNegative(self.name(), payload)
        if accept("fits"):
            return Fits(self.name())
        if accept("missing"):
            return self._missing()
        accept("holds")
        return Holds(self.value())

    def _same(self) -> Same:
        column = read_column(self.tokens)
        self.tokens.expect("of")
        table = self.name()
        self.tokens.expect(":")
        own = self.value()
        self.tokens.expect("=")
        return Same(table, column, own, self.value())

    def _missing(self) -> Missing:
        table, keys = self.record()
        tests: tuple[Test, ...] = ()
        if self.tokens.accept("where"):
            self.tokens.expect("(")
            tests = self.tests()
            self.tokens.expect(")")
        return Missing(table, keys, tests)
