"""What the parts of a term are lowered with: values, conditions, types and totals.

The recursion over nodes is abstract here: a node that needs the loops of its body asks for them,
and `term.py` dispatches on the nodes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Self

from freshview.calculus.build import addends
from freshview.calculus.check import infer, value_type
from freshview.calculus.scope import free, ins
from freshview.calculus.terms import Expr, Sum, Var
from freshview.calculus.types import Type
from freshview.calculus.walk import rename
from freshview.codegen.cpp.ring_types import cofactors, header_type
from freshview.codegen.loops.effects import (
    Tally,
)
from freshview.codegen.loops.parts import Holds
from freshview.codegen.loops.terms import Stmt, Total
from freshview.codegen.lower.access import Access
from freshview.codegen.lower.context import ONE, Bound, Count, Local, Next


class TermLowering(Access, ABC):
    """What lowers terms, as a single node sees it."""

    @abstractmethod
    def emit(self, e: Expr, env: Bound, m: Count, k: Next, last: bool = False) -> list[Stmt]:
        """Loops that run `k` for every row of `e`; `last` when `k` does nothing but write."""

    @abstractmethod
    def product(self, factors: list[Expr], env: Bound, m: Count, k: Next, last: bool) -> list[Stmt]:
        """Loops that run `k` for every row of a product, factor by factor."""

    @abstractmethod
    def plain_sum(self, e: Sum, env: Bound, m: Count, k: Next, last: bool) -> list[Stmt]:
        """A sum by loops: as a local if its keys are bound, else row by row."""

    def inner(self) -> Self:
        """The same for what computes a local."""
        return replace(self, names=self.names.inside())

    def value(self, e: Expr, env: Bound) -> Expr:
        """A scalar term, over locals."""
        return rename(e, {v: env[v].name for v in free(e)})

    def test(self, e: Expr, env: Bound) -> Holds:
        """A scalar term as a condition."""
        return Holds(self.value(e, env))

    def type(self, e: Expr, env: Bound) -> Type:
        """The type of a scalar term."""
        return value_type(e, self.schema, {v: env[v].type for v in free(e)})

    def inside(self, keys: tuple[str, ...], body: Expr, env: Bound) -> Bound:
        """What is bound inside a grouping: its other variables are its own."""
        shared = {*keys, *ins(body)}
        return {v: x for v, x in env.items() if v in shared}

    def total(self, e: Expr, env: Bound) -> tuple[Stmt, Local]:
        """The sum of all multiplicities of a term, in a local."""
        inner = self.inner()

        def collect(_: Bound, m: Count) -> list[Stmt]:
            return [Tally(m.weight)]

        body: list[Stmt] = []
        for part in addends(e):
            body += inner.emit(part, env, ONE, collect, last=True)
        t = self.payload(e, env)
        name = self.names.fresh("total")
        return Total(name, t, tuple(body)), Local(name, t)

    def payload(self, e: Expr, env: Bound) -> Type:
        """The type of a term's multiplicities."""
        t = infer(e, self.schema, {v: x.type for v, x in env.items()})[0]
        if t.kind != "ring":
            return t
        if t.ring in self.schema.functions.headers:
            return header_type(self.schema.functions.headers[t.ring])
        return cofactors(e, self.layout.payload_type, lambda name: env[name].type)


def counted(m: Count, x: Local) -> Count:
    """A multiplicity times that of a local."""
    return m.times(Var(x.name), x.type)
