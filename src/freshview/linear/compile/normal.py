"""A-normal form (Lago's first phase): one operation a statement, every result with a name.

The operands of a statement are names, transposed or multiplied if need be, and constants. Equal
operations are one statement; a product is cut in the order that costs least; iterations unroll.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from freshview.errors import FreshviewError, Place
from freshview.linear.compile.search import Search
from freshview.linear.compile.simplify import simplify
from freshview.linear.cost.operations import Sizes, chain, dims
from freshview.linear.language.build import scale, transpose
from freshview.linear.language.meta import Meta, infer, input_meta
from freshview.linear.language.show import Tree
from freshview.linear.language.terms import (
    Add,
    Binder,
    Expr,
    Filled,
    Identity,
    Input,
    Inverse,
    Iterate,
    Let,
    Mul,
    Scale,
    Source,
    Stack,
    Statement,
    Transpose,
    Until,
    Var,
)
from freshview.linear.language.walk import (
    Names,
    binders,
    children,
    free,
    map_children,
    rebuild,
    substitute,
    subterms,
)


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
    used = {i.name for i in source.inputs} | {s.name for s in source.statements}
    maker = _Maker(sizes, {i.name: input_meta(i) for i in source.inputs}, Names(used))
    for s in source.statements:
        maker.define(s)
    return Normal(
        source.inputs,
        tuple(maker.statements),
        source.outputs,
        maker.scope,
        source.semiring,
    )


def check(source: Source) -> dict[str, Meta]:
    """What is known of every matrix; raises in one sentence that names the statement."""
    scope = {i.name: input_meta(i) for i in source.inputs}
    for s in source.statements:
        place = Place("<text>", s.line, 1) if s.line else Place(f"in {s.name}")
        try:
            scope[s.name] = infer(s.term, scope)
            if source.semiring != "real":
                _check_semiring(s.term, source.semiring)
        except FreshviewError as e:
            raise e.located(place) from None
    return scope


def _check_semiring(e: Expr, semiring: str) -> None:
    for t in subterms(e):
        if isinstance(t, Inverse | Scale):
            what = "inverses" if isinstance(t, Inverse) else "multiples and differences"
            raise FreshviewError(
                f"the semiring {semiring} has no {what}", instead="use the semiring real"
            )


@dataclass
class _Maker:
    sizes: Sizes
    scope: dict[str, Meta]
    names: Names
    statements: list[Statement] = field(default_factory=list)
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
            self.statements.append(Statement(s.name, operand))
            self.scope[s.name] = infer(operand, self.scope)

    def rename(self, old: str, new: str) -> None:
        """A result that was computed on the way gets the name that the source has for it."""
        put: dict[str, Expr] = {old: Var(new)}
        self.unnamed.discard(old)
        self.scope[new] = self.scope.pop(old)
        self.statements = [
            Statement(new if s.name == old else s.name, substitute(s.term, put))
            for s in self.statements
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
            case Until():
                return self.iteration(e, name)
        if binders(e):
            return self.operand(self.bare(e), name)
        e = simplify(e, self.scope)
        e = self.search.cheapest(e, self.scope)
        return self.operand(e, name) if isinstance(e, Let) else self.simple(e, name)

    def bare(self, e: Expr) -> Expr:
        """A term without binders inside."""
        return self.operand(e) if isinstance(e, Binder) else map_children(e, self.bare)

    def iteration(self, e: Until, name: str) -> Expr:
        """An iteration over names: what stays the same in all its rounds is computed before."""
        start = self.operand(e.start)
        x = self.names.next(e.name)
        m = infer(start, self.scope)
        self.scope[x] = Meta(m.rows, m.cols)
        body = unbound(substitute(e.body, {e.name: Var(x)}))
        for t in subterms(body):
            if isinstance(t, Until) and x in free(t):
                raise FreshviewError(
                    "an iteration to a tolerance depends on the round of another",
                    instead="let the inner one run a number of rounds",
                )
        body = unbound(self.search.cheapest(simplify(body, self.scope), self.scope))
        return self.named(replace(e, start=start, name=x, body=self.hoisted(body, x)), name)

    def hoisted(self, e: Expr, x: str) -> Expr:
        if x not in free(e):
            return self.operand(e)
        return map_children(e, lambda c: self.hoisted(c, x))

    def simple(self, e: Expr, name: str = "") -> Expr:
        """The operand for a term without binders."""
        match e:
            case Var() | Filled() | Identity():
                return e
            case Scale() | Transpose():
                return map_children(e, self.simple)
            case Inverse() | Add() | Stack():
                return self.named(rebuild(e, tuple(map(self.simple, children(e)))), name)
            case Mul(factors):
                tree = chain(dims(factors, self.scope), self.sizes)[1]
                return self.product(factors, tree, name)
            case Binder():
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
        product = simplify(Mul((a, b)), self.scope)
        if not isinstance(product, Mul):
            return scale(by, self.simple(product, name if by == 1 else ""))
        return scale(by, self.named(product, name if by == 1 else ""))

    def named(self, e: Expr, name: str) -> Expr:
        """The variable of an operation: the known one, its transpose, or a new one."""
        e = simplify(e, self.scope)
        if not isinstance(e, Add | Mul | Inverse | Stack | Until):
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
        self.statements.append(Statement(var, e))
        self.known[e] = Var(var)
        return Var(var)


def unbound(e: Expr) -> Expr:
    """A term with its lets put in and its rounds written out."""
    match e:
        case Let(name, value, body):
            return unbound(substitute(body, {name: value}))
        case Iterate(count, start, name, body):
            for _ in range(count):
                start = substitute(body, {name: start})
            return unbound(start)
        case _:
            return map_children(e, unbound)


def affected(statements: Iterable[Statement], changed: Iterable[str]) -> tuple[Statement, ...]:
    """The statements that read a matrix that changed, or the result of one that does."""
    stale = set(changed)
    readers: list[Statement] = []
    for s in statements:
        if free(s.term) & stale:
            stale.add(s.name)
            readers.append(s)
    return tuple(readers)


def needed(statements: tuple[Statement, ...], wanted: set[str]) -> tuple[Statement, ...]:
    """The statements that the wanted results are computed by."""
    kept: list[Statement] = []
    for s in reversed(statements):
        if s.name in wanted:
            kept.append(s)
            wanted = wanted | free(s.term)
    return tuple(reversed(kept))
