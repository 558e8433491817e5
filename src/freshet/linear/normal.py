"""A-normal form (Lago's first phase): one operation a statement, every result with a name.

The operands of a statement are names, transposed or multiplied if need be, and constants. Equal
operations are one statement; a product is cut in the order that costs least; iterations unroll.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from freshet.errors import FreshetError, Place
from freshet.linear.build import above, add, beside, inverse, mul, scale, transpose
from freshet.linear.cost import Sizes, chain, dims
from freshet.linear.meta import Meta, given, infer
from freshet.linear.search import Search
from freshet.linear.show import Tree
from freshet.linear.simplify import simplify
from freshet.linear.terms import (
    Above,
    Add,
    Beside,
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
    Statement,
    Transpose,
    Var,
    Zero,
)
from freshet.linear.walk import Names, free, substitute, subterms


@dataclass(frozen=True)
class Normal:
    """A program in A-normal form, and what is known of every matrix in it."""

    inputs: tuple[Input, ...]
    statements: tuple[Statement, ...]
    outputs: tuple[str, ...]
    scope: Mapping[str, Meta]
    semiring: str = "real"


def normal(source: Source, sizes: Sizes) -> Normal:
    """The A-normal form of a program, its shapes checked on the way."""
    check(source)
    taken = {i.name for i in source.inputs} | {s.name for s in source.statements}
    maker = _Maker(sizes, {i.name: given(i) for i in source.inputs}, Names(taken))
    for s in source.statements:
        maker.define(s)
    return Normal(
        source.inputs,
        tuple(maker.made),
        source.outputs,
        maker.scope,
        source.semiring,
    )


def check(source: Source) -> dict[str, Meta]:
    """What is known of every matrix; complains in one sentence that names the statement."""
    scope = {i.name: given(i) for i in source.inputs}
    for s in source.statements:
        place = Place("<text>", s.line, 1) if s.line else Place(f"in {s.name}")
        try:
            scope[s.name] = infer(s.term, scope)
            if source.semiring != "real":
                _check_semiring(s.term, source.semiring)
        except FreshetError as e:
            raise e.located(place) from None
    return scope


def _check_semiring(e: Expr, semiring: str) -> None:
    for t in subterms(e):
        if isinstance(t, Inverse | Scale):
            what = "inverses" if isinstance(t, Inverse) else "multiples and differences"
            raise FreshetError(
                f"the semiring {semiring} has no {what}", instead="use the semiring real"
            )


@dataclass
class _Maker:
    sizes: Sizes
    scope: dict[str, Meta]
    names: Names
    made: list[Statement] = field(default_factory=list)
    known: dict[Expr, Expr] = field(default_factory=dict)
    unnamed: set[str] = field(default_factory=set)
    search: Search = field(init=False)

    def __post_init__(self) -> None:
        self.search = Search(self.sizes, budget=60)

    def define(self, s: Statement) -> None:
        """A statement of the source: its result keeps its name."""
        operand = self.operand(s.term, s.name)
        if isinstance(operand, Var) and operand.name in self.unnamed:
            self.rename(operand.name, s.name)
        elif operand != Var(s.name):
            self.made.append(Statement(s.name, operand))
            self.scope[s.name] = infer(operand, self.scope)

    def rename(self, old: str, new: str) -> None:
        """A result that was computed on the way gets the name that the source has for it."""
        put: dict[str, Expr] = {old: Var(new)}
        self.unnamed.discard(old)
        self.scope[new] = self.scope.pop(old)
        self.made = [
            Statement(new if s.name == old else s.name, substitute(s.term, put)) for s in self.made
        ]
        self.known = {substitute(e, put): substitute(v, put) for e, v in self.known.items()}

    def operand(self, e: Expr, name: str = "") -> Expr:
        """What stands for a term in a statement, after the statements that it needs."""
        match e:
            case Let(bound, value, body):
                return self.operand(substitute(body, {bound: self.operand(value)}), name)
            case Iterate(count, start, bound, body):
                current = self.operand(start)
                for i in range(count):
                    last = name if i == count - 1 else ""
                    current = self.operand(substitute(body, {bound: current}), last)
                return current
        if any(isinstance(t, Let | Iterate) for t in subterms(e)):
            return self.operand(self.bare(e), name)
        e = simplify(e, self.scope)
        e = self.search.cheapest(e, self.scope)
        return self.operand(e, name) if isinstance(e, Let) else self.simple(e, name)

    def bare(self, e: Expr) -> Expr:
        """A term without binders inside."""
        match e:
            case Let() | Iterate():
                return self.operand(e)
            case Var() | Zero() | Ones() | Identity():
                return e
            case Scale(by, body):
                return scale(by, self.bare(body))
            case Transpose(body):
                return transpose(self.bare(body))
            case Inverse(body):
                return inverse(self.bare(body))
            case Add(parts):
                return add(*map(self.bare, parts))
            case Mul(parts):
                return mul(*map(self.bare, parts))
            case Beside(parts):
                return beside(*map(self.bare, parts))
            case Above(parts):
                return above(*map(self.bare, parts))
            case _:
                assert_never(e)

    def simple(self, e: Expr, name: str = "") -> Expr:
        """The operand for a term without binders."""
        match e:
            case Var() | Zero() | Ones() | Identity():
                return e
            case Scale(by, body):
                return scale(by, self.simple(body))
            case Transpose(body):
                return transpose(self.simple(body))
            case Inverse(body):
                return self.named(inverse(self.simple(body)), name)
            case Add(parts):
                return self.named(add(*map(self.simple, parts)), name)
            case Mul(factors):
                tree = chain(dims(factors, self.scope), self.sizes)[1]
                return self.product(factors, tree, name)
            case Beside(parts):
                return self.named(beside(*map(self.simple, parts)), name)
            case Above(parts):
                return self.named(above(*map(self.simple, parts)), name)
            case Let() | Iterate():
                return self.operand(e, name)
            case _:
                assert_never(e)

    def product(self, factors: tuple[Expr, ...], tree: Tree, name: str = "") -> Expr:
        """A product of two, each side named first."""
        if isinstance(tree, int):
            return self.simple(factors[tree])
        left, right = (self.product(factors, side) for side in tree)
        by, (a, b) = 1.0, (left, right)
        if isinstance(a, Scale):
            by, a = by * a.by, a.body
        if isinstance(b, Scale):
            by, b = by * b.by, b.body
        found = simplify(Mul((a, b)), self.scope)
        if not isinstance(found, Mul):
            return scale(by, self.simple(found, name if by == 1 else ""))
        return scale(by, self.named(found, name if by == 1 else ""))

    def named(self, e: Expr, name: str) -> Expr:
        """The variable of an operation: the known one, its transpose, or a new one."""
        e = simplify(e, self.scope)
        if not isinstance(e, Add | Mul | Inverse | Beside | Above):
            return self.simple(e, name)
        if e in self.known:
            return self.known[e]
        if transpose(e) in self.known:
            return transpose(self.known[transpose(e)])
        assert not isinstance(e, Mul) or len(e.factors) == 2
        var = name or self.names.next("x")
        if not name:
            self.unnamed.add(var)
        self.scope[var] = infer(e, self.scope)
        self.made.append(Statement(var, e))
        self.known[e] = Var(var)
        return Var(var)


def needed(statements: tuple[Statement, ...], wanted: set[str]) -> tuple[Statement, ...]:
    """The statements that the wanted results are computed by."""
    kept: list[Statement] = []
    for s in reversed(statements):
        if s.name in wanted:
            kept.append(s)
            wanted = wanted | free(s.term)
    return tuple(reversed(kept))
