"""Terms and programs as text, in the manner of MATLAB; `text.py` reads it back.

X' * X    A + 2 * B - C    inv(Z)    [A, B]    [A; B]    eye(n)   zeros(n, m)   ones(n, m)
let D = u * v' in D * G + G * D      iterate(4, A, x => x * x)     until(1e-9, s, x => A * x + s)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias, assert_never

from freshview.linear.language.sizes import Size
from freshview.linear.language.terms import (
    Above,
    Add,
    Beside,
    Binder,
    Expr,
    Identity,
    Input,
    Inverse,
    Iterate,
    Let,
    Mul,
    Ones,
    Scale,
    Source,
    Transpose,
    Until,
    Var,
    Zero,
)

Tree: TypeAlias = "int | tuple[Tree, Tree]"
"""In which order a product is computed: the places of factors, paired."""

Grouping: TypeAlias = Callable[[tuple[Expr, ...]], Tree]


@dataclass(frozen=True, slots=True)
class Words:
    """How a language writes matrices.

    `apart` says that a multiple of a product needs parentheses: there `2 * A @ B` is (2 A) B.
    """

    times: str = "{} * {}"
    turned: str = "{}'"
    zeros: str = "zeros({}, {})"
    ones: str = "ones({}, {})"
    eye: str = "eye({})"
    inverse: str = "inv({})"
    beside: str = "[{}]"
    above: str = "[{}]"
    below: str = "; "
    power: str = "^"
    apart: bool = False


MATLAB = Words()


def show(e: Expr, grouping: Grouping | None = None, words: Words = MATLAB) -> str:
    """The text of a term; with a grouping, products show the order of their computation.

    >>> show(Add((Mul((Var("A"), Transpose(Var("B")))), Scale(-1.0, Var("C")))))
    "A * B' - C"
    """
    return _Printer(grouping, words).sum(e)


def number(x: float) -> str:
    """A number; whole ones without a point."""
    return str(int(x)) if x == int(x) and abs(x) < 1e15 else repr(x)


class _Printer:
    def __init__(self, grouping: Grouping | None, words: Words) -> None:
        self.grouping = grouping
        self.words = words

    def sum(self, e: Expr) -> str:
        match e:
            case Let(name, value, body):
                return f"let {name} = {self.sum(value)} in {self.sum(body)}"
            case Add(terms):
                text = self.product(terms[0])
                for t in terms[1:]:
                    if isinstance(t, Scale) and t.by < 0:
                        by = "" if t.by == -1 else f"{number(-t.by)} * "
                        text += f" - {by}{self.multiplied(t.body)}"
                    else:
                        text += f" + {self.product(t)}"
                return text
            case _:
                return self.product(e)

    def multiplied(self, e: Expr) -> str:
        """What a number stands before."""
        return self.factor(e) if self.words.apart else self.product(e)

    def product(self, e: Expr) -> str:
        match e:
            case Scale(by, body):
                return f"{number(by)} * {self.multiplied(body)}"
            case Mul(factors):
                if self.grouping is not None:
                    return self.grouped(factors, self.grouping(factors))
                return reduce(self.words.times.format, map(self.factor, factors))
            case _:
                return self.factor(e)

    def grouped(self, factors: tuple[Expr, ...], tree: Tree) -> str:
        if isinstance(tree, int):
            return self.factor(factors[tree])
        left, right = (self.grouped(factors, side) for side in tree)
        if not isinstance(tree[1], int):
            right = f"({right})"
        return self.words.times.format(left, right)  # a product groups to the left by itself

    def factor(self, e: Expr) -> str:
        words = self.words
        match e:
            case Var(name):
                return name
            case Zero(rows, cols):
                return words.zeros.format(self.size(rows), self.size(cols))
            case Ones(rows, cols):
                return words.ones.format(self.size(rows), self.size(cols))
            case Identity(n):
                return words.eye.format(self.size(n))
            case Transpose(body):
                return words.turned.format(self.factor(body))
            case Inverse(body):
                return words.inverse.format(self.sum(body))
            case Beside(parts):
                return words.beside.format(", ".join(map(self.sum, parts)))
            case Above(parts):
                return words.above.format(words.below.join(map(self.sum, parts)))
            case Iterate(count, start, name, body):
                return f"iterate({count}, {self.sum(start)}, {name} => {self.sum(body)})"
            case Until(tolerance, start, name, body):
                kind = "direction" if e.unit else "until"
                rounds = f"{self.sum(start)}, {name} => {self.sum(body)}"
                return f"{kind}({number(tolerance)}, {rounds})"
            case Scale() | Add() | Mul() | Binder():
                return f"({self.sum(e)})"
            case _:
                assert_never(e)

    def size(self, s: Size) -> str:
        return str(s).replace("^", self.words.power)


def show_input(i: Input) -> str:
    """The declaration of an input."""
    kind = "dynamic" if i.dynamic else "static"
    return " ".join((kind, f"{i.name}({i.rows}, {i.cols})", *sorted(i.traits)))


def show_source(source: Source) -> str:
    """The text of a program."""
    lines = [f"semiring {source.semiring};"] if source.semiring != "real" else []
    lines += [f"{show_input(i)};" for i in source.inputs]
    for s in source.statements:
        kind = "output " if s.name in source.outputs else ""
        lines.append(f"{kind}{s.name} := {show(s.term)};")
    return "\n".join(lines) + "\n"
