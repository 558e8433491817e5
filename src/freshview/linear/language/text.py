"""Reading the text of matrix programs: read(show(e)) == e, and so for whole programs.

    semiring min-plus;                        % real, where nothing is said
    dynamic X(m, n);
    static Y(m, p);
    Z := X' * X;
    output beta := inv(Z) * X' * Y;

`%` begins a comment. In place of sizes, `rows(A)` and `cols(A)` stand for those of any term, and
numbers may be computed from numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from freshview.depth import deep
from freshview.errors import FreshviewError, Place, SyntaxProblem
from freshview.linear.language.build import (
    above,
    add,
    beside,
    identity,
    inverse,
    mul,
    neg,
    scale,
    transpose,
)
from freshview.linear.language.meta import Meta, given, infer
from freshview.linear.language.sizes import Size, size
from freshview.linear.language.terms import (
    TRAITS,
    Expr,
    Input,
    Iterate,
    Let,
    Ones,
    Source,
    Statement,
    Until,
    Var,
    Zero,
)

TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+|%[^\n]*)|(?P<number>\d+(\.\d+)?([eE][-+]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<sign>:=|=>|[-+*/^'()\[\],;=])"
)
ROUNDS = ("iterate", "until", "direction")
FUNCTIONS = ("inv", "eye", "zeros", "ones", "fill", "diag", *ROUNDS, "rows", "cols")
WORDS = {*FUNCTIONS, "let", "in", "dynamic", "static", "output", "semiring"}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text and where it begins."""

    kind: str
    text: str
    at: Place


def read(text: str, scope: Mapping[str, Meta] | None = None) -> Expr:
    """The term that a text denotes; `scope` is needed for `rows(A)` and `cols(A)` only.

    >>> read("A * B' - 2 * C") == add(mul(Var("A"), transpose(Var("B"))), scale(-2, Var("C")))
    True
    """
    reader = _Reader(_tokens(text), dict(scope or {}))
    e = reader.matrix()
    reader.end()
    return e


@deep
def read_source(text: str, file: str = "<text>") -> Source:
    """The program that a text denotes, with its shapes checked line by line."""
    reader = _Reader(_tokens(text, file), {})
    return reader.source()


def _tokens(text: str, file: str = "<text>") -> list[Token]:
    found: list[Token] = []
    i, line, start = 0, 1, 0
    while i < len(text):
        at = Place(file, line, i - start + 1)
        m = TOKEN.match(text, i)
        if m is None:
            raise SyntaxProblem(f"{text[i]!r} means nothing here", at=at)
        assert m.lastgroup is not None
        kind = next(k for k in ("space", "number", "name", "sign") if m.group(k) is not None)
        if kind != "space":
            found.append(Token(kind, m.group(), at))
        newlines = m.group().count("\n")
        if newlines:
            line, start = line + newlines, i + m.group().rindex("\n") + 1
        i = m.end()
    found.append(Token("end", "", Place(file, line, i - start + 1)))
    return found


class _Reader:
    """Recursive descent; a value on the way is a matrix or a number."""

    def __init__(self, tokens: list[Token], scope: dict[str, Meta]) -> None:
        self.tokens = tokens
        self.i = 0
        self.scope = scope

    @property
    def now(self) -> Token:
        return self.tokens[self.i]

    def problem(self, wanted: str) -> SyntaxProblem:
        found = repr(self.now.text) if self.now.text else "the end"
        return SyntaxProblem(f"expected {wanted}, found {found}", at=self.now.at)

    def taken(self, text: str) -> bool:
        if self.now.text == text and self.now.kind != "end":
            self.i += 1
            return True
        return False

    def take(self, text: str) -> None:
        if not self.taken(text):
            raise self.problem(f"'{text}'")

    def name(self, what: str) -> str:
        token = self.now
        if token.kind != "name" or token.text in WORDS:
            raise self.problem(what)
        self.i += 1
        return token.text

    def end(self) -> None:
        if self.now.kind != "end":
            raise self.problem("the end")

    def source(self) -> Source:
        inputs: list[Input] = []
        statements: list[Statement] = []
        outputs: list[str] = []
        semiring = "real"
        if self.taken("semiring"):
            semiring = self.name("the name of a semiring")
            while self.taken("-"):
                semiring += "-" + self.name("the rest of a semiring's name")
            self.take(";")
        while self.now.kind != "end":
            if self.now.text in ("dynamic", "static"):
                inputs.append(self.input())
                continue
            at = self.now.at
            wanted = self.taken("output")
            name = self.name("dynamic, static, output or the name of a matrix")
            if name in self.scope:
                raise SyntaxProblem(f"{name} is defined twice", at=at)
            self.take(":=")
            term = self.matrix()
            try:
                self.scope[name] = infer(term, self.scope)
            except FreshviewError as e:
                raise e.located(at) from None
            self.take(";")
            statements.append(Statement(name, term, at.line))
            outputs += [name] if wanted else []
        chosen = outputs or [s.name for s in statements[-1:]]
        return Source(tuple(inputs), tuple(statements), tuple(chosen), semiring)

    def input(self) -> Input:
        at = self.now.at
        dynamic = self.taken("dynamic") or not self.taken("static")
        name = self.name("the name of a matrix")
        self.take("(")
        rows = self.size()
        self.take(",")
        cols = self.size()
        self.take(")")
        traits = set()
        while self.now.text in TRAITS:
            traits.add(self.now.text)
            self.i += 1
        self.take(";")
        made = Input(name, rows, cols, dynamic, frozenset(traits))
        try:
            self.scope[name] = given(made)
        except FreshviewError as e:
            raise e.located(at) from None
        return made

    def size(self) -> Size:
        found = self.size_product()
        while self.taken("+"):
            found = found + self.size_product()
        return found

    def size_product(self) -> Size:
        found = self.size_factor()
        while self.taken("*"):
            found = found * self.size_factor()
        return found

    def size_factor(self) -> Size:
        token = self.now
        if token.kind == "number" and token.text.isdigit():
            self.i += 1
            return size(int(token.text))
        if token.text in ("rows", "cols"):
            self.i += 1
            self.take("(")
            e = self.matrix()
            self.take(")")
            m = infer(e, self.scope)
            return m.rows if token.text == "rows" else m.cols
        found = base = size(self.name("a size"))
        if self.taken("^"):
            if not self.now.text.isdigit():
                raise self.problem("a power")
            for _ in range(int(self.now.text) - 1):
                found = found * base
            self.i += 1
        return found

    def matrix(self) -> Expr:
        at = self.now.at
        value = self.sum()
        if isinstance(value, float):
            raise SyntaxProblem(
                "this is a number", instead="expected a matrix; fill(n, m, x) makes one", at=at
            )
        return value

    def number(self) -> float:
        at = self.now.at
        value = self.sum()
        if not isinstance(value, float):
            raise SyntaxProblem("this is a matrix", instead="expected a number", at=at)
        return value

    def sum(self) -> Expr | float:
        if self.taken("let"):
            name = self.name("a name")
            self.take("=")
            value = self.matrix()
            self.take("in")
            body = self.inside(name, value)
            return Let(name, value, body)
        value_ = self.product()
        while self.now.text in ("+", "-") and self.now.kind == "sign":
            token = self.now
            self.i += 1
            right = self.product()
            if isinstance(value_, float) and isinstance(right, float):
                value_ = value_ + right if token.text == "+" else value_ - right
            elif isinstance(value_, float) or isinstance(right, float):
                raise SyntaxProblem(
                    f"'{token.text}' between a number and a matrix",
                    instead="use fill or diag to make a matrix of the number",
                    at=token.at,
                )
            else:
                value_ = add(value_, right if token.text == "+" else neg(right))
        return value_

    def inside(self, name: str, value: Expr) -> Expr:
        """A body in which a name is bound."""
        hidden = self.scope.get(name)
        try:
            found = infer(value, self.scope)
            self.scope[name] = Meta(found.rows, found.cols)
        except FreshviewError:
            self.scope.pop(name, None)  # only rows() and cols() need it; checks come later
        body = self.matrix()
        self.scope.pop(name, None)
        if hidden is not None:
            self.scope[name] = hidden
        return body

    def product(self) -> Expr | float:
        value = self.signed()
        while self.now.text in ("*", "/") and self.now.kind == "sign":
            token = self.now
            self.i += 1
            right = self.signed()
            if token.text == "/":
                if not isinstance(right, float) or not right:
                    raise SyntaxProblem("a matrix is divided by a number", at=token.at)
                value = value / right if isinstance(value, float) else scale(1 / right, value)
            elif isinstance(value, float):
                value = value * right if isinstance(right, float) else scale(value, right)
            else:
                value = scale(right, value) if isinstance(right, float) else mul(value, right)
        return value

    def signed(self) -> Expr | float:
        if self.taken("-"):
            value = self.signed()
            return -value if isinstance(value, float) else neg(value)
        value = self.primary()
        while self.taken("'"):
            if not isinstance(value, float):
                value = transpose(value)
        return value

    def primary(self) -> Expr | float:
        token = self.now
        if token.kind == "number":
            self.i += 1
            return float(token.text)
        if self.taken("("):
            value = self.sum()
            self.take(")")
            return value
        if self.taken("["):
            return self.stack()
        if token.text in FUNCTIONS:
            self.i += 1
            return self.call(token.text)
        return Var(self.name("a matrix"))

    def stack(self) -> Expr:
        rows: list[Expr] = []
        while True:
            parts = [self.matrix()]
            while self.taken(","):
                parts.append(self.matrix())
            rows.append(beside(*parts))
            if self.taken("]"):
                return above(*rows)
            self.take(";")

    def call(self, function: str) -> Expr | float:
        if function in ("rows", "cols"):
            self.i -= 1
            at = self.now.at
            n = self.size_factor().number
            if n is None:
                raise SyntaxProblem(f"{function} is no number here", at=at)
            return float(n)
        self.take("(")
        made: Expr
        if function == "inv":
            made = inverse(self.matrix())
        elif function in ROUNDS:
            made = self.rounds(function)
        elif function in ("eye", "diag"):
            made = identity(self.size())
            if function == "diag":
                self.take(",")
                made = scale(self.number(), made)
        else:
            rows = self.size()
            self.take(",")
            cols = self.size()
            made = Zero(rows, cols) if function == "zeros" else Ones(rows, cols)
            if function == "fill":
                self.take(",")
                made = scale(self.number(), made)
        self.take(")")
        return made

    def rounds(self, function: str) -> Expr:
        token = self.now
        counted = function == "iterate"
        if token.kind != "number" or (counted and not token.text.isdigit()):
            raise self.problem("how often to iterate" if counted else "a tolerance")
        self.i += 1
        self.take(",")
        start = self.matrix()
        self.take(",")
        name = self.name("a name")
        self.take("=>")
        body = self.inside(name, start)
        if counted:
            return Iterate(int(token.text), start, name, body)
        return Until(float(token.text), start, name, body, function == "direction")
