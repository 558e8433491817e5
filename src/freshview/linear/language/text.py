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

from freshview.depth import deep
from freshview.errors import FreshviewError, SyntaxProblem
from freshview.lexer import END, Cursor, tokenize, unexpected
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
from freshview.linear.language.meta import Meta, infer, input_meta
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
    r"(?P<space>[ \t\r\n]+|%[^\n]*)|(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<sign>:=|=>|[-+*/^'()\[\],;=])"
)
ROUNDS = ("iterate", "until", "direction")
FUNCTIONS = ("inv", "eye", "zeros", "ones", "fill", "diag", *ROUNDS, "rows", "cols")
WORDS = {*FUNCTIONS, "let", "in", "dynamic", "static", "output", "semiring"}


def read(text: str, scope: Mapping[str, Meta] | None = None) -> Expr:
    """The term that a text denotes; `scope` is needed for `rows(A)` and `cols(A)` only.

    >>> read("A * B' - 2 * C") == add(mul(Var("A"), transpose(Var("B"))), scale(-2, Var("C")))
    True
    """
    reader = _Reader(text, "<text>", dict(scope or {}))
    e = reader.matrix()
    if reader.peek().kind != END:
        raise unexpected(reader.peek(), "the end of the term")
    return e


@deep
def read_source(text: str, file: str = "<text>") -> Source:
    """The program that a text denotes, with its shapes checked line by line."""
    reader = _Reader(text, file, {})
    return reader.source()


class _Reader(Cursor):
    """Recursive descent; a value on the way is a matrix or a number."""

    def __init__(self, text: str, file: str, scope: dict[str, Meta]) -> None:
        super().__init__(tokenize(text, TOKEN, file))
        self.scope = scope

    def name(self, what: str) -> str:
        token = self.peek()
        if token.kind != "name" or token.text in WORDS:
            raise unexpected(token, what)
        return self.next().text

    def source(self) -> Source:
        inputs: list[Input] = []
        statements: list[Statement] = []
        outputs: list[str] = []
        semiring = "real"
        if self.accept("semiring"):
            semiring = self.name("the name of a semiring")
            while self.accept("-"):
                semiring += "-" + self.name("the rest of a semiring's name")
            self.expect(";")
        while self.peek().kind != END:
            if self.peek().text in ("dynamic", "static"):
                inputs.append(self.input())
                continue
            at = self.peek().place
            wanted = self.accept("output")
            name = self.name("dynamic, static, output or the name of a matrix")
            if name in self.scope:
                raise SyntaxProblem(f"{name} is defined twice", at=at)
            self.expect(":=")
            term = self.matrix()
            try:
                self.scope[name] = infer(term, self.scope)
            except FreshviewError as e:
                raise e.located(at) from None
            self.expect(";")
            statements.append(Statement(name, term, at.line))
            outputs += [name] if wanted else []
        chosen = outputs or [s.name for s in statements[-1:]]
        return Source(tuple(inputs), tuple(statements), tuple(chosen), semiring)

    def input(self) -> Input:
        at = self.peek().place
        dynamic = self.accept("dynamic") or not self.accept("static")
        name = self.name("the name of a matrix")
        self.expect("(")
        rows = self.size()
        self.expect(",")
        cols = self.size()
        self.expect(")")
        traits = set()
        while self.peek().text in TRAITS:
            traits.add(self.next().text)
        self.expect(";")
        declared = Input(name, rows, cols, dynamic, frozenset(traits))
        try:
            self.scope[name] = input_meta(declared)
        except FreshviewError as e:
            raise e.located(at) from None
        return declared

    def size(self) -> Size:
        total = self.size_product()
        while self.accept("+"):
            total = total + self.size_product()
        return total

    def size_product(self) -> Size:
        product = self.size_factor()
        while self.accept("*"):
            product = product * self.size_factor()
        return product

    def size_factor(self) -> Size:
        token = self.peek()
        if token.kind == "number" and token.text.isdigit():
            self.next()
            return size(int(token.text))
        if token.text in ("rows", "cols"):
            self.next()
            self.expect("(")
            e = self.matrix()
            self.expect(")")
            m = infer(e, self.scope)
            return m.rows if token.text == "rows" else m.cols
        power = base = size(self.name("a size"))
        if self.accept("^"):
            if not self.peek().text.isdigit():
                raise unexpected(self.peek(), "a power")
            for _ in range(int(self.next().text) - 1):
                power = power * base
        return power

    def matrix(self) -> Expr:
        at = self.peek().place
        value = self.sum()
        if isinstance(value, float):
            raise SyntaxProblem(
                "this is a number", instead="expected a matrix; fill(n, m, x) makes one", at=at
            )
        return value

    def number(self) -> float:
        at = self.peek().place
        value = self.sum()
        if not isinstance(value, float):
            raise SyntaxProblem("this is a matrix", instead="expected a number", at=at)
        return value

    def sum(self) -> Expr | float:
        if self.accept("let"):
            name = self.name("a name")
            self.expect("=")
            value = self.matrix()
            self.expect("in")
            body = self.inside(name, value)
            return Let(name, value, body)
        value_ = self.product()
        while self.peek().text in ("+", "-") and self.peek().kind == "sign":
            token = self.next()
            right = self.product()
            if isinstance(value_, float) and isinstance(right, float):
                value_ = value_ + right if token.text == "+" else value_ - right
            elif isinstance(value_, float) or isinstance(right, float):
                raise SyntaxProblem(
                    f"'{token.text}' between a number and a matrix",
                    instead="use fill or diag to make a matrix of the number",
                    at=token.place,
                )
            else:
                value_ = add(value_, right if token.text == "+" else neg(right))
        return value_

    def inside(self, name: str, value: Expr) -> Expr:
        """A body in which a name is bound."""
        hidden = self.scope.get(name)
        try:
            m = infer(value, self.scope)
            self.scope[name] = Meta(m.rows, m.cols)
        except FreshviewError:
            self.scope.pop(name, None)  # only rows() and cols() need it; checks come later
        body = self.matrix()
        self.scope.pop(name, None)
        if hidden is not None:
            self.scope[name] = hidden
        return body

    def product(self) -> Expr | float:
        value = self.signed()
        while self.peek().text in ("*", "/") and self.peek().kind == "sign":
            token = self.next()
            right = self.signed()
            if token.text == "/":
                if not isinstance(right, float) or not right:
                    raise SyntaxProblem("a matrix is divided by a number", at=token.place)
                value = value / right if isinstance(value, float) else scale(1 / right, value)
            elif isinstance(value, float):
                value = value * right if isinstance(right, float) else scale(value, right)
            else:
                value = scale(right, value) if isinstance(right, float) else mul(value, right)
        return value

    def signed(self) -> Expr | float:
        if self.accept("-"):
            value = self.signed()
            return -value if isinstance(value, float) else neg(value)
        value = self.primary()
        while self.accept("'"):
            if not isinstance(value, float):
                value = transpose(value)
        return value

    def primary(self) -> Expr | float:
        token = self.peek()
        if token.kind == "number":
            self.next()
            return float(token.text)
        if self.accept("("):
            value = self.sum()
            self.expect(")")
            return value
        if self.accept("["):
            return self.stack()
        if token.text in FUNCTIONS:
            self.next()
            return self.call(token.text)
        return Var(self.name("a matrix"))

    def stack(self) -> Expr:
        rows: list[Expr] = []
        while True:
            parts = [self.matrix()]
            while self.accept(","):
                parts.append(self.matrix())
            rows.append(beside(*parts))
            if self.accept("]"):
                return above(*rows)
            self.expect(";")

    def call(self, function: str) -> Expr | float:
        if function in ("rows", "cols"):
            self.at -= 1
            at = self.peek().place
            n = self.size_factor().number
            if n is None:
                raise SyntaxProblem(f"{function} is not a number here", at=at)
            return float(n)
        self.expect("(")
        e: Expr
        if function == "inv":
            e = inverse(self.matrix())
        elif function in ROUNDS:
            e = self.rounds(function)
        elif function in ("eye", "diag"):
            e = identity(self.size())
            if function == "diag":
                self.expect(",")
                e = scale(self.number(), e)
        else:
            rows = self.size()
            self.expect(",")
            cols = self.size()
            e = Zero(rows, cols) if function == "zeros" else Ones(rows, cols)
            if function == "fill":
                self.expect(",")
                e = scale(self.number(), e)
        self.expect(")")
        return e

    def rounds(self, function: str) -> Expr:
        token = self.peek()
        counted = function == "iterate"
        if token.kind != "number" or (counted and not token.text.isdigit()):
            raise unexpected(self.peek(), "how often to iterate" if counted else "a tolerance")
        self.next()
        self.expect(",")
        start = self.matrix()
        self.expect(",")
        name = self.name("a name")
        self.expect("=>")
        body = self.inside(name, start)
        if counted:
            return Iterate(int(token.text), start, name, body)
        return Until(float(token.text), start, name, body, function == "direction")
